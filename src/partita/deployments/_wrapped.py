"""What the alternatives share: one model inside, asked for what it predicts."""

from typing import Any, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if

from .._support import Array


def _has_probabilities(wrapped: Any) -> bool:
    return hasattr(wrapped.estimator, "predict_proba")


class Wrapped(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model behind a treatment of its tables.

    Subclasses say what is learnt from the training table, and what the model then sees.

    Parameters
    ----------
    estimator : estimator
        Cloned and fitted on the treated table.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the treatment, then fit the model."""
        treated, target = self._learn(X, y)
        self.model_ = clone(self.estimator).fit(treated, target)
        return self

    def predict(self, X: Any) -> Array:
        """Predict labels or values."""
        prediction: Array = self.model_.predict(self._treat(X))
        return prediction

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # as above
    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities, in the order of ``classes_``."""
        shares: Array = self.model_.predict_proba(self._treat(X))
        return shares

    @property
    def classes_(self) -> Array:
        """The labels."""
        labels: Array = self.model_.classes_
        return labels

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Learn from the training table; what the model is fitted on."""
        return X, y

    def _treat(self, X: Any) -> Any:
        """Rows as the model sees them."""
        return X
