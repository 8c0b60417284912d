"""How many columns a vote over random ablations withstands, from bounds on the shares of the votes.

An ablation keeps ``e`` of ``d`` columns. There are ``N = C(d, e)`` of them, all equally likely, and
a share of the votes is a whole number of them divided by N. Whoever rewrites ``rho`` columns
changes the vote of those ablations that keep one of them, ``M = N - C(d - rho, e)`` in number;
``Delta = M / N``."""

import math
from bisect import bisect_left
from functools import lru_cache
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc, betaincinv

from .._support.arrays import array_of
from .._support.types import Array
from ..errors import InputError

METHODS = ("levine-feizi", "jia")
SLACK = 1e-10


def ablation_radius(
    p_lower: Any, p_upper: Any, d: int, e: int, method: str = "levine-feizi"
) -> Array:
    """The largest number of rewritten columns at which the top label stays the top label; -1 where
    it may not be the top label now.

    A float may be the nearest one to a bound that lies on its other side: 0.8 lies above 4/5. So
    ``p_lower`` is taken one float lower and ``p_upper`` one float higher than given, in their own
    type; integers are exact. From there on every comparison is one of whole numbers, or has the
    same outcome as one.

    Parameters
    ----------
    p_lower : array of probabilities
        A lower bound on the top label's share of all ablations, off by rounding at most.
    p_upper : array of probabilities, or None
        An upper bound on every other label's share, off by rounding at most. "levine-feizi" does
        not look at it.
    d, e : int
        There are ``d`` columns, and an ablation keeps ``e`` of them.
    method : "levine-feizi" or "jia", default="levine-feizi"
        "levine-feizi": ``p_lower - Delta > 1/2``. "jia": ``p_lower - Delta > p_upper + Delta``,
        with ``p_lower`` rounded up and ``p_upper`` rounded down to whole numbers of ablations,
        which the true shares are.

    Returns
    -------
    int array, of the shape that the probabilities have together

    Examples
    --------
    Of 6 columns 1 is kept. All 6 ablations vote for one label: 2 columns more or less leave it 4 to
    2, a third ties.

    >>> from partita.baselines import ablation_radius
    >>> ablation_radius([1.0, 0.8, 0.5], [0.0, 0.2, 0.5], d=6, e=1, method="jia")
    array([ 2,  1, -1])
    """
    check_kept(d, e)
    check_method(method)
    low = _probabilities("p_lower", p_lower, towards=0)
    high = None if p_upper is None else _probabilities("p_upper", p_upper, towards=1)
    if high is not None:
        try:
            low, high = np.broadcast_arrays(low, high)
        except ValueError as exc:
            raise InputError(
                f"p_lower has shape {low.shape} and p_upper {high.shape}: give them the same shape"
            ) from exc
    marks = _marks(int(d), int(e))
    if method == "levine-feizi":
        return np.asarray(np.searchsorted(marks.above_half, low, side="left") - 1)
    if high is None:
        raise InputError(
            "p_upper is missing: method='jia' compares p_lower with it; give it, or use "
            "method='levine-feizi'"
        )
    return _jia(low.ravel(), high.ravel(), marks).reshape(low.shape)


class _Marks(NamedTuple):
    """What a share must exceed at rho = 0, 1, ...; floats are the largest ones not above the exact
    fraction.

    A float exceeds a fraction exactly if it exceeds the largest float not above it, so comparing
    floats loses nothing."""

    n_ablations: int
    losses: list[int]  # 2 M
    above_half: Array  # 1/2 + M / N
    above_rival: Array  # 2 M / N


@lru_cache(maxsize=64)
def _marks(d: int, e: int) -> _Marks:
    n_ablations = unharmed = math.comb(d, e)
    losses, above_half, above_rival = [], [], []
    rho = 0
    while (
        2 * unharmed > n_ablations
    ):  # otherwise neither inequality can hold, whatever the shares are
        lost = n_ablations - unharmed
        losses.append(2 * lost)
        above_half.append(_float_not_above(n_ablations + 2 * lost, 2 * n_ablations))
        above_rival.append(_float_not_above(2 * lost, n_ablations))
        unharmed = (
            unharmed * (d - rho - e) // (d - rho)
        )  # C(m - 1, e) = C(m, e) (m - e) / m, without remainder
        rho += 1
    return _Marks(n_ablations, losses, np.array(above_half), np.array(above_rival))


def _float_not_above(numerator: int, denominator: int) -> float:
    nearest = (
        numerator / denominator
    )  # Python rounds the quotient of two integers correctly, however long they are
    top, bottom = nearest.as_integer_ratio()
    return (
        nearest if top * denominator <= numerator * bottom else math.nextafter(nearest, -math.inf)
    )


def _jia(low: Array, high: Array, marks: _Marks) -> Array:
    """The number of rho with ``ceil(p_lower N) - floor(p_upper N) > 2 M``, less one."""
    # The left side over N lies between the difference of the shares and that plus 2 / N. Each step
    # of floats is half a unit in the last place off at most, and nextafter steps outwards by more.
    # Where both ends agree that is the answer; integers settle the rest.
    gap = low - high
    two_ablations = np.nextafter(2 / marks.n_ablations, np.inf)
    least = np.searchsorted(marks.above_rival, np.nextafter(gap, -np.inf), side="left")
    most = np.searchsorted(
        marks.above_rival,
        np.nextafter(np.nextafter(gap, np.inf) + two_ablations, np.inf),
        side="left",
    )
    for row in np.flatnonzero(least != most):
        least[row] = _count(float(low[row]), float(high[row]), marks)
    return np.asarray(least - 1)


