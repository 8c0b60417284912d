"""check_deterministic names submodels that are not deterministic."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    SoundnessError,
    SoundnessWarning,
)
from partita.attacks import check_deterministic

X, Y = load_wine(return_X_y=True)


class Dice(ClassifierMixin, BaseEstimator):
    """Random, and no way to seed it."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.random.default_rng().choice(self.classes_, size=len(X))


def test_seeded_estimators_are_deterministic():
    forest = FeaturePartitionClassifier(RandomForestClassifier(3), n_submodels=3)
    assert check_deterministic(forest, X, Y) == []
    ridge = FeaturePartitionRegressor(Ridge(), n_submodels=3)
    assert check_deterministic(ridge, X, X[:, 0]) == []


def test_an_estimator_that_cannot_be_seeded_is_named():
    dice = FeaturePartitionClassifier(Dice(), n_submodels=3, rule="plurality")
    with pytest.warns(SoundnessWarning, match="when it is fitted again on the same columns"):
        assert len(check_deterministic(dice, X, Y)) == 1
    with pytest.raises(SoundnessError):
        check_deterministic(dice, X, Y, strict=True)


def test_only_ensembles_are_checked():
    with pytest.raises(InputError, match="give a FeaturePartitionClassifier"):
        check_deterministic(GaussianNB(), X, Y)
