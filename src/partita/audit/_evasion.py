"""Evasion: r units of the row being predicted are rewritten. The strongest units first, by what was
tried; and random ones.

Extremes, infinities, gaps and strange texts are written also where they gain nothing by themselves:
they are what makes an estimator misbehave."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.types import Array
from ._attacked_table import Cells
from ._claims import Question
from ._hostile_values import FAMILIES
from ._vote_options import apart_first, explore

ROUNDS = 3  # of random attacks at each r
# what is taken off the gain of a fixed vote: a submodel that fails is asked row by row, which takes
# long
FIXED_VOTE = 0.01


@dataclass(frozen=True)
class Rewriting:
    """One attack on all rows at once: the table after it, and which units were rewritten in each
    row."""

    table: Any
    units: list[list[int]]  # by row


class Evader:
    """An attacker who has tried what every unit can bring about."""

    def __init__(self, question: Question, cells: Cells, seed: int) -> None:
        self.question, self.cells = question, cells
        self.rng = np.random.default_rng(seed)
        self.options = explore(question.model, cells, self.rng)
        self.reach = np.asarray(question.model.partition_.incidence())
        self.plans = self._plans()

    def attacks(self, r: int) -> Iterator[tuple[str, Rewriting]]:
        """The strongest attack found with at most r units in every row, random ones, and one for
        every family of hostile values."""
        yield "strongest", self.write([plan[:r] for plan in self.plans])
        for _ in range(ROUNDS):
            yield "random", self.write([self._random(r) for _ in range(len(self.question))])
        for family in FAMILIES:  # in the same units of all rows
            if units := self._hostile(r, family):
                yield family, self.write([units] * len(self.question))

    def _plans(self) -> list[list[tuple[int, int]]]:
        """For each row, units with the option for each, the strongest first; against the rival that
        falls in soonest."""
        question, n_rows = self.question, len(self.question)
        best: list[list[tuple[int, int]]] = [[] for _ in range(n_rows)]
        soonest = np.full(n_rows, np.inf)
        for goal in question.goals():
            gains, choices = self.gains(goal)
            for row in range(n_rows):
                plan = self._greedy(gains[:, row], choices[:, row])
                needed = self._needed(row, plan)
                if needed < soonest[row] or not best[row]:
                    best[row], soonest[row] = plan, needed
        return best

    def gains(self, goal: Array) -> tuple[Array, Array]:
        """By how much each unit can turn its submodels towards the goal, in every row, and with
        which option: (units, rows)."""
        before = self.question.support(self.question.ballots, goal)
        gains = np.full((len(self.options), len(goal)), -np.inf)
        choices = np.zeros(gains.shape, dtype=np.int64)
        for unit, options in enumerate(self.options):
            for k, option in enumerate(options):
                gain = before[:, self.reach[unit]].sum(axis=1) - self.question.support(
                    option.ballots, goal
                ).sum(axis=1)
                gain -= FIXED_VOTE * option.refused
                better = gain > gains[unit]
                gains[unit][better], choices[unit][better] = gain[better], k
        return gains, choices

    def _greedy(self, gains: Array, choices: Array) -> list[tuple[int, int]]:
        plan, touched = [], np.zeros(self.reach.shape[1], dtype=bool)
        for unit in np.argsort(-gains, kind="stable"):
            if np.isfinite(gains[unit]) and not (touched & self.reach[unit]).any():
                touched |= self.reach[unit]
                plan.append((int(unit), int(choices[unit])))
        return plan

    def _needed(self, row: int, plan: list[tuple[int, int]]) -> float:
        """How many units of the plan it takes to break the row, by its ballots; infinite where they
        do not."""
        if not plan:
            return np.inf
        ballots = np.repeat(self.question.ballots[row : row + 1], len(plan), axis=0)
        for k, (unit, option) in enumerate(plan):
            ballots[k:, self.reach[unit]] = self.options[unit][option].ballots[row]
        prediction = self.question.decide(ballots)
        broken = self.question.broken_at(row, prediction)
        return float(np.argmax(broken) + 1) if broken.any() else np.inf

    def _random(self, r: int) -> list[tuple[int, int]]:
        able = [unit for unit, options in enumerate(self.options) if options]
        chosen = self.rng.permutation(able)[:r].tolist()
        return [(unit, int(self.rng.choice(self._accepted(unit)))) for unit in chosen]

    def _accepted(self, unit: int) -> list[int]:
        """The options on which no submodel fails; all of them where there is no such option."""
        accepted = [k for k, option in enumerate(self.options[unit]) if not option.refused]
        return accepted or list(range(len(self.options[unit])))

    def _hostile(self, r: int, family: str) -> list[tuple[int, int]]:
        """Up to r random units, of different submodels as far as there are so many, each with an
        option of the family."""
        able = {
            unit: [k for k, option in enumerate(own) if option.family == family]
            for unit, own in enumerate(self.options)
        }
        order = self.rng.permutation([unit for unit, own in able.items() if own]).astype(np.int64)
        return [
            (unit, int(self.rng.choice(able[unit]))) for unit in apart_first(order, self.reach, r)
        ]

    def write(self, plans: list[list[tuple[int, int]]]) -> Rewriting:
        changes: dict[int, Array] = {}
        for row, plan in enumerate(plans):
            for unit, option in plan:
                for column, values in self.options[unit][option].changes.items():
                    if column not in changes:
                        changes[column] = self.cells.columns[column].copy()
                    if (
                        values.dtype == object and changes[column].dtype != object
                    ):  # a text among numbers
                        changes[column] = changes[column].astype(object)
                    changes[column][row] = values[row]
        return Rewriting(self.cells.table(changes), [[unit for unit, _ in plan] for plan in plans])
