"""The default submodel of partitions: histogram gradient boosting for tables as they come.

Every column is encoded on its own, inside the submodel that owns it. Why this library and these
sizes: docs/results/default-estimator.md.
"""

from typing import Any, Self

import numpy as np
from scipy.special import expit

from .._support import Array
from ._flat_trees import FlatTrees
from ._table_estimator import TableEstimator, TableLabels, TableValues


class _TableBoosting(TableEstimator):
    """Encode a table column by column and boost shallow trees on it."""

    def __init__(
        self,
        max_iter: int = 50,
        max_leaf_nodes: int = 8,
        learning_rate: float = 0.1,
        min_samples_leaf: int = 20,
        random_state: Any = None,
    ) -> None:
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def _fit(self, boosting: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        columns = self._learn_encoding(X)
        categorical = [bool(codes) for codes in self.codes_]
        model = boosting(
            max_iter=self.max_iter,
            max_leaf_nodes=self.max_leaf_nodes,
            learning_rate=self.learning_rate,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
            early_stopping=False,
            categorical_features=categorical if any(categorical) else None,
        )
        encoded = self._encoded(columns)
        # the library cannot bin a column without values; nothing splits on a constant
        encoded[:, np.isnan(encoded).all(axis=0)] = 0.0
        model.fit(encoded, y, sample_weight=sample_weight)
        self.trees_ = FlatTrees.of_boosting(model, categorical)
        return self


class TableBoostingClassifier(TableLabels, _TableBoosting):
    """Classify the rows of a table with gradient-boosted trees, the default submodel.

    Numbers, booleans and dates become floats. Texts and categories become codes for the most
    frequent 254 of a column; rarer ones, and those not seen in training, count as missing.

    Parameters
    ----------
    max_iter : int, default=50
        How many trees are grown (for more than two classes, per class).
    max_leaf_nodes : int, default=8
        How many leaves a tree has.
    learning_rate : float, default=0.1
        How much each tree counts.
    min_samples_leaf : int, default=20
        How many training rows a leaf holds at least.
    random_state : int, optional
        Seed of the boosting library.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.

    See Also
    --------
    partita.FeaturePartitionClassifier : The ensemble that uses it.

    Examples
    --------
    >>> from partita.ensemble import TableBoostingClassifier
    >>> X = [["red", 1.0], ["blue", None], ["red", 2.0], ["blue", 0.5]] * 20
    >>> y = ["yes", "no", "yes", "no"] * 20
    >>> TableBoostingClassifier().fit(X, y).predict([["blue", None], ["red", 3.0]]).tolist()
    ['no', 'yes']
    """

    __module__ = "partita.ensemble"  # stored models name public paths

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Encode the columns and grow the trees.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        TableBoostingClassifier
            The fitted estimator.
        """
        self.classes_ = np.unique(y)
        if len(self.classes_) == 1:  # nothing to learn, and the library expects two classes
            self._learn_encoding(X)
            self.trees_ = None
            return self
        from sklearn.ensemble import HistGradientBoostingClassifier  # predictions do without

        return self._fit(HistGradientBoostingClassifier, X, y, sample_weight)

    def _outputs(self, sums: Array) -> Array:
        if sums.shape[1] == 0:
            return np.ones((len(sums), 1))
        if sums.shape[1] == 1:
            second = expit(sums[:, 0])
            return np.column_stack([1 - second, second])
        return _softmax(sums)


class TableBoostingRegressor(TableValues, _TableBoosting):
    """Predict numbers from the rows of a table with gradient-boosted trees, the default submodel.

    Numbers, booleans and dates become floats. Texts and categories become codes for the most
    frequent 254 of a column; rarer ones, and those not seen in training, count as missing.

    Parameters
    ----------
    max_iter : int, default=50
        How many trees are grown.
    max_leaf_nodes : int, default=8
        How many leaves a tree has.
    learning_rate : float, default=0.1
        How much each tree counts.
    min_samples_leaf : int, default=20
        How many training rows a leaf holds at least.
    random_state : int, optional
        Seed of the boosting library.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.

    See Also
    --------
    partita.FeaturePartitionRegressor : The ensemble that uses it.

    Examples
    --------
    >>> from partita.ensemble import TableBoostingRegressor
    >>> X = [["red", 1.0], ["blue", None], ["red", 2.0], ["blue", 0.5]] * 20
    >>> y = [3.0, 1.0, 3.0, 1.0] * 20
    >>> TableBoostingRegressor(max_iter=200).fit(X, y).predict([["blue", None]]).round(2).tolist()
    [1.0]
    """

    __module__ = "partita.ensemble"  # stored models name public paths

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Encode the columns and grow the trees.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        TableBoostingRegressor
            The fitted estimator.
        """
        from sklearn.ensemble import HistGradientBoostingRegressor  # predictions do without

        return self._fit(HistGradientBoostingRegressor, X, y, sample_weight)

    def _outputs(self, sums: Array) -> Array:
        return sums


def _softmax(sums: Array) -> Array:
    """Class probabilities; added up class by class, so that they are the same in every batch."""
    shares = np.exp(sums - sums.max(axis=1, keepdims=True))
    total = np.zeros(len(shares))
    for k in range(shares.shape[1]):
        total += shares[:, k]
    return np.asarray(shares / total[:, None])
