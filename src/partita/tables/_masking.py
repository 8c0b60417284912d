"""Columns replaced by missing values: masked, or absent from the table.

A masked column must keep nothing of what stood there: neither values nor categories, nor a type
that its values brought about. Numbers become floats whether or not they are masked, so that a
table's types do not depend on the mask. Only columns that may be absent are filled in, without a
guess from the columns that are there; for any other the usual checks say what is wrong.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import narwhals as nw
import numpy as np
import scipy.sparse

from .._support import Array, TableLike
from ..errors import InputError
from ._arrow import Arrow, File, arrow_library
from ._table import BOOLEAN, NUMBER, TIME, Series, series_floats


class MaskedColumns:
    """Rows of which some columns can be masked, many times over.

    Parameters
    ----------
    X : array or DataFrame
        Rows with all columns, as ``Table.take`` returns them.
    numeric : sequence of bool
        Which columns held numbers in training: they are floats here, and a masked one is floats
        even if it holds something else now.
    keep_categories : bool, default=False
        Whether a masked column keeps its categories, which a frame stores in the column's type.
        Only where these are trusted: they come from the cells.
    instead : float, default=nan
        What a masked column of numbers holds.

    Raises
    ------
    InputError
        If X is a sparse matrix.
    """

    def __init__(
        self,
        X: TableLike,
        numeric: Sequence[bool],
        keep_categories: bool = False,
        instead: float = np.nan,
    ) -> None:
        if scipy.sparse.issparse(X):
            raise InputError(
                "X is a sparse matrix, in which no column can be masked: use X.toarray()"
            )
        self._array = X if isinstance(X, np.ndarray) else None
        self._frame = None if self._array is not None else nw.from_native(X, eager_only=True)
        self._numeric, self._keep_categories, self._instead = numeric, keep_categories, instead
        self._read: dict[tuple[int, bool], Series] = {}

    def masked(self, positions: Sequence[int]) -> TableLike:
        """Return a copy of the rows, with the columns at these positions missing."""
        if self._array is not None:
            return _mask_array(self._array, list(positions), self._instead)
        assert self._frame is not None
        hidden = set(positions)
        columns = [self._column(j, j in hidden) for j in range(self._frame.shape[1])]
        # a copy of its own: an estimator may work in place
        return self._frame.with_columns(*columns).clone().to_native()

    def _column(self, j: int, hidden: bool) -> Series:
        """Return a column as it is seen, or masked."""
        assert self._frame is not None
        if (j, hidden) not in self._read:
            column = self._frame[:, j]
            if self._numeric[j]:
                column = _floats(column, self._instead if hidden else None)
            elif hidden:
                column = _without_values(column, self._keep_categories)
            self._read[j, hidden] = column
        return self._read[j, hidden]


def mask_columns(
    X: TableLike,
    positions: Sequence[int],
    numeric: Sequence[bool],
    keep_categories: bool = False,
    instead: float = np.nan,
) -> TableLike:
    """Return a copy of rows with some columns missing, as :class:`MaskedColumns` has it."""
    return MaskedColumns(X, numeric, keep_categories, instead).masked(positions)


def _mask_array(X: Array, positions: list[int], instead: float) -> Array:
    """Mask columns of an array; texts become objects, which show no length of the longest."""
    types = dict.fromkeys("biu", np.float64) | dict.fromkeys("UST", object)
    masked = X.astype(types.get(X.dtype.kind, X.dtype))
    masked[:, positions] = np.array("NaT", X.dtype) if X.dtype.kind in "mM" else instead
    return masked


def _floats(column: Series, instead: float | None) -> Series:
    """Return a column of numbers in one type, whatever its own; other columns stay as they are.

    ``instead``: what the cells hold if they are masked, None if they are not.
    """
    if instead is not None:
        values = np.full(len(column), instead)
    elif column.dtype.is_numeric() or column.dtype == nw.Boolean:
        values = series_floats(column)
    else:
        return column
    return nw.new_series(
        column.name, np.array(values, np.float64), nw.Float64, backend=column.implementation
    )


def _without_values(column: Series, keep_categories: bool) -> Series:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return _no_texts(column)  # of a type that its cells brought about: there were no numbers
    if column.dtype not in (nw.Categorical, nw.Enum) or keep_categories:
        return column.shift(len(column))
    native = column.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "set_categories"):  # pandas
        return nw.from_native(native.cat.set_categories([]), series_only=True)
    if column.dtype == nw.Enum:  # its categories are a type of the user's
        return column.shift(len(column))
    return _no_texts(column).cast(nw.Categorical)


def _no_texts(column: Series) -> Series:
    empty = [None] * len(column)
    return nw.new_series(column.name, empty, nw.String, backend=column.implementation)


def stack_rows(parts: list[TableLike]) -> TableLike:
    """Return the rows of several parts of one table, one part below the other."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return nw.concat([nw.from_native(part, eager_only=True) for part in parts]).to_native()


