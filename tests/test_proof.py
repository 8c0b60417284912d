"""The guarantee itself, on real training: corrupt r columns, refit, and compare.

Nothing certified at r may change.

The attacks write noise, constants, swapped columns, extreme values and the label itself into
columns chosen to hurt: those whose submodels side with the most predictions."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.rules import Plurality, RunOff, TopK, Tournament


def rules(y):
    """Every rule, its open settings filled from the labels."""
    every = [
        Plurality(),
        RunOff(),
        RunOff(exact=True),
        Tournament(),
        Tournament(margin=0.5, prior=0.5),
        TopK(2),
    ]
    return [rule.resolve(y, np.unique(y)) for rule in every]


def given_labels(rule, ballots):
    """The labels that a top-k certificate is about."""
    return [rule.decide(ballots)] if isinstance(rule, TopK) else []


def noise(X, y, columns, rng):
    X[:, columns] = rng.normal(scale=100, size=(len(X), len(columns)))


def constant(X, y, columns, rng):
    X[:, columns] = 0


def swapped(X, y, columns, rng):
    X[:, columns] = X[:, np.roll(columns, 1)][rng.permutation(len(X))]


def extreme(X, y, columns, rng):
    X[:, columns] = rng.choice([-1e30, 1e30, 1e-30], size=(len(X), len(columns)))


def label(X, y, columns, rng):
    """The strongest of all: the column is the truth in training and another label in the test."""
    X[:, columns] = np.asarray(y, dtype=float)[:, None]


ATTACKS = [noise, constant, swapped, extreme, label]
CASES = {
    "breast cancer, default": (load_breast_cancer, FeaturePartitionClassifier(n_submodels=11)),
    "breast cancer, scaled": (
        load_breast_cancer,
        FeaturePartitionClassifier(make_pipeline(StandardScaler(), GaussianNB()), n_submodels=15),
    ),
    "digits, trees": (
        load_digits,
        FeaturePartitionClassifier(DecisionTreeClassifier(max_depth=6), n_submodels=13),
    ),
    "digits, even": (
        load_digits,
        FeaturePartitionClassifier(
            GaussianNB(var_smoothing=0.1), n_submodels=20, partition="strided"
        ),
    ),
}


GATED = [
    {"n_submodels": 13, "gate": 1},
    {"n_submodels": 21, "gate": 2, "rule": "plurality"},
    {"n_submodels": 13, "gate": 1, "spread": 2},
]


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.long] * ("default" in case)) for case in CASES],
)
def test_certified_predictions_survive(case):
    load, estimator = CASES[case]
    clf = clone(estimator)
    X, y = load(return_X_y=True)
    n_classes = len(np.unique(y))
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, random_state=0, stratify=y
    )
    ballots = clf.fit(X_train, y_train).ballots(X_test).scores
    proofs = [
        (rule, rule.certify(ballots, *given_labels(rule, ballots))) for rule in rules(y_train)
    ]
    rng = np.random.default_rng(0)
    helpful = np.argsort(-(ballots.argmax(2) == Plurality().decide(ballots)[:, None]).mean(0))
    certified, changed = 0, 0
    for r, attack in [
        (1, label),
        (2, label),
        (3, label),
        (2, noise),
        (2, constant),
        (3, swapped),
        (3, extreme),
    ]:
        chosen = [clf.units_.columns_of(clf.partition_[t])[0] for t in helpful[:r]]
        corrupt_train, corrupt_test = X_train.copy(), X_test.copy()
        attack(corrupt_train, y_train, chosen, rng)
        attack(corrupt_test, (y_test + 1) % n_classes, chosen, rng)
        attacked = clf.fit(corrupt_train, y_train).ballots(corrupt_test)
        moved = np.flatnonzero((attacked != ballots).any(axis=(0, 2)))
        assert set(moved) <= set(helpful[:r]), (
            "a corrupted column reached a submodel that does not own it"
        )
        for rule, before in proofs:
            after, safe = rule.certify(attacked, *given_labels(rule, attacked)), before.radius >= r
            if isinstance(rule, TopK):  # the given label stays among the top k
                again = rule.certify(attacked, before.prediction)
                assert np.all(again.radius[safe] >= 0)
            else:
                assert np.all(after.prediction[safe] == before.prediction[safe]), (
                    rule,
                    r,
                    attack.__name__,
                )
                assert np.all(after.radius[safe] >= before.radius[safe] - r)
                changed += np.count_nonzero(after.prediction != before.prediction)
            certified += np.count_nonzero(safe)
    assert certified > 1000, "the attacks must meet many certified predictions"
    assert changed > 20, "the attacks must change what is not certified"


@pytest.mark.parametrize("settings", GATED, ids=str)
def test_certified_predictions_behind_a_gate_survive(settings):
    """The full model is fitted on the corrupted table too, and believes the attacker."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, random_state=0, stratify=y
    )
    clf = FeaturePartitionClassifier(
        GaussianNB(var_smoothing=0.1), fallback=DecisionTreeClassifier(max_depth=8), **settings
    ).fit(X_train, y_train)
    before, ballots = clf.certify(X_test), np.asarray(clf.ballots(X_test))
    helpful = np.argsort(-(ballots.argmax(2) == Plurality().decide(ballots)[:, None]).mean(0))
    rng = np.random.default_rng(0)
    certified, changed, overruled = 0, 0, 0
    for r, attack in [(1, label), (2, label), (1, noise), (2, extreme), (3, label)]:
        chosen = [clf.units_.columns_of(clf.partition_[t])[0] for t in helpful[:r]]
        corrupt_train, corrupt_test = X_train.copy(), X_test.copy()
        attack(corrupt_train, y_train, chosen, rng)
        attack(corrupt_test, (y_test + 1) % 10, chosen, rng)
        attacked = clone(clf).fit(corrupt_train, y_train)
        after, safe = attacked.predict(corrupt_test), before.radius >= r
        assert np.array_equal(after[safe], before.prediction[safe]), (r, attack.__name__)
        certified += np.count_nonzero(safe)
        changed += np.count_nonzero(after != before.prediction)
        given = attacked.ballots(corrupt_test)
        closed = given.rule.by_fallback(given)
        overruled += np.count_nonzero(closed & (after != before.prediction))
    assert certified > 300
    assert changed > 100
    assert overruled > 50, "the attacks must reach the full model"


@pytest.mark.parametrize("n_submodels", [9, 10])
def test_regression_stays_in_its_interval(n_submodels):
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    reg = FeaturePartitionRegressor(DecisionTreeRegressor(max_depth=4), n_submodels=n_submodels)
    before = reg.fit(X_train, y_train).predict(X_test)
    proof = reg.certify(X_test, around=y_test, tolerance=60)
    intervals = {r: reg.interval(X_test, radius=r) for r in (1, 2, 3)}
    rng = np.random.default_rng(0)
    moved = 0
    for r in (1, 2, 3):
        for attack in ATTACKS:
            chosen = [
                reg.units_.columns_of(reg.partition_[t])[0]
                for t in rng.permutation(n_submodels)[:r]
            ]
            corrupt_train, corrupt_test = X_train.copy(), X_test.copy()
            attack(corrupt_train, y_train, chosen, rng)
            attack(corrupt_test, 1000 - y_test, chosen, rng)
            after = reg.fit(corrupt_train, y_train).predict(corrupt_test)
            low, high = intervals[r]
            assert np.all((low <= after) & (after <= high))
            assert np.all(np.abs(after - y_test)[proof.radius >= r] <= 60)
            moved += np.count_nonzero(after != before)
    assert moved > 100
    assert np.count_nonzero(proof.radius >= 2) > 10
