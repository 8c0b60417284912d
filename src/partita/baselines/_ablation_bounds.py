"""How many columns a vote over random ablations withstands, from bounds on its shares.

An ablation keeps ``e`` of ``d`` columns. There are ``N = C(d, e)`` of them, all equally likely, and
a share of the votes is a whole number of them divided by N. An attacker who rewrites ``rho``
columns changes the vote of those ablations that keep one of them, ``M = N - C(d - rho, e)`` in
number; ``Delta = M / N`` (theory, section 8). Every bound is rounded to the safe side.
"""

import math
from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._support import Array, array_of, check_whole, clopper_pearson
from ..errors import InputError

METHODS = ("levine-feizi", "jia")


def ablation_radius(
    p_lower: ArrayLike, p_upper: ArrayLike | None, d: int, e: int, method: str = "levine-feizi"
) -> Array:
    """Compute how many rewritten columns a vote over random ablations withstands.

    A float may be the nearest one to a bound that lies on its other side: 0.8 lies above 4/5. So
    ``p_lower`` is taken one float lower and ``p_upper`` one float higher than given, in their own
    type; integers are exact. From there on every comparison is one of whole numbers, or has the
    same outcome as one.

    Parameters
    ----------
    p_lower : array-like of probabilities
        A lower bound on the top label's share of all ablations, off by rounding at most.
    p_upper : array-like of probabilities, or None
        An upper bound on every other label's share, off by rounding at most. "levine-feizi" does
        not use it.
    d : int
        How many columns there are.
    e : int
        How many of them an ablation keeps.
    method : {"levine-feizi", "jia"}, default="levine-feizi"
        "levine-feizi": ``p_lower - Delta > 1/2``. "jia": ``p_lower - Delta > p_upper + Delta``,
        with ``p_lower`` rounded up and ``p_upper`` rounded down to whole numbers of ablations,
        which the true shares are.

    Returns
    -------
    array of int
        The largest number of rewritten columns at which the top label stays the top label; -1 where
        it may not be the top label now. The probabilities are broadcast against each other.

    Raises
    ------
    InputError
        If a probability is outside [0, 1], or ``e`` is not between 1 and ``d``.

    See Also
    --------
    RandomizedAblationClassifier : The defence that this certifies.

    References
    ----------
    Theory, section 8. Levine and Feizi, *Robustness Certificates for Sparse Adversarial Attacks by
    Randomized Ablation*, AAAI 2020; Jia et al., *Almost Tight L0-norm Certified Robustness of Top-k
    Predictions against Adversarial Perturbations*, ICLR 2022.

    Examples
    --------
    One of 6 columns is kept. All 6 ablations vote for one label: rewriting 2 columns leaves it 4 to
    2, rewriting a third ties.

    >>> from partita.baselines import ablation_radius
    >>> ablation_radius([1.0, 0.8, 0.5], [0.0, 0.2, 0.5], d=6, e=1, method="jia")
    array([ 2,  1, -1])
    """
    check_kept_columns(d, e)
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
    thresholds = _thresholds(int(d), int(e))
    if method == "levine-feizi":
        return np.asarray(np.searchsorted(thresholds.above_half, low, side="left") - 1)
    if high is None:
        raise InputError(
            "p_upper is missing: method='jia' compares p_lower with it; give it, or use "
            "method='levine-feizi'"
        )
    return _jia(low.ravel(), high.ravel(), thresholds).reshape(low.shape)


class _Thresholds(NamedTuple):
    """What a share must exceed at rho = 0, 1, ...

    Floats are the largest ones not above the exact fraction. A float exceeds a fraction exactly if
    it exceeds the largest float not above it, so comparing floats loses nothing.
    """

    n_ablations: int
    losses: list[int]  # 2 M
    above_half: Array  # 1/2 + M / N
    above_runner_up: Array  # 2 M / N


