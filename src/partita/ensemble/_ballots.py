"""From a fitted submodel to its ballot."""

from typing import Any

import numpy as np

from .._support.types import Array
from ..errors import InputError

FLOOR = float(
    np.log(1e-9)
)  # the lowest log-probability, and what stands in for a score that is no number
LOWEST = np.finfo(np.float32).min  # below every score


def has_scores(estimator: Any) -> bool:
    """Whether a classifier can say more than its vote."""
    return hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")


def class_scores(model: Any, X: Any, classes: Array) -> Array:
    """A classifier's scores as float32 (N, C): log-probabilities, else decision values, else
    one-hot votes."""
    if hasattr(model, "predict_proba"):
        scores = np.log(np.maximum(_table(model.predict_proba(X)), 1e-9))
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
            f"estimator gives {scores.shape[1]} scores for {len(own)} classes: it must give one a "
            "class "
            "(for SVC, decision_function_shape='ovr')"
        )
    return placed(scores, own, classes)


def placed(scores: Array, own: Array, classes: Array) -> Array:
    """Scores (..., own classes) as float32 ballots (..., all classes); what is no number becomes a
    fixed score."""
    with np.errstate(over="ignore"):
        known = scores.astype(np.float32)
    known[~np.isfinite(known)] = FLOOR
    ballots = np.full(
        (*known.shape[:-1], len(classes)), LOWEST, dtype=np.float32
    )  # for a class that was never seen
    ballots[..., np.searchsorted(classes, own)] = known
    return ballots


def values(model: Any, X: Any, stand_in: float) -> Array:
    """A regressor's predictions as float64 (N,); ``stand_in`` for a value that is no number."""
    predicted = np.asarray(model.predict(X), dtype=np.float64).reshape(-1)
    return np.where(np.isfinite(predicted), predicted, stand_in)


def _table(probabilities: Any) -> Array:
    array = np.asarray(probabilities, dtype=np.float64)
    return array.reshape(len(array), -1)
