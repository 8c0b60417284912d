"""Estimators for tables as they come, the default submodels: columns become floats, trees arrays.

Numbers, texts and missing values are accepted. Every column is encoded on its own, by what training
showed of it: nothing here may depend on other columns or on the batch that a row comes in.

Partitions have histogram gradient boosting by default (docs/results/default-estimator.md says why,
and why these sizes). Members that leave groups out learn from nearly the same columns and must
agree for a proof, and trees that are split at random and averaged agree more often than boosted
ones (docs/results/leave-out-defaults.md).
"""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, check_is_fitted

from .._support import Array, Estimator, TableLike
from ..errors import InputError
from ..tables import apply_codes, learn_codes, table_columns
from ._flat_trees import FlatTrees
from ._target import Target


class TableEstimator(BaseEstimator):
    """Base class of estimators that encode a table column by column and grow trees on it."""

    codes_: list[dict[str, int] | None]
    n_features_in_: int
    trees_: FlatTrees | None  # None: nothing to learn

    def _learn_encoding(self, X: TableLike) -> list[Array]:
        """Learn how columns become floats, and return them as they are."""
        columns = table_columns(X)
        self.codes_ = [learn_codes(column) for column in columns]
        self.n_features_in_ = len(columns)
        return columns

    def _encoded(self, columns: list[Array]) -> Array:
        """Return the columns as floats, by the codes of training; NaN where missing."""
        if len(columns) != len(self.codes_):
            raise InputError(
                f"X has {len(columns)} features, but {type(self).__name__} is expecting "
                f"{len(self.codes_)} features as input"
            )
        return np.column_stack([self._encode_column(column, k) for k, column in enumerate(columns)])

    def _encode_column(self, column: Array, k: int) -> Array:
        """Return column k as floats."""
        return apply_codes(column, self.codes_[k])

    def _encoding(self, k: int) -> Hashable:
        """Return what column k is encoded by; where it is equal, columns are encoded alike."""
        codes = self.codes_[k]
        return None if codes is None else tuple(codes.items())

    def _outputs(self, sums: Array) -> Array:
        """Return what is predicted, from the sums of the trees."""
        raise NotImplementedError

    def _outputs_alike(self) -> tuple[Hashable, ...]:
        """Return what ``_outputs`` depends on; where it is equal, sums are treated alike."""
        n_sums = 0 if self.trees_ is None else len(self.trees_.start)
        return (type(self), n_sums, *np.asarray(getattr(self, "classes_", ())).tolist())

    def _sums(self, X: TableLike) -> Array:
        """Return what the trees add up to for each row; no columns if nothing was learnt."""
        check_is_fitted(self)
        encoded = self._encoded(table_columns(X))
        return np.zeros((len(encoded), 0)) if self.trees_ is None else self.trees_.sums(encoded)

    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())
        if state.get("trees_") is not None:
            state["trees_"] = state["trees_"].as_arrays()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.get("trees_") is not None:
            # by what rows will be encoded with: trees must not look beyond
            trees = FlatTrees.from_arrays(state["trees_"], len(state["codes_"]))
            state = state | {"trees_": trees}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class TableLabels(ClassifierMixin, TableEstimator):
    """What classifiers of tables add: probabilities and labels."""

    classes_: Array

    def predict_proba(self, X: TableLike) -> Array:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return np.asarray(self._outputs(self._sums(X)))

    def predict(self, X: TableLike) -> Array:
        """Predict class labels.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.

        Returns
        -------
        array of shape (n_samples,)
            Labels, of the type given to :meth:`fit`.
        """
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])


class TableValues(RegressorMixin, TableEstimator):
    """What regressors of tables add: values."""

    def predict(self, X: TableLike) -> Array:
        """Predict numbers.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.

        Returns
        -------
        array of shape (n_samples,)
            Predicted numbers.
        """
        return np.asarray(self._outputs(self._sums(X))[:, 0])


class _TableBoosting(TableEstimator):
    """Encode a table column by column and boost shallow trees on it."""

    def __init__(
        self,
        max_iter: int = 50,
        max_leaf_nodes: int = 8,
        learning_rate: float = 0.1,
        min_samples_leaf: int = 20,
        random_state: object = None,
    ) -> None:
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def _fit(self, boosting: Estimator, X: TableLike, y: Target, sample_weight: object) -> Self:
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

    def fit(self, X: TableLike, y: Target, sample_weight: object = None) -> Self:
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

    def fit(self, X: TableLike, y: Target, sample_weight: object = None) -> Self:
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
    """Return class probabilities, added up class by class: they are the same in every batch."""
    shares = np.exp(sums - sums.max(axis=1, keepdims=True))
    total = np.zeros(len(shares))
    for k in range(shares.shape[1]):
        total += shares[:, k]
    return np.asarray(shares / total[:, None])


LARGEST = float(np.finfo(np.float32).max)
LARGEST_SEEN = 1e300  # beyond, differences of float64 values would overflow


class _TableTrees(TableEstimator):
    """Encode a table column by column and grow trees on it that are split at random.

    The library compares float32 values and takes columns that vary by less than 1e-7 for constants,
    so every column is measured from its own centre, in units of its own spread.
    """

    n_estimators: int
    min_samples_leaf: int
    max_features: object
    random_state: object

    def _fit(self, kind: Estimator, X: TableLike, y: Array, sample_weight: object) -> Self:
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

    def _encoding(self, k: int) -> Hashable:
        return super()._encoding(k), *self.scale_[k].tolist()

    def _outputs(self, sums: Array) -> Array:
        """Return the mean of the leaves."""
        assert self.trees_ is not None
        return np.asarray(sums / len(self.trees_.roots))

    def _outputs_alike(self) -> tuple[Hashable, ...]:
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
        max_features: object = "sqrt",
        random_state: object = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state

    def fit(self, X: TableLike, y: Target, sample_weight: object = None) -> Self:
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
        max_features: object = 1 / 3,
        random_state: object = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state

    def fit(self, X: TableLike, y: Target, sample_weight: object = None) -> Self:
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
