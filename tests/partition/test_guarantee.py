"""The guarantee on real training: units are corrupted, the model is refitted, and what was
certified has not moved."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError, families
from partita.rules import RunOff, TopK, Tournament

CANCER, TUMOUR = load_breast_cancer(return_X_y=True)
TREE = DecisionTreeClassifier(max_depth=3)


def corrupt(columns):
    """Cancer's table with these columns rewritten: the label in training, its opposite later."""
    train, test = CANCER[::2].copy(), CANCER[1::2].copy()
    train[:, columns], test[:, columns] = TUMOUR[::2, None], 1 - TUMOUR[1::2, None]
    return train, test


def test_units_can_be_corrupted_as_a_whole():
    """Everything a unit of several columns holds is rewritten; one column is trusted."""
    devices = np.arange(30) % 10  # mean, error and worst value of ten measurements
    clf = FeaturePartitionClassifier(TREE, units=devices, trusted=[3], n_submodels=9)
    before = clf.fit(CANCER[::2], TUMOUR[::2]).certify(CANCER[1::2])
    assert before.counts.total == 10
    n_certified = n_changed = 0
    rng = np.random.default_rng(0)
    for r in (1, 2, 3):
        for _ in range(2):
            owned = np.isin(devices, rng.choice(10, size=r, replace=False)) & (np.arange(30) != 3)
            train, test = corrupt(owned)
            after = clone(clf).fit(train, TUMOUR[::2]).certify(test)
            safe = before.radius >= r
            assert np.array_equal(after.prediction[safe], before.prediction[safe])
            n_certified += safe.sum()
            n_changed += np.count_nonzero(after.prediction != before.prediction)
    assert n_certified > 300
    assert n_changed > 5


def test_overlapping_sets_survive_refitting():
    clf = FeaturePartitionClassifier(TREE, n_submodels=9, spread=2, rule="plurality")
    before = clf.fit(CANCER[::2], TUMOUR[::2]).certify(CANCER[1::2], cover="exact")
    rng = np.random.default_rng(0)
    n_certified = 0
    for r in (1, 2):
        for _ in range(3):
            train, test = corrupt(rng.choice(30, size=r, replace=False))
            after = clone(clf).fit(train, TUMOUR[::2]).certify(test)
            safe = before.radius >= r
            assert np.array_equal(after.prediction[safe], before.prediction[safe])
            n_certified += safe.sum()
    assert n_certified > 300


@pytest.mark.parametrize("rule", ["plurality", "tournament", Tournament(margin=0.5)])
def test_the_integer_program_proves_no_less_than_the_bound(rule):
    clf = FeaturePartitionClassifier(TREE, n_submodels=7, spread=3, rule=rule)
    clf.fit(CANCER[::2], TUMOUR[::2])
    X = CANCER[1:40:2]
    assert clf.ballots(X).shape == (20, 21, 2)
    bound, exact = clf.certify(X), clf.certify(X, cover="exact")
    assert (bound.counts.what, bound.counts.total) == ("columns", 30)
    assert np.all(exact.radius >= bound.radius)


@pytest.mark.parametrize("silent", [None, "detect"])
@pytest.mark.parametrize("rule", [RunOff(), TopK(2)])
def test_rules_without_gaps_have_no_integer_program(rule, silent):
    """They used to return the bound under the name of the exact radius."""
    clf = FeaturePartitionClassifier(TREE, n_submodels=7, spread=3, rule=rule)
    clf.fit(CANCER[::2], TUMOUR[::2])
    X, labels = CANCER[1:40:2], TUMOUR[1:40:2] if isinstance(rule, TopK) else None
    proof = clf.certify(X, labels=labels, silent=silent)
    assert (proof.counts.what, proof.counts.total) == ("columns", 30)
    with pytest.raises(
        InputError, match=r"cover='exact' is not supported with \w+\(.*use cover='bou"
    ):
        clf.certify(X, labels=labels, silent=silent, cover="exact")
    with pytest.raises(InputError, match="cover is 'nonsense'"):
        clf.certify(X, labels=labels, silent=silent, cover="nonsense")


def test_an_interval_with_overlapping_sets_implies_the_radius():
    X, y = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(
        DecisionTreeRegressor(max_depth=3),
        units=[0, 0, 1, 2, 3, 4, 4, 5, 6, 7],
        n_submodels=4,
        spread=2,
    )
    proof = reg.fit(X, y).certify(X, tolerance=40)
    assert proof.counts.total == 8
    low, high = reg.interval(X, radius=1)
    survives = (low >= proof.prediction - 40) & (high <= proof.prediction + 40)
    assert np.all(proof.radius[survives] >= 1)


def test_trusting_a_label_survives_an_attack_on_what_is_not_trusted():
    """A frame's labels are whole numbers: the column at position 22 is not the one labelled 22."""
    frame = pd.DataFrame(CANCER).drop(columns=[0, 3, 7])
    clf = FeaturePartitionClassifier(TREE, n_submodels=9, trusted=[22])
    before = clf.fit(frame[::2], TUMOUR[::2]).certify(frame[1::2])
    safe = before.radius >= 1
    assert safe.sum() > 100
    for column in (23, 24, 26):  # 26 is what position 22 holds
        train, test = frame[::2].copy(), frame[1::2].copy()
        train[column], test[column] = TUMOUR[::2].astype(float), 1.0 - TUMOUR[1::2]
        after = clone(clf).fit(train, TUMOUR[::2]).certify(test)
        assert np.array_equal(after.prediction[safe], before.prediction[safe])


def test_one_hot_families_survive_a_corrupted_raw_column():
    """Whoever owns the raw column owns all its one-hot columns: with one of them elsewhere,
    certified rows fell."""
    rng = np.random.default_rng(0)
    job = rng.choice(["blue_collar", "retired", "self_employed", "services"], size=800)
    y = np.isin(job, ["retired", "blue_collar"]).astype(int)
    y = np.where(rng.random(800) < 0.15, 1 - y, y)
    rest = pd.DataFrame({f"c{k}": y + rng.normal(scale=1.6, size=800) for k in range(8)})
    columns = [f"job_{name}" for name in np.unique(job)]

    def table(raw):
        one_hot = pd.get_dummies(pd.Series(raw, name="job"), prefix="job")
        one_hot = one_hot.reindex(columns=columns, fill_value=0).astype(float)
        return pd.concat([one_hot, rest], axis=1)

    clf = FeaturePartitionClassifier(GaussianNB(), units=families(), n_submodels=7)
    honest = table(job)
    before = clf.fit(honest[:500], y[:500]).certify(honest[500:])
    assert "job" in clf.units_.names
    assert len(clf.units_) == 9
    lie = np.where(y == 1, "services", "blue_collar")
    opposite = np.where(y == 1, "blue_collar", "services")
    attacked = table(np.where(np.arange(800) < 500, lie, opposite))
    after = clone(clf).fit(attacked[:500], y[:500]).certify(attacked[500:])
    safe = before.radius >= 1
    assert safe.sum() > 50
    assert np.array_equal(after.prediction[safe], before.prediction[safe])
