"""The audit finds nothing where the proof holds, and finds a radius that is too large."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    SubmodelWarning,
)
from partita.attacks import audit, replay
from partita.datasets import load_digits
from partita.rules import Median, Plurality, RunOff, Tournament

from .leaky_estimators import Own

TREE = DecisionTreeClassifier(max_depth=3)


@pytest.mark.parametrize(
    "rule",
    [Plurality(), Tournament(), pytest.param(RunOff(), marks=pytest.mark.long)],
    ids=lambda rule: type(rule).__name__,
)
def test_no_certified_prediction_changes(arrays, audited, rule):
    found = audited(TREE, arrays, model={"n_submodels": 7, "rule": rule}, most=2)
    assert found.passed, str(found)
    hostile = ("large numbers", "missing values", "one cell")  # trees refuse the others
    assert {line.attack for line in found.lines} == {
        "evasion",
        "backdoor",
        *(f"poisoning: {kind}" for kind in ("noise", "constant", "permutation", "label")),
        *(f"poisoning: {kind}" for kind in hostile),
    }
    for line in found.lines:
        assert line.certified_changed == 0 < line.certified <= line.rows == 40
        assert line.changed <= line.rows - line.certified
        assert line.certified_accuracy <= line.accuracy
    evasion = [line for line in found.lines if line.attack == "evasion"]
    assert [line.r for line in evasion] == [1, 2]
    assert evasion[1].changed >= evasion[0].changed
    assert evasion[1].changed > 3  # the attacks are real
    assert sum(line.changed for line in found.lines if line.attack == "backdoor") > 3
    assert len(found.checks) > 10
    assert "checks passed" in str(found)


class Boastful(Plurality):
    """Certifies one more than it can prove."""

    def certify(self, ballots, **options):
        proof = super().certify(ballots, **options)
        return replace(proof, radius=np.minimum(proof.radius + 1, 4))


def test_a_radius_that_is_one_too_large_is_found_and_can_be_repeated(cancer, tmp_path):
    X, y, X_test, y_test = cancer
    model = FeaturePartitionClassifier(TREE, n_submodels=9, rule=Boastful()).fit(X, y)
    found = audit(model, X_test, y_test, X, y, rows=60, most=2, attacks=("evasion", "poisoning"))
    assert not found.passed
    assert {one.attack for one in found.broken} >= {"evasion", "backdoor"}
    assert any(line.certified_changed for line in found.lines)
    assert "BROKEN: row" in str(found)
    stored = json.loads(found.save(tmp_path / "audit.json").read_text())
    honest = model.predict(X_test)
    for attack in ("evasion", "backdoor"):
        one = next(one for one in stored["broken"] if one["attack"] == attack)
        assert one["radius"] >= one["r"] >= len(one["units"]) > 0
        assert honest[one["row"]] == one["before"] != one["after"]
        assert replay(one, model, X_test, X, y) == one["after"]
    with pytest.raises(InputError, match="X_train is missing"):
        replay(one, model, X_test)


SCALED = make_pipeline(StandardScaler(), LogisticRegression())
HONEST = {
    "default": (None, {}),
    "default, vote": (None, {"on_failure": "vote"}),
    "own": (Own(), {}),
    "scaled": (SCALED, {}),
    "scaled, vote": (SCALED, {"on_failure": "vote"}),
    "tree": (TREE, {}),
    "tree, vote": (TREE, {"on_failure": "vote"}),
}
QUICK = ("own", "scaled, vote")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in HONEST],
)
def test_honest_estimators_pass(small, audited, name):
    X, y, X_test, y_test = small
    estimator, settings = HONEST[name]
    if name.startswith("scaled"):
        X, X_test = np.nan_to_num(X), np.nan_to_num(X_test)
    found = audited(estimator, (X, y, X_test, y_test), model=settings, rows=20)
    assert found.passed, str(found)
    kinds = {line.attack for line in found.lines}
    assert {"evasion", "poisoning: large numbers"} <= kinds
    assert name == "scaled" or "poisoning: one cell" in kinds  # it may refuse the cell
    # 4 families of numbers, in rows and in training
    assert sum("move no other submodel" in check.name for check in found.checks) == 8


def test_a_model_that_is_a_constant_is_warned_of_first(small):
    X, y, X_test, y_test = small
    rare = np.where(np.arange(len(y)) % 20 == 0, y, 1)
    model = FeaturePartitionClassifier(DummyClassifier(), n_submodels=5).fit(X, rare)
    found = audit(model, X_test, y_test, rows=60, most=1, attacks=("evasion",))
    assert found.passed
    constant, accuracy = found.warnings
    assert "100.0 % of the predictions are 1" in constant
    assert "At r = 0 this model is certified right in" in accuracy
    assert str(found).startswith(f"WARNING: {constant}\nWARNING: {accuracy}\nattack")
    few = audit(model, X_test, rows=49, most=1, attacks=("evasion",))
    assert not any("of the predictions" in warning for warning in few.warnings)


def test_a_model_that_is_no_constant_has_no_warnings(arrays, audited):
    found = audited(GaussianNB(), arrays, rows=60, attacks=("evasion",))
    assert found.warnings == []
    assert str(found).startswith("attack")


def test_submodels_that_could_not_be_fitted_are_warned_of(small):
    X, y, X_test, y_test = small
    X = np.nan_to_num(X)
    X[0, 0] = np.inf
    with pytest.warns(SubmodelWarning):
        model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, on_failure="vote").fit(X, y)
    found = audit(model, np.nan_to_num(X_test), y_test, rows=20, most=1, attacks=("evasion",))
    assert found.warnings[0].startswith("1 of 5 submodels failed to fit; each casts a fixed vote")


def test_an_audit_of_the_training_table_is_warned_of(small):
    X, y, _, _ = small
    model = FeaturePartitionClassifier(Own(), n_submodels=5).fit(X, y)
    found = audit(model, X, y, X, y, rows=10, most=1, attacks=("evasion",))
    assert "THE ROWS THAT THE MODEL WAS FITTED ON" in found.warnings[0]


def test_a_step_before_the_ensemble_that_mixes_columns_is_named(arrays):
    X, y, X_test, y_test = arrays
    ensemble = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    mixing = make_pipeline(StandardScaler(), PCA(8), ensemble).fit(X, y)
    found = audit(mixing, X_test, y_test, X, y, rows=10, attacks=("checks",))
    assert any("step 'pca' lets column" in check.problem for check in found.checks)
    sound = make_pipeline(StandardScaler(), ensemble).fit(X, y)
    assert audit(sound, X_test, y_test, X, y, rows=10, most=1).passed


def test_labels_are_flipped_where_they_are_covered(arrays, audited):
    settings = {"label_attacks": "rows", "classes": [0, 1]}
    found = audited(GaussianNB(), arrays, model=settings, rows=20, most=2)
    assert found.passed, str(found)
    assert {"label flips", "backdoor and label flips"} <= {line.attack for line in found.lines}
    assert found.what == "columns and training labels"


def test_values_stay_within_the_tolerance():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = FeaturePartitionRegressor(Ridge(0.1), n_submodels=5, rule=Median(stretch=1.2))
    model.fit(X[::2], y[::2])
    found = audit(model, X[1::2], y[1::2], X[::2], y[::2], tolerance=60, rows=40, most=2)
    assert found.passed, str(found)
    assert all(line.certified_accuracy <= line.accuracy for line in found.lines)
    assert any(line.changed for line in found.lines if line.attack == "evasion")
    assert any(line.changed for line in found.lines if line.attack == "backdoor")
    with pytest.raises(InputError, match="tolerance is missing"):
        audit(model, X[1::2])


def test_images_are_patched_too():
    data = load_digits()
    model = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=13, partition="strided", image_shape=data.image_shape
    ).fit(data.X_train[:600], data.y_train[:600])
    found = audit(model, data.X_test, data.y_test, rows=30, most=1)
    assert found.passed, str(found)
    assert {line.attack for line in found.lines} >= {"evasion", "patch of 1 x 1"}
    names = {check.name for check in found.checks}
    assert not any("fitted" in name for name in names)  # the training data is not here
    assert "a row's ballots are the same alone and in a batch" in names
    lines = {line.attack: line for line in found.lines if line.r == 1}
    assert lines["patch of 1 x 1"].changed > 0


@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
@pytest.mark.parametrize(
    "attacks",
    [("evasion",), pytest.param(("evasion", "poisoning", "checks"), marks=pytest.mark.long)],
    ids=["evasion", "all"],
)
def test_texts_and_missing_values_are_attacked(kind, attacks):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 160)
    columns = {
        f"number {k}": np.where(rng.random(160) < 0.1, np.nan, y + rng.normal(size=160))
        for k in range(2)
    }
    columns |= {
        f"text {k}": np.where(
            rng.random(160) < 0.3, rng.choice(list("abc"), 160), np.where(y, "x", "y")
        )
        for k in range(3)
    }
    frame = pd.DataFrame(columns)
    X = {"pandas": frame, "polars": pl.DataFrame(columns), "array": frame.to_numpy(dtype=object)}
    X_train, X_test = X[kind][:100], X[kind][100:]
    model = FeaturePartitionClassifier(n_submodels=5, on_failure="vote").fit(X_train, y[:100])
    found = audit(model, X_test, y[100:], X_train, y[:100], rows=20, most=1, attacks=attacks)
    assert found.passed, str(found)
    assert any(line.changed for line in found.lines)


@pytest.mark.long
def test_overlapping_sets_and_trusted_columns(cancer, audited):
    trusted = [cancer[0].columns[0]]
    settings = {"n_submodels": 7, "spread": 3, "trusted": trusted, "rule": "plurality"}
    found = audited(GaussianNB(), cancer, model=settings, rows=60, most=2)
    assert found.passed, str(found)


def test_progress_names_what_is_done(arrays, audited, capsys):
    audited(GaussianNB(), arrays, rows=5, attacks=("evasion",), verbose=1)
    assert "partita: audited 4 of 4 parts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attacks": ("bribery",)}, "attacks names 'bribery'"),
        ({"attacks": ()}, r"attacks is \(\): give a list of some"),
        ({"attacks": "evasion"}, "attacks is 'evasion': give a list of some"),
        ({"rows": 0}, "rows is 0"),
        ({"most": 1.5}, "most is 1.5"),
        ({"y_train": None}, "X_train and y_train are given one without the other"),
        ({"X": np.zeros(3)}, "X has 1 dimension"),
        ({"model": LogisticRegression()}, "model is a LogisticRegression"),
    ],
)
def test_bad_arguments_are_named(arrays, options, message):
    X, y, X_test, y_test = arrays
    given = {
        "model": FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y),
        "X": X_test,
        "X_train": X,
        "y_train": y,
    } | options
    with pytest.raises(InputError, match=message):
        audit(given.pop("model"), given.pop("X"), y_test, **given)


def test_a_model_behind_the_vote_is_attacked_too(arrays, audited):
    """Poisoned and triggered, it answers for the attacker: no certified row may reach it."""
    settings = {"n_submodels": 9, "fallback": TREE, "gate": 1}
    found = audited(GaussianNB(), arrays, model=settings, most=2)
    assert found.passed, str(found)
    assert all(line.certified_changed == 0 for line in found.lines)
    assert any(line.certified > 0 for line in found.lines)
    assert sum(line.changed for line in found.lines) > 3


class Unreduced(Plurality):
    """A vote whose radius is one too large as soon as it is above 0: the gate takes nothing off."""

    def certify(self, ballots, **options):
        proof = super().certify(ballots, **options)
        return replace(proof, radius=np.where(proof.radius > 0, proof.radius + 1, 0))


def test_a_radius_that_the_gate_does_not_reduce_is_found(arrays, audited):
    settings = {"n_submodels": 7, "rule": Unreduced(), "fallback": DummyClassifier(), "gate": 1}
    found = audited(TREE, arrays, model=settings, most=2, rows=100)
    assert not found.passed
