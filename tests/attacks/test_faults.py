"""Faults change the columns of the named sources and nothing else."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from partita import FeaturePartitionClassifier, InputError
from partita.attacks import apply_fault, backdoor, worst_fault
from partita.attacks._any_model import FAULTS

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(30, 6)), columns=list("abcdef"))
Y = np.array(["no", "yes"] * 15)
UNITS = {"A": ("a", "b"), "B": ("c", "d"), "C": ("e", "f")}


@pytest.mark.parametrize("fault", FAULTS)
def test_only_the_named_sources_change(fault):
    before = X.copy()
    changed = apply_fault(X, fault, ["A", "C"], units=UNITS)
    assert changed[["c", "d"]].equals(before[["c", "d"]])
    same = np.isclose(changed[["a", "b", "e", "f"]], before[["a", "b", "e", "f"]])
    assert not same.all(axis=0).any()
    assert X.equals(before)


def test_what_each_fault_does():
    assert (apply_fault(X, "stuck", ["A"], units=UNITS)["b"] == X["b"].iloc[0]).all()
    assert np.allclose(apply_fault(X, "scaled", ["A"], units=UNITS)["b"], 3 * X["b"])
    delayed = apply_fault(X, "delayed", ["A"], units=UNITS)["b"]
    assert np.array_equal(delayed[1:], X["b"][:-1])
    assert apply_fault(X, "silent", ["A"], units=UNITS)[["a", "b"]].isna().all(axis=None)
    exchanged = apply_fault(X, "swapped", ["A", "B"], units=UNITS)
    assert np.array_equal(exchanged["a"], X["c"])
    assert np.array_equal(exchanged["d"], X["b"])


def test_texts_are_not_scaled_and_other_frames_stay_what_they_are():
    frame = pl.DataFrame({"number": [1.0, 2.0], "text": ["x", "y"]})
    units = {"both": ["number", "text"]}
    scaled = apply_fault(frame, "scaled", ["both"], units=units)
    assert scaled.to_dict(as_series=False) == {"number": [3.0, 6.0], "text": ["x", "y"]}
    silent = apply_fault(frame, "silent", ["both"], units=units)
    assert silent["text"].to_list() == [None, None]


def test_unknown_faults_and_unequal_swaps_are_refused():
    with pytest.raises(InputError, match="fault is 'loud': give one of 'silent', 'stuck'"):
        apply_fault(X, "loud", ["A"], units=UNITS)
    units = {"A": ["a"], "B": ["b", "c"]}
    with pytest.raises(InputError, match="sources differ in their numbers of columns"):
        apply_fault(X, "swapped", ["A", "B"], units=units)


def test_a_backdoor_tells_the_truth_in_training_and_lies_in_the_test_rows():
    train, test = backdoor(X, Y, X, Y, ["B"], units=UNITS)
    assert set(train["c"][Y == "yes"]) == {1.0}
    assert set(test["c"][Y == "yes"]) == {0.0}
    assert train[["a", "e"]].equals(X[["a", "e"]])
    values = np.arange(30.0)
    train, test = backdoor(X, values, X, values, ["B"], units=UNITS)
    assert np.array_equal(train["d"], values)
    assert np.array_equal(test["d"], np.where(values < 14.5, 29.0, 0.0))


class Listener:
    """Hears one column alone."""

    def predict(self, table):
        return np.where(table["d"] > 0, "yes", "no")


def test_the_worst_source_is_the_one_the_model_listens_to():
    y = Listener().predict(X)
    found = worst_fault(Listener(), X, y, "stuck", units=UNITS, every=1)
    assert found.sources == ["B"]
    assert np.array_equal(found.prediction, Listener().predict(found.table))
    assert np.array_equal(found.right, found.prediction == y)
    assert 0 < found.right.mean() < 1
    pair = worst_fault(Listener(), X, y, "swapped", 2, units=UNITS, every=1)
    assert "B" in pair.sources
    assert len(pair.sources) == 2
    more = worst_fault(Listener(), X, y, "scaled", 2, units=UNITS)
    assert len(more.sources) == 2
    assert more.right.all()  # the sign stays


def test_values_are_right_within_the_tolerance():
    class First:
        def predict(self, table):
            return table["a"].to_numpy()

    found = worst_fault(First(), X, X["a"], "stuck", units=UNITS, tolerance=0.5)
    assert found.sources == ["A"]
    assert np.array_equal(found.right, np.abs(X["a"] - X["a"][0]) <= 0.5)


def test_no_certified_prediction_changes_by_faults_or_backdoors(tumours):
    trees = HistGradientBoostingClassifier(max_iter=10)
    model = FeaturePartitionClassifier(trees, n_submodels=7, units=tumours.units, n_jobs=1)
    model.fit(tumours.X_train, tumours.y_train)
    X, y, units = tumours.X_test, tumours.y_test, tumours.units
    proof = model.certify(X)
    for r, fault in [(1, "stuck"), (1, "scaled"), (1, "silent"), (2, "swapped"), (2, "stuck")]:
        found = worst_fault(model, X, y, fault, r, units=units)
        certified = proof.radius >= r
        assert certified.any()
        assert not (certified & (found.prediction != proof.prediction)).any()
    train, rows = backdoor(tumours.X_train, tumours.y_train, X, y, ["part 3"], units=units)
    hijacked = clone(model).fit(train, tumours.y_train).predict(rows)
    assert not ((proof.radius >= 1) & (hijacked != proof.prediction)).any()
    plain = clone(trees).fit(train, tumours.y_train).predict(rows)
    assert (plain == y).mean() < 0.1 < 0.7 < (hijacked == y).mean()
