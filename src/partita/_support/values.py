"""Arguments and other values: their types, checks that name them, forms for JSON and people."""

import math
import os
import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, SoundnessError, SoundnessWarning

Array = NDArray[Any]
PathLike = str | os.PathLike[str]
JsonObject = dict[str, Any]  # what json.loads makes of an object
TableLike: TypeAlias = (
    Any  # rows as users have them: an array, or a frame of any library narwhals knows
)
Estimator: TypeAlias = Any  # follows scikit-learn's interface, which has no types


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


LONGEST = 200


def one_line(exc: BaseException) -> str:
    """The first line of an error's message, cut to a readable length; its class if it has none."""
    message = str(exc).strip()
    return (message or type(exc).__name__).splitlines()[0][:LONGEST]


def percent(share: float) -> str:
    """Format a share in percent, with one digit."""
    return f"{100 * share:.1f} %"


def probability(p: float) -> str:
    """Format a stated probability in percent, never rounded to 0."""
    return f"{100 * p:g} %"


def answer_text(answer: object) -> str:
    """Format a label or value, such as the best constant answer."""
    return f"{answer:.6g}" if isinstance(answer, float) else repr(answer)


def shortened(text: object, most: int) -> str:
    """Cut a text to at most so many characters; an ellipsis says that something is left out."""
    whole = str(text)
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def warn_or_raise(message: str, strict: bool) -> None:
    """Raise SoundnessError if ``strict``, else warn with SoundnessWarning."""
    if strict:
        raise SoundnessError(message)
    warnings.warn(message, SoundnessWarning, stacklevel=2)