@lru_cache(maxsize=64)
def _thresholds(d: int, e: int) -> _Thresholds:
    n_ablations = unharmed = math.comb(d, e)
    losses, above_half, above_runner_up = [], [], []
    rho = 0
    while 2 * unharmed > n_ablations:  # otherwise neither inequality can hold
        lost = n_ablations - unharmed
        losses.append(2 * lost)
        above_half.append(_float_not_above(n_ablations + 2 * lost, 2 * n_ablations))
        above_runner_up.append(_float_not_above(2 * lost, n_ablations))
        # C(m - 1, e) = C(m, e) (m - e) / m, without remainder
        unharmed = unharmed * (d - rho - e) // (d - rho)
        rho += 1
    return _Thresholds(n_ablations, losses, np.array(above_half), np.array(above_runner_up))


def _float_not_above(numerator: int, denominator: int) -> float:
    """The largest float that is not above a fraction."""
    # Python rounds the quotient of two integers correctly, however long they are
    nearest = numerator / denominator
    top, bottom = nearest.as_integer_ratio()
    return (
        nearest if top * denominator <= numerator * bottom else math.nextafter(nearest, -math.inf)
    )


def _jia(low: Array, high: Array, thresholds: _Thresholds) -> Array:
    """The number of rho with ``ceil(p_lower N) - floor(p_upper N) > 2 M``, less one."""
    # The left side over N lies between the difference of the shares and that plus 2 / N. Each step
    # of floats is half a unit in the last place off at most, and nextafter steps outwards by more.
    # Where both ends agree that is the answer; integers settle the rest.
    gap = low - high
    two_ablations = np.nextafter(2 / thresholds.n_ablations, np.inf)
    least = np.searchsorted(thresholds.above_runner_up, np.nextafter(gap, -np.inf), side="left")
    most = np.searchsorted(
        thresholds.above_runner_up,
        np.nextafter(np.nextafter(gap, np.inf) + two_ablations, np.inf),
        side="left",
    )
    for row in np.flatnonzero(least != most):
        least[row] = _exact_count(float(low[row]), float(high[row]), thresholds)
    return np.asarray(least - 1)


def _exact_count(p_lower: float, p_upper: float, thresholds: _Thresholds) -> int:
    """The same for one row, in integers."""
    top, bottom = p_lower.as_integer_ratio()
    own = -(-top * thresholds.n_ablations // bottom)
    top, bottom = p_upper.as_integer_ratio()
    return bisect_left(thresholds.losses, own - top * thresholds.n_ablations // bottom)


def certify_votes(
    votes: ArrayLike, label: ArrayLike, d: int, e: int, alpha: float, method: str
) -> tuple[Array, Array]:
    """The radius and the runner-up of every row, from the votes of the draws.

    ``votes`` is an int array (rows, labels), ``label`` the label of every row (an index). It must
    not be chosen by looking at these votes: choose it on other draws. Each row's radius is then
    right with probability ``1 - alpha``. "levine-feizi" needs one bound, at level alpha; "jia" one
    for each of the C labels, so each has level alpha / C.
    """
    check_method(method)
    counts, label = np.asarray(votes), np.asarray(label)
    rows = np.arange(len(counts))
    n_labels, draws = counts.shape[1], counts.sum(axis=1)
    without_label = counts.copy()
    without_label[rows, label] = -1
    runner_up = without_label.argmax(axis=1)
    if method == "levine-feizi":
        lower, _ = clopper_pearson(counts[rows, label], draws, alpha)
        return ablation_radius(lower, None, d, e, method), runner_up
    lower, upper = clopper_pearson(counts, draws[:, None], alpha / n_labels)
    own = lower[rows, label]
    rest = np.nextafter(1 - own, np.inf)  # what the top label leaves to all others, rounded up
    highest = np.minimum(np.minimum(upper[rows, runner_up], rest), 1.0)
    return ablation_radius(own, highest, d, e, method), runner_up


def check_kept_columns(d: int, e: int) -> None:
    """Refuse numbers of columns that make no ablation."""
    for name, number in (("d", d), ("e", e)):
        check_whole(name, number, 1)
    if e > d:
        raise InputError(f"e is {e}, but there are only d = {d} columns to keep: lower e")


def check_method(method: object) -> None:
    """Refuse a method that does not exist."""
    if method not in METHODS:
        raise InputError(f"method is {method!r}: give {' or '.join(map(repr, METHODS))}")


def _probabilities(name: str, given: ArrayLike, towards: int) -> Array:
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
