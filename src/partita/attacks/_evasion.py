"""Evasion of a certified model: r units of the row being predicted are rewritten.

First every unit's options are tried: what its owner can make its submodels say. The strongest units
go first, by what was tried, then random ones. Hostile values are also written where they gain
nothing by themselves: they are what makes an estimator misbehave. A submodel that refuses a value
is an error, or a fixed vote, and not a changed prediction.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from .._support import Array, TableLike
from ..ensemble import FittedEnsemble, were_trained_jointly
from ..partition import LeaveOut
from ..patches import certify_patches
from ..rules import PooledRule
from ._attacked_table import AttackedTable, Changes, unless_refused
from ._claims import Attack, Claims
from ._values import FAMILIES, HONEST, evasion_candidates

RANDOM_ATTACKS = 3  # at each r
# taken off the gain of a fixed vote: a submodel that fails predicts row by row, which takes long
FIXED_VOTE_COST = 0.01
SIDES = (1, 2, 3, 4, 5)  # of the squares that are tried as patches
POSITIONS = 6  # of patches for each image, those that look worst

Plan = list[tuple[int, int]]  # units to rewrite in a row, each with the option to use
Round = dict[int, tuple[str, Changes]]  # what several units try at once, and its family


@dataclass(frozen=True)
class VoteOption:
    """One way of rewriting a unit in all rows, and what its submodels then say of every row."""

    family: str
    changes: Changes
    ballots: Array  # (rows, submodels of the unit, ...)
    refused: bool = False  # the submodels fail on such values and cast their fixed vote


def with_failures(model: FittedEnsemble, on_failure: str) -> FittedEnsemble:
    """Return the same fitted model with another ``on_failure``.

    Unchanged where all submodels are trained jointly, which cannot vote for failures.
    """
    if were_trained_jointly(model.estimators_):
        return model
    other = copy(model)
    other.on_failure = on_failure
    return other


def find_options(
    model: FittedEnsemble, table: AttackedTable, rng: np.random.Generator
) -> list[list[VoteOption]]:
    """Try values in every unit, and return the options found.

    Units that share no submodel are tried in the same table, and values of one family below each
    other, to save time. A submodel that refuses a value casts its fixed vote, which needs no
    prediction; with ``on_failure="raise"`` it raises, and such a value is no option.
    """
    reach = np.asarray(model.partition_.incidence())
    options: list[list[VoteOption]] = [[] for _ in range(len(model.units_))]
    strict = with_failures(model, "raise")
    for units in _disjoint_groups(reach):
        candidates = {
            unit: list(evasion_candidates(table, model.units_.columns[unit], rng)) for unit in units
        }
        rounds = [
            {unit: own[k] for unit, own in candidates.items() if k < len(own)}
            for k in range(max(map(len, candidates.values())))
        ]
        for _, same in groupby(rounds, _kind):
            stack = list(same)
            stacked = _try_below_each_other(strict, table, stack) if len(stack) > 1 else None
            for k, tried in enumerate(stack):
                if stacked is None:
                    ballots, refusing = _try_together(strict, table, tried, reach)
                else:
                    ballots, refusing = stacked[k], set()
                for unit, (family, changes) in tried.items():
                    if unit in refusing:
                        own = _fixed_votes(model, table.n_rows, reach[unit])
                    elif ballots is None:  # other rows are refused than the first: try it alone
                        alone = _ballots(model, table, {unit: (family, changes)})
                        own = None if alone is None else alone[:, reach[unit]]
                    else:
                        own = ballots[:, reach[unit]]
                    if own is not None:
                        options[unit].append(VoteOption(family, changes, own, unit in refusing))
    return options


def _kind(tried: Round) -> tuple[object, ...]:
    """Return families and types: rounds that share them are refused together or not at all."""
    families = {family for family, _ in tried.values()}
    types = {(column, new.dtype) for _, own in tried.values() for column, new in own.items()}
    return families - set(HONEST), types


def _merged(tried: Round) -> Changes:
    return {column: values for _, own in tried.values() for column, values in own.items()}


def unrefused_ballots(model: FittedEnsemble, X: TableLike) -> Array | None:
    """Return the ballots of a table; None where a submodel refuses it."""
    ballots = unless_refused(model.ballots, X)
    return None if ballots is None else np.asarray(ballots)


def _ballots(model: FittedEnsemble, table: AttackedTable, tried: Round) -> Array | None:
    return unrefused_ballots(model, table.table(_merged(tried)))


def _try_below_each_other(
    strict: FittedEnsemble, table: AttackedTable, stack: list[Round]
) -> list[Array] | None:
    """Return the ballots of every round, from one table with all; None where it is refused."""
    ballots = unrefused_ballots(strict, table.below([_merged(tried) for tried in stack]))
    return None if ballots is None else np.split(ballots, len(stack))


def _try_together(
    strict: FittedEnsemble, table: AttackedTable, tried: Round, reach: Array
) -> tuple[Array | None, set[int]]:
    """Return the ballots of several rewritten units, and the units whose submodels refuse them.

    The ballots are None where a submodel refuses other rows than the first.
    """
    ballots = _ballots(strict, table, tried)
    if ballots is not None:
        return ballots, set()
    # some submodel refuses such values: find out which, by the first row alone
    heads = {column: values[:1] for column, values in _merged(tried).items()}
    rows = unless_refused(strict.read, table.take(np.array([0])).table(heads))
    if rows is None or were_trained_jointly(strict.estimators_):
        refused = np.ones(len(strict.partition_), dtype=bool)
    else:
        refused = strict.refusing(rows)
    refusing = {unit for unit in tried if (refused & reach[unit]).any()}
    rest = {unit: own for unit, own in tried.items() if unit not in refusing}
    return (_ballots(strict, table, rest) if rest else None), refusing


def _fixed_votes(model: FittedEnsemble, n_rows: int, reached: Array) -> Array | None:
    """Return the ballots of submodels that fail on every row; None where they may not fail."""
    if model.on_failure != "vote":
        return None
    fixed = np.asarray(model.fixed_ballot_)
    return np.broadcast_to(fixed, (n_rows, int(reached.sum()), *fixed.shape))


def _disjoint_groups(reach: Array) -> list[list[int]]:
    """Return all units, in groups in which no two reach the same submodel."""
    groups: list[tuple[Array, list[int]]] = []
    for unit, own in enumerate(reach):
        for touched, members in groups:
            if not (touched & own).any():
                touched |= own
                members.append(unit)
                break
        else:
            groups.append((own.copy(), [unit]))
    return [members for _, members in groups]


def disjoint_units(order: Array, reach: Array) -> list[int]:
    """Return the units in this order that share no submodel with an earlier one."""
    chosen, touched = [], np.zeros(reach.shape[1], dtype=bool)
    for unit in order:
        if not (touched & reach[unit]).any():
            touched |= reach[unit]
            chosen.append(int(unit))
    return chosen


def disjoint_first(order: Array, reach: Array, r: int) -> list[int]:
    """Return the first r units in this order that share no submodel; then any."""
    chosen = disjoint_units(order, reach)[:r]
    return chosen + [int(unit) for unit in order if int(unit) not in chosen][: r - len(chosen)]


class Evader:
    """An attacker who has tried what every unit can bring about.

    Parameters
    ----------
    claims : Claims
        What is certified of the rows.
    table : AttackedTable
        The rows.
    seed : int
        Of random attacks.
    """

    def __init__(self, claims: Claims, table: AttackedTable, seed: int) -> None:
        self.claims, self.table, self.reach = claims, table, claims.reach
        self.rng = np.random.default_rng(seed)
        self.options = find_options(claims.model, table, self.rng)
        self.plans = self._strongest_plans()

    def attacks(self, r: int) -> Iterator[Attack]:
        """Yield the strongest attack found with at most r units, random and hostile ones."""
        n_rows = len(self.claims)
        yield self.write([plan[:r] for plan in self.plans])
        for _ in range(RANDOM_ATTACKS):
            yield self.write([self._random_plan(r) for _ in range(n_rows)])
        for family in FAMILIES:  # in the same units of all rows
            if plan := self._hostile_plan(r, family):
                yield self.write([plan] * n_rows)

    def patches(self, side: int) -> tuple[Array, list[Attack]] | None:
        """Return which images are certified against a square, and attacks that rewrite squares.

        None where no image is certified, the square does not fit, or a fallback may answer: a
        patch's certificate is the vote's.
        """
        claims, model = self.claims, self.claims.model
        sets, shape = model.partition_, model.image_shape
        assert shape is not None  # else there are no patches to attack
        height, width = map(int, shape[:2])
        if isinstance(sets, LeaveOut) or model.task != "classification" or model.gate_:
            return None
        if side > min(height, width) or len(model.units_) != height * width:
            return None
        proof = certify_patches(claims.ballots, sets, shape, (side, side), claims.certified.rule)
        if not (proof.radius >= 1).any():
            return None
        gains, choices = self.gains(claims.goals.of_rows(claims.ballots)[0])
        harm = np.maximum(np.where(np.isfinite(gains), gains, 0), 0).reshape(height, width, -1)
        windows = np.lib.stride_tricks.sliding_window_view(harm, (side, side), axis=(0, 1)).sum(
            axis=(-2, -1)
        )
        places = np.argsort(-windows.reshape(-1, windows.shape[2]), axis=0, kind="stable")
        pixels = np.arange(height * width).reshape(height, width)
        attacks = []
        for place in places[:POSITIONS]:  # one position for each image
            plans = []
            for row, position in enumerate(place):
                top, left = divmod(int(position), width - side + 1)
                units = pixels[top : top + side, left : left + side].ravel().tolist()
                plans.append([(k, int(choices[k, row])) for k in units if self.options[k]])
            attacks.append(self.write(plans, f"patch of {side} x {side}"))
        return proof.radius, attacks

    def _strongest_plans(self) -> list[Plan]:
        """Return each row's strongest units first, against the goal that is reached soonest."""
        n_rows = len(self.claims)
        best: list[Plan] = [[] for _ in range(n_rows)]
        soonest = np.full(n_rows, np.inf)
        for goal in self.claims.goals.of_rows(self.claims.ballots):
            gains, choices = self.gains(goal)
            for row in range(n_rows):
                plan = self._greedy_plan(gains[:, row], choices[:, row])
                needed = self._units_needed(row, plan)
                if needed < soonest[row] or not best[row]:
                    best[row], soonest[row] = plan, needed
        if isinstance(self.claims.certified.rule, PooledRule):
            self._put_first(best, soonest > 1)
        return best

    def _put_first(self, plans: list[Plan], missing: Array) -> None:
        """Start the plans of these rows with what breaks them alone, if anything does.

        Models that leave units out must agree: one unit may turn few of them, and that is enough.
        """
        for unit, options in enumerate(self.options):
            for k, option in enumerate(options):
                scores = self.claims.ballots.copy()
                scores[:, self.reach[unit]] = option.ballots
                ballots = replace(self.claims.certified.ballots, scores=scores)
                broken = self.claims.broken(self.claims.model.decide(ballots)) & missing
                for row in np.flatnonzero(broken):
                    plans[row] = [(unit, k), *(one for one in plans[row] if one[0] != unit)]
                missing = missing & ~broken

    def gains(self, goal: Array) -> tuple[Array, Array]:
        """Return how far each unit can turn its submodels towards the goal, and by which option.

        Both are of shape (units, rows).
        """
        support = self.claims.goals.support
        before = support(self.claims.ballots, goal)
        gains = np.full((len(self.options), len(goal)), -np.inf)
        choices = np.zeros(gains.shape, dtype=np.int64)
        for unit, options in enumerate(self.options):
            own = before[:, self.reach[unit]].sum(axis=1)
            for k, option in enumerate(options):
                gain = own - support(option.ballots, goal).sum(axis=1)
                gain -= FIXED_VOTE_COST * option.refused
                better = gain > gains[unit]
                gains[unit][better], choices[unit][better] = gain[better], k
        return gains, choices

    def _greedy_plan(self, gains: Array, choices: Array) -> Plan:
        """Return units by what they gain in one row, those that share no submodel first.

        Where all share some, as in models that leave units out, any.
        """
        order = np.argsort(-gains, kind="stable")
        order = order[gains[order] > -np.inf]
        chosen = disjoint_units(order, self.reach)
        if len(chosen) == 1:
            chosen = disjoint_first(order, self.reach, len(order))
        return [(unit, int(choices[unit])) for unit in chosen]

    def _units_needed(self, row: int, plan: Plan) -> float:
        """Return how many units of the plan break the row, by its ballots; infinity if none do."""
        if not plan:
            return np.inf
        ballots = np.repeat(self.claims.ballots[row : row + 1], len(plan), axis=0)
        for k, (unit, option) in enumerate(plan):
            ballots[k:, self.reach[unit]] = self.options[unit][option].ballots[row]
        broken = self.claims.broken_at(row, self.claims.decide(ballots, row))
        return float(np.argmax(broken) + 1) if broken.any() else np.inf

    def _random_plan(self, r: int) -> Plan:
        """Return random units with random options, on which no submodel fails if possible."""
        able = [unit for unit, options in enumerate(self.options) if options]
        plan = []
        for unit in self.rng.permutation(able)[:r].tolist():
            options = self.options[unit]
            accepted = [k for k, option in enumerate(options) if not option.refused]
            plan.append((unit, int(self.rng.choice(accepted or list(range(len(options)))))))
        return plan

    def _hostile_plan(self, r: int, family: str) -> Plan:
        """Return r random units with an option of the family, of different submodels at first."""
        able = {
            unit: [k for k, option in enumerate(own) if option.family == family]
            for unit, own in enumerate(self.options)
        }
        order = self.rng.permutation([unit for unit, own in able.items() if own]).astype(np.int64)
        units = disjoint_first(order, self.reach, r)
        return [(unit, int(self.rng.choice(able[unit]))) for unit in units]

    def write(self, plans: list[Plan], kind: str = "evasion") -> Attack:
        """Carry out each row's plan in a copy of the table."""
        cells = (
            (slice(row, row + 1), {c: values[row : row + 1] for c, values in new.items()})
            for row, plan in enumerate(plans)
            for new in (self.options[unit][option].changes for unit, option in plan)
        )
        units = [[unit for unit, _ in plan] for plan in plans]
        return Attack(kind, units, self.table.table(self.table.written(cells)))
