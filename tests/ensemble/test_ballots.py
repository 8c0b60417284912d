"""Ballots: scores, votes, values that are not finite, one row or many."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    InputError,
    SubmodelError,
)
from partita.rules import TopK

X, Y = load_wine(return_X_y=True)


def test_scores_are_log_probabilities_or_decision_values():
    proba = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, Y)
    own = proba.estimators_[1].predict_proba(X[:, proba.partition_[1]])
    assert proba.ballots(X).dtype == np.float32
    assert np.array_equal(proba.ballots(X)[:, 1], np.log(np.maximum(own, 1e-9)).astype(np.float32))
    binary = FeaturePartitionClassifier(LinearSVC(), n_submodels=3).fit(X, Y == 0)
    decision = binary.estimators_[2].decision_function(X[:, binary.partition_[2]])
    assert np.allclose(
        binary.ballots(X)[:, 2], np.stack([-decision / 2, decision / 2], axis=1), rtol=1e-6
    )
    several = FeaturePartitionClassifier(RidgeClassifier(), n_submodels=3).fit(X, Y)
    assert several.ballots(X).shape == (178, 3, 3)
    one_to_one = FeaturePartitionClassifier(SVC(decision_function_shape="ovo"), n_submodels=3).fit(
        X, np.arange(len(Y)) % 4
    )
    with pytest.raises(SubmodelError, match="decision_function_shape='ovr'"):
        one_to_one.ballots(X)


class Mute(ClassifierMixin, BaseEstimator):
    """A classifier without scores."""

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def test_an_estimator_without_scores_can_only_vote():
    for rule in ("plurality", TopK(2)):
        ballots = FeaturePartitionClassifier(Mute(), rule=rule).fit(X, Y).ballots(X)
        assert np.array_equal(np.unique(ballots), [0, 1])
    for rule in ("runoff", "tournament"):
        with pytest.raises(
            InputError, match="Mute has neither predict_proba nor decision_function"
        ):
            FeaturePartitionClassifier(Mute(), rule=rule).fit(X, Y)


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        scores = np.full((len(X), len(self.classes_)), np.nan)
        scores[:, 1] = np.inf
        return scores


def test_scores_that_are_not_finite_get_the_floor():
    ballots = FeaturePartitionClassifier(Broken()).fit(X, Y).ballots(X)
    assert np.isfinite(ballots).all()
    assert ballots[0, 0, 0] == np.float32(np.log(1e-9))


def test_a_row_has_the_same_ballot_alone_and_in_a_batch():
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = FeaturePartitionClassifier(n_submodels=5).fit(cancer, y)
    batch = clf.ballots(cancer[:20])
    alone = np.concatenate([clf.ballots(cancer[i : i + 1]) for i in range(20)])
    assert np.array_equal(batch, alone)


def test_a_class_never_seen_has_the_lowest_score():
    wine, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(SGDClassifier(), classes=[0, 1, 2, 9]).fit(1000 * wine, y)
    assert clf.ballots(1000 * wine).scores.argmin(axis=2).min() == 3
    assert 9 not in clf.predict(1000 * wine)


CANCER, TUMOUR = load_breast_cancer(return_X_y=True)


class SaysNoNumber(GaussianNB):
    """Its scores are no numbers in some rows, by what the row holds."""

    def predict_proba(self, X):
        scores = super().predict_proba(X)
        scores[X[:, 0] > np.median(CANCER, axis=0).min()] = np.nan
        return scores


def test_what_replaces_a_score_does_not_depend_on_the_batch():
    clf = FeaturePartitionClassifier(SaysNoNumber(), n_submodels=5).fit(CANCER, TUMOUR)
    batch = clf.ballots(CANCER[:60])
    assert np.array_equal(
        np.concatenate([clf.ballots(CANCER[i : i + 1]) for i in range(60)]), batch
    )
    assert np.array_equal(clf.ballots(CANCER[30:60]), batch[30:])
