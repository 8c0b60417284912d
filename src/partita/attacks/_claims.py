"""What is certified of each attacked row, and how to tell that an attack broke it.

All predictions and radii come from one set of ballots. Nothing here attacks.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from .._support import Array
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ..metrics import correct_radius
from ..rules import TopK
from ..workflow import CertifiedTable
from ._goals import Goals, goals_of


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
    goals : Goals
        What an attacker wants of the rows.
    """

    def __init__(
        self,
        model: FittedEnsemble,
        X: Any,
        truth: Any = None,
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
        self.goals: Goals = goals_of(model, self.prediction, self._statement)

    def __len__(self) -> int:
        return len(self.prediction)

    def correct(self, prediction: Array) -> Array:
        """Which of these predictions, one per row, are right; the truth must be known."""
        return self.certified.correct(prediction)

    def broken(self, prediction: Array) -> Array:
        """Which rows' predictions are no longer what was certified."""
        return np.asarray(~self._statement.holds(prediction))

    def broken_at(self, row: int, predictions: Array) -> Array:
        """Which of several predictions of one row are not what was certified."""
        return np.asarray(~self._statement.take([row]).holds(predictions[None])[0])

    def decide(self, ballots: Array, row: int) -> Array:
        """The predictions from several ballots of one row; a fallback says what it says now."""
        own = self.certified.ballots[np.full(len(ballots), row)]
        return np.asarray(self.model.decide(replace(own, scores=ballots)))

    def certify(self, ballots: Array) -> tuple[Array, Array]:
        """Predictions and radii from these ballots; a fallback's rows have the same label."""
        certified, fallback = self.certified, self.certified.ballots.fallback
        if fallback is not None:
            fallback = np.zeros((len(ballots), fallback.shape[1]))
        changed = replace(certified.ballots, scores=ballots, fallback=fallback)
        prediction = np.asarray(self.model.decide(changed))
        statement = self.model.statement(prediction, certified.tolerance, certified.relative)
        proof = self.model.certificates(changed, statement, time_limit=1.0)
        return prediction, proof.radius
