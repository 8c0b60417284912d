"""What a user gives as an array, made one."""

from typing import Any

import numpy as np

from ..errors import InputError
from .types import Array


def array_of(name: str, given: Any, dtype: Any = None) -> Array:
    """The argument of that name as an array; an error that names it where it cannot be one."""
    try:
        return np.asarray(given, dtype=dtype)
    except (
        ValueError,
        TypeError,
        OverflowError,
    ) as exc:  # ragged lists, texts and mappings among numbers, bytes that are no text
        wanted = "an array" if dtype is None else "numbers"
        raise InputError(
            f"{name} cannot be read as {wanted} ({exc}): give numbers or an array of one kind"
        ) from exc
