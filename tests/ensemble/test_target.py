"""Targets: labels of every type, given classes, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    InputError,
)
from partita.ensemble._target import numeric_target

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
