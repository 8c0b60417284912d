"""A table that an attacker writes into.

The original is never changed: every attack gets a copy, of the kind that the table was. Types are
part of the schema, which is trusted, so nothing here may change the type of a column.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import scipy.sparse

from .._support import Array
from ..errors import InputError, PartitaError, SoundnessError
from ..tables import is_missing, object_rows

REFUSALS = (PartitaError, ValueError, TypeError, ArithmeticError)  # how a model refuses a value

Changes = dict[int, Array]  # new values by column
Returned = TypeVar("Returned")


class AttackedTable:
    """The columns of a table, and the table with some of them rewritten.

    A column of numbers takes floats, one of bytes (images) takes bytes, any other takes objects.

    Parameters
    ----------
    X : array, frame or list of rows
        Not sparse.

    Attributes
    ----------
    columns : list of arrays
        The values: float64, uint8 or objects.
    labels : list
        What the columns are called in a frame, which may be numbers; else their positions.
    names : list of str
        The same as texts.
    n_rows : int
        How many rows there are.
    """

    def __init__(self, X: Any) -> None:
        if scipy.sparse.issparse(X):
            raise InputError("X is sparse: give the audit a dense table")
        self._frame: nw.DataFrame[Any] | None = None
        self._is_list, self._array = False, np.empty((0, 0))
        if nw.dependencies.is_into_dataframe(X):
            frame = self._frame = nw.from_native(X, eager_only=True)
            columns = [frame[:, j].to_numpy() for j in range(len(frame.columns))]
            self.labels, self.n_rows = list(frame.columns), len(frame)
        else:
            self._is_list = not hasattr(X, "__array__")  # rows as lists are read cell by cell
            self._array = object_rows(X) if self._is_list else np.asarray(X)
            if self._array.ndim != 2:
                raise InputError(
                    f"X has {self._array.ndim} dimension(s): give a table of rows and columns"
                )
            columns = list(self._array.T)
            self.labels, self.n_rows = list(range(len(columns))), len(self._array)
        self.names = [str(label) for label in self.labels]
        self.columns = [_as_written(column) for column in columns]
        self._has_text = [
            column.dtype == object and any(isinstance(value, str) for value in column)
            for column in self.columns
        ]

    def is_bytes(self, column: int) -> bool:
        return bool(self.columns[column].dtype == np.uint8)

    def is_numeric(self, column: int) -> bool:
        return bool(self.columns[column].dtype.kind == "f")

    def has_text(self, column: int) -> bool:
        """Return whether some cell holds a text.

        Columns of objects without one hold times or the like, whose type a text would change.
        """
        return self._has_text[column]

    def float_type(self) -> Any:
        """Return the type in which the table holds the numbers that are written into it."""
        dtype = np.dtype(np.float64) if self._frame is not None else self._array.dtype
        return dtype.type if dtype.kind == "f" else np.float64

    def mixes_types(self) -> bool:
        """Return whether a cell may hold a text where others of its column are numbers."""
        return self._frame is None and self._array.dtype == object

    def take(self, rows: Array) -> "AttackedTable":
        """Return some of the rows, each as often as it is named."""
        if self._frame is not None:
            return AttackedTable(self._frame[rows.tolist()].to_native())
        return AttackedTable(self._array[rows].tolist() if self._is_list else self._array[rows])

    def written(self, cells: Iterable[tuple[Array | slice, Changes]]) -> Changes:
        """Return copies of columns with new values in some rows; nothing where there are none."""
        changes: Changes = {}
        for rows, new in cells:
            for column, values in new.items():
                own = changes[column] if column in changes else self.columns[column].copy()
                if values.dtype == object:
                    own = own.astype(object, copy=False)  # a text among numbers
                own[rows] = values
                changes[column] = own
        return changes

    def below(self, tried: Sequence[Changes]) -> Any:
        """Return one table with a copy of all rows for each of several changes."""
        place = np.tile(np.arange(self.n_rows), len(tried))
        return self.take(place).table(
            {
                column: np.concatenate([own.get(column, self.columns[column]) for own in tried])
                for column in {column for own in tried for column in own}
            }
        )

    def gathered(self, places: Array) -> Any:
        """Return a table whose every cell comes from a row of this one, in the same column."""
        if self._frame is None:
            array = self._array[places, np.arange(places.shape[1])]
            return array.tolist() if self._is_list else array
        native = self._frame.to_native()
        if hasattr(native, "iloc"):
            own = zip(self.labels, places.T, strict=True)
            return type(native)({label: native[label].array.take(rows) for label, rows in own})
        columns = [self._frame[:, k][places[:, k].tolist()] for k in range(places.shape[1])]
        return columns[0].to_frame().with_columns(*columns[1:]).to_native()

    @property
    def is_frame(self) -> bool:
        return self._frame is not None

    def reordered(self, order: list[int]) -> "AttackedTable":
        """Return the table with its columns in another order."""
        if self._frame is not None:
            return AttackedTable(self._frame[:, order].to_native())
        array = self._array[:, order]
        return AttackedTable(array.tolist() if self._is_list else array)

    def table(self, changes: Mapping[int, Array] | None = None) -> Any:
        """Return the table, or a copy of it with these columns rewritten."""
        if self._frame is not None:
            return self._frame.to_native() if not changes else self._with_columns(changes)
        array = self._array
        if changes:
            array = array.astype(self._dtype_for(changes))  # a copy
            for column, values in changes.items():
                array[:, column] = values
        return array.tolist() if self._is_list else array

    def _dtype_for(self, changes: Mapping[int, Array]) -> Any:
        """Return the array's own type where it holds the changes, else the next that does."""
        own, new = self._array.dtype, {values.dtype for values in changes.values()}
        if new == {own} or (own.kind == "f" and {dtype.kind for dtype in new} == {"f"}):
            return own
        return np.float64 if own.kind in "iub" else object

    def _with_columns(self, changes: Mapping[int, Array]) -> Any:
        assert self._frame is not None
        native = self._frame.to_native()
        columns = {self.labels[column]: _for_frame(values) for column, values in changes.items()}
        if hasattr(native, "iloc"):  # pandas would align the rows of two series by their index
            copy = native.copy()
            for name, values in columns.items():
                # pandas forgets a column's categories when objects are written into it
                kept = native[name].dtype if str(native[name].dtype) == "category" else None
                copy[name] = type(native[name])(values, index=native.index, dtype=kept)
            return copy
        series = [
            nw.new_series(str(name), values, backend=self._frame.implementation)
            for name, values in columns.items()
        ]
        return self._frame.with_columns(*series).to_native()


