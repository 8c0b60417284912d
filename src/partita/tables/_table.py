"""Tables in memory, and their cells: these columns of these rows.

What a cell is read as must never depend on another cell or column, nor on the batch that a row
comes in: a column's kind and its codes are settled when a model is fitted, and from then on every
cell is read by itself.

A table is never turned into one array: that would let a value in one column change another (a
fraction turns large integers into floats, a string turns numbers into objects), and the proof with
it. Each submodel gets its own columns as they are, whatever stands beside them and however they lie
in the user's memory.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any, SupportsFloat, TypeAlias

import narwhals as nw
import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array

from .._support import Array, TableLike, require
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


# ---- tables ----

# how a lazy frame becomes one with rows, where that is not collect()
COLLECT = {"dask": "compute", "duckdb": "df", "ibis": "to_pandas", "pyspark": "toPandas"}


class Table:
    """Rows and columns, of which a submodel may ask for some columns.

    This is the base class: :func:`open_table` makes one from an array or a frame, and
    ``open_file(path).table(kinds)`` one from a file. Subclass it, with ``take`` and ``numeric``, to
    fit and certify from anywhere else; every method that takes ``X`` takes a Table too.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_columns : int
        Number of columns.
    frame : str, default="pandas"
        The library whose frames :meth:`partita.Certificates.to_frame` returns.
    index : object, default=None
        The index of a pandas frame, which certificates carry over.
    header : array or DataFrame
        Something with the columns' number and names, for scikit-learn's checks; by default an empty
        array.
    kinds : mapping of str to (str or None), or None, default=None
        What each column holds ("number", "boolean", "time" or "text"), where columns have names.
    labels : list or None, default=None
        A frame's column labels, where not all of them are strings.
    reads_apart : bool, default=False
        Whether :meth:`take` returns a column as it is whatever columns it is taken with, as frames
        do. Columns are then read once for all submodels, where that is possible.

    See Also
    --------
    partita.tables.open_table : A table from an array, a frame, a sparse matrix or rows as lists.
    partita.tables.open_file : A table from a CSV or Parquet file.

    Examples
    --------
    A table whose columns are computed when a submodel asks for them:

    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.tables import Table
    >>> class Waves(Table):
    ...     n_rows, n_columns = 100, 5
    ...     def take(self, columns, rows=None):
    ...         rows = np.arange(self.n_rows) if rows is None else rows
    ...         return np.sin(np.outer(rows, np.array(columns) + 1))
    ...     def numeric(self):
    ...         return [True] * self.n_columns
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    >>> len(clf.fit(Waves(), np.arange(100) % 2).certify(Waves()).radius)
    100
    """

    n_rows: int
    n_columns: int
    frame: str = "pandas"
    index: TableLike = None
    kinds: Mapping[str, str | None] | None = None
    labels: list[object] | None = None
    reads_apart: bool = False

    @cached_property
    def header(self) -> TableLike:
        """Something with the columns' number and names, for scikit-learn's checks."""
        return np.empty((0, self.n_columns))

    def numeric(self) -> list[bool]:
        """Return which columns hold numbers, each judged by itself.

        Returns
        -------
        list of bool
            One per column. The answer of the training table holds for good: see
            :meth:`set_numeric`.
        """
        raise NotImplementedError

    def set_numeric(self, numeric: Sequence[bool]) -> None:
        """Read columns as the training table's were, whatever these cells look like.

        Only tables that guess from their cells (rows as lists) need this; others ignore it.

        Parameters
        ----------
        numeric : sequence of bool
            What :meth:`numeric` returned for the training table.
        """

    def take(self, columns: list[int], rows: Array | None = None) -> TableLike:
        """Return some columns of some rows, in the table's own type.

        Parameters
        ----------
        columns : list of int
            Positions of the columns.
        rows : array of int, optional
            Positions of the rows; all of them by default.

        Returns
        -------
        array, sparse matrix or DataFrame
            A copy, laid out in memory in one way whatever the other columns hold, since rounding
            depends on the layout.
        """
        raise NotImplementedError

    def take_all(self, rows: Array | None = None) -> TableLike:
        """Return all columns of some rows, in the table's own type.

        Parameters
        ----------
        rows : array of int, optional
            Positions of the rows; all of them by default.

        Returns
        -------
        array, sparse matrix or DataFrame
            As :meth:`take` returns it.
        """
        return self.take(list(range(self.n_columns)), rows)

    def read(self, columns: list[int]) -> list[Array]:
        """Return some columns, each as an array: floats, or objects if it holds no numbers.

        Parameters
        ----------
        columns : list of int
            Positions of the columns.

        Returns
        -------
        list of arrays
            Not to be written to: they may be the table's own.
        """
        return table_columns(self.take(columns))

    def batches(
        self, columns: list[int], size: int, rows: Array | None = None
    ) -> Iterator[TableLike]:
        """Yield some columns of some rows, batch by batch.

        Parameters
        ----------
        columns : list of int
            Positions of the columns.
        size : int
            Rows per batch; the last batch may be shorter.
        rows : array of int, optional
            Positions of the rows, ascending; all of them by default.

        Yields
        ------
        array, sparse matrix or DataFrame
            As :meth:`take` returns them.
        """
        chosen = np.arange(self.n_rows) if rows is None else rows
        for start in range(0, len(chosen), size):
            yield self.take(columns, chosen[start : start + size])

    def memory(self) -> Array | None:
        """Return values as they lie in memory, to find out whether two tables share them.

        Returns
        -------
        array or None
            All values, or some; None where they are not in memory, or it is not known where.
        """
        return None


# ---- arrays, matrices, frames and rows as lists ----


class _ArrayTable(Table):
    reads_apart = True

    def __init__(self, array: Array) -> None:
        self._array = array
        self.n_rows, self.n_columns = array.shape

    def take(self, columns: list[int], rows: Array | None = None) -> TableLike:
        return np.ascontiguousarray(
            self._array[:, columns] if rows is None else self._array[rows[:, None], columns]
        )

    def memory(self) -> Array | None:
        return self._array

    def numeric(self) -> list[bool]:
        if self._array.dtype != object:
            return [self._array.dtype.kind in "biuf"] * self.n_columns
        return [_holds_numbers(column) for column in self._array.T]


class _RowsTable(_ArrayTable):
    """Rows of Python objects, converted cell by cell: NaN where a numeric column has no number."""

    def __init__(self, array: Array) -> None:
        super().__init__(array)
        self._numeric: list[bool] | None = None

    def take(self, columns: list[int], rows: Array | None = None) -> TableLike:
        part = super().take(columns, rows)
        numeric = [self.numeric()[column] for column in columns]
        for k, holds_numbers in enumerate(numeric):
            if holds_numbers:
                part[:, k] = [_number_or_nan(cell) for cell in part[:, k]]
        return part.astype(np.float64) if all(numeric) else part

    def numeric(self) -> list[bool]:
        if self._numeric is None:
            self._numeric = super().numeric()
        return self._numeric

    def set_numeric(self, numeric: Sequence[bool]) -> None:
        self._numeric = list(numeric)


def _number_or_nan(cell: str | SupportsFloat) -> float:
    """Return a cell as a float; NaN where it is missing or no number."""
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _holds_numbers(column: Array) -> bool:
    """Return whether every cell that is not missing is a number, or a string that reads as one.

    A string such as "00464" is a code, not a number.
    """
    for cell in column:
        if not is_missing(cell):
            try:
                float(cell)
            except (TypeError, ValueError, OverflowError):
                return False
            if isinstance(cell, str) and re.match(r"\s*[+-]?0\d", cell):
                return False
    return True


class _SparseTable(Table):
    def __init__(self, matrix: TableLike) -> None:
        self._matrix = matrix.tocsc()
        self._format = matrix.format if matrix.format in ("csr", "csc") else "csr"
        self.n_rows, self.n_columns = matrix.shape

    def take(self, columns: list[int], rows: Array | None = None) -> TableLike:
        part = self._matrix[:, columns].asformat(self._format)
        return part if rows is None else part[rows]

    def numeric(self) -> list[bool]:
        return [True] * self.n_columns


class _FrameTable(Table):
    reads_apart = True

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self.n_rows, self.n_columns = frame.shape
        self.frame = frame.implementation.value
        self.index = nw.maybe_get_index(frame)
        names = frame.columns
        self.labels = None if all(isinstance(name, str) for name in names) else list(names)
        self.header = frame.to_native()

    @cached_property
    def kinds(self) -> Mapping[str, str | None] | None:  # type: ignore[override]  # when asked for
        return frame_kinds(self._frame) if self.labels is None else None

    def take(self, columns: list[int], rows: Array | None = None) -> TableLike:
        part = self._frame[:, columns] if rows is None else self._frame[:, columns][rows]
        if part.implementation.is_pandas():
            return _copy_by_column(part.to_native())
        return part.clone().to_native()

    def read(self, columns: list[int]) -> list[Array]:
        return table_columns(self._frame[:, columns].to_native())

    def memory(self) -> Array | None:
        if not self._frame.implementation.is_pandas():
            return None
        native = self._frame.to_native()
        plain = [j for j, dtype in enumerate(native.dtypes) if isinstance(dtype, np.dtype)]
        return native.iloc[:, plain[0]].to_numpy() if plain else None

    def numeric(self) -> list[bool]:
        types = [self._frame[:, j].dtype for j in range(self.n_columns)]
        return [dtype.is_numeric() or dtype == nw.Boolean for dtype in types]


def _copy_by_column(frame: TableLike) -> TableLike:
    """Return a copy of a pandas frame in one memory layout, whatever columns stood beside it.

    Matrix products are rounded by how their operands lie in memory, and pandas stores columns of
    one type together: a string written into one column would change the last bits of other
    submodels' scores. It is a copy, since an estimator may work in place.
    """
    columns = {k: column for k, (_, column) in enumerate(frame.items())}
    copy = type(frame)(columns, index=frame.index)
    copy.columns = frame.columns
    return copy


def open_table(X: TableLike) -> Table:
    """Look at a table in memory without converting it.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, list of rows, or Table
        An array of two dimensions, a frame that narwhals knows (pandas, polars, pyarrow, ...), a
        sparse matrix, rows as lists, or a Table, which is returned as it is.

    Returns
    -------
    Table
        The same rows and columns.

    Raises
    ------
    InputError
        If X is no table with at least one row and one column, is a lazy frame, or has two columns
        of the same name.

    See Also
    --------
    partita.tables.open_file : A table from a CSV or Parquet file.

    Examples
    --------
    >>> from partita.tables import open_table
    >>> table = open_table([[1, "red"], [None, "blue"], [2.5, "red"]])
    >>> table.n_rows, table.n_columns, table.numeric()
    (3, 2, [True, False])
    >>> table.take([0]).ravel().tolist()
    [1.0, nan, 2.5]
    """
    if isinstance(X, Table):
        return X
    if scipy.sparse.issparse(X):
        table: Table = _SparseTable(X)
    elif nw.dependencies.is_into_dataframe(X):
        _refuse_duplicates(X)
        table = _FrameTable(nw.from_native(X, eager_only=True))
    else:
        table = _open_array(X)
    shape = (table.n_rows, table.n_columns)
    if 0 in shape:
        what, cure = ("sample", "rows") if table.n_rows == 0 else ("feature", "columns")
        raise InputError(
            f"X has 0 {what}(s) (shape={shape}) while a minimum of 1 is required: give it {cure}"
        )
    return table


def _open_array(X: TableLike) -> Table:
    _refuse_lazy(X)
    if isinstance(X, np.ma.MaskedArray):
        raise InputError(
            "X is a masked array, whose mask would be lost: fill it first, X.filled(np.nan)"
        )
    from_rows = not hasattr(X, "__array__") and not hasattr(X, "__array_interface__")
    array = object_rows(X) if from_rows else np.asarray(X)
    if array.ndim != 2:
        raise InputError(
            f"X has {array.ndim} dimension(s), but a table has rows and columns. Reshape your "
            "data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row, rows "
            "of equal length if it is a list"
        )
    return _RowsTable(array) if from_rows else _ArrayTable(array)


def object_rows(rows: object) -> Array:
    """Return rows of cells as an array of objects; a cell may be anything, even a list.

    Anything but rows of equal length becomes an array of one dimension, for the caller to refuse.
    """
    if not isinstance(rows, list | tuple):
        return np.empty(1, dtype=object)
    widths = {len(row) if isinstance(row, list | tuple | np.ndarray) else None for row in rows}
    width = widths.pop() if len(widths) == 1 else None
    if width is None:
        return np.empty(len(rows), dtype=object)
    array = np.empty((len(rows), width), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            array[i, j] = cell
    return array


def one_row(part: TableLike, i: int) -> TableLike:
    """Return one row of what ``take`` returned, as a table of the same type."""
    return (part.iloc if hasattr(part, "iloc") else part)[i : i + 1]


def _refuse_lazy(X: TableLike) -> None:
    """Refuse a lazy frame, which has no rows yet; as an array it would lose its types."""
    frame = X if isinstance(X, np.ndarray | list | tuple) else nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        call = "collect" if frame is X else COLLECT.get(frame.implementation.value, "collect")
        raise InputError(f"X is a lazy frame: collect it first, X.{call}()")


def _refuse_duplicates(X: TableLike) -> None:
    labels = getattr(X, "column_names", None)  # pyarrow's; its .columns holds the cells
    names = [str(label) for label in (getattr(X, "columns", ()) if labels is None else labels)]
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"X has two columns named {duplicate!r}: rename one, so that each can be told apart"
        )


# ---- columns that were read cell by cell ----


class ColumnsTable(Table):
    """Columns by their names, each an array as ``read_cells`` returns it; no type is guessed.

    A frame is made only for a submodel that asks for one.

    Parameters
    ----------
    columns : mapping of str to array
        All of one length; floats, or objects for text, NaN where a cell is missing.
    kinds : mapping of str to str
        The kind of each column, in the same order.
    """

    kinds: dict[str, str]
    reads_apart = True

    def __init__(self, columns: Mapping[str, Array], kinds: Mapping[str, str]) -> None:
        self.kinds = dict(kinds)
        self.names = list(kinds)
        self._columns = [columns[name] for name in self.names]
        self.n_rows, self.n_columns = len(self._columns[0]), len(self.names)
        self.header = empty_frame(tuple(self.names))

    def numeric(self) -> list[bool]:
        return [kind != TEXT for kind in self.kinds.values()]

    def take(self, columns: list[int], rows: Array | None = None) -> TableLike:
        return pandas_frame(
            {
                self.names[j]: self._columns[j].copy() if rows is None else self._columns[j][rows]
                for j in columns
            }
        )

    def read(self, columns: list[int]) -> list[Array]:
        chosen = [self._columns[j] for j in columns]
        return [_with_none(column) if column.dtype == object else column for column in chosen]


def _with_none(column: Array) -> Array:
    """Return text as ``table_columns`` gives it: None where a cell is missing."""
    cells = np.empty(len(column), dtype=object)
    cells[:] = [cell if isinstance(cell, str) else None for cell in column]
    return cells


@lru_cache(maxsize=16)
def empty_frame(names: tuple[str, ...]) -> TableLike:
    """Return an empty frame with these names; making one takes longer than scoring a row."""
    pandas = _pandas()
    return pandas.DataFrame(columns=pandas.Index(names, dtype=object), dtype=object)


def pandas_frame(columns: Mapping[str, Array]) -> TableLike:
    """Return a pandas frame of columns in their own types, which pandas must not guess."""
    pandas = _pandas()
    return pandas.DataFrame(
        {name: pandas.Series(values, dtype=values.dtype) for name, values in columns.items()}
    )


def _pandas() -> ModuleType:
    return require("pandas", "reading tables from files", "partita[cli]")
