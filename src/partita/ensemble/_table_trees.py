"""The default member of leave-out ensembles: extremely randomized trees for tables as they come.

Members that learn from nearly the same columns must agree for a proof, and trees that are split at
random and averaged agree more often than boosted ones: docs/results/leave-out-defaults.md.

The library compares float32 values and takes columns that vary by less than 1e-7 for constants, so
every column is measured from its own centre, in units of its own spread.
"""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y

from .._support import Array
from ..tables import apply_codes
from ._flat_trees import FlatTrees
from ._table_estimator import TableEstimator, TableLabels, TableValues

LARGEST = float(np.finfo(np.float32).max)
LARGEST_SEEN = 1e300  # beyond, differences of float64 values would overflow


class _TableTrees(TableEstimator):
    """Encode a table column by column and grow trees on it that are split at random."""

    n_estimators: int
    min_samples_leaf: int
    max_features: Any
    random_state: Any

    def _fit(self, kind: Any, X: Any, y: Array, sample_weight: Any) -> Self:
        columns = self._learn_encoding(X)
        check_consistent_length(columns[0], y)
        raw = (apply_codes(*one) for one in zip(columns, self.codes_, strict=True))
        self.scale_ = np.array([_centre_and_spread(column) for column in raw])
        encoded = np.ascontiguousarray(self._encoded(columns))
        # Trees one by one, and not a forest of the library: it sets the warning filters of the
        # process in every thread, and with several threads may leave none behind.
        target = np.ascontiguousarray(y, dtype=np.float64)[:, None]
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, encoded, dtype=np.float64)
        rng = check_random_state(self.random_state)
        missing = bool(np.isnan(encoded).any())  # the library looks for them where it checks
        trees = []
        for _ in range(self.n_estimators):
            tree = kind(
                min_samples_leaf=self.min_samples_leaf,
                max_features=self.max_features,
                random_state=rng.randint(np.iinfo(np.int32).max),
            )
            trees.append(tree.fit(encoded, target, weights, check_input=missing).tree_)
        self.trees_ = FlatTrees.of_trees(trees)
        return self

    def _encode_column(self, column: Array, k: int) -> Array:
        """Return column k as float32, as the library will compare it."""
        encoded = np.clip(super()._encode_column(column, k), -LARGEST_SEEN, LARGEST_SEEN)
        with np.errstate(over="ignore"):
            encoded = (encoded - self.scale_[k, 0]) / self.scale_[k, 1]
        return np.asarray(np.clip(encoded, -LARGEST, LARGEST).astype(np.float32))

    def _encoding(self, k: int) -> Any:
        return super()._encoding(k), *self.scale_[k].tolist()

    def _outputs(self, sums: Array) -> Array:
        """Return the mean of the leaves."""
        assert self.trees_ is not None
        return np.asarray(sums / len(self.trees_.roots))

    def _outputs_alike(self) -> Any:
        assert self.trees_ is not None
        return *super()._outputs_alike(), len(self.trees_.roots)


class TableTreesClassifier(TableLabels, _TableTrees):
    """Classify the rows of a table with extremely randomized trees.

    They are the default members of :class:`partita.LeaveOutClassifier`. Numbers, booleans and dates
    become floats. Texts and categories become codes for the most frequent 254 of a column, the most
    frequent first; rarer ones, and those not seen in training, count as missing.

    Parameters
    ----------
    n_estimators : int, default=50
        How many trees are grown.
    min_samples_leaf : int, default=1
        How many training rows a leaf holds at least.
    max_features : {"sqrt", "log2", None}, int or float, default="sqrt"
        How many columns are tried at a split, each at one random threshold; a float is a share.
    random_state : int, optional
        Seed of columns and thresholds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.

    See Also
    --------
    partita.LeaveOutClassifier : The ensemble that uses it.
    TableBoostingClassifier : Boosted trees, the default of partitions.

    Examples
    --------
    >>> from partita.ensemble import TableTreesClassifier
    >>> X = [["red", 1.0], ["blue", None], ["red", 2.0], ["blue", 0.5]] * 20
    >>> y = ["yes", "no", "yes", "no"] * 20
    >>> trees = TableTreesClassifier(random_state=0).fit(X, y)
    >>> trees.predict([["blue", None], ["red", 3.0]]).tolist()
    ['no', 'yes']
    """

    __module__ = "partita.ensemble"  # stored models name public paths

    def __init__(
        self,
        n_estimators: int = 50,
        min_samples_leaf: int = 1,
        max_features: Any = "sqrt",
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state

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
        TableTreesClassifier
            The fitted estimator.
        """
        labels = _check_y(y, estimator=self)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        from sklearn.tree import ExtraTreeClassifier  # predictions do without

        return self._fit(ExtraTreeClassifier, X, codes, sample_weight)


class TableTreesRegressor(TableValues, _TableTrees):
    """Predict numbers from the rows of a table with extremely randomized trees.

    They are the default members of :class:`partita.LeaveOutRegressor`. Numbers, booleans and dates
    become floats. Texts and categories become codes for the most frequent 254 of a column, the most
    frequent first; rarer ones, and those not seen in training, count as missing.

    Parameters
    ----------
    n_estimators : int, default=50
        How many trees are grown.
    min_samples_leaf : int, default=2
        How many training rows a leaf holds at least.
    max_features : {"sqrt", "log2", None}, int or float, default=1/3
        How many columns are tried at a split, each at one random threshold; a float is a share.
    random_state : int, optional
        Seed of columns and thresholds.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.

    See Also
    --------
    partita.LeaveOutRegressor : The ensemble that uses it.
    TableBoostingRegressor : Boosted trees, the default of partitions.

    Examples
    --------
    >>> from partita.ensemble import TableTreesRegressor
    >>> X = [["red", 1.0], ["blue", None], ["red", 2.0], ["blue", 0.5]] * 20
    >>> y = [3.0, 1.0, 3.0, 1.0] * 20
    >>> trees = TableTreesRegressor(random_state=0).fit(X, y)
    >>> trees.predict([["blue", None]]).round(2).tolist()
    [1.0]
    """

    __module__ = "partita.ensemble"  # stored models name public paths

    def __init__(
        self,
        n_estimators: int = 50,
        min_samples_leaf: int = 2,
        max_features: Any = 1 / 3,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state

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
        TableTreesRegressor
            The fitted estimator.
        """
        values = _check_y(y, y_numeric=True, estimator=self)
        from sklearn.tree import ExtraTreeRegressor  # predictions do without

        return self._fit(ExtraTreeRegressor, X, values, sample_weight)


def _centre_and_spread(column: Array) -> tuple[float, float]:
    """Return the middle of a column's distinct values, and how far the middle half of them goes."""
    values = np.unique(np.clip(column[~np.isnan(column)], -LARGEST_SEEN, LARGEST_SEEN))
    n = len(values)
    if n < 2:
        return (0.0, 1.0) if n == 0 else (float(values[0]), 1.0)
    return float(values[n // 2]), float(values[3 * n // 4] - values[n // 4])
