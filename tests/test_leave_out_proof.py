"""The guarantee of leave-out models on real training: rewrite whole groups, refit, and compare.

Nothing certified against so many groups may change, and no value may leave its interval. Members
that leave the attacked groups out must say the same, to the last bit.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import LeaveOutClassifier, LeaveOutRegressor, SubmodelWarning
from partita.ensemble import TableTreesClassifier, TableTreesRegressor
from tests.test_proof import ATTACKS, constant, extreme, label, noise, swapped

DEVICES = np.arange(30) % 10  # breast cancer: mean, error and worst value of ten measurements
SMALL = TableTreesClassifier(5)  # the default, but small
SCALED = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300))
CASES = {
    "cancer, devices": (
        load_breast_cancer,
        LeaveOutClassifier(GaussianNB(), units=DEVICES, trusted=[3]),
        [label, noise, swapped, extreme],
    ),
    "cancer, default trees": (
        load_breast_cancer,
        LeaveOutClassifier(SMALL, n_groups=5),
        [label, swapped],
    ),
    "cancer, two of seven": (
        load_breast_cancer,
        LeaveOutClassifier(GaussianNB(), radius=2, n_groups=7),
        [label, constant],
    ),
    "digits, two of six": (
        load_digits,
        LeaveOutClassifier(GaussianNB(var_smoothing=0.1), radius=2, n_groups=6),
        [label, noise],
    ),
    "digits, one member per model": (
        load_digits,
        LeaveOutClassifier(DecisionTreeClassifier(max_depth=7), n_groups=6, leave_out=2),
        [label],
    ),
    "wine, scaled": (load_wine, LeaveOutClassifier(SCALED, n_groups=6), ATTACKS),
    "wine, three of seven": (
        load_wine,
        LeaveOutClassifier(GaussianNB(), radius=3, n_groups=7),
        [label],
    ),
}


def mark_slow(cases, slow):
    """The names of the cases, the slow ones marked."""
    return [pytest.param(case, marks=[pytest.mark.long] * (case in slow)) for case in cases]


def owned_columns(model, groups):
    """The columns of whole groups: as much as any of their units, and more."""
    sets, units = model.partition_, model.units_
    return [c for group in groups for unit in sets.groups[group] for c in units.columns[unit]]


def sees(model, groups):
    """Which members see one of these groups."""
    units = [unit for group in groups for unit in model.partition_.groups[group]]
    return model.partition_.incidence()[units].any(axis=0)


def some_attacks(model, size, how_many, rng):
    """Sets of groups to attack: all of them if they are few."""
    every = list(combinations(range(len(model.partition_.groups)), size))
    chosen = rng.permutation(len(every))[:how_many]
    return [every[k] for k in sorted(chosen)]


@pytest.mark.parametrize("case", mark_slow(CASES, {"cancer, devices", "wine, scaled"}))
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_certified_labels_survive(case, seed):
    load, estimator, attacks = CASES[case]
    X, y = load(return_X_y=True)
    n_classes = len(np.unique(y))
    train, test = slice(seed, None, 3), slice(2, None, 3)
    clf = clone(estimator).set_params(random_state=seed).fit(X[train], y[train])
    honest, before = clf.ballots(X[test]), clf.certify(X[test])
    rng = np.random.default_rng(seed)
    certified = changed = 0
    for size in range(1, clf.radius + 1):
        for attack in attacks:
            for groups in some_attacks(clf, size, 3, rng):
                columns = owned_columns(clf, groups)
                X_train, X_test = X[train].copy(), X[test].copy()
                attack(X_train, y[train], columns, rng)
                attack(X_test, (y[test] + 1) % n_classes, columns, rng)
                attacked = clone(clf).fit(X_train, y[train])
                free = ~sees(clf, groups)
                assert np.array_equal(attacked.ballots(X_test)[:, free], honest[:, free])
                after = attacked.certify(X_test)
                safe = before.radius >= size
                assert np.array_equal(after.prediction[safe], before.prediction[safe])
                assert (after.radius >= before.radius - size).all()
                certified += safe.sum()
                changed += (after.prediction != before.prediction).sum()
    assert certified > 100, "the attacks must meet many certified predictions"
    assert changed > 5, "the attacks must change what is not certified"


REGRESSORS = {
    "ridge, one of eight": LeaveOutRegressor(Ridge(0.1), n_groups=8),
    "ridge, two of seven": LeaveOutRegressor(Ridge(0.1), radius=2, n_groups=7),
    "sources": LeaveOutRegressor(Ridge(0.1), units=[0, 0, 1, 2, 3, 4, 4, 4, 5, 6], trusted=[2]),
    "trees": LeaveOutRegressor(DecisionTreeRegressor(max_depth=4), n_groups=6, leave_out=2),
    "default trees": LeaveOutRegressor(TableTreesRegressor(5), n_groups=5),
}


@pytest.mark.filterwarnings("ignore:.*ll-conditioned")
@pytest.mark.parametrize("case", mark_slow(REGRESSORS, {"ridge, two of seven"}))
def test_values_stay_in_their_intervals(case):
    X, y = load_diabetes(return_X_y=True)
    train, test = slice(0, None, 2), slice(1, None, 2)
    reg = clone(REGRESSORS[case]).fit(X[train], y[train])
    honest, before = reg.ballots(X[test]), reg.predict(X[test])
    proof = reg.certify(X[test], tolerance=40)
    rng = np.random.default_rng(0)
    certified = moved = 0
    for size in range(1, reg.radius + 1):
        low, high = reg.interval(X[test], size)
        for attack in ATTACKS:
            for groups in some_attacks(reg, size, 2, rng):
                columns = owned_columns(reg, groups)
                X_train, X_test = X[train].copy(), X[test].copy()
                attack(X_train, y[train], columns, rng)
                attack(X_test, 1000 - y[test], columns, rng)
                attacked = clone(reg).fit(X_train, y[train])
                free = ~sees(reg, groups)
                assert np.array_equal(attacked.ballots(X_test)[:, free], honest[:, free])
                after = attacked.predict(X_test)
                assert ((low <= after) & (after <= high)).all()
                safe = proof.radius >= size
                assert (np.abs(after - before)[safe] <= 40).all()
                certified += safe.sum()
                moved += (after != before).sum()
    assert certified > 100
    assert moved > 500


def words(rng, y, n_rows):
    """A table of texts, categories, numbers and missing values, each a noisy copy of the label."""

    def noisy():
        return np.where(rng.random(n_rows) < 0.25, rng.integers(3, size=n_rows), y)

    return pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue"])[noisy()],
            "size": pd.Categorical(np.array(["S", "M", "L"])[noisy()]),
            "price": noisy() + rng.normal(scale=0.3, size=n_rows),
            "stock": np.where(rng.random(n_rows) < 0.1, np.nan, noisy()),
            "shop": np.array(["a", "b", "c"])[noisy()],
            "big": noisy() > 1,
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(noisy(), unit="D"),
        }
    )


def lies(name, y, wrong):
    """What an attacker writes: the label in training, a wrong one later, in any type."""
    cells = (y + wrong) % 3
    return {
        "colour": np.array(["x", "y", "z"])[cells],
        "size": pd.Categorical(np.array(["tiny", "huge", "L"])[cells]),
        "price": pd.Series([str(cell) for cell in cells], dtype=object),
        "stock": cells * 1e9,
        "shop": [None, *cells[1:]],
        "big": np.array(["no", "yes", "maybe"])[cells],
        "when": cells,
    }[name]


def test_columns_of_texts_and_dates_survive():
    """The attacker changes types too, from which other members must learn nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    table = words(rng, y, 600)
    small = TableTreesClassifier(5)
    clf = LeaveOutClassifier(small, n_groups=4, on_failure="vote").fit(table[:400], y[:400])
    honest, before = clf.ballots(table[400:]), clf.certify(table[400:])
    safe = before.radius >= 1
    assert safe.sum() > 60
    changed = 0
    for column, name in enumerate(table.columns):
        attacked = table.assign(**{name: lies(name, y, np.where(np.arange(600) < 400, 0, 1))})
        fitted = clone(clf).fit(attacked[:400], y[:400])
        free = ~clf.partition_.incidence()[column]
        assert np.array_equal(fitted.ballots(attacked[400:])[:, free], honest[:, free])
        after = fitted.certify(attacked[400:])
        assert np.array_equal(after.prediction[safe], before.prediction[safe])
        changed += (after.prediction != before.prediction).sum()
    assert changed > 5


