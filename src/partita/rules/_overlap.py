"""Units that reach several submodels: a radius in units, by a fast bound or an integer program.

An attacker who owns the units A corrupts the union of the submodels they reach, and a row survives
if, against every opponent, the losses over that union stay within the budget. Adding losses up unit
by unit counts a submodel in two reaches twice: an upper bound on what r units can do, so the radius
it gives is sound. The true worst choice is a maximum-coverage problem.

Soundness: every bound is rounded to the safe side, and solver output is used only through its dual
bound, never through the best attack it found (theory, section 2).
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import kernels
from .._support import Array
from ..ballots import Ballots
from ..errors import InputError

ROUNDING = 1e-6  # slack for the solver's floating point before a dual bound is rounded
INFEASIBLE = 2  # scipy's status for a program without a solution


class Reach:
    """The incidence of units and submodels, units of equal reach merged into groups.

    Owning two units of equal reach is owning one, so only groups are counted.

    Parameters
    ----------
    incidence : array-like of bool, shape (n_units, n_submodels)
        Whether an attacker who owns the unit can change the submodel.
    n_submodels : int
        How many submodels there are; checked against ``incidence``.
    cover : {"bound", "exact"}, default="bound"
        The worst choice of units: a fast bound, or an integer program for each row that the bound
        leaves undecided.
    time_limit : float, default=10.0
        Seconds per integer program.

    Attributes
    ----------
    n_units, n_submodels : int
        The shape of the incidence.
    groups : array of bool, shape (n_groups, n_submodels)
        The distinct reaches, without the empty one.
    unit_group : array of int, shape (n_units,)
        The group of each unit, -1 for a unit that reaches nothing.
    sizes : array of int, shape (n_groups,)
        How many submodels each group reaches.
    starts, members : array of int
        The submodels of group g are ``members[starts[g]:starts[g + 1]]``.
    """

    def __init__(
        self,
        incidence: ArrayLike,
        n_submodels: int,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> None:
        check_cover(cover, time_limit)
        self.cover, self.time_limit = cover, time_limit
        try:
            array = np.asarray(incidence)
        except ValueError as exc:
            raise InputError(
                "reach is ragged: give every unit a truth value for every submodel"
            ) from exc
        if array.ndim != 2 or array.shape[1] != n_submodels or not len(array):
            raise InputError(
                f"reach has shape {array.shape}: it must be (units, {n_submodels}), a row of "
                "truth values for every unit"
            )
        if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
            raise InputError(
                "reach holds other values than True and False: say whether a unit reaches a "
                "submodel"
            )
        array = array.astype(bool)
        self.n_units, self.n_submodels = array.shape
        groups, of_unit = np.unique(array, axis=0, return_inverse=True)
        empty = ~groups.any(axis=1)
        position = np.where(empty, -1, np.cumsum(~empty) - 1)
        self.groups = groups[~empty]
        self.unit_group = position[of_unit.reshape(-1)]
        self.sizes = self.groups.sum(axis=1)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        self.members = np.nonzero(self.groups)[1].astype(np.int64)

    @classmethod
    def of(cls, ballots: Ballots, reach: ArrayLike | None = None) -> "Reach":
        """Return the given reach, or that of the ballots; else each unit is one submodel."""
        given = ballots.reach if reach is None else reach
        n_submodels = ballots.shape[1]
        return cls.of_each(n_submodels) if given is None else cls(given, n_submodels)

    @classmethod
    def of_each(cls, n_submodels: int) -> "Reach":
        """Return the reach of units that are one submodel each."""
        return cls(np.eye(n_submodels, dtype=bool), n_submodels)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def largest(self) -> int:
        """The most submodels that one unit reaches."""
        return int(self.sizes.max(initial=0))

    @property
    def overlaps(self) -> bool:
        """Whether two units may reach the same submodel."""
        return bool((self.groups.sum(axis=0) > 1).any())

    def most_reached(self, n_units: int) -> int:
        """Bound the submodels that so many units can reach: the largest reaches added up."""
        total = int(np.sort(self.sizes)[::-1][:n_units].sum())
        return min(total, int(self.groups.any(axis=0).sum()))

    def in_units(self, radius: Array) -> Array:
        """Convert a radius in groups: where all groups cannot break a row, all units cannot."""
        return np.where(radius >= len(self), self.n_units, radius)

    def from_submodels(self, radius: Array) -> Array:
        """Return how many units, whichever they are, reach at most ``radius`` submodels."""
        reached = np.array([self.most_reached(r) for r in range(1, len(self) + 1)], dtype=np.int64)
        units = np.searchsorted(reached, radius, side="right")
        return np.where(radius < 0, radius, self.in_units(units))

    def radius(self, gap_form: kernels.Gaps) -> tuple[Array, Array]:
        """Compute each row's radius in units and its nearest opponent.

        A radius of -1 means that a budget is negative, an opponent of -1 that none can win.
        """
        losses, budgets = gap_form
        largest = int(losses.max(initial=0)) * self.largest
        radius, runner_up = kernels.reach_radius(gap_form, self.starts, self.members, largest)
        if self.cover == "exact":
            for i in np.flatnonzero((radius >= 0) & (radius < len(self))):
                radius[i] = _exact_radius(losses[i], budgets[i], self, int(radius[i]))
        return self.in_units(radius), runner_up

    def frontier_from_submodels(self, radii: Array) -> Array:
        """Convert how many may lie while m are silent: (rows, submodels) to (rows, groups)."""
        silent = [self.most_reached(m) for m in range(max(1, len(self)))]
        found = radii[:, [m for m in silent if m < radii.shape[1]]]
        units = np.full((len(radii), len(silent)), -1)
        units[:, : found.shape[1]] = np.where(
            found == kernels.FAR, found, self.from_submodels(found)
        )
        return units


def check_cover(cover: str, time_limit: float) -> None:
    """Raise if ``cover`` or ``time_limit`` is not valid."""
    if cover not in ("bound", "exact"):
        raise InputError(
            f"cover is {cover!r}: give 'bound' (fast) or 'exact' (an integer program for the rows "
            "the bound leaves undecided)"
        )
    if not isinstance(time_limit, int | float) or not time_limit > 0:
        raise InputError(f"time_limit is {time_limit!r}: it must be a number of seconds above 0")


def _exact_radius(losses: Array, budgets: Array, reach: Reach, bound: int) -> int:
    """Compute one row's radius in groups: the smallest attack over all opponents, minus one.

    ``bound`` is a radius known to be safe.
    """
    deadline = time.monotonic() + reach.time_limit
    opponents = np.flatnonzero(budgets != kernels.FAR)
    totals = losses[opponents].astype(np.int64) @ reach.groups.T
    spent = np.cumsum(-np.sort(-totals, axis=1), axis=1)
    safe = (spent <= budgets[opponents, None]).sum(axis=1)  # no attack on so many groups succeeds
    best = min(  # an attack on so many groups does succeed
        _greedy_attack(losses[z], int(budgets[z]), reach) for z in opponents
    )
    for k in np.argsort(safe, kind="stable"):
        if safe[k] + 1 < best:
            z, at_least = opponents[k], int(safe[k]) + 1
            seconds = deadline - time.monotonic()
            least = _least_attack(losses[z], int(budgets[z]), reach, at_least, best, seconds)
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
    if seconds <= 0:
        return at_least
    n_groups, n_submodels = reach.groups.shape
    count = np.concatenate([np.ones(n_groups), np.zeros(n_submodels)])
    paid = np.concatenate([np.zeros(n_groups), losses.astype(float)])
    constraints = [(paid[None], budget + 1, np.inf), (count[None], at_least, at_most)]
    solution = solve_cover(reach, count, count, constraints, seconds)
    if solution.status == INFEASIBLE:  # no attack with at most so many groups
        return at_most
    dual = solution.mip_dual_bound
    if dual is None or not np.isfinite(dual):
        return at_least
    return int(np.clip(np.ceil(dual - ROUNDING), at_least, at_most))


def solve_cover(
    reach: Reach, cost: Array, integral: Array, constraints: Sequence[Any], seconds: float
) -> Any:
    """Minimise a cost over groups, the submodels these cover, and further variables, in [0, 1].

    The variables stand in this order; a submodel is covered at most as often as its groups are
    chosen. ``constraints``: a matrix and its least and largest products.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, eye_array, hstack

    n_groups, n_submodels = reach.groups.shape
    more = csr_array((n_submodels, len(cost) - n_groups - n_submodels))
    covered = hstack([-reach.groups.T.astype(float), eye_array(n_submodels), more], format="csr")
    return milp(
        cost,
        integrality=integral,
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(*one) for one in [(covered, -np.inf, 0), *constraints]],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
