"""Columns replaced by missing values, in whatever holds them.

A masked column must keep nothing of what stood there. Numbers become floats whether or not they are
masked, so that a table's types do not depend on the mask.
"""

from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse

from .._support.types import Array
from ..errors import InputError


def mask_columns(X: Any, positions: list[int]) -> Any:
    """Return a copy of what ``Table.take`` returned, with some columns missing."""
    if scipy.sparse.issparse(X):
        raise InputError("X is a sparse matrix, in which no column can be masked: use X.toarray()")
    if isinstance(X, np.ndarray):
        masked = X.astype(np.float64 if X.dtype.kind in "biu" else X.dtype)
        masked[:, positions] = np.nan
        return masked
    frame = nw.from_native(X, eager_only=True)
    columns = [_blank(frame[:, j], j in positions) for j in range(frame.shape[1])]
    return frame.with_columns(*columns).to_native()


def _blank(series: "nw.Series[Any]", blank: bool) -> "nw.Series[Any]":
    """A column with floats for numbers, and without its values where it is to be blank."""
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        series = series.cast(nw.Float64)
    return series.shift(len(series)) if blank else series


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