@pytest.mark.parametrize("radius", [1, 2])
@pytest.mark.parametrize("damage", [np.nan, np.inf])
def test_groups_that_crash_their_members_change_nothing_certified(radius, damage):
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = LeaveOutClassifier(GaussianNB(), radius=radius, n_groups=7, on_failure="vote")
    before = clf.fit(cancer[::2], y[::2]).certify(cancer[1::2])
    safe = before.radius >= radius
    assert safe.sum() > 100
    rng = np.random.default_rng(0)
    for groups in some_attacks(clf, radius, 3, rng):
        columns = owned_columns(clf, groups)
        train, test = cancer[::2].copy(), cancer[1::2].copy()
        train[5, columns[0]] = test[3, columns[-1]] = test[::7, columns[0]] = damage
        train[9, columns[-1]] = damage
        with pytest.warns(SubmodelWarning):
            after = clone(clf).fit(train, y[::2]).certify(test)
        assert np.array_equal(after.prediction[safe], before.prediction[safe])


@pytest.mark.parametrize("radius", [1, pytest.param(2, marks=pytest.mark.long)])
def test_rows_can_be_attacked_where_training_is_trusted(radius):
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = LeaveOutClassifier(
        TableTreesClassifier(10), radius=radius, n_groups=7, training="trusted"
    ).fit(cancer[::2], y[::2])
    honest, before = clf.ballots(cancer[1::2]), clf.certify(cancer[1::2])
    rng = np.random.default_rng(0)
    certified = changed = 0
    for size in range(1, radius + 1):
        for attack in ATTACKS:
            for groups in some_attacks(clf, size, 7, rng):
                test = cancer[1::2].copy()
                attack(test, 1000 * (1 - y[1::2]), owned_columns(clf, groups), rng)
                after = clf.certify(test)
                free = ~sees(clf, groups)
                assert np.array_equal(clf.ballots(test)[:, free], honest[:, free])
                safe = before.radius >= size
                assert np.array_equal(after.prediction[safe], before.prediction[safe])
                certified += safe.sum()
                changed += (after.prediction != before.prediction).sum()
    assert certified > 1000
    assert changed > 20


def test_values_of_attacked_rows_stay_inside_where_training_is_trusted():
    X, y = load_diabetes(return_X_y=True)
    reg = LeaveOutRegressor(TableTreesRegressor(10), n_groups=6, training="trusted").fit(
        X[::2], y[::2]
    )
    before = reg.predict(X[1::2])
    low, high = reg.interval(X[1::2], 1)
    rng = np.random.default_rng(0)
    moved = 0
    for attack in ATTACKS:
        for groups in some_attacks(reg, 1, 6, rng):
            test = X[1::2].copy()
            attack(test, 1000 - y[1::2], owned_columns(reg, groups), rng)
            after = reg.predict(test)
            assert ((low <= after) & (after <= high)).all()
            moved += (after != before).sum()
    assert moved > 500
