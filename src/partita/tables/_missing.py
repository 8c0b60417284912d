"""The one definition of a missing value.

Every reader and encoder asks here, so that a cell cannot be missing for one part of the program and
a value for another. It looks at one cell alone: whether a cell is missing must never depend on the
cells beside it.
"""

from decimal import Decimal
from typing import Any

import numpy as np

PANDAS_MARKS = ("NAType", "NaTType")  # the classes of pandas' NA and NaT


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value: None, NaN, NaT, or pandas' NA.

    Examples
    --------
    >>> from partita.tables._missing import is_missing
    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, True, False, False)
    """
    if isinstance(value, str):  # first, since most cells that come here are strings
        return False
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    # by name, so that pandas is needed only where it is in use
    kind = type(value)
    return kind.__name__ in PANDAS_MARKS and kind.__module__.startswith("pandas.")
