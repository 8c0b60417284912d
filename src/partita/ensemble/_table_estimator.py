"""What estimators for tables as they come share: columns become floats, trees flat arrays.

Numbers, texts and missing values are accepted. Every column is encoded on its own, by what training
showed of it: nothing here may depend on other columns or on the batch that a row comes in.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._support import Array
from ..errors import InputError
from ..tables import apply_codes, learn_codes, table_columns
from ._flat_trees import FlatTrees


class TableEstimator(BaseEstimator):
    """Base class of estimators that encode a table column by column and grow trees on it."""

    codes_: list[dict[str, int] | None]
    n_features_in_: int
    trees_: FlatTrees | None  # None: nothing to learn

    def _learn_encoding(self, X: Any) -> list[Array]:
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

    def _encoding(self, k: int) -> Any:
        """Return what column k is encoded by; where it is equal, columns are encoded alike."""
        codes = self.codes_[k]
        return None if codes is None else tuple(codes.items())

    def _outputs(self, sums: Array) -> Array:
        """Return what is predicted, from the sums of the trees."""
        raise NotImplementedError

    def _outputs_alike(self) -> Any:
        """Return what ``_outputs`` depends on; where it is equal, sums are treated alike."""
        n_sums = 0 if self.trees_ is None else len(self.trees_.start)
        return (type(self), n_sums, *np.asarray(getattr(self, "classes_", ())).tolist())

    def _sums(self, X: Any) -> Array:
        """Return what the trees add up to for each row; no columns if nothing was learnt."""
        check_is_fitted(self)
        encoded = self._encoded(table_columns(X))
        return np.zeros((len(encoded), 0)) if self.trees_ is None else self.trees_.sums(encoded)

    def __getstate__(self) -> dict[str, Any]:
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class TableLabels(ClassifierMixin):
    """What classifiers of tables add: probabilities and labels."""

    classes_: Array
    _sums: Any
    _outputs: Any

    def predict_proba(self, X: Any) -> Array:
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

    def predict(self, X: Any) -> Array:
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


class TableValues(RegressorMixin):
    """What regressors of tables add: values."""

    _sums: Any
    _outputs: Any

    def predict(self, X: Any) -> Array:
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
