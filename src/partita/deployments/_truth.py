"""When a prediction counts as right, how near it is to being wrong, and how much a row counts.

All that attacks on models know of a model is here: its predictions and, where it has them, its
probabilities. Whether a row has fallen is decided by predictions alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support import Array


@dataclass(frozen=True, eq=False)
class Scorer:
    """The labels or values of some rows.

    Parameters
    ----------
    y : array of shape (rows,)
        Labels or values.
    tolerance : float, optional
        For values: how far from the truth a prediction counts as right.
    balanced : bool, default=False
        For labels: every label counts the same, however many rows it has.
    """

    y: Array
    tolerance: float | None = None
    balanced: bool = False

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Array) -> "Scorer":
        """Some of the rows, each as often as it is named."""
        return Scorer(self.y[rows], self.tolerance, self.balanced)

    def right(self, prediction: Any) -> Array:
        """Which predictions are right."""
        if self.tolerance is None:
            return np.asarray(np.asarray(prediction) == self.y)
        values, low, high = np.asarray(prediction), self.y - self.tolerance, self.y + self.tolerance
        return np.asarray((values >= low) & (values <= high))

    def share(self, right: Array) -> float:
        """The share of rows that are right; with ``balanced``, the mean share over labels."""
        if not self.balanced:
            return float(np.mean(right))
        return float(np.mean([right[self.y == label].mean() for label in np.unique(self.y)]))

    def leads(self, model: Any, X: Any) -> Array:
        """How far each row is from being wrong, as far as the model shows it.

        For labels, the lead of the true label's probability over the next; without probabilities,
        1 or -1. For values, the distance to the nearer bound.
        """
        if self.tolerance is not None:
            return np.asarray(self.tolerance - np.abs(np.asarray(model.predict(X)) - self.y))
        if not hasattr(model, "predict_proba"):
            return np.where(self.right(model.predict(X)), 1.0, -1.0)
        shares = np.array(model.predict_proba(X), dtype=np.float64)
        own = np.asarray(model.classes_)[None, :] == self.y[:, None]
        others = np.where(own, -np.inf, shares).max(axis=1)
        return np.asarray(np.where(own, shares, 0.0).sum(axis=1) - others)
