"""Label sets of fitted models: attacks on real tables stay inside, and certificates agree."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionClassifier, InputError, LeaveOutClassifier
from partita.rules import TopK

X, Y = load_wine(return_X_y=True, as_frame=True)
NAMES = np.array(["low", "mid", "high"])[Y]
ROWS = X[1::6]
MODELS = {
    "tournament": FeaturePartitionClassifier(GaussianNB(), n_submodels=7),
    "plurality": FeaturePartitionClassifier(GaussianNB(), n_submodels=7, rule="plurality"),
    "run-off": FeaturePartitionClassifier(GaussianNB(), n_submodels=7, rule="runoff"),
    "overlapping": FeaturePartitionClassifier(GaussianNB(), n_submodels=6, spread=2),
    "fallback": FeaturePartitionClassifier(GaussianNB(), n_submodels=7, fallback=GaussianNB()),
    "leave-out": LeaveOutClassifier(DecisionTreeClassifier(max_depth=3), n_groups=5),
}


def attacked(rows, columns, rng):
    """The rows with these columns rewritten, to values from anywhere in the table or beyond."""
    out = rows.copy()
    for column in columns:
        out.iloc[:, column] = rng.choice([*X.iloc[:, column], -1e3, 1e4], size=len(rows))
    return out


@pytest.mark.parametrize("name", MODELS)
def test_no_attack_on_columns_leaves_the_sets(name):
    clf = MODELS[name].fit(X[::2], NAMES[::2])
    rng, proof = np.random.default_rng(0), clf.certify(ROWS)
    smaller = clf.classes_ == proof.prediction[:, None]
    assert np.array_equal(clf.prediction_set(ROWS, 0), smaller)
    for radius in (1, 2):
        sets = clf.prediction_set(ROWS, radius)
        assert (smaller <= sets).all()
        alone = proof.radius >= radius
        assert np.array_equal(sets[alone], clf.classes_ == proof.prediction[alone, None])
        for columns in list(combinations(range(X.shape[1]), radius))[::3]:
            after = clf.predict(attacked(ROWS, columns, rng))
            assert sets[np.arange(len(ROWS)), np.searchsorted(clf.classes_, after)].all()
        smaller = sets
    assert clf.prediction_set(ROWS, 10**9).shape == sets.shape


@pytest.mark.parametrize("silent", ["detect", ["alcohol"]], ids=["detected", "declared"])
@pytest.mark.parametrize("name", ["tournament", "plurality", "overlapping", "leave-out"])
def test_no_attack_beside_silence_leaves_the_sets(name, silent):
    clf = MODELS[name].fit(X[::2], NAMES[::2])
    quiet = ROWS.copy()
    quiet["alcohol"] = np.nan
    rng, sets = np.random.default_rng(1), clf.prediction_set(quiet, 1, silent=silent)
    for column in range(X.shape[1]):
        for values in (attacked(quiet, [column], rng), quiet.assign(**{X.columns[column]: np.nan})):
            if silent != "detect" and (column == 0 or values.isna().all().sum() > 1):
                continue  # what is declared stays as it is
            after = clf.predict(pd.DataFrame(values), silent=silent)
            assert sets[np.arange(len(ROWS)), np.searchsorted(clf.classes_, after)].all()


def test_a_submodel_that_was_poisoned_stays_in_the_sets():
    """The attacker owns a column of the training table and of the rows."""
    clf = MODELS["tournament"].fit(X[::2], NAMES[::2])
    sets, rng = clf.prediction_set(ROWS, 1), np.random.default_rng(2)
    for column in range(X.shape[1]):
        poisoned = attacked(X[::2], [column], rng)
        after = MODELS["tournament"].fit(poisoned, NAMES[::2])
        labels = after.predict(attacked(ROWS, [column], rng))
        assert sets[np.arange(len(ROWS)), np.searchsorted(clf.classes_, labels)].all()


def test_what_has_no_sets_says_so():
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=7, rule=TopK(2)).fit(X, Y)
    with pytest.raises(InputError, match="TopK\\(k=2\\) has no label sets"):
        clf.prediction_set(ROWS)
    with pytest.raises(InputError, match="radius is -1"):
        MODELS["plurality"].fit(X, Y).prediction_set(ROWS, -1)
