"""Under attack, plain models fall, and nothing falls below its proof."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
)
from partita.attacks import under_attack
from partita.attacks._any_model import KINDS


def attacked(models, own, **settings):
    tables = own.X_train, own.y_train, own.X_test, own.y_test
    settings = {"units": own.units, "tolerance": own.tolerance, **settings}
    with parallel_config(backend="threading", n_jobs=2):
        return under_attack(models, *tables, **settings)


@pytest.fixture(scope="module")
def found(tumours):
    trees = HistGradientBoostingClassifier(max_iter=10)
    models = {
        "plain": trees,
        "partition": FeaturePartitionClassifier(
            trees, n_submodels=9, units=tumours.units, n_jobs=1
        ),
    }
    return attacked(models, tumours, radii=[1, 2], rows=60)


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
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    settings = {"n_submodels": 5} if method is FeaturePartitionClassifier else {"radius": 2}
    model = method(tree, units=units, n_jobs=1, **settings)
    tables = X[:80], y[:80], X[80:], y[80:]
    with parallel_config(backend="threading", n_jobs=1):
        found = under_attack({"model": model}, *tables, units=units, rows=40, random_state=seed)
    (line,) = found.rows
    assert line["proven, r = 1"] > 0.05
    for r in (1, 2, 3):
        assert line[f"worst, r = {r}"] >= line[f"proven, r = {r}"]


def test_times_are_multiples_of_the_first_models(found):
    assert found.rows[0]["fit"] == 1.0
    assert found.rows[1]["fit"] > 1.0


def test_values_too(diabetes):
    tree = DecisionTreeRegressor(max_depth=4, random_state=0)
    models = {"plain": tree, "vote": FeaturePartitionRegressor(tree, n_submodels=9, n_jobs=1)}
    found = attacked(models, diabetes, radii=[1], rows=40)
    plain, vote = found.rows
    assert plain["worst, r = 1"] < 0.5 * plain["accuracy"]
    assert vote["worst, r = 1"] >= vote["proven, r = 1"] > 0.2
    assert found.notes[1] == "Right: within 60 of the truth."


def test_a_rare_class_is_drawn_as_often_as_the_others():
    X = pd.DataFrame({"a": range(1000), "b": range(1000)})
    y = pd.Series(["good"] * 950 + ["bad"] * 50).to_numpy()
    seen = []

    class Recorder(DummyClassifier):
        def fit(self, X, y):
            seen.append(y)
            return super().fit(X, y)

        def predict(self, X):
            seen.append(len(X))
            return super().predict(X)

    with parallel_config(backend="threading", n_jobs=1):
        found = under_attack({"one": Recorder()}, X, y, X, y, radii=[1], rows=60, rare="bad")
    assert (seen[0] == "bad").sum() == 50 == len(seen[0]) / 2
    assert seen[1] == 60
    assert found.rows[0]["accuracy"] == 0.5  # a mean over labels
    assert "means over labels; 'bad' is half of the rows" in found.notes[1]


def test_the_rows_are_said(found):
    assert found.notes == ("Learnt from 285 of 285 training rows; attacked: 60 of 142 test rows.",)


def test_without_units_each_column_is_a_source_and_trusted_ones_are_none(tumours):
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    settings = {"units": None, "radii": [4], "rows": 20}
    small = SimpleNamespace(**{**vars(tumours), "X_train": tumours.X_train.iloc[:, :4],
                               "X_test": tumours.X_test.iloc[:, :4]})  # fmt: skip
    assert attacked({"tree": tree}, small, **settings).rows[0]["worst, r = 4"] < 0.2
    with pytest.raises(InputError, match="from 1 to 3"):
        attacked({"tree": tree}, small, trusted=small.X_train.columns[:1], **settings)


@pytest.mark.parametrize("radii", [[], [0, 1], [11]])
def test_a_radius_beyond_the_sources_is_refused(tumours, radii):
    with pytest.raises(InputError, match="from 1 to 10"):
        attacked({"model": None}, tumours, radii=radii)


def test_no_models_are_refused(tumours):
    with pytest.raises(InputError, match="models is empty"):
        attacked({}, tumours)
