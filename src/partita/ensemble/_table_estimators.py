"""Estimators for tables as they come, the default submodels: columns become floats, trees arrays.

Numbers, texts and missing values are accepted. Every column is encoded on its own, by what training
showed of it: nothing here may depend on other columns or on the batch that a row comes in.

Partitions blend boosted and randomized trees by default (docs/results/default-estimator.md says
why, and why these sizes). Members that leave groups out learn from nearly the same columns and must
agree for a proof, and trees that are split at random and averaged agree more often than boosted
ones (docs/results/leave-out-defaults.md).
"""

from collections.abc import Hashable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
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
    """Classify the rows of a table with gradient-boosted trees.

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
    TableBlendClassifier : Boosted and randomized trees, the default of partitions.

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
    """Predict numbers from the rows of a table with gradient-boosted trees.

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
    TableBlendRegressor : Boosted and randomized trees, the default of partitions.

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
MOST_ROWS = 5_000  # that a randomized tree of a blend learns from
LEAST_SHARE = 1e-3  # of a class among randomized trees


class _TableTrees(TableEstimator):
    """Encode a table column by column and grow trees on it that are split at random.

    The library compares float32 values and takes columns that vary by less than 1e-7 for constants,
    so in training every column is measured from its own centre, in units of its own spread.
    """

    n_estimators: int
    min_samples_leaf: int
    max_features: object
    max_samples: int | None
    random_state: object

    def _fit(self, kind: Estimator, X: TableLike, y: Array, sample_weight: object) -> Self:
        columns = self._learn_encoding(X)
        check_consistent_length(columns[0], y)
        raw = self._encoded(columns)
        scales = [_centre_and_spread(column) for column in raw.T]
        measured = [_measured(*one) for one in zip(raw.T, scales, strict=True)]
        encoded = np.column_stack(measured)
        # Trees one by one, and not a forest of the library: it sets the warning filters of the
        # process in every thread, and with several threads may leave none behind.
        target = np.ascontiguousarray(y, dtype=np.float64)[:, None]
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, encoded, dtype=np.float64)
        rng = check_random_state(self.random_state)
        missing = bool(np.isnan(encoded).any())  # the library looks for them where it checks
        trees, part = [], (encoded, target, weights)
        ends = np.cumsum(np.ones(len(target)) if weights is None else weights)
        # a tree that misses a class would number the others anew
        labelled = hasattr(self, "classes_")
        every = np.unique(target, return_index=True)[1] if labelled else np.arange(0)
        for _ in range(self.n_estimators):
            tree = kind(
                min_samples_leaf=self.min_samples_leaf,
                max_features=self.max_features,
                random_state=rng.randint(np.iinfo(np.int32).max),
            )
            if self.max_samples is not None and self.max_samples < len(encoded):
                drawn = np.searchsorted(
                    ends, rng.random_sample(self.max_samples) * ends[-1], "right"
                )
                rows = np.append(every, np.minimum(drawn, len(ends) - 1))
                part = encoded[rows], target[rows], np.arange(len(rows)) >= len(every)
            trees.append(tree.fit(*part, check_input=missing).tree_)
        self.trees_ = FlatTrees.of_trees(trees)
        for k, scale in enumerate(scales):
            nodes = np.flatnonzero(self.trees_.feature == k)
            self.trees_.threshold[nodes] = _unmeasured(
                self.trees_.threshold[nodes], raw[:, k], encoded[:, k], scale
            )
        return self

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
    max_samples : int, optional
        How many training rows a tree learns from, drawn by their weights. None, or fewer rows: all.
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
    TableBlendClassifier : Boosted and randomized trees, the default of partitions.

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
        max_samples: int | None = None,
        random_state: object = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_samples = max_samples
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
    max_samples : int, optional
        How many training rows a tree learns from, drawn by their weights. None, or fewer rows: all.
    random_state : int, optional
        Seed of columns and thresholds.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.

    See Also
    --------
    partita.LeaveOutRegressor : The ensemble that uses it.
    TableBlendRegressor : Boosted and randomized trees, the default of partitions.

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
        max_samples: int | None = None,
        random_state: object = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_samples = max_samples
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


