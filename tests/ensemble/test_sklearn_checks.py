"""scikit-learn's own tests of an estimator, all of them, over the default submodels and two
others."""

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor

ESTIMATORS = [
    FeaturePartitionClassifier(),
    FeaturePartitionRegressor(),
    FeaturePartitionClassifier(DecisionTreeClassifier(), rule="plurality"),
    FeaturePartitionRegressor(DecisionTreeRegressor(), n_submodels=1),
    FeaturePartitionClassifier(LogisticRegression(), rule="runoff"),
    FeaturePartitionRegressor(Ridge()),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)
