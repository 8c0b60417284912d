"""Models that are nearly a constant: their proofs are true and say little."""

import numpy as np

from .._support.types import Array

NEARLY_ALL = 0.99  # a model that predicts one label for more rows than this is nearly a constant
ENOUGH_ROWS = 50  # fewer rows are not enough to tell


CURE = "fewer submodels, another rule or a larger prior"
LEAVE_OUT_CURE = "a smaller radius, or an estimator that gives rare labels more weight,"


def constant_warnings(decided: Array, classes: Array, cure: str = CURE) -> list[str]:
    """Return a warning if nearly all of these training rows get one label.

    ``decided`` holds the rows' predicted class indexes; ``cure`` says what may help.
    """
    if len(decided) < ENOUGH_ROWS or len(classes) < 2:
        return []
    counts = np.bincount(decided, minlength=len(classes))
    share = counts.max() / len(decided)
    if share <= NEARLY_ALL:
        return []
    label = classes.tolist()[int(counts.argmax())]
    return [
        f"{share:.1%} of {len(decided)} training rows are predicted {label!r}: the model is "
        f"nearly a constant, and its radii say little; {cure} may help"
    ]
