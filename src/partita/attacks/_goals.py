"""What an attacker wants of the rows: other labels, or values beyond their bounds.

Everything in the audit that differs between labels and values is here.
"""

from abc import ABC, abstractmethod

import numpy as np

from .._support import Array
from ..ensemble import FittedEnsemble
from ..rules import Statement

TARGET_LABELS = 3  # that an attacker tries to bring about, the nearest first


class Goals(ABC):
    """Goals of an attack, and how near each submodel is to them.

    A goal is an array with a number per row: the position of a wanted label, or the direction in
    which a value shall move.
    """

    def __init__(self, model: FittedEnsemble, prediction: Array, statement: Statement) -> None:
        self.model, self.prediction, self.statement = model, prediction, statement

    @abstractmethod
    def of_rows(self, ballots: Array) -> list[Array]:
        """What an attacker may want of every row, the nearest goal first."""

    @abstractmethod
    def support(self, ballots: Array, goal: Array) -> Array:
        """How much each submodel sides with the claim against the goal: (rows, submodels)."""

    @abstractmethod
    def codes(self, y: Array) -> Array:
        """Training targets as numbers that a trigger stands for."""

    @abstractmethod
    def trigger_codes(self, goal: Array, codes: Array) -> Array:
        """The numbers whose trigger asks for a goal, where training targets have these codes."""

    @abstractmethod
    def flipped(self, y: Array, rows: list[int]) -> Array:
        """The training targets with those of some rows changed to something else."""

    @abstractmethod
    def rounding_scale(self, largest: Array) -> Array:
        """What rounding is at least relative to, where a submodel's largest ballots are these."""

    @abstractmethod
    def same(self, one: Array, other: Array, rounding: float) -> Array:
        """Which predictions are the same, up to relative rounding where they are values."""


class LabelGoals(Goals):
    """Other labels."""

    def __init__(self, model: FittedEnsemble, prediction: Array, statement: Statement) -> None:
        super().__init__(model, prediction, statement)
        self._codes = np.searchsorted(model.classes_, prediction)

    def of_rows(self, ballots: Array) -> list[Array]:
        n_rows, n_labels = len(ballots), len(self.model.classes_)
        support = np.stack(
            [self.support(ballots, np.full(n_rows, label)).sum(axis=1) for label in range(n_labels)]
        )
        support[self._codes, np.arange(n_rows)] = np.inf
        order = np.argsort(support, axis=0, kind="stable")
        return list(order[: min(TARGET_LABELS, n_labels - 1)])

    def support(self, ballots: Array, goal: Array) -> Array:
        rows = np.arange(len(ballots))
        own, wanted = ballots[rows, :, self._codes], ballots[rows, :, goal.astype(np.int64)]
        lead = np.asarray(own, dtype=np.float64) - wanted
        votes = ballots.argmax(axis=2)
        plurality = (votes == self._codes[:, None]) * 1.0 - (votes == goal[:, None])
        return np.asarray(np.sign(lead) + 0.5 * plurality + 1e-3 * np.tanh(lead))

    def codes(self, y: Array) -> Array:
        return np.searchsorted(self.model.classes_, y)

    def trigger_codes(self, goal: Array, codes: Array) -> Array:
        return goal

    def flipped(self, y: Array, rows: list[int]) -> Array:
        labels, changed = self.model.classes_, y.copy()
        changed[rows] = labels[(np.searchsorted(labels, y[rows]) + 1) % len(labels)]
        return changed

    def rounding_scale(self, largest: Array) -> Array:
        return np.minimum(largest, 1.0)  # scores are log-probabilities

    def same(self, one: Array, other: Array, rounding: float) -> Array:
        return np.asarray(one == other)


class ValueGoals(Goals):
    """Values above their upper bound (goal 1), or below their lower bound (goal -1)."""

    def of_rows(self, ballots: Array) -> list[Array]:
        return [np.ones(len(ballots)), -np.ones(len(ballots))]

    def support(self, ballots: Array, goal: Array) -> Array:
        votes, bounds = self.model.rule_.votes(ballots), self.statement.bounds
        below, above = bounds["upper"][:, None] - votes, votes - bounds["lower"][:, None]
        inside = np.where(goal[:, None] > 0, below, above)
        return np.asarray((inside >= 0) + 1e-3 * np.tanh(inside))

    def codes(self, y: Array) -> Array:
        return np.asarray(y, dtype=np.float64)

    def trigger_codes(self, goal: Array, codes: Array) -> Array:
        return np.asarray(np.where(self.prediction < np.median(codes), codes.max(), codes.min()))

    def flipped(self, y: Array, rows: list[int]) -> Array:
        changed = y.copy()
        changed[rows] = np.where(y[rows] < np.median(y), y.max(), y.min())
        return changed

    def rounding_scale(self, largest: Array) -> Array:
        return largest

    def same(self, one: Array, other: Array, rounding: float) -> Array:
        return np.asarray(np.abs(one - other) <= rounding * np.abs(one).max())


def goals_of(model: FittedEnsemble, prediction: Array, statement: Statement) -> Goals:
    """The goals of an attack on a classifier or a regressor."""
    kinds = {"classification": LabelGoals, "regression": ValueGoals}
    return kinds[model.task](model, prediction, statement)
