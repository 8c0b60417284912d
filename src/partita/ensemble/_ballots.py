"""Fitted submodels to ballots: the waist between models and proofs.

A non-finite score becomes a fixed finite one here, row by row and without looking at other rows, so
that nothing but a submodel's own columns moves its ballot (theory, section 1).
"""

from typing import Any

import numpy as np

from .._support import Array
from ..errors import InputError

SMALLEST = 1e-9  # probabilities below count as this
FLOOR = float(np.log(SMALLEST))  # the lowest log-probability, and what replaces a non-finite score
LOWEST = np.finfo(np.float32).min  # below every score: for a class that the submodel never saw


def has_scores(estimator: Any) -> bool:
    """Whether a classifier gives scores, not only votes."""
    return hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")


def class_scores(model: Any, X: Any, classes: Array) -> Array:
    """Return a classifier's scores as float32 (rows, classes).

    Log-probabilities where it has them, else decision values, else one-hot votes.
    """
    if hasattr(model, "predict_proba"):
        scores = _log_probabilities(model.predict_proba(X))
    elif hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        if scores.ndim == 1 or scores.shape[1] == 1:
            scores = scores.reshape(-1, 1) * np.array([[-0.5, 0.5]])
    else:
        votes = np.asarray(model.predict(X))
        return np.asarray(votes[:, None] == classes, dtype=np.float32)
    own = np.asarray(getattr(model, "classes_", classes))
    if scores.shape[1] != len(own):
        raise InputError(
            f"estimator gives {scores.shape[1]} scores for {len(own)} classes: it must give one "
            "per class (for SVC, decision_function_shape='ovr')"
        )
    return scores_as_ballots(scores, own, classes)


def _log_probabilities(probabilities: Any) -> Array:
    shares = np.asarray(probabilities, dtype=np.float64)
    return np.asarray(np.log(np.maximum(shares.reshape(len(shares), -1), SMALLEST)))


def tree_scores(model: Any, sums: Array, classes: Array) -> Array:
    """Return the scores of a classifier of flat trees, from the sums of these."""
    return scores_as_ballots(_log_probabilities(model._outputs(sums)), model.classes_, classes)


def scores_as_ballots(scores: Array, own: Array, classes: Array) -> Array:
    """Arrange scores (..., own classes) as float32 ballots (..., all classes), all finite."""
    with np.errstate(over="ignore"):
        known = scores.astype(np.float32)
    known[~np.isfinite(known)] = FLOOR
    ballots = np.full((*known.shape[:-1], len(classes)), LOWEST, dtype=np.float32)
    ballots[..., np.searchsorted(classes, own)] = known
    return ballots


def values(model: Any, X: Any, stand_in: float) -> Array:
    """Return a regressor's predictions as float64 (rows,), ``stand_in`` where not finite."""
    return _finite(np.asarray(model.predict(X), dtype=np.float64).reshape(-1), stand_in)


def tree_values(model: Any, sums: Array, stand_in: float) -> Array:
    """Return the values of a regressor of flat trees, from the sums of these."""
    return _finite(model._outputs(sums)[:, 0], stand_in)


def _finite(predicted: Array, stand_in: float) -> Array:
    return np.where(np.isfinite(predicted), predicted, stand_in)
