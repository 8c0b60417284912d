"""Evasion: r units of the row being predicted are rewritten.

The strongest units first, by what was tried, and random ones. Hostile values are also written where
they gain nothing by themselves: they are what makes an estimator misbehave.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._support import Array
from ..rules import PooledRule
from ._claims import Claims
from ._table import AttackedTable
from ._values import FAMILIES
from ._vote_options import disjoint_first, find_options

RANDOM_ATTACKS = 3  # at each r
# taken off the gain of a fixed vote: a submodel that fails predicts row by row, which takes long
FIXED_VOTE_COST = 0.01

Plan = list[tuple[int, int]]  # units to rewrite in a row, each with the option to use


@dataclass(frozen=True)
class RewrittenRows:
    """One attack on all rows at once: the table after it, and the units rewritten in each row."""

    table: Any
    units: list[list[int]]  # by row


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
        self.claims, self.table = claims, table
        self.rng = np.random.default_rng(seed)
        self.options = find_options(claims.model, table, self.rng)
        self.reach = np.asarray(claims.model.partition_.incidence())
        self.plans = self._strongest_plans()

    def attacks(self, r: int) -> Iterator[RewrittenRows]:
        """The strongest attack found with at most r units, random ones, and hostile values."""
        n_rows = len(self.claims)
        yield self.write([plan[:r] for plan in self.plans])
        for _ in range(RANDOM_ATTACKS):
            yield self.write([self._random_plan(r) for _ in range(n_rows)])
        for family in FAMILIES:  # in the same units of all rows
            if plan := self._hostile_plan(r, family):
                yield self.write([plan] * n_rows)

    def _strongest_plans(self) -> list[Plan]:
        """For each row, its strongest units first, against the goal that is reached soonest."""
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
        """How far each unit can turn its submodels towards the goal, and by which option.

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
        """Units by what they gain in one row, those that share no submodel first.

        Where all share some, as in models that leave units out, any.
        """
        order = [int(unit) for unit in np.argsort(-gains, kind="stable") if gains[unit] > -np.inf]
        chosen, touched = [], np.zeros(self.reach.shape[1], dtype=bool)
        for unit in order:
            if not (touched & self.reach[unit]).any():
                touched |= self.reach[unit]
                chosen.append(unit)
        chosen += [unit for unit in order if unit not in chosen] if len(chosen) == 1 else []
        return [(unit, int(choices[unit])) for unit in chosen]

    def _units_needed(self, row: int, plan: Plan) -> float:
        """How many units of the plan break the row, by its ballots; infinite if they do not."""
        if not plan:
            return np.inf
        ballots = np.repeat(self.claims.ballots[row : row + 1], len(plan), axis=0)
        for k, (unit, option) in enumerate(plan):
            ballots[k:, self.reach[unit]] = self.options[unit][option].ballots[row]
        broken = self.claims.broken_at(row, self.claims.decide(ballots, row))
        return float(np.argmax(broken) + 1) if broken.any() else np.inf

    def _random_plan(self, r: int) -> Plan:
        able = [unit for unit, options in enumerate(self.options) if options]
        chosen = self.rng.permutation(able)[:r].tolist()
        return [(unit, int(self.rng.choice(self._accepted_options(unit)))) for unit in chosen]

    def _accepted_options(self, unit: int) -> list[int]:
        """The options on which no submodel fails; all of them where there is no such option."""
        accepted = [k for k, option in enumerate(self.options[unit]) if not option.refused]
        return accepted or list(range(len(self.options[unit])))

    def _hostile_plan(self, r: int, family: str) -> Plan:
        """Up to r random units with an option of the family, of different submodels if possible."""
        able = {
            unit: [k for k, option in enumerate(own) if option.family == family]
            for unit, own in enumerate(self.options)
        }
        order = self.rng.permutation([unit for unit, own in able.items() if own]).astype(np.int64)
        units = disjoint_first(order, self.reach, r)
        return [(unit, int(self.rng.choice(able[unit]))) for unit in units]

    def write(self, plans: list[Plan]) -> RewrittenRows:
        """The table with each row's plan carried out."""
        changes: dict[int, Array] = {}
        for row, plan in enumerate(plans):
            for unit, option in plan:
                for column, values in self.options[unit][option].changes.items():
                    if column not in changes:
                        changes[column] = self.table.columns[column].copy()
                    if values.dtype == object and changes[column].dtype != object:
                        changes[column] = changes[column].astype(object)  # a text among numbers
                    changes[column][row] = values[row]
        units = [[unit for unit, _ in plan] for plan in plans]
        return RewrittenRows(self.table.table(changes), units)
