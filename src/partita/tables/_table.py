"""One way to ask for some columns of a table.

A table is never turned into one array: that would let a value in one column change another (a
fraction turns large integers into floats, a text turns numbers into objects), and the proof with
it. Each submodel gets its own columns, as they are, and laid out in memory in one way, since
rounding depends on that too."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..errors import InputError
from . import _kinds as kinds

# what makes a frame with rows of a lazy one, where it is not collect()
COLLECT = {"dask": "compute", "duckdb": "df", "ibis": "to_pandas", "pyspark": "toPandas"}


class Table:
    """Rows and columns, of which a submodel may ask for some columns."""

    n_rows: int
    n_columns: int
    frame: str = "pandas"  # the kind of frame that to_frame() answers with
    index: Any = None
    # an empty frame with the columns' names, where X itself is none that scikit-learn knows
    header: Any = None
    kinds: Mapping[str, str | None] | None = (
        None  # what the columns hold (kinds.py), where they have names
    )
    labels: list[Any] | None = None  # what a frame calls its columns, where that is not only texts

    def numeric(self) -> list[bool]:
        """Which columns hold numbers, each judged by itself. Settled when a model is fitted."""
        raise NotImplementedError

    def settle(self, numeric: Sequence[bool]) -> None:
        """Read the cells as ``numeric`` says, whatever they look like: it is what the model was
        fitted with."""

    def take(self, columns: list[int], rows: NDArray[Any] | None = None) -> Any:
        """These columns of these rows (None: all of them), in the table's own kind."""
        raise NotImplementedError

    def batches(
        self, columns: list[int], most: int, rows: NDArray[Any] | None = None
    ) -> Iterator[Any]:
        """The same, ``most`` rows at a time, the last batch shorter; ``rows`` ascend."""
        chosen = np.arange(self.n_rows) if rows is None else rows
        for start in range(0, len(chosen), most):
            yield self.take(columns, chosen[start : start + most])


class _ArrayTable(Table):
    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.n_rows, self.n_columns = array.shape

    def take(self, columns: list[int], rows: NDArray[Any] | None = None) -> Any:
        return np.ascontiguousarray(
            self._array[:, columns] if rows is None else self._array[rows[:, None], columns]
        )

    def numeric(self) -> list[bool]:
        if self._array.dtype != object:
            return [self._array.dtype.kind in "biuf"] * self.n_columns
        return [_holds_numbers(column) for column in self._array.T]


class _RowsTable(_ArrayTable):
    """Rows of Python objects. Each cell is converted by itself: a number's column has NaN where a
    cell is none."""

    def __init__(self, array: NDArray[Any]) -> None:
        super().__init__(array)
        self._settled: list[bool] | None = None

    def take(self, columns: list[int], rows: NDArray[Any] | None = None) -> Any:
        part = super().take(columns, rows)
        numeric = [self.numeric()[column] for column in columns]
        for k, of_numbers in enumerate(numeric):
            if of_numbers:
                part[:, k] = [_number(cell) for cell in part[:, k]]
        return part.astype(np.float64) if all(numeric) else part

    def numeric(self) -> list[bool]:
        if self._settled is None:
            self._settled = super().numeric()
        return self._settled

    def settle(self, numeric: Sequence[bool]) -> None:
        self._settled = list(numeric)


def _number(cell: Any) -> float:
    """A cell as a float; NaN where it is no number."""
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _holds_numbers(column: NDArray[Any]) -> bool:
    """Whether every cell that is not missing is a number, or a text that reads as one and is no
    code such as "00464"."""
    for cell in column:
        if cell is not None:
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

    def take(self, columns: list[int], rows: NDArray[Any] | None = None) -> Any:
        part = self._matrix[:, columns].asformat(self._format)
        return part if rows is None else part[rows]

    def numeric(self) -> list[bool]:
        return [True] * self.n_columns


