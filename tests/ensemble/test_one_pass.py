"""All submodels in one pass: the same ballots to the last bit, whatever stands in the rows."""

import gc
import pickle
import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
    SubmodelError,
    SubmodelWarning,
)
from partita.ensemble import (
    TableBoostingClassifier,
    TableTreesClassifier,
    _one_pass,
)
from partita.ensemble._one_pass import _KNOWN, one_pass
from partita.tables import Table, open_table


def both(model, X):
    """The ballots of one pass, and those of the submodels one by one."""
    return model._scores_together(model.read(X)), model._scores_apart(model.read(X))


def assert_same(model, X):
    together, one_by_one = both(model, X)
    assert together is not None
    assert together.dtype == one_by_one.dtype
    assert np.array_equal(together, one_by_one)
    return together


def mixed(n_rows=300, seed=0):
    """Numbers, texts, dates, booleans, missing values: what tables hold."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.integers(0, 9, n_rows),
            "c": rng.choice(["red", "green", "blue"], n_rows),
            "d": pd.Categorical(rng.choice(["x", "y"], n_rows)),
            "e": rng.random(n_rows) < 0.5,
            "f": [date(2020, 1, 1 + int(k)) for k in rng.integers(0, 28, n_rows)],
            "g": rng.normal(size=n_rows).astype(np.float32),
            "h": [None if k < 0.2 else f"{k:.1f}" for k in rng.random(n_rows)],
        }
    )
    X.loc[X.index % 7 == 0, "a"] = np.nan
    y = (X["b"] + (X["c"] == "red") * 3 > 5).astype(int) + (X["g"] > 0.8)
    return X, y.to_numpy()


MODELS = {
    "partition": lambda labels: (
        FeaturePartitionClassifier if labels else FeaturePartitionRegressor
    )(n_submodels=4, random_state=0),
    "overlap": lambda labels: (FeaturePartitionClassifier if labels else FeaturePartitionRegressor)(
        n_submodels=4, spread=2, random_state=0
    ),
    "leave-out": lambda labels: (LeaveOutClassifier if labels else LeaveOutRegressor)(
        n_groups=5, random_state=0
    ),
    "trusted training": lambda labels: (LeaveOutClassifier if labels else LeaveOutRegressor)(
        n_groups=5, training="trusted", random_state=0
    ),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_diabetes])
def test_ballots_are_the_same_to_the_last_bit(kind, load):
    X, y = load(return_X_y=True, as_frame=True)
    model = MODELS[kind](load is not load_diabetes).fit(X[::2], y[::2])
    rows = X[1::2]
    whole = assert_same(model, rows)
    for n_rows in (1, 2, 3, 17):
        assert np.array_equal(assert_same(model, rows[:n_rows]), whole[:n_rows])


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("task", ["labels", "values"])
def test_tables_of_all_types(kind, task):
    X, y = mixed()
    model = MODELS[kind](task == "labels").fit(X, y)
    new, _ = mixed(50, 1)
    new.loc[3, "c"] = "never seen"
    new.loc[4:6, ["c", "h"]] = None
    assert_same(model, new)
    if kind != "trusted training":  # where rows as lists are read column by column
        rows = MODELS[kind](task == "labels").fit(X.to_numpy().tolist(), y)
        assert_same(rows, new.to_numpy().tolist())


def test_arrays_hold_infinities_and_huge_values():
    X, y = load_wine(return_X_y=True)
    for kind in ("partition", "leave-out"):
        model = MODELS[kind](True).fit(X, y)
        rows = X[:9].copy()
        rows[np.arange(9), np.arange(9)] = [np.inf, -np.inf, np.nan, 1e308, -1e308, 0, 1e-320, 3, 4]
        assert_same(model, rows)
        assert_same(model, np.clip(rows, -1e30, 1e30).astype(np.float32))


def test_many_rows_are_read_in_parts(monkeypatch):
    X, y = load_digits(return_X_y=True)
    model = MODELS["partition"](True).fit(X[:200], y[:200])
    whole = assert_same(model, X[:400])
    monkeypatch.setattr(_one_pass, "ROWS", 64)
    assert np.array_equal(assert_same(model, X[:400]), whole)


def test_a_submodel_without_a_fit_casts_its_fixed_vote():
    X, y = load_wine(return_X_y=True)

    class Refuses(TableBoostingClassifier):
        def fit(self, X, y, sample_weight=None):
            if np.asarray(X).max() > 1000:
                raise ValueError("too large")
            return super().fit(X, y, sample_weight)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubmodelWarning)
        model = FeaturePartitionClassifier(Refuses(), n_submodels=4, on_failure="vote").fit(X, y)
    fixed = [t for t, one in enumerate(model.estimators_) if not isinstance(one, Refuses)]
    assert len(fixed) == 1
    assert model._scores_together(model.read(X)) is None  # a class of the user's
    for one in model.estimators_:
        if isinstance(one, Refuses):
            one.__class__ = TableBoostingClassifier
    together = assert_same(model, X[:5])
    assert (together[:, fixed[0]] == model.fixed_ballot_).all()


def test_a_class_that_no_submodel_saw_is_lowest():
    """With label attacks every submodel has rows of its own, encodings and classes too."""
    X, y = mixed(120)
    model = FeaturePartitionClassifier(
        TableTreesClassifier(5),
        n_submodels=2,
        spread=3,
        label_attacks="rows",
        classes=[0, 1, 2, 7],
        random_state=0,
    )
    model.fit(X, y)
    text = [
        one._encoding(model.columns_of(t).index(7))
        for t, one in enumerate(model.estimators_)
        if 7 in model.columns_of(t)
    ]
    assert len(set(text)) == len(text) > 1
    assert_same(model, X)


def test_a_value_that_is_refused_stops_one_submodel_alone():
    X, y = mixed()
    new = X[:6].astype({"b": object})
    new.loc[2, "b"] = "no number"
    model = FeaturePartitionClassifier(n_submodels=4, random_state=0).fit(X, y)
    assert model._scores_together(model.read(new)) is None
    with pytest.raises(SubmodelError, match="'no number' where training had numbers"):
        model.predict(new)
    model.set_params(on_failure="vote")
    with pytest.warns(SubmodelWarning, match="1 of 6 rows"):
        ballots = model.ballots(new)
    clean = model.ballots(X[:6])
    touched = (ballots != clean).any(axis=2)
    assert touched.sum(axis=1).tolist() == [0, 0, 1, 0, 0, 0]


def test_tables_that_may_read_columns_together_are_asked_for_each_submodel():
    class Whole(Table):
        def __init__(self, X):
            self.X, (self.n_rows, self.n_columns) = X, X.shape

        def take(self, columns, rows=None):
            part = self.X[:, columns]
            return part if rows is None else part[rows]

        def numeric(self):
            return [True] * self.n_columns

    X, y = load_wine(return_X_y=True)
    model = MODELS["partition"](True).fit(X, y)
    assert model._scores_together(Whole(X)) is None
    assert np.array_equal(model.ballots(Whole(X)), model.ballots(X))


def test_what_is_kept_follows_the_submodels():
    X, y = load_wine(return_X_y=True)
    model = MODELS["partition"](True).fit(X, y)
    columns = [model.columns_of(t) for t in range(4)]
    first = one_pass(model, model.estimators_, columns)
    assert one_pass(model, model.estimators_, columns) is first
    before = model.ballots(X)
    assert "_one_pass" not in model.__dict__
    model.estimators_[2].fit(X[:, model.columns_of(2)], y[::-1])  # in place
    after = assert_same(model, X)
    assert (before != after).any(axis=(0, 2)).tolist() == [False, False, True, False]
    other = pickle.loads(pickle.dumps(model))
    assert np.array_equal(other.ballots(X), after)
    assert one_pass(model, model.estimators_, columns) is not first
    known = len(_KNOWN)
    del model, other
    gc.collect()
    assert len(_KNOWN) <= known - 2


def test_other_submodels_and_huge_ones_are_asked_one_by_one(monkeypatch):
    X, y = load_wine(return_X_y=True)

    class Own(TableTreesClassifier):
        pass

    for estimator in (Own(5), TableTreesClassifier(5)):
        model = FeaturePartitionClassifier(estimator, n_submodels=3).fit(X, y)
        together = model._scores_together(open_table(X))
        assert (together is None) == isinstance(estimator, Own)
    monkeypatch.setattr(_one_pass, "MOST_NODES", 10)
    model = FeaturePartitionClassifier(TableTreesClassifier(5), n_submodels=3).fit(X, y)
    assert model._scores_together(open_table(X)) is None
    assert model.ballots(X).shape == (178, 3, 3)