def draw_masks(n_rows: int, n_masks: int, copies: int, seed: int) -> list[Array]:
    """Draw which rows get which mask: ``copies`` times, every row gets one of the masks."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(n_masks, size=(copies, n_rows))
    return [np.nonzero(drawn == mask)[1] for mask in range(n_masks)]


# ---- absent ----


def with_absent_columns(
    X: TableLike, names: Sequence[str], may_lack: Collection[str], numeric: Sequence[bool]
) -> TableLike:
    """Return a frame with the columns of training, in their order; X itself if it lacks none.

    Parameters
    ----------
    X : TableLike
        A frame; anything else is returned as it is.
    names : sequence of str
        The columns of training.
    may_lack : collection of str
        Those that X may lack.
    numeric : sequence of bool
        Which columns of training hold numbers.
    """
    if not nw.dependencies.is_into_dataframe(X):
        return X
    frame = nw.from_native(X, eager_only=True)
    absent = set(names) - set(frame.columns)
    if not absent or not absent <= set(may_lack) or set(frame.columns) - set(names):
        return X
    filled = (
        nw.new_series(name, np.full(len(frame), np.nan), nw.Float64, backend=frame.implementation)
        if holds_numbers
        else nw.new_series(name, [None] * len(frame), nw.String, backend=frame.implementation)
        for name, holds_numbers in zip(names, numeric, strict=True)
        if name in absent
    )
    return frame.with_columns(*filled).select(*names).to_native()


class CompletedFile(File):
    """A file with columns that it lacks, or that are not to be read, all missing.

    Parameters
    ----------
    file : File
        The file.
    kinds : mapping of str to str
        These columns, and what they would hold.
    """

    def __init__(self, file: File, kinds: Mapping[str, str]) -> None:
        self.file, self.kinds = file, dict(kinds)
        self.path, self.n_rows, self.first_row = file.path, file.n_rows, file.first_row
        self.times, self.advice = file.times, file.advice
        self.names = [*(name for name in file.names if name not in self.kinds), *self.kinds]

    def arrow_type(self, name: str) -> Arrow:
        if name not in self.kinds:
            return self.file.arrow_type(name)
        arrow = arrow_library()
        types = {NUMBER: arrow.float64(), BOOLEAN: arrow.bool_(), TIME: arrow.timestamp("ms")}
        return types.get(self.kinds[name], arrow.string())

    def arrow(self, names: Sequence[str]) -> Arrow:
        there = [name for name in names if name not in self.kinds]
        return self._filled(self.file.arrow(there), names, self.n_rows)

    def _filled(self, table: Arrow, names: Sequence[str], n_rows: int) -> Arrow:
        arrow = arrow_library()
        columns = [
            arrow.nulls(n_rows, self.arrow_type(name)) if name in self.kinds else table.column(name)
            for name in names
        ]
        return arrow.table(columns, names=list(names))

    def _arrow_batches(self, names: Sequence[str], size: int) -> Iterator[Arrow]:
        there = [name for name in names if name not in self.kinds] or self.file.names[:1]
        for batch in self.file._arrow_batches(there, size):
            table = arrow_library().Table.from_batches([batch])
            yield from self._filled(table, names, batch.num_rows).to_batches()
