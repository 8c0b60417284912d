"""Confidence bounds on a probability, from how often something happened.

Every bound is rounded to the safe side, and checked against the exact tail that it stands for.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv

from ..errors import InputError
from .values import Array

SLACK = 1e-10  # far above the error of scipy's inverse


def clopper_pearson(successes: ArrayLike, draws: ArrayLike, alpha: float) -> tuple[Array, Array]:
    """Return bounds (lower, upper) on a probability, each wrong with probability at most ``alpha``.

    Examples
    --------
    >>> from partita._support import clopper_pearson
    >>> lower, upper = clopper_pearson([0, 90, 100], 100, alpha=0.05)
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([0.0, 0.836, 0.97], [0.03, 0.945, 1.0])
    """
    check_alpha(alpha)
    k, n = np.asarray(successes), np.asarray(draws)
    if (
        k.dtype.kind not in "iu"
        or n.dtype.kind not in "iu"
        or np.any(n < 1)
        or np.any(k < 0)
        or np.any(k > n)
    ):
        raise InputError(
            "successes and draws must be whole numbers with 0 <= successes <= draws and draws >= 1"
        )
    k, n = np.broadcast_arrays(k.astype(np.float64), n.astype(np.float64))
    # The upper bound on p is one minus the lower bound on what did not happen; rounded up.
    failures = _lower_bound(n - k, n, float(alpha))
    return _lower_bound(k, n, float(alpha)), np.minimum(np.nextafter(1 - failures, np.inf), 1.0)


def _lower_bound(k: Array, n: Array, alpha: float) -> Array:
    """Return a p under which k or more of n happen with probability at most alpha.

    scipy's inverse is off by about 1e-12 of its value, which is not proven. So the value is
    lowered by a part in 10^10, which lowers the tail by about as much or more; then the tail itself
    is computed, and p lowered further, in doubling steps, while the tail is above alpha.
    """
    some = np.maximum(k, 1)
    bound = np.where(k > 0, betaincinv(some, n - some + 1, alpha) * (1 - SLACK), 0.0)
    step = SLACK
    # "not <=", because a NaN is too high as well
    while np.any(high := ~(betainc(some, n - some + 1, bound) <= alpha)):
        step = min(2 * step, 1.0)
        bound = np.where(high, np.nan_to_num(bound) * (1 - step), bound)
    return np.asarray(bound)


def check_alpha(alpha: object, name: str = "alpha", example: float = 0.0001) -> None:
    """Refuse what is not a probability strictly between 0 and 1."""
    if (
        isinstance(alpha, bool)
        or not isinstance(alpha, int | float | np.integer | np.floating)
        or not 0 < alpha < 1
    ):
        raise InputError(
            f"{name} is {alpha!r}: it must be a probability above 0 and below 1, such as {example}"
        )
