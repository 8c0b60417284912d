"""Which sources contradict the outcome, for every kind of ensemble."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from partita.rules import TopK
from partita.watch._evidence import evidence, source_names, source_units


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


def test_a_unit_in_several_submodels_contradicts_if_most_of_them_do(wine):
    X, y = wine
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=4, spread=3).fit(X[::2], y[::2])
    found = evidence(clf, clf.ballots(X[1::2]))
    proof, votes = clf.certify(X[1::2]), clf.classes_[clf.ballots(X[1::2]).scores.argmax(axis=2)]
    against = votes != proof.prediction[:, None]
    reach = clf.partition_.incidence()
    for unit, own in enumerate(reach):
        expected = 2 * against[:, own].sum(axis=1) > own.sum()
        np.testing.assert_array_equal(found.score[:, unit], expected)
        np.testing.assert_array_equal(found.counted[:, unit], proof.radius >= 1)
    assert source_units(clf) == [[name] for name in X]


def test_the_last_column_is_about_what_is_certified(wine):
    X, y = wine
    for settings in ({}, {"fallback": GaussianNB(), "gate": 1}):
        clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=7, **settings)
        clf.fit(X[::2], y[::2])
        found = evidence(clf, clf.ballots(X[1::2]))
        np.testing.assert_array_equal(found.score[:, -1], clf.certify(X[1::2]).radius < 1)


def test_values_are_measured_by_their_distance(diabetes):
    X, y = diabetes
    reg = FeaturePartitionRegressor(LinearRegression(), n_submodels=5).fit(X[::2], y[::2])
    found = evidence(reg, reg.ballots(X[1::2]))
    away = np.abs(reg.rule_.votes(reg.ballots(X[1::2])) - reg.predict(X[1::2])[:, None])
    np.testing.assert_array_equal(found.score[:, :-1], away)
    low, high = reg.interval(X[1::2], radius=1)
    np.testing.assert_array_equal(found.score[:, -1], high - low)
    assert found.measured.all()
    assert found.counted.all()


def test_groups_that_are_left_out_are_suspects():
    X, y = load_digits(return_X_y=True)
    clf = LeaveOutClassifier(GaussianNB(), n_groups=6).fit(X[:900], y[:900])
    ballots = clf.ballots(X[900:])
    found = evidence(clf, ballots)
    votes = clf.rule_.model_votes(ballots)
    pairs = [(a, b) for a in range(6) for b in range(a + 1, 6)]
    without = [[k for k, pair in enumerate(pairs) if g in pair] for g in range(6)]
    for row, said in enumerate(votes):
        agree = [g for g in range(6) if len(set(said[without[g]])) == 1]
        suspects = agree if len(agree) == 1 else []
        assert np.flatnonzero(found.score[row, :-1]).tolist() == suspects
    assert not found.measured.any()
    assert found.counted.all()
    assert [len(units) for units in source_units(clf)] == [
        (clf.rule_.unit_groups() == g).sum() for g in range(6)
    ]


def test_values_of_models_that_leave_out_are_measured_by_their_width_only(diabetes):
    X, y = diabetes
    reg = LeaveOutRegressor(LinearRegression(), n_groups=5).fit(X[::2], y[::2])
    found = evidence(reg, reg.ballots(X[1::2]))
    assert found.measured.tolist() == [False] * 5 + [True]
    low, high = reg.interval(X[1::2], radius=1)
    np.testing.assert_array_equal(found.score[:, -1], high - low)


def test_names_tell_sources_apart():
    assert source_names([["a"], ["b", "c"]]) == ["a", "b, c"]
    long = [["a", "b", "c", "d"], ["a", "b", "c", "e"]]
    assert source_names(long) == ["0: a, b, c and 1 more", "1: a, b, c and 1 more"]
    assert source_names([["all sources"], ["b"]]) == ["0: all sources", "1: b"]


def test_a_set_of_labels_is_no_outcome(wine):
    X, y = wine
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, rule=TopK(2)).fit(X, y)
    with pytest.raises(InputError, match="TopK"):
        evidence(clf, clf.ballots(X))
