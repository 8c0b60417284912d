"""The naive baselines: always the same answer, which no column can change."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._support.types import Array
from ..certificates import Certificates, Counts
from ..ensemble._base import target_array
from ..errors import InputError
from ..rules import Median
from ..rules._bounds import bounds_around
from ..tables._table import Table, open_table


class _Constant(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What both share: a table of which nothing but its size is looked at."""

    def _open(self, X: Any, reset: bool) -> Table:
        table = open_table(X)
        validate_data(
            self, X if table.header is None else table.header, reset=reset, skip_check_array=True
        )
        return table

    def _asked(self, X: Any) -> Table:
        check_is_fitted(self, "constant_")
        return self._open(X, reset=False)

    def _counts(self) -> Counts:
        return Counts("columns", self.n_features_in_)


class ConstantClassifier(ClassifierMixin, _Constant):  # type: ignore[misc]
    """Always the commonest training label, the smaller of equals. Labels are trusted, so every
    column may fall.

    Attributes
    ----------
    constant_ : the label
    classes_ : array of the labels
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from partita.baselines import ConstantClassifier
    >>> proof = ConstantClassifier().fit([[1, 2], [3, 4], [5, 6]], ["no", "yes", "yes"]).certify([[7, 8]])
    >>> proof.prediction.tolist(), proof.radius.tolist()
    (['yes'], [2])
    """

    def fit(self, X: Any, y: Any) -> Self:
        table = self._open(X, reset=True)
        labels = target_array(self, y)
        check_consistent_length(labels, np.empty(table.n_rows))
        try:
            check_classification_targets(labels)
            self.classes_, counts = np.unique(labels, return_counts=True)
        except TypeError as exc:
            raise InputError(
                "y mixes labels that cannot be sorted, such as texts and numbers: make them all "
                "one type"
            ) from exc
        self.constant_ = self.classes_[np.argmax(counts)]
        return self

    def predict(self, X: Any) -> Array:
        return self._predicted(self._asked(X))

    def certify(self, X: Any) -> Certificates:
        """The label for every row; the radius is all columns."""
        table = self._asked(X)
        radius = np.full(table.n_rows, self.n_features_in_)
        return Certificates(
            self._predicted(table),
            radius,
            None,
            self._counts(),
            frame=table.frame,
            index=table.index,
        )

    def _predicted(self, table: Table) -> Array:
        return np.repeat(self.classes_[self.classes_ == self.constant_], table.n_rows)


class ConstantRegressor(RegressorMixin, _Constant):  # type: ignore[misc]
    """Always the lower median of the training targets, which is one of them. Targets are trusted,
    so every column may fall.

    Attributes
    ----------
    constant_ : float
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from partita.baselines import ConstantRegressor
    >>> reg = ConstantRegressor().fit([[1, 2], [3, 4], [5, 6], [7, 8]], [10, 40, 20, 30])
    >>> proof = reg.certify([[7, 8], [9, 10]], around=[25, 90], tolerance=5)
    >>> proof.prediction.tolist(), proof.radius.tolist()
    ([20.0, 20.0], [2, -1])
    """

    def fit(self, X: Any, y: Any) -> Self:
        table = self._open(X, reset=True)
        target = target_array(self, y)
        check_consistent_length(target, np.empty(table.n_rows))
        try:
            target = target.astype(np.float64)
        except (TypeError, ValueError) as exc:
            raise InputError(
                "y holds values that are no numbers: for labels use a ConstantClassifier"
            ) from exc
        self.rule_ = Median()
        self.constant_ = float(self.rule_.decide(target[None])[0])
        return self

    def predict(self, X: Any) -> Array:
        return np.full(self._asked(X).n_rows, self.constant_)

    def certify(
        self,
        X: Any,
        *,
        lower: Any = None,
        upper: Any = None,
        tolerance: Any = None,
        relative: Any = None,
        around: Any = None,
    ) -> Certificates:
        """The value for every row; the radius is all columns where it lies in its bounds, else -1.

        The bounds are given as in FeaturePartitionRegressor.
        """
        table = self._asked(X)
        votes = np.full((table.n_rows, 1), self.constant_)
        low, high, truth = bounds_around(votes[:, 0], lower, upper, tolerance, relative, around)
        radius = np.where(
            (low <= self.constant_) & (self.constant_ <= high), self.n_features_in_, -1
        )
        return Certificates(
            votes[:, 0], radius, None, self._counts(), truth, True, table.frame, table.index
        )
