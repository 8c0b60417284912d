"""The default submodel: scikit-learn's histogram gradient boosting, for tables with numbers, texts
and gaps as they come.

Every column is looked at on its own, inside the submodel that owns it. Why this library and these
sizes: docs/default-estimator.md."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils.validation import check_is_fitted

from .._support.types import Array
from ..errors import InputError
from ..tables._encoding import apply_codes, learn_codes, table_columns


class _TableBoosting(BaseEstimator):
    """Encode a table column by column and boost shallow trees on it.

    Numbers, booleans and dates become floats; texts and categories become codes, the most frequent
    254 of a column, the rest and what was not seen in training counts as missing."""

    def __init__(
        self,
        max_iter=50,
        max_leaf_nodes=8,
        learning_rate=0.1,
        min_samples_leaf=20,
        random_state=None,
    ):
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def _fit(self, boosting: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        columns = table_columns(X)
        self.codes_ = [learn_codes(column) for column in columns]
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
        encoded[:, np.isnan(encoded).all(axis=0)] = (
            0.0  # the library cannot bin a column without values; nothing splits on a constant
        )
        self.model_ = model.fit(encoded, y, sample_weight=sample_weight)
        self.n_features_in_ = len(columns)
        return self

    def _encode(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._encoded(table_columns(X))

    def _encoded(self, columns: list[Array]) -> Array:
        if len(columns) != len(self.codes_):
            raise InputError(
                f"X has {len(columns)} features, but this estimator was fitted with "
                f"{len(self.codes_)}"
            )
        return np.column_stack(
            [apply_codes(column, codes) for column, codes in zip(columns, self.codes_, strict=True)]
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class TableBoostingClassifier(ClassifierMixin, _TableBoosting):
    """Gradient-boosted trees for a table's classes."""

    __module__ = "partita.ensemble"  # stored models name public paths

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.classes_ = np.unique(y)
        if len(self.classes_) == 1:  # nothing to learn, and the library expects two classes
            columns = table_columns(X)
            self.codes_, self.model_, self.n_features_in_ = (
                [learn_codes(column) for column in columns],
                None,
                len(columns),
            )
            return self
        return self._fit(HistGradientBoostingClassifier, X, y, sample_weight)

    def predict_proba(self, X: Any) -> Array:
        encoded = self._encode(X)
        return (
            np.ones((len(encoded), 1))
            if self.model_ is None
            else self.model_.predict_proba(encoded)
        )

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class TableBoostingRegressor(RegressorMixin, _TableBoosting):
    """Gradient-boosted trees for a table's target."""

    __module__ = "partita.ensemble"  # stored models name public paths

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        return self._fit(HistGradientBoostingRegressor, X, y, sample_weight)

    def predict(self, X: Any) -> Array:
        return np.asarray(self.model_.predict(self._encode(X)))