class _FrameTable(Table):
    def __init__(self, frame: "nw.DataFrame[Any]") -> None:
        self._frame = frame
        self.n_rows, self.n_columns = frame.shape
        self.frame = frame.implementation.value
        self.index = nw.maybe_get_index(frame)
        texts = all(isinstance(name, str) for name in frame.columns)
        self.kinds = kinds.of_frame(frame) if texts else None
        self.labels = None if texts else list(frame.columns)

    def take(self, columns: list[int], rows: NDArray[Any] | None = None) -> Any:
        part = self._frame[:, columns] if rows is None else self._frame[:, columns][rows]
        return (
            _laid_out(part.to_native())
            if part.implementation.is_pandas()
            else part.clone().to_native()
        )

    def numeric(self) -> list[bool]:
        types = [self._frame[:, j].dtype for j in range(self.n_columns)]
        return [dtype.is_numeric() or dtype == nw.Boolean for dtype in types]


def _laid_out(frame: Any) -> Any:
    """A copy of a pandas frame that is laid out in memory in one way, whatever the columns beside
    it in the table were.

    Products of matrices are rounded by how they lie in memory, and pandas lets columns of one type
    lie together: a text written into one column would change the last bits of what other submodels
    say. It is a copy, since an estimator may work in place."""
    alone = type(frame)({k: frame.iloc[:, k] for k in range(frame.shape[1])}, index=frame.index)
    alone.columns = frame.columns
    return alone


def one_row(part: Any, i: int) -> Any:
    """A row of what ``take`` gave, as a table of its own kind."""
    if hasattr(part, "iloc"):
        return part.iloc[i : i + 1]
    return part.slice(i, 1) if hasattr(part, "slice") else part[i : i + 1]


def open_table(X: Any) -> Table:
    """Look at a table without converting it: an array, a frame that narwhals knows, a sparse
    matrix, rows as lists, or a Table."""
    if isinstance(X, Table):
        return X
    if scipy.sparse.issparse(X):
        table: Table = _SparseTable(X)
    elif nw.dependencies.is_into_dataframe(X):
        _refuse_duplicates(X)
        table = _FrameTable(nw.from_native(X, eager_only=True))
    else:
        _refuse_lazy(X)
        from_rows = not hasattr(X, "__array__") and not hasattr(X, "__array_interface__")
        if isinstance(X, np.ma.MaskedArray):
            raise InputError(
                "X is a masked array, whose mask would be lost: fill it first, X.filled(np.nan)"
            )
        array = cells_of(X) if from_rows else np.asarray(X)
        if array.ndim != 2:
            raise InputError(
                f"X has {array.ndim} dimension(s), but a table has rows and columns. Reshape your "
                "data: X.reshape(-1, 1) if it is one "
                "column, X.reshape(1, -1) if it is one row, rows of equal length if it is a list"
            )
        table = _RowsTable(array) if from_rows else _ArrayTable(array)
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


def cells_of(rows: Any) -> NDArray[Any]:
    """Rows of cells as an array of objects, cell by cell: a cell may hold anything, a list too, and
    stays one cell."""
    rows = (
        [row if isinstance(row, list | tuple | np.ndarray) else None for row in rows]
        if isinstance(rows, list | tuple)
        else [None]
    )
    widths = {-1 if row is None else len(row) for row in rows}
    if len(widths) != 1 or -1 in widths:
        return np.empty(len(rows), dtype=object)  # no table; the caller says so
    array = np.empty((len(rows), widths.pop()), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            array[i, j] = cell
    return array


def _refuse_lazy(X: Any) -> None:
    """A lazy frame has no rows yet, and as an array it would be one array of all columns, which
    changes their types."""
    frame = X if isinstance(X, np.ndarray | list | tuple) else nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        call = "collect" if frame is X else COLLECT.get(frame.implementation.value, "collect")
        raise InputError(f"X is a lazy frame: collect it first, X.{call}()")


def _refuse_duplicates(X: Any) -> None:
    names = list(X.columns) if hasattr(X, "columns") else []
    if len(set(map(str, names))) < len(names):
        texts = list(map(str, names))
        twice = next(name for name in texts if texts.count(name) > 1)
        raise InputError(
            f"X has two columns named {twice!r}: rename one, so that each can be told apart"
        )
