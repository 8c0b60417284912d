"""Targets that are numbers, as the baselines' regressors read them."""

from typing import Any

import numpy as np

from .._support.types import Array
from ..ensemble._target import target_array
from ..errors import InputError


def numeric_target(estimator: Any, y: Any, classifier: str) -> Array:
    """The target as floats; ``classifier`` is what to use for labels instead."""
    target = target_array(estimator, y)
    try:
        return np.asarray(target.astype(np.float64))
    except (TypeError, ValueError) as exc:
        raise InputError(
            f"y holds values that are not numbers: for labels use a {classifier}"
        ) from exc
