"""Under attack, plain models fall, and nothing falls below its proof."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
)
from partita.deployments import Deployment, under_attack
from partita.deployments._poisoning import KINDS
from partita.deployments._under_attack import Scene, measure


@pytest.fixture(scope="module")
def found(cancer):
    trees = HistGradientBoostingClassifier(max_iter=10)
    models = {
        "plain": trees,
        "partition": FeaturePartitionClassifier(trees, n_submodels=9, units=cancer.units, n_jobs=1),
    }
    with parallel_config(backend="threading", n_jobs=2):
        return under_attack(cancer, radii=[1, 2], rows=60, models=models)


def test_a_plain_model_falls_and_a_certified_one_stands(found):
    plain, partition = found.rows
    assert plain["accuracy"] > 0.85
    assert plain["worst, r = 1"] < 0.1
    assert plain["proven, r = 1"] == 0.0
    assert partition["worst, r = 1"] > 0.7


def test_nothing_falls_below_its_proof_and_more_sources_never_help(found):
    partition = found.rows[1]
    assert partition["proof covers"] == "all"
    assert partition["proven, r = 1"] > 0.6
    for row in found.rows:
        for kind in (*KINDS, "worst"):
            shares = [row["accuracy"], *(row[f"{kind}, r = {r}"] for r in (1, 2))]
            assert shares == sorted(shares, reverse=True)
        for r in (1, 2):
            kinds = [row[f"{kind}, r = {r}"] for kind in KINDS]
            assert row[f"worst, r = {r}"] == min(kinds)
            assert row[f"worst, r = {r}"] >= row[f"proven, r = {r}"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", [FeaturePartitionClassifier, LeaveOutClassifier])
def test_no_proof_is_broken_on_small_tables(method, seed):
    """Weak models on random tables, at every radius there is: many rows are just certified."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (120, 6)).astype(float), columns=list("abcdef"))
    y = (X.sum(axis=1) + rng.normal(0, 2, 120) > 6).to_numpy().astype(int)
    units = {name: (name,) for name in X}
    small = Deployment("x", "x", "?", X[:80], y[:80], X, y, X[80:], y[80:], units)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    settings = {"n_submodels": 5} if method is FeaturePartitionClassifier else {"radius": 2}
    model = method(tree, units=units, n_jobs=1, **settings)
    line = measure(model, Scene.of(small, 40, 0), (1, 2, 3), seed)
    assert line["proven, r = 1"] > 0.05
    for r in (1, 2, 3):
        assert line[f"worst, r = {r}"] >= line[f"proven, r = {r}"]


def test_times_are_multiples_of_the_first_models(found):
    assert found.rows[0]["fit"] == 1.0
    assert found.rows[1]["fit"] > 1.0


def test_values_too(diabetes):
    scene = Scene.of(diabetes, 40, 0)
    tree = DecisionTreeRegressor(max_depth=4, random_state=0)
    plain = measure(tree, scene, (1,), 0)
    vote = measure(FeaturePartitionRegressor(tree, n_submodels=9, n_jobs=1), scene, (1,), 0)
    assert plain["worst, r = 1"] < 0.5 * plain["accuracy"]
    assert vote["worst, r = 1"] >= vote["proven, r = 1"] > 0.2


def test_a_rare_class_is_drawn_as_often_as_the_others():
    X = pd.DataFrame({"a": range(1000), "b": range(1000)})
    y = pd.Series(["good"] * 950 + ["bad"] * 50).to_numpy()
    units = {"a": ("a",), "b": ("b",)}
    scene = Scene.of(Deployment("x", "x", "?", X, y, X, y, X, y, units, positive="bad"), 60, 0)
    assert (scene.truth.y == "bad").sum() == 30 == len(scene.truth) / 2
    assert (scene.y_train == "bad").sum() == 50 == len(scene.y_train) / 2
    assert scene.truth.balanced
    assert "means over labels" in scene.notes[1]


def test_the_rows_are_said(cancer):
    notes = Scene.of(cancer, 60, 0).notes
    assert notes == ("Learnt from 285 of 285 training rows; attacked: 60 of 142 test rows.",)


@pytest.mark.parametrize("radii", [[], [0, 1], [11]])
def test_a_radius_beyond_the_sources_is_refused(cancer, radii):
    with pytest.raises(InputError, match="from 1 to 10"):
        under_attack(cancer, radii=radii)


def test_no_models_are_refused(cancer):
    with pytest.raises(InputError, match="models is empty"):
        under_attack(cancer, models={})
