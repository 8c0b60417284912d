"""One model on all columns, for comparison."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from partita.ensemble import TableBoostingClassifier
from partita.ensemble._base import fit_full_model, full_predictions
from partita.tables import open_table

X, Y = load_wine(return_X_y=True)


def test_the_full_model_is_the_estimator_on_all_columns():
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, spread=2).fit(X, Y)
    clf.full_model_ = fit_full_model(clf, X, Y)
    expected = GaussianNB().fit(X, Y).predict(X)
    assert np.array_equal(full_predictions(clf, open_table(X)), expected)
    diabetes, target = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(diabetes, target)
    reg.full_model_ = fit_full_model(reg, diabetes, target)
    predicted = full_predictions(reg, open_table(diabetes))
    assert np.allclose(predicted, Ridge().fit(diabetes, target).predict(diabetes))


@pytest.mark.parametrize("training", ["attackable", "trusted"])
def test_a_model_that_leaves_groups_out_is_compared_with_one_on_all_columns(training):
    """On the rows as they are, whether or not the ensemble learns from masked ones."""
    small = TableBoostingClassifier(max_iter=5)
    clf = LeaveOutClassifier(small, n_groups=4, training=training).fit(X, Y)
    assert (clf.full_member is None) == (training == "trusted")
    clf.full_model_ = fit_full_model(clf, X, Y)
    expected = TableBoostingClassifier(max_iter=5).fit(X, Y).predict(X)
    assert np.array_equal(full_predictions(clf, open_table(X)), expected)
    assert not hasattr(clf.fit(X, Y), "full_model_")
    diabetes, target = load_diabetes(return_X_y=True)
    reg = LeaveOutRegressor(Ridge(), n_groups=4).fit(diabetes, target)
    reg.full_model_ = fit_full_model(reg, diabetes, target)
    predicted = full_predictions(reg, open_table(diabetes))
    assert np.allclose(predicted, Ridge().fit(diabetes, target).predict(diabetes))


def test_without_a_full_model_there_is_nothing_to_compare():
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, Y)
    assert full_predictions(clf, open_table(X)) is None


class FailsWide(GaussianNB):
    """Cannot learn many columns, or predict a 7."""

    def fit(self, X, y):
        if X.shape[1] > 5:
            raise ValueError("too wide")
        return super().fit(X, y)

    def predict(self, X):
        if (X == 7).any():
            raise MemoryError if (X == 7).all() else ValueError("no sevens")
        return super().predict(X)


def test_a_full_model_that_fails_stops_nothing_but_a_lack_of_memory_does():
    clf = FeaturePartitionClassifier(FailsWide(), n_submodels=5).fit(X, Y)
    assert fit_full_model(clf, X, Y) is None
    clf.full_model_ = FailsWide().fit(X[:, :5], Y)
    assert full_predictions(clf, open_table(X[:, :5])) is not None
    assert full_predictions(clf, open_table(np.where(np.arange(5) == 2, 7, X[:, :5]))) is None
    with pytest.raises(MemoryError):
        full_predictions(clf, open_table(np.full((3, 5), 7.0)))


def test_labels_come_back_from_an_estimator_that_learns_positions():
    xgboost = pytest.importorskip("xgboost")
    names = np.array(["low", "mid", "high"])[Y]
    estimator = xgboost.XGBClassifier(n_estimators=3, n_jobs=1)
    clf = FeaturePartitionClassifier(estimator, n_submodels=3).fit(X, names)
    clf.full_model_ = fit_full_model(clf, X, names)
    assert set(full_predictions(clf, open_table(X))) <= {"low", "mid", "high"}
