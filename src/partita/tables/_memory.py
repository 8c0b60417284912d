"""Tables in memory: arrays, sparse matrices, frames, and rows as lists.

Each is looked at without converting it as a whole. What a cell is must not depend on the cells
beside it, and what a submodel gets must not depend on how its columns lie in the user's memory.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse

from .._support import Array
from ..errors import InputError
from ._encoding import table_columns
from ._kinds import frame_kinds
from ._missing import is_missing
from ._table import Table

# how a lazy frame becomes one with rows, where that is not collect()
COLLECT = {"dask": "compute", "duckdb": "df", "ibis": "to_pandas", "pyspark": "toPandas"}


class _ArrayTable(Table):
    reads_apart = True

    def __init__(self, array: Array) -> None:
        self._array = array
        self.n_rows, self.n_columns = array.shape

    def take(self, columns: list[int], rows: Array | None = None) -> Any:
        return np.ascontiguousarray(
            self._array[:, columns] if rows is None else self._array[rows[:, None], columns]
        )

    def numeric(self) -> list[bool]:
        if self._array.dtype != object:
            return [self._array.dtype.kind in "biuf"] * self.n_columns
        return [_holds_numbers(column) for column in self._array.T]


class _RowsTable(_ArrayTable):
    """Rows of Python objects, converted cell by cell: NaN where a numeric column has no number."""

    def __init__(self, array: Array) -> None:
        super().__init__(array)
        self._numeric: list[bool] | None = None

    def take(self, columns: list[int], rows: Array | None = None) -> Any:
        part = super().take(columns, rows)
        numeric = [self.numeric()[column] for column in columns]
        for k, holds_numbers in enumerate(numeric):
            if holds_numbers:
                part[:, k] = [_number(cell) for cell in part[:, k]]
        return part.astype(np.float64) if all(numeric) else part

    def numeric(self) -> list[bool]:
        if self._numeric is None:
            self._numeric = super().numeric()
        return self._numeric

    def set_numeric(self, numeric: Sequence[bool]) -> None:
        self._numeric = list(numeric)


def _number(cell: Any) -> float:
    """A cell as a float; NaN where it is missing or no number."""
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _holds_numbers(column: Array) -> bool:
    """Whether every cell that is not missing is a number, or a string that reads as one.

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
    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix.tocsc()
        self._format = matrix.format if matrix.format in ("csr", "csc") else "csr"
        self.n_rows, self.n_columns = matrix.shape

    def take(self, columns: list[int], rows: Array | None = None) -> Any:
        part = self._matrix[:, columns].asformat(self._format)
        return part if rows is None else part[rows]

    def numeric(self) -> list[bool]:
        return [True] * self.n_columns


class _FrameTable(Table):
    reads_apart = True

    def __init__(self, frame: "nw.DataFrame[Any]") -> None:
        self._frame = frame
        self.n_rows, self.n_columns = frame.shape
        self.frame = frame.implementation.value
        self.index = nw.maybe_get_index(frame)
        names = frame.columns
        self.labels = None if all(isinstance(name, str) for name in names) else list(names)
        self.header = frame.to_native()

    @cached_property
    def kinds(self) -> Any:  # type: ignore[override]  # found when it is asked for
        return frame_kinds(self._frame) if self.labels is None else None

    def take(self, columns: list[int], rows: Array | None = None) -> Any:
        part = self._frame[:, columns] if rows is None else self._frame[:, columns][rows]
        if part.implementation.is_pandas():
            return _copy_by_column(part.to_native())
        return part.clone().to_native()

    def read(self, columns: list[int]) -> list[Array]:
        return table_columns(self._frame[:, columns].to_native())

    def numeric(self) -> list[bool]:
        types = [self._frame[:, j].dtype for j in range(self.n_columns)]
        return [dtype.is_numeric() or dtype == nw.Boolean for dtype in types]


def _copy_by_column(frame: Any) -> Any:
    """A copy of a pandas frame in one memory layout, whatever columns stood beside it.

    Matrix products are rounded by how their operands lie in memory, and pandas stores columns of
    one type together: a string written into one column would change the last bits of other
    submodels' scores. It is a copy, since an estimator may work in place.
    """
    columns = {k: column for k, (_, column) in enumerate(frame.items())}
    copy = type(frame)(columns, index=frame.index)
    copy.columns = frame.columns
    return copy


def open_table(X: Any) -> Table:
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
    if table.n_rows == 0:
        raise InputError(
            f"X has 0 sample(s) (shape=(0, {table.n_columns})) while a minimum of 1 is required: "
            "give it rows"
        )
    if table.n_columns == 0:
        raise InputError(
            f"X has 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required: "
            "give it columns"
        )
    return table


def _open_array(X: Any) -> Table:
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


def object_rows(rows: Any) -> Array:
    """Rows of cells as an array of objects; a cell may hold anything, even a list, and stays one.

    What is no list of rows of equal length becomes an array of one dimension, for the caller to
    refuse.
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


def one_row(part: Any, i: int) -> Any:
    """One row of what ``take`` returned, as a table of the same type."""
    if hasattr(part, "iloc"):
        return part.iloc[i : i + 1]
    return part.slice(i, 1) if hasattr(part, "slice") else part[i : i + 1]


def _refuse_lazy(X: Any) -> None:
    """A lazy frame has no rows yet, and converting it to an array would change its types."""
    frame = X if isinstance(X, np.ndarray | list | tuple) else nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        call = "collect" if frame is X else COLLECT.get(frame.implementation.value, "collect")
        raise InputError(f"X is a lazy frame: collect it first, X.{call}()")


def _refuse_duplicates(X: Any) -> None:
    labels = getattr(X, "column_names", None)  # pyarrow's; its .columns holds the cells
    names = [str(label) for label in (getattr(X, "columns", ()) if labels is None else labels)]
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"X has two columns named {duplicate!r}: rename one, so that each can be told apart"
        )
