"""What estimators share that train the submodels of an ensemble jointly: fit and predict alone.

Alone, such an estimator is one network over all pixels.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._support import Array


class JointImageClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of flattened images whose ``fit_submodels`` trains many submodels at once."""

    image_shape: Any
    random_state: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Train one network over all pixels.

        Parameters
        ----------
        X : array-like of shape (n_images, height * width * channels)
            Flattened images of whole numbers from 0 to 255.
        y : array-like of shape (n_images,)
            Their labels.

        Returns
        -------
        self
            The fitted estimator.
        """
        columns = list(range(int(np.prod(self.image_shape))))
        self.submodels_ = self.fit_submodels(X, y, [columns], [int(self.random_state)])
        self.classes_ = self.submodels_.classes_
        self.n_features_in_ = len(columns)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_images, height * width * channels)
            Flattened images.

        Returns
        -------
        array of shape (n_images, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self, "submodels_")
        return np.asarray(np.exp(self.submodels_.scores(X)[:, 0]))

    def predict(self, X: Any) -> Array:
        """Predict the most probable label of each image.

        Parameters
        ----------
        X : array-like of shape (n_images, height * width * channels)
            Flattened images.

        Returns
        -------
        array of shape (n_images,)
            Labels, as given to fit.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def fit_submodels(
        self, X: Any, y: Any, columns: Sequence[Sequence[int]], seeds: Sequence[int]
    ) -> Any:
        """Train one submodel for each set of columns; FeaturePartitionClassifier calls this."""
        raise NotImplementedError
