"""A table that an attacker writes into."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse

from .._support.types import Array
from ..errors import InputError
from ..tables._table import cells_of


class Cells:
    """The cells of a table, column by column, and the table with some columns rewritten, in the
    kind that it was.

    A column of numbers takes floats, one of bytes (images) takes bytes, any other takes objects.
    """

    def __init__(self, X: Any) -> None:
        if scipy.sparse.issparse(X):
            raise InputError("X is sparse: give the audit a dense table")
        self._frame = (
            nw.from_native(X, eager_only=True) if nw.dependencies.is_into_dataframe(X) else None
        )
        self._lists = self._frame is None and not hasattr(
            X, "__array__"
        )  # rows as lists stay lists: their cells are read one by one
        self._array = (
            np.empty((0, 0))
            if self._frame is not None
            else cells_of(X)
            if self._lists
            else np.asarray(X)
        )
        if self._frame is None and self._array.ndim != 2:
            raise InputError(
                f"X has {self._array.ndim} dimension(s): give a table of rows and columns"
            )
        frame = self._frame
        columns = (
            self._array.T
            if frame is None
            else [frame[:, j].to_numpy() for j in range(len(frame.columns))]
        )
        self.labels = (
            list(range(len(columns))) if frame is None else list(frame.columns)
        )  # a frame may call a column by a number
        self.names = [str(label) for label in self.labels]
        self.columns = [_plain(column) for column in columns]
        self._texts = [
            column.dtype == object and any(isinstance(value, str) for value in column)
            for column in self.columns
        ]
        self.n_rows = len(self._array) if self._frame is None else len(self._frame)

    def of_bytes(self, column: int) -> bool:
        return bool(self.columns[column].dtype == np.uint8)

    def of_numbers(self, column: int) -> bool:
        return bool(self.columns[column].dtype.kind == "f")

    def of_texts(self, column: int) -> bool:
        """Whether some cell holds a text. Columns of objects without one hold times or the like,
        and a text would change their type."""
        return self._texts[column]

    def float_type(self) -> Any:
        """The type in which the table holds the numbers that are written into it."""
        dtype = np.dtype(np.float64) if self._frame is not None else self._array.dtype
        return dtype.type if dtype.kind == "f" else np.float64

    def holds_anything(self) -> bool:
        """Whether a cell may hold a text where others of its column are numbers."""
        return self._frame is None and self._array.dtype == object

    def rows(self, chosen: Array) -> "Cells":
        """Some of the rows, each as often as it is named."""
        if self._frame is not None:
            return Cells(self._frame[chosen.tolist()].to_native())
        return Cells(self._array[chosen].tolist() if self._lists else self._array[chosen])

    @property
    def is_frame(self) -> bool:
        return self._frame is not None

    def reordered(self, order: list[int]) -> "Cells":
        """The columns in another order."""
        if self._frame is None:
            return Cells(self._array[:, order].tolist() if self._lists else self._array[:, order])
        return Cells(self._frame[:, order].to_native())

    def table(self, changes: Mapping[int, Array] | None = None) -> Any:
        """The table, with these columns rewritten."""
        if not changes:
            whole = self._array.tolist() if self._lists else self._array
            return whole if self._frame is None else self._frame.to_native()
        if self._frame is not None:
            return self._rewritten_frame(self._frame, changes)
        kinds = {self._array.dtype, *(values.dtype for values in changes.values())}
        own = self._array.dtype
        dtype = (
            own
            if kinds == {own} or (own.kind == "f" and {k.kind for k in kinds} == {"f"})
            else np.float64
            if own.kind in "iub"
            else object
        )
        array = self._array.astype(dtype)  # a copy
        for column, values in changes.items():
            array[:, column] = values
        return array.tolist() if self._lists else array

    def _rewritten_frame(self, frame: "nw.DataFrame[Any]", changes: Mapping[int, Array]) -> Any:
        native = frame.to_native()
        texts = {self.labels[column]: _for_frame(values) for column, values in changes.items()}
        if hasattr(native, "iloc"):  # pandas would match the rows of two series by their index
            copy = native.copy()
            for name, values in texts.items():
                copy[name] = values
            return copy
        series = [
            nw.new_series(str(name), values, backend=frame.implementation)
            for name, values in texts.items()
        ]
        return frame.with_columns(*series).to_native()


def _plain(values: Array) -> Array:
    """Numbers as floats, bytes as they are, all else as objects."""
    if values.dtype == np.uint8:
        return values.copy()
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    if values.dtype == object and _of_numbers(values):
        try:
            return values.astype(np.float64)
        except OverflowError:  # a whole number that no float holds
            pass
    own = np.empty(len(values), dtype=object)
    for i, value in enumerate(values if values.dtype.kind in "mM" else values.tolist()):
        own[i] = value
    return own


def _of_numbers(values: Array) -> bool:
    there = [value for value in values if value is not None]
    return bool(there) and all(isinstance(value, int | float | np.number) for value in there)


def _for_frame(values: Array) -> Any:
    """Values as a frame takes them: gaps as None, and times as an array, since a list of them would
    lose its type."""
    if values.dtype != object:
        return values
    filled = [None if value is None or value != value else value for value in values]
    there = [value for value in filled if value is not None]
    for kind, dtype in ((np.datetime64, "datetime64[ns]"), (np.timedelta64, "timedelta64[ns]")):
        if there and all(isinstance(value, kind) for value in there):
            return np.array(filled, dtype=dtype)
    return filled
