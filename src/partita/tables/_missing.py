"""The one definition of a missing value.

Every reader and encoder asks here, so that a cell cannot be missing for one part of the program and
a value for another.
"""

from typing import Any

import numpy as np


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value: None, NaN, or a frame library's own mark (pandas' NA and NaT).

    Examples
    --------
    >>> from partita.tables._missing import is_missing
    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, True, False, False)
    """
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value))
    )
