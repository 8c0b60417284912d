"""One attacker, many rows: an attacker who owns r units corrupts the same units for every row.

So a batch of predictions has a certificate of its own: the largest number of rows that one choice
of r units can change at once. It is never worse than counting the rows whose own radius is below r,
and often much better. Inputs are ballots and the incidence of units and submodels. A solver's
answer is used only through its dual bound.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np

from . import kernels
from ._support import Array, check_whole
from .rules import (
    GapRule,
    Gated,
    Median,
    PooledRule,
    Reach,
    Rule,
    as_ballots,
    check_gate,
    rule_of,
    solve_cover,
)

__all__ = ["Collective", "certify_collective", "criticality"]

CHEAP = 6e9  # additions that trying every choice may take
ROUNDING = 1e-6  # slack for the solver's floating point before a dual bound is rounded


@dataclass(frozen=True, eq=False)
class Collective:
    """What one attacker can do to a batch of predictions.

    Attributes
    ----------
    changed : int
        No choice of ``radius`` units changes more rows than this.
    exact : bool
        Whether the choice in ``units`` makes that many rows lose their lead, so that the number
        cannot be lowered by this argument.
    units : tuple of int
        The worst choice found.
    rows : array of int
        The rows that fall to it.
    pointwise : int
        The number of rows whose own radius is below ``radius``.
    total : int
        The number of rows.
    radius : int
        How many units the attacker owns.

    See Also
    --------
    certify_collective : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify_collective
    >>> print(certify_collective(np.eye(2)[[[0, 0, 1], [0, 1, 0]]], 1, "plurality"))
    an attacker who owns 1 unit can change at most 2 of 2 predictions (2 if each row had its own)
    """

    changed: int
    exact: bool
    units: tuple[int, ...]
    rows: Array
    pointwise: int
    total: int
    radius: int

    def __str__(self) -> str:
        units = "unit" if self.radius == 1 else "units"
        return (
            f"an attacker who owns {self.radius} {units} can change at most {self.changed} of "
            f"{self.total} predictions ({self.pointwise} if each row had its own)"
        )


def certify_collective(
    ballots: Any,
    radius: int,
    rule: str | Rule | None = None,
    reach: Any = None,
    *,
    lower: Any = None,
    upper: Any = None,
    time_limit: float = 60.0,
) -> Collective:
    """Bound the number of rows that one choice of ``radius`` units can change at once.

    Exact by trying every choice while that is cheap; beyond that an integer program, whose proven
    bound is used.

    Parameters
    ----------
    ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
        Every submodel's score for every class; with ``rule=Median()`` every submodel's value, of
        shape (n_samples, n_submodels).
    radius : int
        How many units the attacker owns, at least 1.
    rule : {"plurality", "runoff", "tournament", "median"} or Rule, optional
        How the ballots decide. Required for an array; ballots of a fitted model bring its rule.
        Run-off and top-k get a coarser number: the rows whose radius is below the number of
        submodels that so many units can reach. With :class:`partita.rules.Gated` a row whose vote
        has a smaller radius than the gate always counts as changed: it is the fallback's, which any
        attacker may own.
    reach : array-like of bool, shape (n_units, n_submodels), optional
        Which submodels each unit reaches. By default that of the ballots; without one each unit
        reaches one submodel.
    lower, upper : float or array-like of shape (n_samples,), optional
        With ``rule=Median()``, which needs both: where each prediction must stay.
    time_limit : float, default=60.0
        Seconds for the integer program; after that its dual bound is used, so the result stays
        sound.

    Returns
    -------
    Collective
        The bound, the worst choice found, and the rows that fall to it.

    See Also
    --------
    criticality : What each unit alone can change.
    certify : The certificate of every row by itself.

    References
    ----------
    Theory, section 9.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify_collective
    >>> votes = [[0, 0, 1], [0, 1, 0], [1, 1, 1]]  # three rows, three submodels
    >>> worst = certify_collective(np.eye(2)[votes], radius=1, rule="plurality")
    >>> worst.changed, worst.units, worst.rows.tolist()
    (2, (0,), [0, 1])
    """
    check_whole("radius", radius, 1)
    rule, _ = rule_of(ballots, rule)
    if isinstance(rule, PooledRule):
        return _by_agreement(ballots, int(radius), rule, lower, upper)
    batch = _Batch(ballots, rule, reach, lower, upper)
    gate = batch.gate
    size = min(int(radius), len(batch.reach))
    if not isinstance(batch.rule, GapRule):
        fallen = np.flatnonzero(batch.own_radius < batch.reach.most_reached(size))
        return Collective(len(fallen), False, (), fallen, len(fallen), batch.n_rows, int(radius))
    losses, budgets, rows = batch.pairs_in_doubt(size)
    pointwise = len(np.unique(rows))
    if pointwise == 0 or size == 0:
        fallen = np.unique(rows) if gate else np.empty(0, dtype=np.int64)  # the fallback's rows
        n_fallen = len(fallen)
        return Collective(n_fallen, True, (), fallen, n_fallen, batch.n_rows, int(radius))
    # A choice closes the gate if the largest totals beside it do not fit into the budget any more.
    # The largest of all are a bound: some may be part of the choice.
    reserve = batch.largest_totals(losses, gate)
    if comb(len(batch.reach), size) * len(rows) * max(1, batch.reach.largest) <= CHEAP:
        by_submodel = np.ascontiguousarray(losses.T)
        changed, groups = kernels.worst_choice(
            size, by_submodel, budgets - reserve, rows, batch.reach.starts, batch.reach.members
        )
    else:
        changed, groups = _by_program(
            losses, budgets - reserve, rows, batch.reach, size, time_limit
        )
    changed = min(changed, pointwise)
    covered = batch.reach.groups[groups].any(axis=0)
    spent = losses[:, covered].sum(axis=1, dtype=np.int64)
    spent += batch.largest_totals(np.where(covered, 0, losses), gate)
    fallen = np.unique(rows[spent > budgets])
    units = tuple(int(np.argmax(batch.reach.unit_group == group)) for group in groups)
    return Collective(
        changed, len(fallen) == changed, units, fallen, pointwise, batch.n_rows, int(radius)
    )


def criticality(
    ballots: Any,
    rule: str | Rule | None = None,
    reach: Any = None,
    *,
    lower: Any = None,
    upper: Any = None,
) -> Array:
    """Compute which predictions each unit can change on its own.

    Parameters
    ----------
    ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
        Every submodel's score for every class; with ``rule=Median()`` every submodel's value, of
        shape (n_samples, n_submodels).
    rule : {"plurality", "runoff", "tournament", "median"} or Rule, optional
        How the ballots decide. Required for an array; ballots of a fitted model bring its rule.
        With :class:`partita.rules.Gated`, any unit may change a row that the fallback answers.
    reach : array-like of bool, shape (n_units, n_submodels), optional
        Which submodels each unit reaches. By default that of the ballots; without one each unit
        reaches one submodel.
    lower, upper : float or array-like of shape (n_samples,), optional
        With ``rule=Median()``, which needs both: where each prediction must stay.

    Returns
    -------
    array of bool, shape (n_units, n_samples)
        ``criticality(...).sum(axis=1)`` ranks the units.

    See Also
    --------
    certify_collective : What several units can change together.

    References
    ----------
    Theory, section 9.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import criticality
    >>> criticality(np.eye(2)[[[0, 0, 1], [1, 1, 1]]], "plurality").astype(int)
    array([[1, 0],
           [1, 0],
           [0, 0]])
    """
    rule, _ = rule_of(ballots, rule)
    if isinstance(rule, PooledRule):
        return np.asarray(rule.breakable(ballots, 1, lower, upper).T[rule.unit_groups()])
    batch = _Batch(ballots, rule, reach, lower, upper)
    gate = batch.gate
    # the last line is for units that reach nothing (group -1)
    critical = np.zeros((len(batch.reach) + 1, batch.n_rows), dtype=bool)
    if isinstance(batch.rule, GapRule):
        for start, (losses, budgets) in batch.blocks(batch.rule):
            totals = losses.astype(np.int64) @ batch.reach.groups.T
            if gate:  # beside the unit itself, the gate largest others
                most = _largest(totals, gate)[..., None]
                next_largest = _largest(totals, gate + 1)[..., None] - most
                totals = most + np.minimum(totals, next_largest)
                closed = (most[..., 0] > budgets).any(axis=1)
                critical[-1, start : start + len(losses)] = closed
            broken = (totals > budgets[:, :, None]).any(axis=1)
            critical[:-1, start : start + len(losses)] = broken.T
    else:
        critical[:-1] = batch.own_radius < batch.reach.sizes[:, None]
    return critical[batch.reach.unit_group]


def _by_agreement(
    ballots: Any, radius: int, rule: PooledRule, lower: Any, upper: Any
) -> Collective:
    """Count the rows that each set of groups can change; exact, set by set.

    For labels no attacker can do less; for values, the bound of each row is used.
    """
    group_of = rule.unit_groups()
    n_rows = len(ballots)
    if radius > rule.radius:
        everything = np.arange(n_rows)
        return Collective(n_rows, False, (), everything, n_rows, n_rows, radius)
    broken = rule.breakable(ballots, radius, lower, upper)
    worst = int(np.argmax(broken.sum(axis=0)))
    groups = next(islice(combinations(range(rule.n_groups), radius), worst, None))
    rows = np.flatnonzero(broken[:, worst])
    units = tuple(int(np.argmax(group_of == group)) for group in groups)
    pointwise = int(broken.any(axis=1).sum())
    return Collective(len(rows), True, units, rows, pointwise, n_rows, radius)


class _Batch:
    """Checked ballots, their rule, and which submodels each unit reaches."""

    def __init__(self, ballots: Any, rule: Rule, reach: Any, lower: Any, upper: Any) -> None:
        self.rule, self.gate = rule, 0
        if isinstance(rule, Gated):
            rule.check()
            self.rule, self.gate = rule.rule, int(rule.gate)
        self.bounds: tuple[Array, ...] = ()
        if isinstance(self.rule, Median):
            self.ballots, *bounds = self.rule.check_bounds(ballots, lower, upper)
            self.bounds = tuple(bounds)
        else:
            self.ballots = as_ballots(ballots)
            self.own_radius = self.rule.decision(self.ballots).radius  # refuses NaN and infinities
        self.n_rows = len(self.ballots)
        self.reach = Reach.of(self.ballots, reach)
        check_gate(self.rule, self.gate, self.reach.overlaps)

    def blocks(self, rule: GapRule) -> Iterator[tuple[int, kernels.Gaps]]:
        """Yield the gaps of some rows at a time, and the first of these rows."""
        step = max(1, kernels.BLOCK // max(1, self.ballots.scores[:1].size))
        for start in range(0, self.n_rows, step):
            rows = slice(start, start + step)
            yield start, rule.gaps(self.ballots[rows], *(bound[rows] for bound in self.bounds))

    def pairs_in_doubt(self, size: int) -> tuple[Array, Array, Array]:
        """Collect every pair of a row and an opponent that ``size`` groups might bring down.

        Returns their losses, budgets and rows.
        """
        assert isinstance(self.rule, GapRule)
        found: list[tuple[Array, Array, Array]] = []
        for start, (losses, budgets) in self.blocks(self.rule):
            row, opponent = np.nonzero(self.largest_totals(losses, size + self.gate) > budgets)
            found.append((losses[row, opponent], budgets[row, opponent], row + start))
        if not found:
            nothing = np.empty(0, np.int64)
            return np.empty((0, self.reach.n_submodels), np.int32), nothing, nothing
        all_losses, all_budgets, all_rows = (
            np.concatenate(parts) for parts in zip(*found, strict=True)
        )
        return all_losses, all_budgets, all_rows

    def largest_totals(self, losses: Array, n_groups: int) -> Array:
        """Return what so many groups cost at most: (..., submodels) to (...)."""
        if n_groups == 0:
            return np.zeros(losses.shape[:-1], dtype=np.int64)
        return _largest(losses.astype(np.int64) @ self.reach.groups.T, n_groups)


def _largest(totals: Array, number: int) -> Array:
    """Return the sum of the so many largest along the last axis."""
    rest = totals.shape[-1] - number
    if rest > 0:
        totals = np.partition(totals, rest, axis=-1)
    return np.asarray(totals[..., max(0, rest) :].sum(axis=-1))


def _by_program(
    losses: Array, budgets: Array, rows: Array, reach: Reach, size: int, time_limit: float
) -> tuple[int, Array]:
    """Bound the rows that ``size`` groups can bring down, and return the best choice found.

    The bound is exact if the solver finishes in time. One binary variable per group, one cover
    variable per submodel, one binary variable per pair (this opponent overtakes), one variable per
    row.
    """
    from scipy.sparse import csr_array, diags_array, eye_array, hstack

    names, row_of = np.unique(rows, return_inverse=True)
    n_groups, n_submodels, n_pairs, n_rows = len(reach), reach.n_submodels, len(rows), len(names)
    own = csr_array((np.ones(n_pairs), (row_of, np.arange(n_pairs))), shape=(n_rows, n_pairs))
    price = diags_array(np.maximum(budgets + 1, 0).astype(float))
    no_group, no_row = csr_array((n_pairs, n_groups)), csr_array((n_pairs, n_rows))
    overtaken = hstack([no_group, losses.astype(float), -price, no_row], format="csr")
    no_choice = csr_array((n_rows, n_groups + n_submodels))
    fallen = hstack([no_choice, own, -eye_array(n_rows)], format="csr")
    kinds = np.repeat(np.arange(4), [n_groups, n_submodels, n_pairs, n_rows])
    chosen, of_row = (kinds == 0).astype(float), (kinds == 3).astype(float)
    constraints = [(overtaken, 0, np.inf), (fallen, 0, np.inf), (chosen[None], 0, size)]
    integral = (kinds % 2 == 0).astype(float)  # groups and pairs
    solution = solve_cover(reach, -of_row, integral, constraints, time_limit)
    dual = getattr(solution, "mip_dual_bound", None)
    most = n_rows if dual is None or not np.isfinite(dual) else int(np.floor(-dual + ROUNDING))
    if solution.x is None:
        return most, np.argsort(-reach.sizes, kind="stable")[:size]
    return most, np.argsort(-solution.x[:n_groups], kind="stable")[:size]
