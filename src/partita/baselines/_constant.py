"""The naive baselines: always the same prediction, which no column can change.

Labels and targets are trusted, as in the partition ensembles without label attacks.
"""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._support import Array, TableLike
from ..certificates import Certificates, Counts
from ..ensemble import classes_of, numeric_target, target_array
from ..rules import Median, bounds_around
from ..tables import Table, open_table


class _Constant(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What both share: of a table nothing but its shape and names is used."""

    def predict(self, X: TableLike) -> Array:
        """Predict the constant for every row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        array of shape (n_samples,)
            The constant.
        """
        return self._predict(self._rows_to_predict(X))

    def _predict(self, table: Table) -> Array:
        return np.full(table.n_rows, self.constant_)

    def _open(self, X: TableLike, reset: bool) -> Table:
        table = open_table(X)
        validate_data(self, table.header, reset=reset, skip_check_array=True)
        return table

    def _rows_to_predict(self, X: TableLike) -> Table:
        check_is_fitted(self, "constant_")
        return self._open(X, reset=False)

    def _counts(self) -> Counts:
        return Counts("columns", self.n_features_in_)


class ConstantClassifier(ClassifierMixin, _Constant):  # type: ignore[misc]
    """Always predicts the most frequent training label; ties go to the smaller label.

    Labels are trusted, so the prediction survives an attack on every column.

    Attributes
    ----------
    constant_ : label
        The prediction.
    classes_ : array of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, where X had names.

    See Also
    --------
    ConstantRegressor : The same for numbers.
    compare : A table that shows how little a constant's certificates mean.

    Examples
    --------
    >>> from partita.baselines import ConstantClassifier
    >>> clf = ConstantClassifier().fit([[1, 2], [3, 4], [5, 6]], ["no", "yes", "yes"])
    >>> proof = clf.certify([[7, 8]])
    >>> proof.prediction.tolist(), proof.radius.tolist()
    (['yes'], [2])
    """

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Find the most frequent label.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Of which only the shape and the names are used.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self
            The fitted classifier.
        """
        table = self._open(X, reset=True)
        labels = target_array(self, y)
        check_consistent_length(labels, np.empty(table.n_rows))
        self.classes_ = classes_of(labels)
        counts = np.bincount(np.searchsorted(self.classes_, labels))
        self.constant_ = self.classes_[np.argmax(counts)]
        return self

    def certify(self, X: TableLike) -> Certificates:
        """Predict the constant for every row; the radius is the number of columns.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to certify.

        Returns
        -------
        Certificates
            Prediction and radius for each row; there is no runner-up.
        """
        table = self._rows_to_predict(X)
        radius = np.full(table.n_rows, self.n_features_in_)
        return Certificates(
            self._predict(table), radius, None, self._counts(), frame=table.frame, index=table.index
        )

    def _predict(self, table: Table) -> Array:
        return np.repeat(self.classes_[self.classes_ == self.constant_], table.n_rows)


class ConstantRegressor(RegressorMixin, _Constant):  # type: ignore[misc]
    """Always predicts the lower median of the training targets, which is one of them.

    Targets are trusted, so the prediction survives an attack on every column.

    Attributes
    ----------
    constant_ : float
        The prediction.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, where X had names.

    See Also
    --------
    ConstantClassifier : The same for labels.

    Examples
    --------
    >>> from partita.baselines import ConstantRegressor
    >>> reg = ConstantRegressor().fit([[1, 2], [3, 4], [5, 6], [7, 8]], [10, 40, 20, 30])
    >>> proof = reg.certify([[7, 8], [9, 10]], around=[25, 90], tolerance=5)
    >>> proof.prediction.tolist(), proof.radius.tolist()
    ([20.0, 20.0], [2, -1])
    """

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Find the lower median of the targets.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Of which only the shape and the names are used.
        y : array-like of shape (n_samples,)
            Numbers.

        Returns
        -------
        self
            The fitted regressor.
        """
        table = self._open(X, reset=True)
        target = numeric_target(self, y, "ConstantClassifier")
        check_consistent_length(target, np.empty(table.n_rows))
        self.rule_ = Median()
        self.constant_ = float(self.rule_.decide(target[None])[0])
        return self

    def certify(
        self,
        X: TableLike,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        tolerance: ArrayLike | None = None,
        relative: ArrayLike | None = None,
        around: ArrayLike | None = None,
    ) -> Certificates:
        """Predict the constant for every row; the radius is all columns where it is in bounds.

        Give the bounds in one of three ways: ``lower`` and ``upper``, ``tolerance``, or
        ``relative``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to certify.
        lower : float or array-like of shape (n_samples,), optional
            The lower bound itself; -inf leaves this side open.
        upper : float or array-like of shape (n_samples,), optional
            The upper bound itself; inf leaves this side open.
        tolerance : float or array-like of shape (n_samples,), optional
            The bounds lie this far from the middle.
        relative : float or array-like of shape (n_samples,), optional
            The bounds lie this share of the middle's absolute value from it; 0.15 is 15 %.
        around : array-like of shape (n_samples,), optional
            The middle, with ``tolerance`` or ``relative``: by default the prediction; ``y`` for the
            truth, which certified accuracy is about.

        Returns
        -------
        Certificates
            Prediction and radius for each row: the number of columns, or -1 where the constant is
            outside the bounds.
        """
        table = self._rows_to_predict(X)
        prediction = self._predict(table)
        low, high, truth = bounds_around(prediction, lower, upper, tolerance, relative, around)
        inside = (low <= self.constant_) & (self.constant_ <= high)
        radius = np.where(inside, self.n_features_in_, -1)
        return Certificates(
            prediction, radius, None, self._counts(), truth, True, table.frame, table.index
        )
