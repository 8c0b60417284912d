"""Python and numpy values as JSON holds them: the one conversion of the whole program."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def json_value(value: Any, digits: int | None = None, non_finite: Any = None) -> Any:
    """A value as JSON holds it, containers included.

    Parameters
    ----------
    value : Any
        Numbers, strings, booleans, None, numpy scalars and arrays, and containers of them. Anything
        else becomes its ``str``.
    digits : int, optional
        Round floats to this many significant digits; by default they keep all of them.
    non_finite : Any, default=None
        What stands for NaN and infinities, which JSON lacks; a callable is given the value.

    Returns
    -------
    Any
        What ``json.dumps(..., allow_nan=False)`` accepts.
    """
    if isinstance(value, Mapping):
        return {str(key): json_value(item, digits, non_finite) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        items = value.astype(str) if value.dtype.kind in "mM" else value
        return json_value(items.tolist(), digits, non_finite)
    if isinstance(value, list | tuple):
        return [json_value(item, digits, non_finite) for item in value]
    if isinstance(value, np.generic):
        # a datetime64's item may be an integer, of nanoseconds
        value = str(value) if value.dtype.kind in "mM" else value.item()
    if isinstance(value, float):
        if not math.isfinite(value):
            return non_finite(value) if callable(non_finite) else non_finite
        return value if digits is None else float(f"{value:.{digits}g}")
    return value if value is None or isinstance(value, bool | int | str) else str(value)
