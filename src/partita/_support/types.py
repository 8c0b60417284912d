"""Types that many modules use."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
