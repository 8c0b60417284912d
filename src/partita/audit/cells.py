"""A table that an attacker writes into."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..errors import InputError

Array = NDArray[Any]


class Cells:
    """The cells of a table, column by column, and the table with some columns rewritten, in the kind that it was.

    A column of numbers takes floats, one of bytes (images) takes bytes, any other takes objects.
    """

    def __init__(self, X: Any) -> None:
        if scipy.sparse.issparse(X):
            raise InputError("X is sparse: give the audit a dense table")
        self._frame = nw.from_native(X, eager_only=True) if nw.dependencies.is_into_dataframe(X) else None
        self._array = np.asarray(X) if self._frame is None else np.empty((0, 0))
        if self._frame is None and self._array.ndim != 2:
            raise InputError(f"X has {self._array.ndim} dimension(s): give a table of rows and columns")
        columns = self._array.T if self._frame is None else [self._frame[name].to_numpy() for name in self._frame.columns]
        self.names = [str(column) for column in range(len(columns))] if self._frame is None else list(self._frame.columns)
        self.columns = [_plain(column) for column in columns]
        self.n_rows = len(self._array) if self._frame is None else len(self._frame)

    def of_bytes(self, column: int) -> bool:
        return bool(self.columns[column].dtype == np.uint8)

    def of_numbers(self, column: int) -> bool:
        return bool(self.columns[column].dtype.kind == "f")

    def rows(self, chosen: Array) -> "Cells":
        """Some of the rows."""
        return Cells(self._array[chosen] if self._frame is None else self._frame[chosen.tolist()].to_native())

    @property
    def is_frame(self) -> bool:
        return self._frame is not None

    def reordered(self, order: list[int]) -> "Cells":
        """The columns in another order."""
        if self._frame is None:
            return Cells(self._array[:, order])
        return Cells(self._frame.select([self.names[column] for column in order]).to_native())

    def table(self, changes: Mapping[int, Array] | None = None) -> Any:
        """The table, with these columns rewritten."""
        if not changes:
            return self._array if self._frame is None else self._frame.to_native()
        if self._frame is not None:
            return self._rewritten_frame(self._frame, changes)
        kinds = {self._array.dtype, *(values.dtype for values in changes.values())}
        own = self._array.dtype
        dtype = (
            own if kinds == {own} or (own.kind == "f" and {k.kind for k in kinds} == {"f"}) else np.float64 if own.kind in "iub" else object
        )
        array = self._array.astype(dtype)  # a copy
        for column, values in changes.items():
            array[:, column] = values
        return array

    def _rewritten_frame(self, frame: "nw.DataFrame[Any]", changes: Mapping[int, Array]) -> Any:
        native = frame.to_native()
        texts = {self.names[column]: _for_frame(values) for column, values in changes.items()}
        if hasattr(native, "iloc"):  # pandas would match the rows of two series by their index
            copy = native.copy()
            for name, values in texts.items():
                copy[name] = values
            return copy
        series = [nw.new_series(name, values, backend=frame.implementation) for name, values in texts.items()]
        return frame.with_columns(*series).to_native()


def _plain(values: Array) -> Array:
    """Numbers as floats, bytes as they are, all else as objects."""
    if values.dtype == np.uint8:
        return values.copy()
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    return np.array(values, dtype=object)


def _for_frame(values: Array) -> Any:
    return values if values.dtype != object else [None if value is None or value != value else value for value in values]
