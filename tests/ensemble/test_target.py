"""Targets are read as they are, and a flipped label reaches one submodel."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.semi_supervised import LabelSpreading
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    SubmodelWarning,
)
from partita.ensemble._submodels import FixedVote
from partita.ensemble._target import assign_rows, numeric_target
from partita.rules import Median, Tournament

X, Y = load_wine(return_X_y=True)


TREE = DecisionTreeClassifier(max_depth=3)


@pytest.mark.parametrize(
    "labels",
    [
        Y,
        Y.astype(float),
        Y == 1,
        np.array(["a", "b", "c"])[Y],
        np.array(["a", "b", "c"], dtype=object)[Y],
        pd.Series(np.array(["a", "b", "c"])[Y], dtype="category"),
        pl.Series(np.array(["a", "b", "c"])[Y]),
        [["x", "y", "z"][label] for label in Y],
        Y - 7,
        np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")[Y],
    ],
    ids=["int", "float", "bool", "str", "object", "category", "polars", "list", "negative", "date"],
)
def test_labels_of_any_type_come_back_as_they_were(labels):
    clf = FeaturePartitionClassifier(TREE, n_submodels=5).fit(X, labels)
    given = np.asarray(labels)
    proof = clf.certify(X)
    assert np.array_equal(clf.classes_, np.unique(given))
    assert np.isin(proof.prediction, given).all()
    assert np.isin(proof.runner_up, given).all()
    assert np.mean(clf.predict(X) == given) > 0.8


def test_labels_that_cannot_be_sorted_are_refused():
    with pytest.raises(InputError, match="y mixes labels"):
        FeaturePartitionClassifier(TREE).fit(X, np.array(["a", 1, 2], dtype=object)[Y])


NB = GaussianNB()


def test_given_classes_may_hold_more_than_the_labels_but_not_fewer():
    clf = FeaturePartitionClassifier(NB, classes=[0, 1, 2, 9]).fit(X, Y)
    assert clf.ballots(X).shape == (178, 13, 4)
    with pytest.raises(InputError, match="label 2, which is not in classes"):
        FeaturePartitionClassifier(NB, classes=[0, 1]).fit(X, Y)


def test_numeric_targets_are_floats_and_texts_are_refused():
    assert numeric_target(TREE, [1, 2, True], "SomeClassifier").dtype == np.float64
    with pytest.raises(InputError, match="not numbers: for labels use a SomeClassifier"):
        numeric_target(TREE, ["a", "b"], "SomeClassifier")


@pytest.mark.parametrize("labels", [[2**64 - 1, 2**64 - 2, -1], [2**53, 2**53 + 1, 0.0]])
def test_listed_integers_that_would_become_one_label_are_refused(labels):
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(InputError, match=r"holds the label .*, which no float is equal to"):
        FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, labels * 10)
    with pytest.raises(InputError, match="classes holds the label"):
        FeaturePartitionClassifier(GaussianNB(), n_submodels=3, classes=labels).fit(X, [0] * 30)


def test_rows_are_assigned_by_position_alone():
    owner = assign_rows(1000, 7, seed=0)
    assert np.array_equal(owner[:300], assign_rows(300, 7, seed=0))
    assert np.bincount(owner, minlength=7).min() > 100
    assert not np.array_equal(owner, assign_rows(1000, 7, seed=1))


@pytest.mark.parametrize("how", ["rows", "labels"])
def test_one_flipped_label_reaches_one_submodel(how):
    clf = FeaturePartitionClassifier(
        NB, n_submodels=5, label_attacks=how, classes=[0, 1, 2], on_failure="vote"
    ).fit(X, Y)
    honest = clf.ballots(X)
    owner = assign_rows(len(Y), 5, seed=0)
    for row, label in [(0, 1), (5, 2), (77, "not a class"), (100, np.nan), (120, None), (170, [1])]:
        flipped = np.array(Y, dtype=object)
        flipped[row] = label
        ballots = clone(clf).fit(X, flipped).ballots(X)
        moved = np.flatnonzero((ballots != honest).any(axis=(0, 2)))
        assert set(moved) <= {owner[row]}


def test_a_corrupted_column_moves_no_row_to_another_submodel():
    clf = FeaturePartitionClassifier(
        NB, n_submodels=5, label_attacks="rows", classes=[0, 1, 2], on_failure="vote"
    ).fit(X, Y)
    honest = clf.ballots(X)
    for column in (0, 7):
        corrupt = X.copy()
        corrupt[:, column] = np.random.default_rng(0).normal(size=len(X))
        moved = (clone(clf).fit(corrupt, Y).ballots(X) != honest).any(axis=(0, 2))
        owners = [t for t in range(5) if column in clf.partition_[t]]
        assert np.flatnonzero(moved).tolist() == owners


@pytest.mark.parametrize("how", ["rows", "labels"])
def test_flipped_labels_and_corrupted_columns_add_up(how):
    """Refit after both, and compare what is certified for as many of them."""
    digits, y = load_digits(return_X_y=True)
    train, test, labels = digits[:900], digits[900:1200], y[:900]
    tree = DecisionTreeClassifier(max_depth=8)
    clf = FeaturePartitionClassifier(
        tree, n_submodels=7, label_attacks=how, classes=range(10), rule="tournament"
    )
    before = clf.fit(train, labels).certify(test)
    assert before.counts.what == "columns and training labels"
    assert before.counts.total == 64 + 900
    rng = np.random.default_rng(0)
    met = 0
    for columns, flips in [(0, 1), (1, 0), (1, 1), (0, 2), (2, 1)]:
        corrupt_train, corrupt_test, flipped = train.copy(), test.copy(), labels.copy()
        chosen = rng.choice(64, size=columns, replace=False)
        corrupt_train[:, chosen], corrupt_test[:, chosen] = (
            labels[:, None],
            (y[900:1200, None] + 1) % 10,
        )
        flipped[rng.choice(900, size=flips, replace=False)] = 3
        after = clone(clf).fit(corrupt_train, flipped).certify(corrupt_test)
        safe = before.radius >= columns + flips
        assert np.array_equal(after.prediction[safe], before.prediction[safe])
        met += safe.sum()
    assert met > 50


def test_label_attacks_with_frames_weights_and_overlap():
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(13)])
    names = np.array(["a", "b", "c"])[Y]
    clf = FeaturePartitionClassifier(
        DecisionTreeClassifier(), n_submodels=3, label_attacks="rows", classes=["a", "b", "c"]
    )
    clf.fit(frame, names, sample_weight=np.ones(len(Y)))
    assert set(clf.predict(frame)) <= {"a", "b", "c"}
    over = FeaturePartitionClassifier(
        DecisionTreeClassifier(),
        n_submodels=3,
        spread=2,
        label_attacks="rows",
        classes=["a", "b", "c"],
    )
    assert over.fit(frame, names).certify(frame).counts.total == 13 + 178


def test_a_semi_supervised_estimator_of_the_users_own():
    clf = FeaturePartitionClassifier(
        LabelSpreading(kernel="knn"), n_submodels=3, label_attacks="labels", classes=[0, 1, 2]
    ).fit(X, Y)
    assert isinstance(clf.estimators_[0], LabelSpreading)
    assert clf.score(X, Y) > 0.5


def test_a_regressor_under_label_attacks():
    reg = FeaturePartitionRegressor(
        DecisionTreeRegressor(max_depth=3), n_submodels=3, label_attacks="rows"
    ).fit(X[:, :12], X[:, 12])
    assert reg.certify(X[:, :12], tolerance=100).counts.what == "columns and training labels"
    honest, owner = reg.ballots(X[:, :12]), assign_rows(len(X), 3, seed=0)
    for row, label in [(0, 1e9), (9, np.nan), (50, "high"), (90, np.inf), (120, None)]:
        flipped = X[:, 12].astype(object)
        flipped[row] = label
        moved = (clone(reg).fit(X[:, :12], flipped).ballots(X[:, :12]) != honest).any(axis=0)
        assert set(np.flatnonzero(moved)) <= {owner[row]}
    with pytest.raises(InputError, match="centre is missing"):
        FeaturePartitionRegressor(rule=Median(stretch=1.5), label_attacks="rows").fit(X, Y)
    with pytest.raises(InputError, match="'labels' is for classification"):
        FeaturePartitionRegressor(label_attacks="labels").fit(X, Y)


def test_a_submodel_without_rows_casts_the_fixed_vote():
    with pytest.warns(SubmodelWarning, match="no labelled training rows"):
        clf = FeaturePartitionClassifier(
            DecisionTreeClassifier(), label_attacks="rows", classes=[0, 1, 2]
        ).fit(X[80:88], Y[80:88])
    ballots = clf.ballots(X)
    assert ballots.shape == (178, 13, 3)
    assert set(Y[80:88]) == {1}
    for t, model in enumerate(
        clf.estimators_
    ):  # the first class, not the commonest label: labels are the attacker's
        assert np.all(ballots[:, t].argmax(axis=1) == (0 if isinstance(model, FixedVote) else 1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "classes is missing"),
        (
            {"classes": [0, 1, 2], "rule": Tournament(prior=0.5)},
            "shares is missing: under label_attacks",
        ),
    ],
)
def test_what_labels_would_decide_must_be_given(settings, message):
    with pytest.raises(InputError, match=message):
        FeaturePartitionClassifier(NB, label_attacks="rows", **settings).fit(X, Y)


def test_flipped_labels_reach_no_constant_of_a_regression():
    """Under label attacks neither the centre nor the fixed vote may be learnt from the labels."""
    X, y = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(
        DecisionTreeRegressor(max_depth=3), n_submodels=5, label_attacks="rows", on_failure="vote"
    )
    honest = reg.fit(X, y)
    settled = (repr(honest.rule_), honest.fixed_ballot_.tolist())
    flipped = np.where(np.arange(len(y)) % 2, 1e6, y)
    attacked = clone(reg).fit(X, flipped)
    assert (repr(attacked.rule_), attacked.fixed_ballot_.tolist()) == settled
    assert honest.rule_.centre is None
    given = clone(reg).set_params(rule=Median(stretch=1.5, centre=150.0)).fit(X, flipped)
    assert given.rule_.centre == 150.0


@pytest.mark.parametrize("how", ["rows", "labels"])
def test_labels_that_leave_submodels_without_rows_stop_nothing(how):
    """Flipped to what is no class: however many submodels then learn nothing."""
    clf = FeaturePartitionClassifier(
        DecisionTreeClassifier(), n_submodels=5, label_attacks=how, classes=[0, 1, 2]
    )
    few = np.flatnonzero(assign_rows(178, 5, 0) < 2)
    labels = np.full(178, 9)
    labels[few] = Y[few]
    with pytest.warns(SubmodelWarning, match="3 of 5 submodels failed to fit"):
        assert clf.fit(X, labels).certify(X).radius.max() <= 2
    labels[few] = 9
    with pytest.warns(SubmodelWarning, match="5 of 5 submodels failed to fit"):
        nobody = clf.fit(X, labels).certify(X)
    assert (nobody.prediction == 0).all()
    assert (nobody.radius == 2).all()
    labels[few[0]] = 2  # a single label lets a submodel learn
    with pytest.warns(SubmodelWarning, match="4 of 5 submodels failed to fit"):
        assert (clone(clf).fit(X, labels).predict(X) == 0).all()
