"""Units that reach several submodels: the bound, and the exact integer program.

An attacker who owns the units A corrupts the union of the submodels they reach. For a rule that
decides by gaps, a row survives if for every rival the losses over that union stay within the
budget. Adding the losses up unit by unit counts a submodel in two reaches twice, so it is an upper
bound on what r units can do, and the radius it gives is sound. The true worst choice is a
maximum-coverage problem, which ``exact`` solves; where the solver stops early, its proven bound is
used, never its best attack."""

import time
from typing import Any

import numpy as np

from .. import kernels
from .._support.types import Array
from ..errors import InputError
from ._reach import Reach

FAR = 2**62  # the budget against a rival that cannot win


def check_cover(cover: Any, time_limit: Any) -> None:
    if cover not in ("bound", "exact"):
        raise InputError(
            f"cover is {cover!r}: give 'bound' (fast) or 'exact' (an integer program for the rows "
            "the bound leaves in doubt)"
        )
    if not isinstance(time_limit, int | float) or not time_limit > 0:
        raise InputError(f"time_limit is {time_limit!r}: it must be a number of seconds above 0")


def radius_in_units(
    gap_form: kernels.Gaps, reach: Reach, cover: str, time_limit: float
) -> tuple[Array, Array]:
    """The radius of every row in units (-1: a budget is negative), and the nearest rival (-1:
    none)."""
    losses, budgets = gap_form
    radius, rival = kernels.reach_radius(
        gap_form, reach.starts, reach.members, int(losses.max(initial=0)) * reach.largest
    )
    if cover == "exact":
        for i in np.flatnonzero((radius >= 0) & (radius < len(reach))):
            radius[i] = max(
                radius[i], _exact_radius(losses[i], budgets[i], reach, int(radius[i]), time_limit)
            )
    return reach.in_units(radius), rival


def _exact_radius(
    losses: Array, budgets: Array, reach: Reach, bound: int, time_limit: float
) -> int:
    """The radius of one row in groups: the smallest attack over all rivals, less one; ``bound`` is
    a radius known to be safe."""
    deadline = time.monotonic() + time_limit
    rivals = np.flatnonzero(budgets != FAR)
    totals = losses[rivals].astype(np.int64) @ reach.groups.T
    spent = np.cumsum(-np.sort(-totals, axis=1), axis=1)
    safe = (spent <= budgets[rivals, None]).sum(axis=1)  # no attack on so many groups succeeds
    best = min(
        _greedy_attack(losses[z], int(budgets[z]), reach) for z in rivals
    )  # one on so many does
    for k in np.argsort(safe, kind="stable"):
        if safe[k] + 1 < best:
            z = rivals[k]
            best = min(
                best,
                _least_attack(
                    losses[z],
                    int(budgets[z]),
                    reach,
                    int(safe[k]) + 1,
                    best,
                    deadline - time.monotonic(),
                ),
            )
    return max(bound, best - 1)


def _greedy_attack(losses: Array, budget: int, reach: Reach) -> int:
    """The size of some successful attack: take the group that costs most of what is left, again and
    again."""
    left, spent = losses.astype(np.int64), 0
    for taken in range(1, len(reach) + 1):
        gains = reach.groups @ left
        best = int(np.argmax(gains))
        spent += int(gains[best])
        left = np.where(reach.groups[best], 0, left)
        if spent > budget:
            return taken
    return len(reach) + 1


def _least_attack(
    losses: Array, budget: int, reach: Reach, at_least: int, at_most: int, seconds: float
) -> int:
    """A proven lower bound on the number of groups whose submodels together cost more than the
    budget; the number itself, given time.

    One binary variable a group, one cover variable a submodel (between 0 and 1, at most the sum of
    its groups): the fewest groups such that the covered losses exceed the budget. The dual bound is
    rounded with room to spare."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, eye_array, hstack

    if seconds <= 0:
        return at_least
    n_groups, n_submodels = reach.groups.shape
    objective = np.concatenate([np.ones(n_groups), np.zeros(n_submodels)])
    covered = hstack(
        [csr_array(-reach.groups.T.astype(float)), eye_array(n_submodels)], format="csr"
    )
    paid = np.concatenate([np.zeros(n_groups), losses.astype(float)])
    count = np.concatenate([np.ones(n_groups), np.zeros(n_submodels)])
    solution = milp(
        objective,
        integrality=count,
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(covered, -np.inf, 0),
            LinearConstraint(paid[None], budget + 1, np.inf),
            LinearConstraint(count[None], at_least, at_most),
        ],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if solution.status == 2:  # no attack of at most so many groups
        return at_most
    dual = solution.mip_dual_bound
    if dual is None or not np.isfinite(dual):
        return at_least
    return int(np.clip(np.ceil(dual - 1e-6), at_least, at_most))
