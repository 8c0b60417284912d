"""Cells: when one is missing, what a column of them holds, and how they become numbers.

What a cell is read as must never depend on another cell or column, nor on the batch that a row
comes in: a column's kind and its codes are settled when a model is fitted, and from then on every
cell is read by itself.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array

from .._support import Array, TableLike
from ..errors import InputError

Frame: TypeAlias = nw.DataFrame[Any]
Series: TypeAlias = nw.Series[Any]

NUMBER, BOOLEAN, TIME, TEXT = "number", "boolean", "time", "text"
KINDS = (NUMBER, BOOLEAN, TIME, TEXT)
EXPECTED = {
    NUMBER: "a number",
    BOOLEAN: "true or false",
    TIME: "a time such as 2026-01-31 or 2026-01-31T12:00:00",
    TEXT: "text",
}
PANDAS_MARKS = ("NAType", "NaTType")  # the classes of pandas' NA and NaT
MOST_CATEGORIES = 254  # histogram gradient boosting has 255 bins, one of them for missing values


# ---- the one definition of a missing value ----


def is_missing(value: object) -> bool:
    """Return whether a cell holds no value: None, NaN, NaT, or pandas' NA.

    Examples
    --------
    >>> from partita.tables import is_missing
    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, True, False, False)
    """
    if isinstance(value, str):  # first, since most cells that come here are strings
        return False
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    # by name, so that pandas is needed only where it is in use
    kind = type(value)
    return kind.__name__ in PANDAS_MARKS and kind.__module__.startswith("pandas.")


# ---- kinds ----


class CellError(InputError):
    """A cell that is not of its column's kind.

    Raised while a table is read; the message names row, column and value.

    Parameters
    ----------
    row : int
        The row, counted from 0 without a header.
    column : str
        The column's name.
    kind : {"number", "boolean", "time", "text"}
        What the column holds.
    value : object
        What the cell holds instead.

    Attributes
    ----------
    row : int
        The row, counted from 0 without a header.
    column : str
        The column's name.

    See Also
    --------
    partita.tables.open_file : Reads tables whose cells are checked.

    Examples
    --------
    >>> from partita.tables import CellError
    >>> print(CellError(3, "price", "number", "n/a"))
    row 3, column 'price' holds 'n/a' where a number is needed
    """

    def __init__(self, row: int, column: str, kind: str, value: object) -> None:
        shown = repr(value) if len(repr(value)) <= 40 else repr(value)[:37] + "..."
        super().__init__(
            f"row {row}, column {column!r} holds {shown} where {EXPECTED[kind]} is needed"
        )
        self.row, self.column = row, column
        self._arguments = (row, column, kind, value)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:  # as when another process raised it
        return CellError, self._arguments


def frame_kinds(frame: Frame) -> dict[str, str | None]:
    """Return the kind of each column of a frame; None where a file could not give its values."""
    return {str(name): _series_kind(frame[:, j]) for j, name in enumerate(frame.columns)}


def _series_kind(series: Series) -> str | None:
    dtype = series.dtype
    if dtype.is_numeric():
        return NUMBER
    if dtype == nw.Boolean:
        return BOOLEAN
    if dtype == nw.String:
        return TEXT
    if dtype == nw.Unknown and series.null_count() == len(series):
        return NUMBER  # a column without a type, as in files (_arrow.arrow_kind)
    if dtype == nw.Object:
        present = [value for value in series.to_list() if not is_missing(value)]
        return TEXT if all(isinstance(value, str) for value in present) else None
    return None


def read_cells(values: Sequence[object], kind: str, column: str, first_row: int = 0) -> Array:
    """Read a column of cells one by one: floats, or strings for TEXT; NaN where one is missing.

    Parameters
    ----------
    values : sequence
        The cells as they came from outside.
    kind : {"number", "boolean", "time", "text"}
        What the column holds.
    column : str
        Its name, for the message.
    first_row : int, default=0
        Where these cells begin in their table, for the message.

    Raises
    ------
    CellError
        If a cell is of another kind.
    """
    if kind == TEXT and _only_texts(values):  # most tables
        texts = np.fromiter(values, dtype=object, count=len(values))
        texts[[value is None for value in values]] = math.nan
        return texts
    read = READERS[kind]
    cells = np.empty(len(values), dtype=object if kind == TEXT else np.float64)
    for i, value in enumerate(values):
        if is_missing(value):
            cells[i] = math.nan
            continue
        try:
            cells[i] = read(value)
        except (TypeError, ValueError, OverflowError) as exc:
            raise CellError(first_row + i, column, kind, value) from exc
    return cells


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise TypeError


def _boolean(value: object) -> float:
    if isinstance(value, int | float) and value in (0, 1):
        return float(value)
    raise TypeError


def _time(value: object) -> float:
    """Return seconds since 1970; a time without a zone is taken as UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value.strip())
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        raise TypeError
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError


