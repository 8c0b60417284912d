"""scikit-learn's own checks of an estimator, all of them, over several kinds of submodels."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.ensemble import TableBoostingClassifier, TableBoostingRegressor

DEFAULTS = [FeaturePartitionClassifier(), FeaturePartitionRegressor()]
ESTIMATORS = [
    FeaturePartitionClassifier(TableBoostingClassifier(max_iter=10)),  # a small default
    FeaturePartitionRegressor(TableBoostingRegressor(max_iter=10)),
    FeaturePartitionClassifier(DecisionTreeClassifier(), rule="plurality"),
    FeaturePartitionRegressor(DecisionTreeRegressor(), n_submodels=1),
    FeaturePartitionClassifier(LogisticRegression(), rule="runoff"),
    FeaturePartitionRegressor(Ridge()),
    FeaturePartitionClassifier(LogisticRegression(), fallback=DecisionTreeClassifier()),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(DEFAULTS)
def test_scikit_learn_with_the_default_submodels(estimator, check):
    check(estimator)