def _as_written(values: Array) -> Array:
    """Return a column as attacks write it: floats, bytes as they are, all else as objects."""
    if values.dtype == np.uint8:
        return values.copy()
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    if values.dtype == object and _all_numbers(values):
        try:
            return values.astype(np.float64)
        except OverflowError:  # a whole number that no float holds
            pass
    column = np.empty(len(values), dtype=object)
    for i, value in enumerate(values if values.dtype.kind in "mM" else values.tolist()):
        column[i] = value
    return column


def _all_numbers(values: Array) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(value, int | float | np.number) for value in present)


def _for_frame(values: Array) -> Any:
    """Return values as a frame takes them.

    Missing values are None, and times are an array, since a list of them would lose its type.
    """
    if values.dtype != object:
        return values
    filled = [None if is_missing(value) else value for value in values]
    present = [value for value in filled if value is not None]
    for kind, dtype in ((np.datetime64, "datetime64[ns]"), (np.timedelta64, "timedelta64[ns]")):
        if present and all(isinstance(value, kind) for value in present):
            return np.array(filled, dtype=dtype)
    return filled


def unless_refused(work: Callable[..., Returned], *given: object) -> Returned | None:
    """Return what the work returns; None where a model refuses the values that it is given."""
    try:
        return work(*given)
    except SoundnessError:
        raise
    except REFUSALS:
        return None
