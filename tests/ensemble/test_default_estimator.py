"""The default estimator of partitions; what it shares with others: test_table_estimator.py."""

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.ensemble import TableBoostingClassifier, TableBoostingRegressor
from tests.ensemble.csv_table import FRAME, WORDS


def test_the_default_ensemble_learns_a_table_as_it_comes():
    clf = FeaturePartitionClassifier().fit(FRAME, WORDS)
    assert isinstance(clf.estimators_[0], TableBoostingClassifier)
    assert clf.score(FRAME, WORDS) > 0.55
    assert set(clf.certify(FRAME).prediction) <= {"low", "mid", "high"}


def test_the_default_ensemble_of_numbers_boosts_trees():
    reg = FeaturePartitionRegressor().fit(FRAME, FRAME["size"].fillna(0.0))
    assert isinstance(reg.estimators_[0], TableBoostingRegressor)