def _count(p_lower: float, p_upper: float, marks: _Marks) -> int:
    top, bottom = p_lower.as_integer_ratio()
    own = -(-top * marks.n_ablations // bottom)
    top, bottom = p_upper.as_integer_ratio()
    return bisect_left(marks.losses, own - top * marks.n_ablations // bottom)


def clopper_pearson(successes: Any, draws: Any, alpha: float) -> tuple[Array, Array]:
    """Bounds on a probability from how often something happened: (lower, upper), each of them wrong
    with probability ``alpha`` at most.

    Examples
    --------
    >>> from partita.baselines._ablation_bounds import clopper_pearson
    >>> lower, upper = clopper_pearson([0, 90, 100], 100, alpha=0.05)
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([0.0, 0.836, 0.97], [0.03, 0.945, 1.0])
    """
    check_level(alpha)
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
    # p is below its upper bound exactly if 1 - p is above the lower bound of what did not happen. 1
    # - x is rounded up.
    return _lower_bound(k, n, float(alpha)), np.minimum(
        np.nextafter(1 - _lower_bound(n - k, n, float(alpha)), np.inf), 1.0
    )


def _lower_bound(k: Array, n: Array, alpha: float) -> Array:
    """A p under which k or more of n happen with probability alpha at most: p is right or too low.

    scipy's inverse is off by about 1e-12 of its value, and not proven to be. So the value is
    lowered by a part in 10^10, which lowers the tail by about as much or more; then the tail itself
    is asked, and p lowered further, in doubling steps, while it is above alpha."""
    some = np.maximum(k, 1)
    bound = np.where(k > 0, betaincinv(some, n - some + 1, alpha) * (1 - SLACK), 0.0)
    step = SLACK
    while np.any(
        high := ~(betainc(some, n - some + 1, bound) <= alpha)
    ):  # not <=: a NaN is too high as well
        step = min(2 * step, 1.0)
        bound = np.where(high, np.nan_to_num(bound) * (1 - step), bound)
    return np.asarray(bound)


def certify_votes(
    votes: Any, label: Any, d: int, e: int, alpha: float, method: str
) -> tuple[Array, Array]:
    """The radius of every row, and the label that came closest, from how many of the draws voted
    for each label.

    ``votes`` is an int array (rows, labels), ``label`` the label of every row (an index). It must
    not be chosen by looking at these votes: choose it on other draws. Each row's radius is then
    right with probability ``1 - alpha``. "levine-feizi" needs one bound, at level alpha; "jia" one
    for each of the C labels, so each has level alpha / C."""
    check_method(method)
    counts, rows, label = np.asarray(votes), np.arange(len(votes)), np.asarray(label)
    n_labels = counts.shape[1]
    others = counts.copy()
    others[rows, label] = -1
    runner_up = others.argmax(axis=1)
    draws = counts.sum(axis=1)
    if method == "levine-feizi":
        return ablation_radius(
            clopper_pearson(counts[rows, label], draws, alpha)[0], None, d, e, method
        ), runner_up
    lower, upper = clopper_pearson(counts, draws[:, None], alpha / n_labels)
    own = lower[rows, label]
    rest = np.nextafter(
        1 - own, np.inf
    )  # no other label has more than what the top label leaves; rounded up
    return ablation_radius(
        own, np.minimum(np.minimum(upper[rows, runner_up], rest), 1.0), d, e, method
    ), runner_up


def check_kept(d: Any, e: Any) -> None:
    for name, number in (("d", d), ("e", e)):
        if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
            raise InputError(f"{name} is {number!r}: it must be a whole number, 1 or above")
    if e > d:
        raise InputError(f"e is {e}, but there are only d = {d} columns to keep: lower e")


def check_method(method: Any) -> None:
    if method not in METHODS:
        raise InputError(f"method is {method!r}: give {' or '.join(map(repr, METHODS))}")


def check_level(alpha: Any) -> None:
    if (
        isinstance(alpha, bool)
        or not isinstance(alpha, int | float | np.integer | np.floating)
        or not 0 < alpha < 1
    ):
        raise InputError(
            f"alpha is {alpha!r}: it must be a probability above 0 and below 1, such as 0.0001"
        )


def _probabilities(name: str, given: Any, towards: int) -> Array:
    """Probabilities as float64, each float moved to the next one of its own type towards 0 or 1."""
    array = array_of(name, given)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise InputError(f"{name} holds {array.dtype}: give numbers of 64 bits at most")
    if not np.all((array >= 0) & (array <= 1)):
        raise InputError(
            f"{name} holds {array[~((array >= 0) & (array <= 1))][0]}: a probability lies between "
            "0 and 1"
        )
    if array.dtype.kind == "f":
        array = np.nextafter(array, array.dtype.type(towards))
    return array.astype(np.float64)
