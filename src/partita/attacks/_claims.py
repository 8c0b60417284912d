"""What is certified of each attacked row, what an attacker wants of it, and what broke it.

All predictions and radii come from one set of ballots. Everything in the audit that differs between
labels and values is in the goals.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from .._support import Array, TableLike
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ..metrics import correct_radius
from ..rules import Statement, TopK
from ..workflow import CertifiedTable

TARGET_LABELS = 3  # that an attacker tries to bring about, the nearest first


@dataclass(frozen=True, eq=False)
class Attack:
    """One attack on all rows at once.

    Attributes
    ----------
    kind : str
        What it is called.
    units : list of lists of int
        The units rewritten for each row.
    table : table
        The rows to predict, after it.
    training, y : table and array, or None
        The training table after it, and its targets; None where training is honest.
    labels : list of int
        Rows of the training table whose targets were flipped.
    """

    kind: str
    units: list[list[int]]
    table: TableLike
    training: TableLike = None
    y: TableLike = None
    labels: list[int] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class LabelGoals:
    """Other labels: a goal is the position of a wanted label for each row."""

    model: FittedEnsemble
    prediction: Array
    statement: Statement

    @cached_property
    def _codes(self) -> Array:
        return np.searchsorted(self.model.classes_, self.prediction)

    def of_rows(self, ballots: Array) -> list[Array]:
        """Return what an attacker may want of every row, the nearest goal first."""
        n_rows, n_labels = len(ballots), len(self.model.classes_)
        support = np.stack(
            [self.support(ballots, np.full(n_rows, label)).sum(axis=1) for label in range(n_labels)]
        )
        support[self._codes, np.arange(n_rows)] = np.inf
        order = np.argsort(support, axis=0, kind="stable")
        return list(order[: min(TARGET_LABELS, n_labels - 1)])

    def support(self, ballots: Array, goal: Array) -> Array:
        """Return how much each submodel sides with the claim against the goal."""
        rows = np.arange(len(ballots))
        own, wanted = ballots[rows, :, self._codes], ballots[rows, :, goal.astype(np.int64)]
        lead = np.asarray(own, dtype=np.float64) - wanted
        votes = ballots.argmax(axis=2)
        plurality = (votes == self._codes[:, None]) * 1.0 - (votes == goal[:, None])
        return np.asarray(np.sign(lead) + 0.5 * plurality + 1e-3 * np.tanh(lead))

    def codes(self, y: Array) -> Array:
        """Return training targets as the numbers that a trigger stands for."""
        return np.searchsorted(self.model.classes_, y)

    def trigger_codes(self, goal: Array, codes: Array) -> Array:
        """Return the numbers whose trigger asks for a goal, where targets have these codes."""
        return goal

    def flipped(self, y: Array, rows: list[int]) -> Array:
        """Return the training targets with those of some rows changed to something else."""
        labels, changed = self.model.classes_, y.copy()
        changed[rows] = labels[(np.searchsorted(labels, y[rows]) + 1) % len(labels)]
        return changed

    def rounding_scale(self, largest: Array) -> Array:
        """Return what rounding is relative to, where submodels' largest ballots are these."""
        return np.minimum(largest, 1.0)  # scores are log-probabilities

    def same(self, one: Array, other: Array, rounding: float) -> Array:
        """Return which predictions are the same, up to rounding where they are values."""
        return np.asarray(one == other)


class ValueGoals(LabelGoals):
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


class Claims:
    """The honest predictions of some rows, their radii, and what an attacker wants instead.

    Parameters
    ----------
    model : fitted partition ensemble
        The model that is audited.
    X : table
        The rows.
    truth : array-like, optional
        Their labels or values.
    tolerance, relative : float, optional
        For values, how far a prediction may move.

    Attributes
    ----------
    certified : CertifiedTable
        Predictions and certificates.
    ballots : array
        The honest scores or values.
    prediction, radius : arrays of shape (rows,)
        The honest predictions and their radii.
    correct_radius : array of shape (rows,), or None
        The radius up to which each row stays right, -inf where it is wrong now; None where the
        truth is not known.
    goals : LabelGoals
        What an attacker wants of the rows.
    reach : bool array of shape (units, submodels)
        Which submodels each unit reaches.
    """

    def __init__(
        self,
        model: FittedEnsemble,
        X: TableLike,
        truth: TableLike = None,
        tolerance: float | None = None,
        relative: float | None = None,
    ) -> None:
        self.truth = None if truth is None else np.asarray(truth)
        certified = CertifiedTable.of(model, X, tolerance, relative, self.truth)
        if isinstance(certified.rule, TopK):
            raise InputError(
                "the model's rule is TopK, which the audit does not attack: use another rule"
            )
        if certified.proof is None or certified.statement is None:
            raise InputError(
                "tolerance is missing: say how far a prediction of numbers may move (tolerance=, "
                "or relative= for a share)"
            )
        self.model, self.certified, self.ballots = model, certified, certified.ballots.scores
        self.prediction, self.radius = certified.prediction, certified.proof.radius
        self._statement = certified.statement
        self.correct_radius: Array | None = None
        if self.truth is not None:
            proof = certified.against_truth.proof
            assert proof is not None
            self.correct_radius = correct_radius(self.truth, proof)
        goals = LabelGoals if model.task == "classification" else ValueGoals
        self.goals = goals(model, self.prediction, self._statement)
        self.reach = np.asarray(model.partition_.incidence())

    def __len__(self) -> int:
        return len(self.prediction)

    def correct(self, prediction: Array) -> Array:
        """Return which predictions, one per row, are right; the truth must be known."""
        return self.certified.correct(prediction)

    def broken(self, prediction: Array) -> Array:
        """Return which rows' predictions are no longer what was certified."""
        return np.asarray(~self._statement.holds(prediction))

    def broken_at(self, row: int, predictions: Array) -> Array:
        """Return which of several predictions of one row are not what was certified."""
        return np.asarray(~self._statement.take([row]).holds(predictions[None])[0])

    def decide(self, ballots: Array, row: int) -> Array:
        """Return the predictions from several ballots of one row, with its own fallback."""
        own = self.certified.ballots[np.full(len(ballots), row)]
        return np.asarray(self.model.decide(replace(own, scores=ballots)))

    def certify(self, ballots: Array) -> tuple[Array, Array]:
        """Return predictions and radii from these ballots; a fallback's rows have one label."""
        certified, fallback = self.certified, self.certified.ballots.fallback
        if fallback is not None:
            fallback = np.zeros((len(ballots), fallback.shape[1]))
        changed = replace(certified.ballots, scores=ballots, fallback=fallback)
        prediction = np.asarray(self.model.decide(changed))
        statement = self.model.statement(prediction, certified.tolerance, certified.relative)
        proof = self.model.certificates(changed, statement, time_limit=1.0)
        return prediction, proof.radius

    def columns_of(self, units: Iterable[int]) -> list[int]:
        """Return the columns of some units."""
        return [column for unit in units for column in self.model.units_.columns[unit]]
