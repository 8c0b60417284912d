"""Types that many modules use."""

import os
from typing import Any, TypeAlias

from numpy.typing import NDArray

Array = NDArray[Any]
PathLike = str | os.PathLike[str]
JsonObject = dict[str, Any]  # what json.loads makes of an object
TableLike: TypeAlias = (
    Any  # rows as users have them: an array, or a frame of any library narwhals knows
)
Estimator: TypeAlias = Any  # follows scikit-learn's interface, which has no types
