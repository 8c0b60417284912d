"""Faults change the columns of the named sources and nothing else."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from partita import certify
from partita.deployments._deployment import Deployment
from partita.deployments._study import Contender
from partita.deployments._tampering import (
    after_backdoor,
    after_fault,
    backdoor,
    judged,
    scaled,
    stuck,
    swapped,
    worst_sources,
)

from .small import small_study


@pytest.fixture
def own():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 6)), columns=list("abcdef"))
    y = np.array(["no", "yes"] * 15)
    units = {"A": ("a", "b"), "B": ("c", "d"), "C": ("e", "f")}
    return Deployment("small", "", "", X, y, X, y, X, y, units)


@pytest.mark.parametrize("fault", [stuck, scaled, swapped])
def test_only_the_named_sources_change(own, fault):
    before = own.X_test.copy()
    changed = fault(own, own.X_test, ["A", "C"])
    assert changed[["c", "d"]].equals(before[["c", "d"]])
    assert (
        not np.isclose(changed[["a", "b", "e", "f"]], before[["a", "b", "e", "f"]])
        .all(axis=0)
        .any()
    )
    assert own.X_test.equals(before)


def test_what_each_fault_does(own):
    X = own.X_test
    assert (stuck(own, X, ["A"])["b"] == X["b"].iloc[0]).all()
    assert np.allclose(scaled(own, X, ["A"])["b"], 3 * X["b"])
    exchanged = swapped(own, X, ["A", "B"])
    assert np.array_equal(exchanged["a"], X["c"])
    assert np.array_equal(exchanged["d"], X["b"])


def test_a_backdoor_tells_the_truth_in_training_and_lies_in_the_test_rows(own):
    train, test = backdoor(own, ["B"])
    assert set(train["c"][own.y_train == "yes"]) == {1.0}
    assert set(test["c"][own.y_test == "yes"]) == {0.0}
    assert train[["a", "e"]].equals(own.X_train[["a", "e"]])


def test_a_certified_prediction_that_changes_is_counted(own):
    y = own.y_test
    proof = certify(
        np.eye(2)[np.searchsorted(["no", "yes"], y)][:, None].repeat(3, axis=1), "plurality"
    )
    proof = replace(proof, prediction=y)
    one = Contender(None, "", None, proof, y == y, 0.0, [])
    assert judged(own, one, y, 1) == (1.0, 0)
    other = np.where(np.arange(len(y)) < 4, "maybe", y)
    assert judged(own, one, other, 1) == (26 / 30, 4)
    assert judged(own, one, other, 2) == (26 / 30, 0)  # nothing is certified against two


def test_the_worst_source_is_the_one_the_model_listens_to(own):
    class Listener:
        def predict(self, X):
            return np.where(X["d"] > 0, "yes", "no")

    right = own.y_test == np.where(own.X_test["d"] > 0, "yes", "no")
    taught = Deployment(
        "small",
        "",
        "",
        own.X_train,
        own.y_train,
        own.X_valid,
        own.y_valid,
        own.X_test[right],
        own.y_test[right],
        own.units,
    )
    assert worst_sources(taught, Listener(), stuck, 1, every=1) == ["B"]


@pytest.mark.long
def test_no_certified_prediction_changes_by_faults_or_backdoors():
    """The claim of the gas story, on a small one."""
    study = small_study("gas")
    for fault in (stuck, scaled):
        share, broken = after_fault(study.deployment, study.main, fault, 1)
        assert broken == 0
        assert share >= study.main.certified(1).mean()
    tables = backdoor(study.deployment, ["sensor5"])
    share, broken = after_backdoor(study.deployment, study.main, tables, 1)
    assert broken == 0
    assert share >= study.main.certified(1).mean()
    assert after_backdoor(study.deployment, study.single, tables, 1)[0] < study.single.right.mean()
