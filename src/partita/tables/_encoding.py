"""Columns as numbers, each encoded on its own: floats as they are, strings as category codes.

Codes are learnt in training, once and for all, and from one column alone: nothing here may depend
on other columns or on the batch that a row comes in.
"""

from collections import Counter
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array

from .._support import Array
from ..errors import InputError
from ._missing import is_missing

MOST_CATEGORIES = 254  # histogram gradient boosting has 255 bins, one of them for missing values


def table_columns(X: Any) -> list[Array]:
    """Each column as floats, or as objects (None where missing) if its type is not numeric."""
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


def series_floats(series: "nw.Series[Any]") -> Array:
    """A column of numbers or booleans as the nearest floats; NaN where a cell is missing."""
    native = series.to_native()
    dtype = getattr(native, "dtype", None)
    if series.implementation.is_pyarrow() or type(dtype).__name__ == "ArrowDtype":  # of pandas
        # asked to be safe, Arrow refuses a column with an integer that no float is equal to
        return np.asarray(series.to_arrow().cast("float64", safe=False), dtype=np.float64)
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _series_values(series: "nw.Series[Any]") -> Array:
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
    """One column as numbers without missing values, and whether they are codes."""
    codes = _most_frequent_codes(column)
    values = apply_codes(column, codes)
    values = np.clip(values, -1e300, 1e300)
    missing = np.isnan(values)
    fill = -1.0 if codes is not None or missing.all() else float(np.median(values[~missing]))
    return np.where(missing, fill, values), codes is not None


def _most_frequent_codes(column: Array) -> dict[str, int] | None:
    """A code for each of a column's most frequent values; None for a column of numbers."""
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
    """A code for each of a training column's most frequent values; None for numbers.

    A training column without any value has no codes at all, so that whatever stands there later
    counts as missing.
    """
    return {} if all(is_missing(value) for value in column) else _most_frequent_codes(column)


def apply_codes(column: Array, codes: dict[str, int] | None) -> Array:
    """A column as floats by the codes of training; NaN where missing or unknown."""
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
    """The column as floats, or None where it holds anything else."""
    if column.dtype.kind == "f":
        return column
    if any(isinstance(value, str | bytes) for value in column):
        return None
    try:
        return np.array([np.nan if is_missing(value) else float(value) for value in column])
    except (TypeError, ValueError, OverflowError):
        return None


def _only_texts(cells: list[Any]) -> bool:
    """Whether cells are texts or None: such a cell is its own category, without a look at it."""
    return set(map(type, cells)) <= {str, type(None)}


def _category(value: Any) -> str:
    """A category's name, the same for 1, 1.0 and True: their type depends on the other rows."""
    if isinstance(value, int | np.bool_ | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
