"""Columns replaced by missing values, in whatever holds them.

A masked column must keep nothing of what stood there: neither values nor categories, nor a type
that its values brought about. Numbers become floats whether or not they are masked, so that a
table's types do not depend on the mask.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse

from .._support import Array
from ..errors import InputError
from ._encoding import series_floats


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
        X: Any,
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
        self._read: dict[tuple[int, bool], nw.Series[Any]] = {}

    def masked(self, positions: Sequence[int]) -> Any:
        """Return a copy of the rows, with the columns at these positions missing."""
        if self._array is not None:
            return _mask_array(self._array, list(positions), self._instead)
        assert self._frame is not None
        hidden = set(positions)
        columns = [self._column(j, j in hidden) for j in range(self._frame.shape[1])]
        # a copy of its own: an estimator may work in place
        return self._frame.with_columns(*columns).clone().to_native()

    def _column(self, j: int, hidden: bool) -> "nw.Series[Any]":
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
    X: Any,
    positions: Sequence[int],
    numeric: Sequence[bool],
    keep_categories: bool = False,
    instead: float = np.nan,
) -> Any:
    """Return a copy of rows with some columns missing, as :class:`MaskedColumns` has it."""
    return MaskedColumns(X, numeric, keep_categories, instead).masked(positions)


def _mask_array(X: Array, positions: list[int], instead: float) -> Array:
    """An array of texts has room for its longest one: it becomes objects, which show no length."""
    types = dict.fromkeys("biu", np.float64) | dict.fromkeys("UST", object)
    masked = X.astype(types.get(X.dtype.kind, X.dtype))
    masked[:, positions] = np.array("NaT", X.dtype) if X.dtype.kind in "mM" else instead
    return masked


def _floats(column: "nw.Series[Any]", instead: float | None) -> "nw.Series[Any]":
    """A column of numbers in one type, whatever its own; what is no number now stays as it is.

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


def _without_values(column: "nw.Series[Any]", keep_categories: bool) -> "nw.Series[Any]":
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


def _no_texts(column: "nw.Series[Any]") -> "nw.Series[Any]":
    empty = [None] * len(column)
    return nw.new_series(column.name, empty, nw.String, backend=column.implementation)


def stack_rows(parts: list[Any]) -> Any:
    """Return the rows of several parts of one table, one part below the other."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return nw.concat([nw.from_native(part, eager_only=True) for part in parts]).to_native()


def draw_masks(n_rows: int, n_masks: int, copies: int, seed: int) -> list[Array]:
    """Draw which rows get which mask: ``copies`` times, every row gets one of the masks."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(n_masks, size=(copies, n_rows))
    return [np.nonzero(drawn == mask)[1] for mask in range(n_masks)]
