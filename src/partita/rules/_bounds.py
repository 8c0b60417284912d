"""Where a predicted value must stay: given bounds, or a distance from the prediction or the truth.

Arguments are checked here, once, for everything that certifies numbers. Bounds are computed in
float64 and used as they are; nothing may round them outwards.
"""

from typing import Any

import numpy as np

from .._support import Array, array_of
from ..errors import InputError


def bounds_around(
    prediction: Array,
    lower: Any = None,
    upper: Any = None,
    tolerance: Any = None,
    relative: Any = None,
    around: Any = None,
) -> tuple[Array, Array, Array | None]:
    """Return each row's lowest and highest allowed value, and the truth if ``around`` gave one."""
    by_bounds = lower is not None or upper is not None
    if sum([by_bounds, tolerance is not None, relative is not None]) != 1:
        raise InputError(
            "certify needs to know what must hold: lower and upper, or tolerance, or relative, "
            "and only one of the three"
        )
    n_rows = len(prediction)
    if by_bounds:
        if around is not None:
            raise InputError(
                "around goes with tolerance or relative: lower and upper say where the bounds are"
            )
        low = row_bound("lower", -np.inf if lower is None else lower, n_rows)
        high = row_bound("upper", np.inf if upper is None else upper, n_rows)
        check_order(low, high)
        return low, high, None
    name, given = ("relative", relative) if tolerance is None else ("tolerance", tolerance)
    width = array_of(name, given, np.float64)
    if width.shape not in ((), (n_rows,)) or not np.all(width >= 0):
        raise InputError(
            f"{name} must be a number, 0 or above, or one for each of the {n_rows} rows"
        )
    middle = prediction if around is None else array_of("around", around, np.float64)
    if middle.shape != (n_rows,) or not np.all(np.isfinite(middle)):
        raise InputError(f"around must hold one finite number for each of the {n_rows} rows")
    if relative is not None:
        width = width * np.abs(middle)
    return middle - width, middle + width, None if around is None else middle


def row_bound(name: str, given: Any, n_rows: int) -> Array:
    """Return one bound per row, from one number or one per row."""
    array = array_of(name, given, np.float64)
    if array.shape not in ((), (n_rows,)) or np.isnan(array).any():
        raise InputError(
            f"{name} must be one number or one for each of the {n_rows} rows, without NaN; its "
            f"shape is {array.shape}"
        )
    return np.ascontiguousarray(np.broadcast_to(array, (n_rows,)))


def check_row_bounds(lower: Any, upper: Any, n_rows: int) -> tuple[Array, Array]:
    """Return the bounds of each row, both of them needed and in order."""
    if lower is None or upper is None:
        raise InputError("lower and upper are both needed: -inf or inf leaves a side open")
    low, high = row_bound("lower", lower, n_rows), row_bound("upper", upper, n_rows)
    check_order(low, high)
    return low, high


def check_order(low: Array, high: Array) -> None:
    """Raise if a lower bound is above its upper bound."""
    if np.any(low > high):
        row = int(np.argmax(low > high))
        raise InputError(f"lower is above upper in row {row} ({low[row]} > {high[row]}): swap them")
