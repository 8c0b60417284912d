"""Models that are nearly a constant: their proofs are true and say little."""

import numpy as np

from .._support import Array

NEARLY_ALL = 0.99  # a model that predicts one label for more rows than this is nearly a constant
ENOUGH_ROWS = 50  # fewer rows are not enough to tell


CURE = "fewer submodels, another rule or a larger prior"
LEAVE_OUT_CURE = "a smaller radius, or an estimator that gives rare labels more weight,"


def is_nearly_constant(predicted: float, true: float) -> bool:
    """Whether one label is given to nearly all rows, and not because nearly all rows have it.

    ``predicted``: the share of the label that is predicted most often; ``true``: that of the label
    that is most common. Where more than 98 % of rows have one label, a model gives the others at
    least half as often as they occur.
    """
    return 1 - predicted < min(1 - NEARLY_ALL, (1 - true) / 2)


def constant_warnings(
    decided: Array, classes: Array, common: float = 0.0, cure: str = CURE
) -> list[str]:
    """Return a warning if nearly all of these training rows get one label.

    ``decided`` holds the rows' predicted class indexes, ``common`` is the share of the most common
    training label; ``cure`` says what may help.
    """
    if len(decided) < ENOUGH_ROWS or len(classes) < 2:
        return []
    counts = np.bincount(decided, minlength=len(classes))
    share = counts.max() / len(decided)
    if not is_nearly_constant(share, common):
        return []
    label = classes.tolist()[int(counts.argmax())]
    return [
        f"{share:.1%} of {len(decided)} training rows are predicted {label!r}: the model is "
        f"nearly a constant, and its radii say little; {cure} may help"
    ]
