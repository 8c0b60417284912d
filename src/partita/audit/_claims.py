"""What is proven of each row, and how to tell that an attack broke it."""

from typing import Any

import numpy as np

from .._support.types import Array
from ..errors import InputError
from ..rules import TopK
from ..rules._bounds import bounds_around
from ..workflow._certified_rows import Answers

RIVALS = 3  # labels that an attacker tries to bring about, the nearest first


class Question:
    """The honest answers about some rows, their radii, and what an attacker wants instead.

    Parameters
    ----------
    model : a fitted ensemble
    X : the rows
    truth : their labels or values, default=None
    tolerance, relative : for values, how far a prediction may move
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        truth: Any = None,
        tolerance: float | None = None,
        relative: float | None = None,
    ) -> None:
        answers = Answers(model, X, tolerance, relative)
        if isinstance(answers.rule, TopK):
            raise InputError(
                "the model's rule is TopK, which the audit does not attack: use another rule"
            )
        if answers.proof is None:
            raise InputError(
                "tolerance is missing: say how far a prediction of numbers may move (tolerance=, "
                "or relative= for a share)"
            )
        self.model, self.answers, self.ballots = model, answers, answers.ballots
        self.of_values = answers.of_values
        self.prediction, self.radius = answers.prediction, answers.proof.radius
        self.lower, self.upper = (
            np.asarray([])[:0] if bound is None else np.asarray(bound)
            for bound in (answers._bounds or (None, None))[:2]
        )
        self.truth = None if truth is None else np.asarray(truth)
        self.radius_of_truth = self._radius_of_truth()
        self._codes = None if self.of_values else np.searchsorted(model.classes_, self.prediction)

    def _radius_of_truth(self) -> Array | None:
        """The radius up to which each row stays right, -1 where it is not right now; None where the
        truth is not known."""
        if self.truth is None:
            return None
        proof = self.answers.proof_of_truth(self.truth)
        assert proof is not None
        return np.where(proof.correct(self.truth), proof.radius, -1)

    def right(self, prediction: Array) -> Array:
        """Which of these predictions are right."""
        assert self.truth is not None
        if not self.of_values:
            return np.asarray(prediction == self.truth)
        low, high, _ = bounds_around(
            prediction,
            tolerance=self.answers.tolerance,
            relative=self.answers.relative,
            around=self.truth,
        )
        return np.asarray((prediction >= low) & (prediction <= high))

    def __len__(self) -> int:
        return len(self.prediction)

    def broken(self, prediction: Array) -> Array:
        """Which rows' predictions are no longer what was proven."""
        if self.of_values:
            return np.asarray(~((prediction >= self.lower) & (prediction <= self.upper)))
        return np.asarray(prediction != self.prediction)

    def broken_at(self, row: int, predictions: Array) -> Array:
        """Which of several predictions of one row are no longer what was proven."""
        if self.of_values:
            return np.asarray(
                ~((predictions >= self.lower[row]) & (predictions <= self.upper[row]))
            )
        return np.asarray(predictions != self.prediction[row])

    def decide(self, ballots: Array) -> Array:
        decided = self.answers.rule.decide(ballots)
        return np.asarray(decided if self.of_values else self.model.classes_[decided])

    def statement(self, ballots: Array) -> tuple[Array, Array]:
        """What these ballots would say of their rows: the prediction, and the radius within which
        it holds."""
        rule, over = self.answers.rule, self.model._over("bound", 1.0)
        if not self.of_values:
            proof = rule.certify(ballots, **over)
            return self.model.classes_[proof.prediction], proof.radius
        prediction = np.asarray(rule.decide(ballots))
        low, high, _ = bounds_around(
            prediction, tolerance=self.answers.tolerance, relative=self.answers.relative
        )
        return prediction, rule.certify(ballots, low, high, **over).radius  # type: ignore[arg-type]  # of Median

    def goals(self) -> list[Array]:
        """What an attacker may want of every row: other labels, the nearest first; of values, more
        (1) or less (-1)."""
        if self.of_values:
            return [np.ones(len(self)), -np.ones(len(self))]
        assert self._codes is not None
        support = np.stack(
            [
                self.support(self.ballots, np.full(len(self), label)).sum(axis=1)
                for label in range(len(self.model.classes_))
            ]
        )
        support[self._codes, np.arange(len(self))] = np.inf
        order = np.argsort(support, axis=0, kind="stable")
        return list(order[: min(RIVALS, len(self.model.classes_) - 1)])

    def support(self, ballots: Array, goal: Array) -> Array:
        """How much each submodel stands for what is proven, and against the goal: (rows,
        submodels)."""
        if self.of_values:
            votes = self.answers.rule._stretched(ballots)  # type: ignore[attr-defined]  # of Median
            inside = np.where(
                goal[:, None] > 0, self.upper[:, None] - votes, votes - self.lower[:, None]
            )
            return np.asarray((inside >= 0) + 1e-3 * np.tanh(inside))
        assert self._codes is not None
        rows = np.arange(len(self))
        mine, theirs = ballots[rows, :, self._codes], ballots[rows, :, goal.astype(np.int64)]
        lead = np.asarray(mine, dtype=np.float64) - theirs
        votes = ballots.argmax(axis=2)
        plurality = (votes == self._codes[:, None]) * 1.0 - (votes == goal[:, None])
        return np.asarray(np.sign(lead) + 0.5 * plurality + 1e-3 * np.tanh(lead))
