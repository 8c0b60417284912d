"""The default submodel: scikit-learn's histogram gradient boosting, for tables with numbers, texts and gaps as they come.

Every column is looked at on its own, inside the submodel that owns it. Why this library and these sizes: docs/default-estimator.md.
"""

from typing import Any, Self

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils.validation import check_array, check_is_fitted

from .errors import InputError

Array = NDArray[Any]

MOST_CATEGORIES = 254  # histogram gradient boosting has 255 bins, one of them for gaps


class _TableBoosting(BaseEstimator):
    """Encode a table column by column and boost shallow trees on it.

    Numbers, booleans and dates become floats; texts and categories become codes, the most frequent 254 of a column, the rest and
    what was not seen in training counts as missing.
    """

    def __init__(self, max_iter=50, max_leaf_nodes=8, learning_rate=0.1, min_samples_leaf=20, random_state=None):
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def _fit(self, boosting: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        columns = table_columns(X)
        self.codes_ = [_learnt_codes(column) for column in columns]
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
        encoded[:, np.isnan(encoded).all(axis=0)] = 0.0  # the library cannot bin a column without values; nothing splits on a constant
        self.model_ = model.fit(encoded, y, sample_weight=sample_weight)
        self.n_features_in_ = len(columns)
        return self

    def _encode(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._encoded(table_columns(X))

    def _encoded(self, columns: list[Array]) -> Array:
        if len(columns) != len(self.codes_):
            raise InputError(f"X has {len(columns)} features, but this estimator was fitted with {len(self.codes_)}")
        return np.column_stack([_apply(column, codes) for column, codes in zip(columns, self.codes_, strict=True)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class TableBoostingClassifier(ClassifierMixin, _TableBoosting):
    """Gradient-boosted trees for a table's classes."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.classes_ = np.unique(y)
        if len(self.classes_) == 1:  # nothing to learn, and the library expects two classes
            columns = table_columns(X)
            self.codes_, self.model_, self.n_features_in_ = [_learnt_codes(column) for column in columns], None, len(columns)
            return self
        return self._fit(HistGradientBoostingClassifier, X, y, sample_weight)

    def predict_proba(self, X: Any) -> Array:
        encoded = self._encode(X)
        return np.ones((len(encoded), 1)) if self.model_ is None else self.model_.predict_proba(encoded)

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class TableBoostingRegressor(RegressorMixin, _TableBoosting):
    """Gradient-boosted trees for a table's target."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        return self._fit(HistGradientBoostingRegressor, X, y, sample_weight)

    def predict(self, X: Any) -> Array:
        return np.asarray(self.model_.predict(self._encode(X)))


def table_columns(X: Any) -> list[Array]:
    """Every column as an array of floats, or of objects (None for a gap) where its type is not a number's."""
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        return [_series(frame[:, j]) for j in range(frame.shape[1])]
    if scipy.sparse.issparse(X) or not (hasattr(X, "dtype") and X.dtype.kind in "OUST"):
        X = check_array(X, dtype=np.float64, ensure_all_finite=False)  # refuses sparse and complex tables in the usual words
        return list(X.T)
    return [np.asarray(X, dtype=object)[:, j] for j in range(X.shape[1])]


def _series(series: "nw.Series[Any]") -> Array:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype in (nw.Datetime, nw.Date):
        return np.asarray(series.dt.timestamp("ms").cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype == nw.Duration:
        return np.asarray(series.dt.total_milliseconds().cast(nw.Float64).to_numpy(), dtype=np.float64)
    gaps, values = series.is_null().to_list(), series.to_list()
    column = np.empty(len(values), dtype=object)
    for i, (gap, value) in enumerate(zip(gaps, values, strict=True)):
        column[i] = None if gap else value
    return column


def _codes(column: Array) -> dict[str, int] | None:
    """A code for each of a column's most frequent values; None for a column of numbers. Decided in training, once and for all."""
    if _numbers(column) is not None:
        return None
    values, counts = np.unique([_text(value) for value in column if not _gap(value)], return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    return {str(values[rank]): code for code, rank in enumerate(frequent)}


def _learnt_codes(column: Array) -> dict[str, int] | None:
    """The same; none at all where training has no value, so that whatever stands there later counts as missing."""
    return {} if all(_gap(value) for value in column) else _codes(column)


def _apply(column: Array, codes: dict[str, int] | None) -> Array:
    if codes is not None:
        return np.array([np.nan if _gap(value) else codes.get(_text(value), np.nan) for value in column], dtype=np.float64)
    numbers = _numbers(column)
    if numbers is None:
        strange = next(value for value in column if not _gap(value) and _numbers(np.array([value], dtype=object)) is None)
        raise InputError(f"{strange!r} stands where training had numbers")
    return numbers


def _numbers(column: Array) -> Array | None:
    """The column as floats, or None where it holds anything else."""
    if column.dtype.kind == "f":
        return column
    if any(isinstance(value, str | bytes) for value in column):
        return None
    try:
        return np.array([np.nan if _gap(value) else float(value) for value in column])
    except (TypeError, ValueError, OverflowError):
        return None


def _text(value: Any) -> str:
    """A category's name, the same for 1, 1.0 and True: which of them it is depends on the other rows of a batch."""
    if isinstance(value, int | np.bool_ | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def encode_alone(column: Array) -> tuple[Array, bool]:
    """One column as numbers without gaps, and whether they are codes."""
    codes = _codes(column)
    values = _apply(column, codes)
    values = np.clip(values, -1e300, 1e300)
    gaps = np.isnan(values)
    stand_in = -1.0 if codes is not None or gaps.all() else float(np.median(values[~gaps]))
    return np.where(gaps, stand_in, values), codes is not None


def _gap(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(value != value))