class _TableBlend(TableEstimator):
    """Boost trees on a table and grow randomized ones, and combine what both predict."""

    _kinds: ClassVar[tuple[Estimator, Estimator]]

    def __init__(
        self,
        n_boosted: int = 50,
        n_randomized: int = 50,
        min_samples_leaf: int = 4,
        random_state: object = None,
    ) -> None:
        self.n_boosted = n_boosted
        self.n_randomized = n_randomized
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def fit(self, X: TableLike, y: Target, sample_weight: object = None) -> Self:
        """Encode the columns and grow the trees.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        y = _check_y(y, y_numeric=is_regressor(self), estimator=self)
        boosting, randomizing = self._kinds
        trees = randomizing(
            self.n_randomized, self.min_samples_leaf, None, MOST_ROWS, self.random_state
        )
        trees = trees.fit(X, y, sample_weight).trees_
        fitted = boosting(self.n_boosted, random_state=self.random_state).fit(X, y, sample_weight)
        for name in ("codes_", "n_features_in_", "classes_", "trees_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        if self.trees_ is not None:
            trees.threshold[trees.feature < 0] /= self.n_randomized
            columns, n_sums = np.arange(self.n_features_in_), len(self.trees_.start)
            self.trees_ = FlatTrees.joined([(self.trees_, columns, 0), (trees, columns, n_sums)])
        return self


class TableBlendClassifier(TableLabels, _TableBlend):
    """Classify the rows of a table with boosted and randomized trees, the default submodel.

    The class probabilities of both are combined by their geometric mean. Columns are read as by
    :class:`TableBoostingClassifier`.

    Parameters
    ----------
    n_boosted : int, default=50
        How many trees are boosted (for more than two classes, per class).
    n_randomized : int, default=50
        How many randomized trees are grown, each on at most 5,000 rows.
    min_samples_leaf : int, default=4
        How many training rows a leaf of a randomized tree holds at least.
    random_state : int, optional
        Seed of both.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.

    See Also
    --------
    partita.FeaturePartitionClassifier : The ensemble that uses it.
    TableBoostingClassifier, TableTreesClassifier : The two alone.

    Examples
    --------
    >>> from partita.ensemble import TableBlendClassifier
    >>> X = [["red", 1.0], ["blue", None], ["red", 2.0], ["blue", 0.5]] * 20
    >>> y = ["yes", "no", "yes", "no"] * 20
    >>> blend = TableBlendClassifier(random_state=0).fit(X, y)
    >>> blend.predict([["blue", None], ["red", 3.0]]).tolist()
    ['no', 'yes']
    """

    __module__ = "partita.ensemble"  # stored models name public paths
    _kinds = TableBoostingClassifier, TableTreesClassifier

    def _outputs(self, sums: Array) -> Array:
        """Return the geometric mean: boosted trees add up to logarithms, the others to shares."""
        if sums.shape[1] == 0:
            return np.ones((len(sums), 1))
        n_classes = len(self.classes_)
        boosted, shares = sums[:, :-n_classes], sums[:, -n_classes:]
        if n_classes == 2:
            boosted = boosted * np.array([-0.5, 0.5])
        return _softmax((boosted + np.log(np.maximum(shares, LEAST_SHARE))) / 2)


class TableBlendRegressor(TableValues, _TableBlend):
    """Predict numbers from the rows of a table with boosted and randomized trees.

    The default submodel: the mean of both. Columns are read as by :class:`TableBoostingRegressor`.

    Parameters
    ----------
    n_boosted : int, default=50
        How many trees are boosted.
    n_randomized : int, default=50
        How many randomized trees are grown, each on at most 5,000 rows.
    min_samples_leaf : int, default=4
        How many training rows a leaf of a randomized tree holds at least.
    random_state : int, optional
        Seed of both.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.

    See Also
    --------
    partita.FeaturePartitionRegressor : The ensemble that uses it.
    TableBoostingRegressor, TableTreesRegressor : The two alone.

    Examples
    --------
    >>> from partita.ensemble import TableBlendRegressor
    >>> X = [["red", 1.0], ["blue", None], ["red", 2.0], ["blue", 0.5]] * 20
    >>> y = [3.0, 1.0, 3.0, 1.0] * 20
    >>> blend = TableBlendRegressor(n_boosted=200, random_state=0).fit(X, y)
    >>> blend.predict([["blue", None]]).round(2).tolist()
    [1.0]
    """

    __module__ = "partita.ensemble"  # stored models name public paths
    _kinds = TableBoostingRegressor, TableTreesRegressor

    def _outputs(self, sums: Array) -> Array:
        return np.asarray(sums.mean(axis=1, keepdims=True))


def _measured(column: Array, scale: tuple[float, float]) -> Array:
    """Return a column as float32, from its own centre and in units of its own spread."""
    with np.errstate(over="ignore"):
        values = (np.clip(column, -LARGEST_SEEN, LARGEST_SEEN) - scale[0]) / scale[1]
    return np.clip(values, -LARGEST, LARGEST).astype(np.float32)


def _unmeasured(
    thresholds: Array, column: Array, measured: Array, scale: tuple[float, float]
) -> Array:
    """Return thresholds that divide the column as the given ones divide it where it is measured."""
    known = ~np.isnan(column)
    values, first = np.unique(column[known], return_index=True)
    n_left = np.searchsorted(measured[known][first], thresholds, side="right")
    least, beyond = np.append(-np.inf, values), np.append(np.nextafter(values, -np.inf), np.inf)
    with np.errstate(over="ignore"):
        return np.clip(thresholds * scale[1] + scale[0], least[n_left], beyond[n_left])


def _centre_and_spread(column: Array) -> tuple[float, float]:
    """Return the middle of a column's distinct values, and how far the middle half of them goes."""
    values = np.unique(np.clip(column[~np.isnan(column)], -LARGEST_SEEN, LARGEST_SEEN))
    n = len(values)
    if n < 2:
        return (0.0, 1.0) if n == 0 else (float(values[0]), 1.0)
    return float(values[n // 2]), float(values[3 * n // 4] - values[n // 4])
