"""Evasion rewrites no more sources than allowed, and finds what there is to find."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.attacks import AttackedTable, Scene, Scorer, evade


def attack(model, deployment, radius, rows=40):
    names = list(deployment.X_train.columns)
    X = deployment.X_test[:rows]
    scene = Scene(
        AttackedTable(deployment.X_train),
        deployment.y_train,
        AttackedTable(X),
        Scorer(deployment.y_test[:rows], deployment.tolerance),
        [tuple(map(names.index, own)) for own in deployment.units.values()],
    )
    return X, evade(model, scene, radius, np.random.default_rng(0))


@pytest.fixture(scope="module")
def vote(tumours):
    """A certified model, and an attack on two sources of every row."""
    trees = HistGradientBoostingClassifier(max_iter=10)
    model = FeaturePartitionClassifier(trees, n_submodels=7, units=tumours.units, n_jobs=1)
    model.fit(tumours.X_train, tumours.y_train)
    return model, *attack(model, tumours, 2)


def test_no_more_sources_are_rewritten_than_allowed(tumours, vote):
    _, X, found = vote
    rewritten = np.column_stack(
        [
            (found.table[list(own)].to_numpy() != X[list(own)].to_numpy()).any(axis=1)
            for own in tumours.units.values()
        ]
    )
    assert rewritten.sum(axis=1).max() == 2
    assert not (rewritten & ~found.sources).any()


@pytest.mark.parametrize("r", [1, 2])
def test_no_certified_row_falls(tumours, vote, r):
    model, X, found = vote
    proof = model.certify(X)
    certified = (proof.radius >= r) & (proof.prediction == tumours.y_test[:40])
    assert certified.any()
    assert (found.right[r] >= certified).all()


def test_rows_fall_by_the_models_own_predictions_and_stay_fallen(tumours):
    model = HistGradientBoostingClassifier(max_iter=20).fit(tumours.X_train, tumours.y_train)
    X, found = attack(model, tumours, 3)
    y = tumours.y_test[:40]
    assert np.array_equal(found.right[0], model.predict(X) == y)
    assert np.array_equal(found.right[-1], found.right[0] & (model.predict(found.table) == y))
    assert (found.right[1:] <= found.right[:-1]).all()
    assert found.right[0].mean() > 0.8 > 0.5 > found.right[-1].mean()


class OneSourceDecides:
    """Predicts 1 where one column is above a half; others do nothing."""

    def __init__(self, column):
        self.column = column

    def predict(self, X):
        return (X.iloc[:, self.column].to_numpy() > 0.5).astype(int)


def test_the_source_that_decides_is_found():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((60, 4)), columns=list("abcd"))
    model = OneSourceDecides(2)
    y = model.predict(X)
    table = AttackedTable(X)
    found = evade(model, Scene(table, y, table, Scorer(y), [(0,), (1,), (2,), (3,)]), 1, rng)
    assert not found.right[1].any()
    assert found.sources[:, 2].all()
    assert found.sources.sum() == 60
    assert found.strength.argmax() == 2


def test_values_that_a_model_refuses_are_no_attack(tumours):
    """Naive Bayes refuses missing values: the other values are tried all the same."""
    model = GaussianNB().fit(tumours.X_train, tumours.y_train)
    _, found = attack(model, tumours, 1)
    assert not found.table.isna().any().any()
    assert found.right[1].mean() < found.right[0].mean()


def test_values_are_moved_out_of_their_bounds(diabetes):
    model = HistGradientBoostingRegressor(max_iter=30).fit(diabetes.X_train, diabetes.y_train)
    _, found = attack(model, diabetes, 2)
    shares = found.right.mean(axis=1)
    assert shares[0] > shares[1] > shares[2]


def test_greedy_comes_near_to_every_set_of_sources():
    """On four binary columns, where every set and every value can be tried."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 2, (80, 4)).astype(float), columns=list("abcd"))
    y = (X.sum(axis=1).to_numpy() > 1.5).astype(int)
    model = GaussianNB().fit(X, y)
    table = AttackedTable(X)
    found = evade(model, Scene(table, y, table, Scorer(y), [(0,), (1,), (2,), (3,)]), 2, rng)
    for r in (1, 2):
        strongest = model.predict(X) == y
        for columns in combinations(range(4), r):
            for bits in np.ndindex(*(2,) * r):
                table = X.copy()
                table.iloc[:, list(columns)] = np.array(bits, dtype=float)
                strongest &= model.predict(table) == y
        assert (found.right[r] <= strongest).all()
