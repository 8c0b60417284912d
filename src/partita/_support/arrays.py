"""Arguments that must be arrays: converted, or refused in words that name the argument."""

from typing import Any

import numpy as np

from ..errors import InputError
from .types import Array


def array_of(argument: str, value: Any, dtype: Any = None) -> Array:
    """Convert an argument to an array; an InputError names it where that is impossible."""
    try:
        return np.asarray(value, dtype=dtype)
    # ragged lists, text or mappings among numbers, bytes that do not decode
    except (ValueError, TypeError, OverflowError) as exc:
        expected = "an array" if dtype is None else "numbers"
        raise InputError(
            f"{argument} cannot be read as {expected} ({exc}): give numbers or an array of one type"
        ) from exc
