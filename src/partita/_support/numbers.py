"""Arguments that must be numbers: refused in words that name the argument."""

from numbers import Integral, Real
from typing import Any

from ..errors import InputError


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise an InputError if this is not a whole number of at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} is {value!r}: it must be a whole number, {least} or above")


def check_number(name: str, value: Any, limit: float | None) -> None:
    """Raise an InputError if this is not a number from 0 up to the limit, which is excluded."""
    below = float("inf") if limit is None else limit
    if not isinstance(value, Real) or not 0 <= float(value) < below:
        raise InputError(
            f"{name} is {value!r}: it must be a number, at least 0"
            + ("" if limit is None else f" and below {limit:g}")
        )
