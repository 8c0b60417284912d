"""Certificates for overlapping units: a fast bound, and an exact integer program.

Inputs are losses, budgets and the incidence of units and submodels; nothing here knows estimators
or tables. An attacker who owns the units A corrupts the union of the submodels they reach, and a
row survives if, against every opponent, the losses over that union stay within the budget. Adding
losses up unit by unit counts a submodel in two reaches twice: an upper bound on what r units can
do, so the radius it gives is sound. The true worst choice is a maximum-coverage problem.

Soundness: every bound is rounded to the safe side, and solver output is used only through its dual
bound, never through the best attack it found (theory, section 2).
"""

import time
from typing import Any

import numpy as np

from .. import kernels
from .._support import Array
from ..errors import InputError
from ._reach import Reach

ROUNDING = 1e-6  # slack for the solver's floating point before a dual bound is rounded
INFEASIBLE = 2  # scipy's status for a program without a solution


def check_cover(cover: Any, time_limit: Any) -> None:
    """Raise if ``cover`` or ``time_limit`` is not valid."""
    if cover not in ("bound", "exact"):
        raise InputError(
            f"cover is {cover!r}: give 'bound' (fast) or 'exact' (an integer program for the rows "
            "the bound leaves undecided)"
        )
    if not isinstance(time_limit, int | float) or not time_limit > 0:
        raise InputError(f"time_limit is {time_limit!r}: it must be a number of seconds above 0")


def check_bound_only(rule: Any, cover: str) -> None:
    """Refuse the integer program with a rule that does not decide by gaps."""
    if cover == "exact":
        raise InputError(
            f"cover='exact' is not supported with {rule!r}, which does not decide by gaps: use "
            "cover='bound', or rule='tournament' or 'plurality'"
        )


def overlap_radius(
    gap_form: kernels.Gaps, reach: Reach, cover: str, time_limit: float
) -> tuple[Array, Array]:
    """Compute each row's radius in units and its nearest opponent.

    A radius of -1 means that a budget is negative, an opponent of -1 that none can win.
    """
    losses, budgets = gap_form
    radius, runner_up = kernels.reach_radius(
        gap_form, reach.starts, reach.members, int(losses.max(initial=0)) * reach.largest
    )
    if cover == "exact":
        for i in np.flatnonzero((radius >= 0) & (radius < len(reach))):
            exact = _exact_radius(losses[i], budgets[i], reach, int(radius[i]), time_limit)
            radius[i] = max(radius[i], exact)
    return reach.in_units(radius), runner_up


def _exact_radius(
    losses: Array, budgets: Array, reach: Reach, bound: int, time_limit: float
) -> int:
    """Compute one row's radius in groups: the smallest attack over all opponents, minus one.

    ``bound`` is a radius known to be safe.
    """
    deadline = time.monotonic() + time_limit
    opponents = np.flatnonzero(budgets != kernels.FAR)
    totals = losses[opponents].astype(np.int64) @ reach.groups.T
    spent = np.cumsum(-np.sort(-totals, axis=1), axis=1)
    safe = (spent <= budgets[opponents, None]).sum(axis=1)  # no attack on so many groups succeeds
    best = min(  # an attack on so many groups does succeed
        _greedy_attack(losses[z], int(budgets[z]), reach) for z in opponents
    )
    for k in np.argsort(safe, kind="stable"):
        if safe[k] + 1 < best:
            z = opponents[k]
            seconds = deadline - time.monotonic()
            least = _least_attack(
                losses[z], int(budgets[z]), reach, int(safe[k]) + 1, best, seconds
            )
            best = min(best, least)
    return max(bound, best - 1)


def _greedy_attack(losses: Array, budget: int, reach: Reach) -> int:
    """Return the size of a successful attack that takes the costliest remaining group each time."""
    left, spent = losses.astype(np.int64), 0
    for size in range(1, len(reach) + 1):
        gains = reach.groups @ left
        best = int(np.argmax(gains))
        spent += int(gains[best])
        left = np.where(reach.groups[best], 0, left)
        if spent > budget:
            return size
    return len(reach) + 1


def _least_attack(
    losses: Array, budget: int, reach: Reach, at_least: int, at_most: int, seconds: float
) -> int:
    """Return a proven lower bound on the size of an attack that exceeds the budget.

    It is the exact size if the solver finishes in time. One binary variable per group, one cover
    variable per submodel (between 0 and 1, at most the sum of its groups): minimise the number of
    groups such that the covered losses exceed the budget.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, eye_array, hstack

    if seconds <= 0:
        return at_least
    n_groups, n_submodels = reach.groups.shape
    count = np.concatenate([np.ones(n_groups), np.zeros(n_submodels)])
    covered = hstack(
        [csr_array(-reach.groups.T.astype(float)), eye_array(n_submodels)], format="csr"
    )
    paid = np.concatenate([np.zeros(n_groups), losses.astype(float)])
    solution = milp(
        count,
        integrality=count,
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(covered, -np.inf, 0),
            LinearConstraint(paid[None], budget + 1, np.inf),
            LinearConstraint(count[None], at_least, at_most),
        ],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if solution.status == INFEASIBLE:  # no attack with at most so many groups
        return at_most
    dual = solution.mip_dual_bound
    if dual is None or not np.isfinite(dual):
        return at_least
    return int(np.clip(np.ceil(dual - ROUNDING), at_least, at_most))
