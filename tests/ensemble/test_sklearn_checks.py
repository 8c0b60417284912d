"""scikit-learn's own checks of an estimator, all of them, over several kinds of submodels."""

from types import NoneType

import numpy as np
import pytest
import sklearn
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from partita.ensemble import (
    TableBlendClassifier,
    TableBlendRegressor,
    TableBoostingClassifier,
    TableBoostingRegressor,
    TableTreesClassifier,
    TableTreesRegressor,
)
from partita.tables import Table

BLENDS = (TableBlendClassifier, TableBlendRegressor, NoneType)
DENSE = (TableBoostingClassifier, TableBoostingRegressor, TableTreesClassifier, *BLENDS)
WEIGHTS_CHECK = "check_sample_weight_equivalence_on_dense_data"
LEAVES = "min_samples_leaf counts rows: a row of weight 2 is not two rows"
ESTIMATORS = [
    FeaturePartitionClassifier(TableBlendClassifier(10, 5)),  # a small default
    FeaturePartitionRegressor(TableBlendRegressor(10, 5)),
    FeaturePartitionClassifier(LogisticRegression(), fallback=DecisionTreeClassifier()),
]
MORE = [
    FeaturePartitionClassifier(),
    FeaturePartitionRegressor(),
    FeaturePartitionClassifier(DecisionTreeClassifier(), rule="plurality"),
    FeaturePartitionRegressor(DecisionTreeRegressor(), n_submodels=1),
    FeaturePartitionClassifier(LogisticRegression(), rule="runoff"),
    FeaturePartitionRegressor(Ridge()),
]


def sparse_failures(estimator):
    """scikit-learn 1.6 gives sparse matrices to estimators that say they read none."""
    if sklearn.__version__.startswith("1.6.") and isinstance(estimator.estimator, DENSE):
        return {"check_sample_weight_equivalence_on_sparse_data": sparse_failures.__doc__}
    return {}


def failures(estimator):
    by_rows = isinstance(estimator.estimator, BLENDS)
    return sparse_failures(estimator) | ({WEIGHTS_CHECK: LEAVES} if by_rows else {})


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=failures)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(MORE, expected_failed_checks=failures)
def test_scikit_learn_with_other_submodels(estimator, check):
    check(estimator)


# ---- leaving groups out ----

NARROW = "fits a table of one or two columns, and a proof against one of them needs three"
NARROW_CHECKS = dict.fromkeys(
    [
        "check_classifier_data_not_an_array",
        "check_classifiers_classes",
        "check_classifiers_train",
        "check_estimators_fit_returns_self",
        "check_estimators_overwrite_params",
        "check_fit2d_1feature",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_n_features_in",
        "check_readonly_memmap_input",
        "check_sample_weights_not_an_array",
        "check_sample_weights_not_overwritten",
        "check_sample_weights_pandas_series",
        "check_sample_weights_shape",
    ],
    NARROW,
)


class Thrice(Table):
    """A table with every column three times."""

    def __init__(self, table):
        self.table, self.frame, self.index = table, table.frame, table.index
        self.n_rows, self.n_columns = table.n_rows, 3 * table.n_columns
        self.labels = list(range(self.n_columns))

    def take(self, columns, rows=None):
        part = self.table.take(list(range(self.n_columns // 3)), rows)
        part = part if issparse(part) else np.asarray(part)
        return part[:, [column // 3 for column in columns]]

    def numeric(self):
        return [self.table.numeric()[column // 3] for column in range(self.n_columns)]


class Widened:
    """Every check's table is wide enough: what fails here is no want of columns."""

    def _open(self, X, reset):
        return Thrice(super()._open(X, reset))


class WideClassifier(Widened, LeaveOutClassifier):
    pass


class WideRegressor(Widened, LeaveOutRegressor):
    pass


LEAVE_OUT = [
    LeaveOutClassifier(LogisticRegression(), n_groups=3),
    LeaveOutRegressor(Ridge(), n_groups=3),
]
WIDE = [
    WideClassifier(LogisticRegression(), n_groups=3),
    WideRegressor(Ridge(), n_groups=3),
    WideClassifier(TableTreesClassifier(3), n_groups=3, training="trusted"),  # a small default
]
WIDE_LONG = [
    WideClassifier(TableTreesClassifier(3), n_groups=3),
    WideRegressor(TableTreesRegressor(3), n_groups=3),
    WideClassifier(n_groups=3),
    WideRegressor(n_groups=3),
    WideClassifier(TableBoostingClassifier(max_iter=10), n_groups=3, training="trusted"),
    WideClassifier(DecisionTreeClassifier(max_depth=4), n_groups=3),
    WideRegressor(TableBoostingRegressor(max_iter=10), n_groups=3, training="trusted"),
]


@parametrize_with_checks(LEAVE_OUT, expected_failed_checks=lambda estimator: NARROW_CHECKS)
def test_scikit_learn_with_groups_left_out(estimator, check):
    check(estimator)


MASKED = "masks are drawn row by row: a row given twice gets other ones than a row of weight 2"


def expected_failures(estimator):
    if estimator.training == "trusted":
        return sparse_failures(estimator) | {WEIGHTS_CHECK: MASKED}
    grows_trees = isinstance(estimator, WideRegressor) and isinstance(
        estimator.estimator, TableTreesRegressor | None
    )
    return {WEIGHTS_CHECK: LEAVES} if grows_trees else {}


@parametrize_with_checks(WIDE, expected_failed_checks=expected_failures)
def test_scikit_learn_with_groups_left_out_of_wide_tables(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(WIDE_LONG, expected_failed_checks=expected_failures)
def test_scikit_learn_with_more_groups_left_out_of_wide_tables(estimator, check):
    check(estimator)
