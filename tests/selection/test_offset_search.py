"""Thresholds of one label: every line is what the classifier with that offset gives."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    search_offsets,
)
from partita.metrics import certified_alarms
from partita.rules import Tournament

X, DIGITS = load_digits(return_X_y=True)
X = X / 16
Y = np.where(DIGITS == 8, "eight", "other")


@pytest.fixture(scope="module")
def clf():
    return FeaturePartitionClassifier(LogisticRegression(), n_submodels=9).fit(X[:900], Y[:900])


@pytest.fixture(scope="module")
def found(clf):
    return search_offsets(clf, X[900:], Y[900:], "eight", radius=1)


def test_every_line_is_what_fitting_with_the_offset_gives(clf, found):
    assert [row["offset"] for row in found.rows] == list(range(-4, 5))
    start = clf.rule_.head_start(2) / clf.rule_.full_vote
    for row in (found.rows[2], found.rows[6]):
        offset = (start + row["offset"] * np.array([1, 0])).tolist()
        rule = Tournament(clf.rule_.margin, clf.rule_.prior, offset)
        again = FeaturePartitionClassifier(LogisticRegression(), n_submodels=9, rule=rule)
        proof = again.fit(X[:900], Y[:900]).certify(X[900:])
        moved = found.with_offset(row["offset"])
        assert np.array_equal(moved.certify(X[900:]).radius, proof.radius)
        predicted = moved.predict(X[900:])
        assert np.array_equal(predicted, proof.prediction)
        assert row["recall"] == recall_score(Y[900:], predicted, pos_label="eight")
        assert row["precision"] == pytest.approx(
            precision_score(Y[900:], predicted, pos_label="eight")
        )
        alarms = certified_alarms(Y[900:], proof, "eight", 1)
        assert (row["alarms"], row["kept"]) == (alarms.raised, alarms.kept)
        assert row["certified_recall"] == alarms.recall
        assert row["worst_case_precision"] == alarms.precision


def test_an_offset_of_zero_is_the_ensemble_itself(clf, found):
    same = found.with_offset(0)
    assert np.array_equal(same.certify(X[900:]).radius, clf.certify(X[900:]).radius)
    assert same.estimators_ is clf.estimators_
    assert clf.rule_.offset == 0.25  # and not changed


def test_more_votes_mean_more_alarms(found):
    for name in ("alarms", "recall", "kept", "certified_recall"):
        values = [row[name] for row in found.rows]
        assert values == sorted(values)
    assert found.rows[0]["recall"] < found.rows[-1]["recall"]


def test_a_threshold_is_chosen_by_what_is_needed(found):
    best = found.best(precision=0.5)
    assert best["precision"] >= 0.5
    able = [row for row in found.rows if row["precision"] >= 0.5]
    assert best["certified_recall"] == max(row["certified_recall"] for row in able)
    with pytest.raises(InputError, match="no offset has a recall of 1 and a precision of 1"):
        found.best(recall=1, precision=1)
    assert found.to_frame().shape == (9, 7)
    with pytest.raises(InputError, match=r"offset is 99, which was not tried: give one of -4\.0"):
        found.with_offset(99)


def test_a_fallback_stays_behind_its_gate(clf):
    gated = FeaturePartitionClassifier(
        LogisticRegression(), n_submodels=9, fallback=GaussianNB()
    ).fit(X[:900], Y[:900])
    found = search_offsets(gated, X[900:], Y[900:], "eight", offsets=[0, 2])
    for row in found.rows:
        proof = found.with_offset(row["offset"]).certify(X[900:])
        assert row["kept"] == certified_alarms(None, proof, "eight", 1).kept


def test_what_cannot_be_searched_is_refused(clf):
    rows = (X[900:], Y[900:])
    with pytest.raises(InputError, match="ensemble is a FeaturePartitionRegressor"):
        search_offsets(FeaturePartitionRegressor(), *rows, "eight")
    plurality = FeaturePartitionClassifier(GaussianNB(), n_submodels=3, rule="plurality")
    with pytest.raises(InputError, match="offsets belong to the tournament"):
        search_offsets(plurality.fit(X[:900], Y[:900]), *rows, "eight")
    for positive in ("nine", 8):
        with pytest.raises(InputError, match="give a label of the ensemble that some of these"):
            search_offsets(clf, *rows, positive)
    for offsets in ([], ["2"], [np.inf], [True]):
        with pytest.raises(InputError, match="give numbers of votes"):
            search_offsets(clf, *rows, "eight", offsets=offsets)
