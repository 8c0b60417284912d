"""Columns as numbers, each encoded on its own: floats as they are, texts and categories as
codes."""

from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array

from .._support.types import Array
from ..errors import InputError

MOST_CATEGORIES = 254  # histogram gradient boosting has 255 bins, one of them for gaps


def table_columns(X: Any) -> list[Array]:
    """Every column as an array of floats, or of objects (None for a gap) where its type is not a
    number's."""
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        return [_series(frame[:, j]) for j in range(frame.shape[1])]
    if scipy.sparse.issparse(X) or not (hasattr(X, "dtype") and X.dtype.kind in "OUST"):
        X = check_array(
            X, dtype=np.float64, ensure_all_finite=False
        )  # refuses sparse and complex tables in the usual words
        return list(X.T)
    return [np.asarray(X, dtype=object)[:, j] for j in range(X.shape[1])]


def _series(series: "nw.Series[Any]") -> Array:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype in (nw.Datetime, nw.Date):
        return np.asarray(series.dt.timestamp("ms").cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype == nw.Duration:
        return np.asarray(
            series.dt.total_milliseconds().cast(nw.Float64).to_numpy(), dtype=np.float64
        )
    gaps, values = series.is_null().to_list(), series.to_list()
    column = np.empty(len(values), dtype=object)
    for i, (gap, value) in enumerate(zip(gaps, values, strict=True)):
        column[i] = None if gap else value
    return column


def encode_alone(column: Array) -> tuple[Array, bool]:
    """One column as numbers without gaps, and whether they are codes."""
    codes = _codes(column)
    values = apply_codes(column, codes)
    values = np.clip(values, -1e300, 1e300)
    gaps = np.isnan(values)
    stand_in = -1.0 if codes is not None or gaps.all() else float(np.median(values[~gaps]))
    return np.where(gaps, stand_in, values), codes is not None


def _codes(column: Array) -> dict[str, int] | None:
    """A code for each of a column's most frequent values; None for a column of numbers. Decided in
    training, once and for all."""
    if _numbers(column) is not None:
        return None
    values, counts = np.unique(
        [_text(value) for value in column if not _gap(value)], return_counts=True
    )
    frequent = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    return {str(values[rank]): code for code, rank in enumerate(frequent)}


def learn_codes(column: Array) -> dict[str, int] | None:
    """The same; none at all where training has no value, so that whatever stands there later counts
    as missing."""
    return {} if all(_gap(value) for value in column) else _codes(column)


def apply_codes(column: Array, codes: dict[str, int] | None) -> Array:
    if codes is not None:
        return np.array(
            [np.nan if _gap(value) else codes.get(_text(value), np.nan) for value in column],
            dtype=np.float64,
        )
    numbers = _numbers(column)
    if numbers is None:
        strange = next(
            value
            for value in column
            if not _gap(value) and _numbers(np.array([value], dtype=object)) is None
        )
        raise InputError(f"{strange!r} stands where training had numbers")
    return numbers


def _numbers(column: Array) -> Array | None:
    """The column as floats, or None where it holds anything else."""
    if column.dtype.kind == "f":
        return column
    if any(isinstance(value, str | bytes) for value in column):
        return None
    try:
        return np.array([np.nan if _gap(value) else float(value) for value in column])
    except (TypeError, ValueError, OverflowError):
        return None


def _text(value: Any) -> str:
    """A category's name, the same for 1, 1.0 and True: which of them it is depends on the other
    rows of a batch."""
    if isinstance(value, int | np.bool_ | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _gap(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(value != value))