READERS: dict[str, Callable[[object], float | str]] = {
    NUMBER: _number,
    BOOLEAN: _boolean,
    TIME: _time,
    TEXT: _text,
}


# ---- columns as numbers, each encoded on its own ----


def table_columns(X: TableLike) -> list[Array]:
    """Return each column as floats, or as objects (None where missing) if it holds no numbers."""
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        if not frame.implementation.is_pandas():
            return [_series_values(frame[:, j]) for j in range(frame.shape[1])]
        # in pandas' own way where it does the same: many submodels read the same few rows
        plain = [isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in X.dtypes]
        if all(plain):
            return list(X.to_numpy(dtype=np.float64).T)
        return [
            column.to_numpy().astype(np.float64) if plain[j] else _series_values(frame[:, j])
            for j, (_, column) in enumerate(X.items())
        ]
    if scipy.sparse.issparse(X) or not (hasattr(X, "dtype") and X.dtype.kind in "OUST"):
        # refuses sparse and complex tables in scikit-learn's words
        X = check_array(X, dtype=np.float64, ensure_all_finite=False)
        return list(X.T)
    return [np.asarray(X, dtype=object)[:, j] for j in range(X.shape[1])]


def series_floats(series: Series) -> Array:
    """Return a column of numbers or booleans as the nearest floats; NaN where one is missing."""
    native = series.to_native()
    dtype = getattr(native, "dtype", None)
    if series.implementation.is_pyarrow() or type(dtype).__name__ == "ArrowDtype":  # of pandas
        # asked to be safe, Arrow refuses a column with an integer that no float is equal to
        return np.asarray(series.to_arrow().cast("float64", safe=False), dtype=np.float64)
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _series_values(series: Series) -> Array:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return series_floats(series)
    if dtype in (nw.Datetime, nw.Date):
        return series_floats(series.dt.timestamp("ms"))
    if dtype == nw.Duration:
        return series_floats(series.dt.total_milliseconds())
    cells = (
        value if type(value) is str or not is_missing(value) else None for value in series.to_list()
    )
    return np.fromiter(cells, dtype=object, count=len(series))


def encode_alone(column: Array) -> tuple[Array, bool]:
    """Return one column as numbers without missing values, and whether they are codes."""
    codes = _most_frequent_codes(column)
    values = apply_codes(column, codes)
    values = np.clip(values, -1e300, 1e300)
    missing = np.isnan(values)
    fill = -1.0 if codes is not None or missing.all() else float(np.median(values[~missing]))
    return np.where(missing, fill, values), codes is not None


def _most_frequent_codes(column: Array) -> dict[str, int] | None:
    """Return a code for each of a column's most frequent values; None for a column of numbers."""
    if _as_numbers(column) is not None:
        return None
    cells = column.tolist()
    if _only_texts(cells):
        counts = Counter(cells)
        del counts[None]
    else:
        counts = Counter(_category(value) for value in cells if not is_missing(value))
    frequent = sorted(counts, key=lambda name: (-counts[name], name))[:MOST_CATEGORIES]
    return {name: code for code, name in enumerate(frequent)}


def learn_codes(column: Array) -> dict[str, int] | None:
    """Return a code for each of a training column's most frequent values; None for numbers.

    A training column without any value has no codes at all, so that whatever stands there later
    counts as missing.
    """
    return {} if all(is_missing(value) for value in column) else _most_frequent_codes(column)


def apply_codes(column: Array, codes: dict[str, int] | None) -> Array:
    """Return a column as floats by the codes of training; NaN where missing or unknown."""
    if codes is not None:
        cells = column.tolist()
        if not _only_texts(cells):
            cells = [None if is_missing(value) else _category(value) for value in cells]
        return np.array(list(map(codes.get, cells)), dtype=np.float64)  # None becomes NaN
    numbers = _as_numbers(column)
    if numbers is None:
        row, strange = next(
            (row, value)
            for row, value in enumerate(column)
            if not is_missing(value) and _as_numbers(np.array([value], dtype=object)) is None
        )
        raise InputError(f"row {row} holds {strange!r} where training had numbers")
    return numbers


def _as_numbers(column: Array) -> Array | None:
    """Return the column as floats, or None where it holds anything else."""
    if column.dtype.kind == "f":
        return column
    if any(isinstance(value, str | bytes) for value in column):
        return None
    try:
        return np.array([np.nan if is_missing(value) else float(value) for value in column])
    except (TypeError, ValueError, OverflowError):
        return None


def _only_texts(cells: Iterable[object]) -> bool:
    """Return whether cells are texts or None: each is its own category, without a look at it."""
    return set(map(type, cells)) <= {str, type(None)}


def _category(value: object) -> str:
    """Name a category, the same for 1, 1.0 and True: their type depends on the other rows."""
    if isinstance(value, int | np.bool_ | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
