"""Values: types and checks of arguments, forms for JSON and people, files written whole.

Content goes into a temporary file beside its destination, which is renamed at the end: a reader or
a crash never meets half a file.
"""

import math
import os
import secrets
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import InputError, SoundnessError, SoundnessWarning

Array = NDArray[Any]
PathLike = str | os.PathLike[str]
JsonObject = dict[str, Any]  # what json.loads makes of an object
TableLike: TypeAlias = (
    Any  # rows as users have them: an array, or a frame of any library narwhals knows
)
Estimator: TypeAlias = Any  # follows scikit-learn's interface, which has no types


def array_of(argument: str, value: object, dtype: DTypeLike | None = None) -> Array:
    """Convert an argument to an array; an InputError names it where that is impossible."""
    try:
        return np.asarray(value, dtype=dtype)
    # ragged lists, text or mappings among numbers, bytes that do not decode
    except (ValueError, TypeError, OverflowError) as exc:
        expected = "an array" if dtype is None else "numbers"
        raise InputError(
            f"{argument} cannot be read as {expected} ({exc}): give numbers or an array of one type"
        ) from exc


def check_whole(name: str, value: object, least: int) -> None:
    """Raise an InputError if this is not a whole number of at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} is {value!r}: it must be a whole number, {least} or above")


def check_number(name: str, value: object, limit: float | None) -> None:
    """Raise an InputError if this is not a number from 0 up to the limit, which is excluded."""
    below = float("inf") if limit is None else limit
    if not isinstance(value, Real) or not 0 <= float(value) < below:
        raise InputError(
            f"{name} is {value!r}: it must be a number, at least 0"
            + ("" if limit is None else f" and below {limit:g}")
        )


def json_value(value: object, digits: int | None = None, non_finite: object = None) -> Any:
    """Return a value as JSON holds it, containers included.

    Parameters
    ----------
    value : object
        Numbers, strings, booleans, None, numpy scalars and arrays, and containers of them. Anything
        else becomes its ``str``.
    digits : int, optional
        Round floats to this many significant digits; by default they keep all of them.
    non_finite : object, default=None
        What stands for NaN and infinities, which JSON lacks; a callable is given the value.

    Returns
    -------
    object
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
    """Return the first line of an error's message, cut; the error's class if it has none."""
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


def write_atomic(file: Path, content: bytes) -> None:
    """Write a file in one step, making its folder if need be."""
    with open_atomic(file) as out:
        out.write(content)


@contextmanager
def open_atomic(file: Path) -> Iterator[BinaryIO]:
    """Open a file to write piece by piece; it appears when the block ends without an error."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(file)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def read_toml(path: PathLike, where: str) -> JsonObject:
    """Read a .toml file; ``where`` names it in errors."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise InputError(f"{where} does not exist: give a .toml file") from exc
    except (OSError, ValueError, RecursionError) as exc:
        raise InputError(f"{where} cannot be read as TOML: {one_line(exc)}") from exc
