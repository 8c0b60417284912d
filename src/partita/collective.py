"""One attacker, many rows: whoever owns r units corrupts the same units for every row.

So a batch of predictions has a certificate of its own: the largest number of rows that one choice
of r units can change at once. It is never worse than counting the rows whose own radius is below r,
and often much better."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from . import kernels
from ._support.types import Array
from .errors import InputError
from .rules import Median, named_rule
from .rules._base import GapRule, as_ballots
from .rules._reach import Reach

CHEAP = 6e9  # additions that trying every choice may take


@dataclass(frozen=True, eq=False)
class Collective:
    """What one attacker can do to a batch.

    Attributes
    ----------
    changed : int
        No choice of ``radius`` units changes more rows than this.
    exact : bool
        Whether the choice in ``units`` makes that many rows lose their lead, so that the number
        cannot be lowered by this argument.
    units : tuple of int
        The worst choice known.
    rows : int array
        The rows that fall to it.
    pointwise : int
        The number of rows whose own radius is below ``radius``.
    total : int
        The number of rows.
    radius : int
    """

    changed: int
    exact: bool
    units: tuple[int, ...]
    rows: Array
    pointwise: int
    total: int
    radius: int

    def __str__(self) -> str:
        return (
            f"whoever owns {self.radius} units can change at most {self.changed} of {self.total} "
            "predictions "
            f"({self.pointwise} if each row had an attacker of its own)"
        )


def certify_collective(
    ballots: Any,
    radius: int,
    rule: Any = "tournament",
    reach: Any = None,
    *,
    lower: Any = None,
    upper: Any = None,
    time_limit: float = 60.0,
) -> Collective:
    """The largest number of rows that one choice of ``radius`` units can change at once.

    Exact by trying every choice while that is cheap; beyond, an integer program, whose proven bound
    is used.

    Parameters
    ----------
    ballots : array of shape (rows, submodels, classes), or (rows, submodels) with rule=Median()
    radius : int
        How many units the attacker owns, at least 1.
    rule : str or Rule, default="tournament"
        Run-off and top-k give a coarser number: the rows whose radius is below the submodels that
        so many units can reach.
    reach : bool array of shape (units, submodels), default=None
        Which submodels each unit reaches; None: each reaches one.
    lower, upper : bounds for Median
    time_limit : float, default=60
        Seconds for the integer program.
    """
    if not isinstance(radius, int | np.integer) or isinstance(radius, bool) or radius < 1:
        raise InputError(f"radius is {radius!r}: it must be a whole number, 1 or above")
    batch = _Batch(ballots, rule, reach, lower, upper)
    size = min(int(radius), len(batch.reach))
    if not isinstance(batch.rule, GapRule | Median):
        fallen = np.flatnonzero(batch.own_radius < batch.reach.most_reached(size))
        return Collective(len(fallen), False, (), fallen, len(fallen), batch.n_rows, int(radius))
    losses, budgets, rows = batch.pairs_in_doubt(size)
    pointwise = len(np.unique(rows))
    arrays = (
        np.ascontiguousarray(losses.T),
        budgets,
        rows,
        batch.reach.starts,
        batch.reach.members,
    )
    if pointwise == 0 or size == 0:
        return Collective(0, True, (), np.empty(0, dtype=np.int64), 0, batch.n_rows, int(radius))
    if comb(len(batch.reach), size) * len(rows) * max(1, batch.reach.largest) <= CHEAP:
        changed, groups = kernels.worst_choice(size, *arrays)
    else:
        changed, groups = _by_program(losses, budgets, rows, batch.reach, size, time_limit)
    changed = min(changed, pointwise)
    fallen = np.unique(
        rows[
            losses[:, batch.reach.groups[groups].any(axis=0)].sum(axis=1, dtype=np.int64) > budgets
        ]
    )
    units = tuple(int(np.argmax(batch.reach.unit_group == group)) for group in groups)
    return Collective(
        changed, len(fallen) == changed, units, fallen, pointwise, batch.n_rows, int(radius)
    )


def criticality(
    ballots: Any,
    rule: Any = "tournament",
    reach: Any = None,
    *,
    lower: Any = None,
    upper: Any = None,
) -> Array:
    """Which predictions hang on each unit alone: bool (units, rows). ``criticality(...).sum(1)``
    ranks the units."""
    batch = _Batch(ballots, rule, reach, lower, upper)
    hangs = np.zeros(
        (len(batch.reach) + 1, batch.n_rows), dtype=bool
    )  # the last line is for units that reach nothing
    if isinstance(batch.rule, GapRule | Median):
        for start, (losses, budgets) in batch.blocks():
            totals = losses.astype(np.int64) @ batch.reach.groups.T
            hangs[:-1, start : start + len(losses)] = (totals > budgets[:, :, None]).any(axis=1).T
    else:
        hangs[:-1] = batch.own_radius < batch.reach.sizes[:, None]
    return hangs[batch.reach.unit_group]


class _Batch:
    """Checked ballots, their rule, and who reaches what."""

    def __init__(self, ballots: Any, rule: Any, reach: Any, lower: Any, upper: Any) -> None:
        self.rule = named_rule(rule)
        if isinstance(self.rule, Median):
            self.ballots, self.lower, self.upper = self.rule.checked(ballots, lower, upper)
        else:
            self.ballots = as_ballots(ballots)
            self.own_radius = self.rule.decision(
                self.ballots
            ).radius  # also refuses what is not finite
        self.n_rows, n_submodels = self.ballots.shape[:2]
        self.reach = Reach(np.eye(n_submodels, dtype=bool) if reach is None else reach, n_submodels)

    def blocks(self) -> Iterator[tuple[int, kernels.Gaps]]:
        """The gaps of some rows at a time, and the first of them."""
        step = max(1, kernels.BLOCK // max(1, self.ballots[:1].size))
        for start in range(0, self.n_rows, step):
            rows = slice(start, start + step)
            if isinstance(self.rule, Median):
                yield (
                    start,
                    kernels.median_gaps(self.ballots[rows], self.lower[rows], self.upper[rows]),
                )
            elif isinstance(self.rule, GapRule):
                yield start, self.rule.gaps(self.ballots[rows])

    def pairs_in_doubt(self, size: int) -> tuple[Array, Array, Array]:
        """Losses, budgets and row of every pair of a row and a rival that some ``size`` groups
        might bring down."""
        kept: list[tuple[Array, Array, Array]] = []
        for start, (losses, budgets) in self.blocks():
            totals = losses.astype(np.int64) @ self.reach.groups.T
            if size < totals.shape[2]:
                totals = np.partition(totals, totals.shape[2] - size, axis=2)[:, :, -size:]
            row, rival = np.nonzero(totals.sum(axis=2) > budgets)
            kept.append((losses[row, rival], budgets[row, rival], row + start))
        if not kept:
            return (
                np.empty((0, self.reach.n_submodels), np.int32),
                np.empty(0, np.int64),
                np.empty(0, np.int64),
            )
        return (
            np.concatenate([k[0] for k in kept]),
            np.concatenate([k[1] for k in kept]),
            np.concatenate([k[2] for k in kept]),
        )


def _by_program(
    losses: Array, budgets: Array, rows: Array, reach: Reach, size: int, time_limit: float
) -> tuple[int, Array]:
    """An upper bound on the rows that ``size`` groups can bring down (their number, given time),
    and the best choice found.

    One binary variable a group, one cover variable a submodel, one binary variable a pair (this
    rival overtakes), one variable a row."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, diags_array, eye_array, hstack

    names, row_of = np.unique(rows, return_inverse=True)
    n_groups, n_submodels, n_pairs, n_rows = len(reach), reach.n_submodels, len(rows), len(names)
    own = csr_array((np.ones(n_pairs), (row_of, np.arange(n_pairs))), shape=(n_rows, n_pairs))

    def block(*parts: Any) -> Any:
        return hstack(parts, format="csr")

    def zeros(height: int, width: int) -> Any:
        return csr_array((height, width))

    covered = block(
        csr_array(-reach.groups.T.astype(float)),
        eye_array(n_submodels),
        zeros(n_submodels, n_pairs + n_rows),
    )
    price = diags_array(np.maximum(budgets + 1, 0).astype(float))
    overtaken = block(
        zeros(n_pairs, n_groups), csr_array(losses.astype(float)), -price, zeros(n_pairs, n_rows)
    )
    fallen = block(zeros(n_rows, n_groups + n_submodels), own, -eye_array(n_rows))
    number = np.concatenate([np.ones(n_groups), np.zeros(n_submodels + n_pairs + n_rows)])
    solution = milp(
        -np.concatenate([np.zeros(n_groups + n_submodels + n_pairs), np.ones(n_rows)]),
        integrality=np.concatenate(
            [np.ones(n_groups), np.zeros(n_submodels), np.ones(n_pairs), np.zeros(n_rows)]
        ),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(covered, -np.inf, 0),
            LinearConstraint(overtaken, 0, np.inf),
            LinearConstraint(fallen, 0, np.inf),
            LinearConstraint(number[None], 0, size),
        ],
        options={"time_limit": time_limit, "mip_rel_gap": 0.0},
    )
    dual = getattr(solution, "mip_dual_bound", None)
    most = n_rows if dual is None or not np.isfinite(dual) else int(np.floor(-dual + 1e-6))
    if solution.x is None:
        return most, np.argsort(-reach.sizes, kind="stable")[:size]
    return most, np.argsort(-solution.x[:n_groups], kind="stable")[:size]
