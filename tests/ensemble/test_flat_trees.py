"""Flat trees add up what scikit-learn's own add up, bit for bit."""

from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from partita.ensemble._flat_trees import FlatTrees
from tests.exhaustive import numpy_kernels

N_ROWS = 900
SOME_CODES = (False, True, False, True, False)
NUMBERS = (False,) * 5


def table(categorical=NUMBERS):
    """Numbers with missing values and, where asked for, two columns of codes."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_ROWS, 5))
    for column in np.flatnonzero(categorical):
        X[:, column] = np.arange(N_ROWS) % (11 * column)
    y = np.round(X[:, 0] + X[:, 1] % 2 + X[:, 3] % 3).astype(int) % 4
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@cache
def boosted(boosting, categorical):
    X, y = table(categorical)
    columns = list(categorical) if any(categorical) else None
    model = boosting(
        max_iter=20, max_leaf_nodes=8, categorical_features=columns, early_stopping=False
    )
    return X, model.fit(X, y), FlatTrees.of_boosting(model, categorical)


@cache
def forest(trees=ExtraTreesClassifier, **settings):
    X, y = table()
    X = X.astype(np.float32)
    model = trees(20, random_state=0, **settings).fit(X[::2], y[::2])
    return X, model, flattened(model)


def flattened(forest):
    return FlatTrees.of_trees([member.tree_ for member in forest.estimators_])


def numpy_sums(trees, X):
    sums = np.repeat(trees.start[None], len(X), axis=0)
    arrays = trees.as_arrays()
    arrays.pop("start")
    numpy_kernels.tree_sums(X.astype(np.float64), *arrays.values(), sums)
    return sums


@pytest.mark.parametrize(
    "boosting", [HistGradientBoostingClassifier, HistGradientBoostingRegressor]
)
@pytest.mark.parametrize("categorical", [NUMBERS, SOME_CODES], ids=["numbers", "codes"])
def test_sums_are_those_of_boosting(boosting, categorical):
    X, model, trees = boosted(boosting, categorical)
    if any(categorical):
        X[0, 1], X[1, 3] = 300, 200  # codes that training never saw
        assert len(trees.categories) > 20
    else:
        X[0], X[1] = np.inf, -np.inf
    expected = model._raw_predict(X)
    assert np.array_equal(trees.sums(X), expected)
    assert np.array_equal(np.vstack([trees.sums(X[[i]]) for i in range(50)]), expected[:50])
    assert np.array_equal(numpy_sums(trees, X), expected)


@pytest.mark.parametrize("leaf", [1, 7], ids=["small leaves", "leaves of several classes"])
@pytest.mark.parametrize("grow", [ExtraTreesClassifier, ExtraTreesRegressor])
def test_sums_are_those_of_a_forest(grow, leaf):
    X, model, trees = forest(grow, min_samples_leaf=leaf)
    expected = model.predict_proba(X) if grow is ExtraTreesClassifier else model.predict(X)[:, None]
    assert np.array_equal(trees.sums(X) / 20, expected)
    alone = np.vstack([trees.sums(X[[i]]) for i in range(50)])
    assert np.array_equal(alone / 20, expected[:50])
    assert np.array_equal(numpy_sums(trees, X) / 20, expected)
    if leaf > 1 and grow is ExtraTreesClassifier:
        n_nodes = sum(tree.tree_.node_count for tree in model.estimators_)
        assert len(trees.feature) > 1.2 * n_nodes


def test_a_forest_that_saw_no_missing_values_knows_where_they_go():
    X, y = table()
    X = np.nan_to_num(X).astype(np.float32)
    model = ExtraTreesClassifier(20, random_state=0).fit(X, y)
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.float32(np.nan), X)
    expected = sum(tree.tree_.predict(gaps) for tree in model.estimators_)
    assert np.array_equal(flattened(model).sums(gaps), expected)


def test_a_target_of_zeros_gives_a_leaf_of_zero():
    X, _ = table()
    model = ExtraTreesRegressor(3).fit(X, np.zeros(len(X)))
    trees = FlatTrees.from_arrays(flattened(model).as_arrays(), 5)
    assert np.array_equal(trees.sums(X), np.zeros((len(X), 1)))


def test_arrays_go_and_come_back():
    for X, _, trees in (boosted(HistGradientBoostingClassifier, SOME_CODES), forest()):
        again = FlatTrees.from_arrays(trees.as_arrays(), 5)
        assert np.array_equal(again.sums(X), trees.sums(X))


LEAF = "a leaf"  # the first one
FURTHER = "a further leaf"  # the first that stands behind another


@pytest.mark.parametrize(
    ("name", "position", "value"),
    [
        ("feature", 0, 5),
        ("left", 0, 0),  # a loop
        ("right", 0, 10**8),
        ("left", 0, -7),
        ("category_set", 0, 10**6),
        ("roots", 1, -1),
        ("roots", 1, 10**8),
        ("left", LEAF, 4),  # there are four sums
        ("left", LEAF, -1),
        ("right", LEAF, 0),  # from a leaf back into the tree
        ("right", LEAF, 10**8),
        ("right", FURTHER, FURTHER),  # a loop of leaves
        ("feature", FURTHER, 0),  # from a leaf to a node that is none
    ],
)
def test_arrays_that_could_lead_a_walk_astray_are_refused(name, position, value):
    _, _, trees = boosted(HistGradientBoostingClassifier, SOME_CODES)
    if FURTHER in (position, value):
        _, _, trees = forest(min_samples_leaf=7)
    arrays = {key: array.copy() for key, array in trees.as_arrays().items()}
    leaves = np.flatnonzero(arrays["feature"] < 0)
    where = {LEAF: leaves[0], FURTHER: arrays["right"][leaves].max()}
    arrays[name][where.get(position, position)] = where.get(value, value)
    with pytest.raises(ValueError, match="do not fit together"):
        FlatTrees.from_arrays(arrays, 5)


def test_arrays_of_another_type_or_length_are_refused():
    _, _, trees = boosted(HistGradientBoostingRegressor, NUMBERS)
    arrays = trees.as_arrays()
    for name, array in arrays.items():
        for other in (array.astype("f4"), array.tolist(), array[None]):
            with pytest.raises(ValueError, match=f"array '{name}' has another type or shape"):
                FlatTrees.from_arrays(arrays | {name: other}, 5)
    for shorter in (
        {"threshold": arrays["threshold"][1:]},
        {"category_set": np.full(len(arrays["feature"]), -1, np.int32)},  # without sets
    ):
        with pytest.raises(ValueError, match="do not fit together"):
            FlatTrees.from_arrays(arrays | shorter, 5)


def test_arrays_under_other_names_are_refused():
    _, _, trees = forest()
    arrays = trees.as_arrays()
    for others in (arrays | {"output": arrays["roots"]}, {"feature": arrays["feature"]}):
        with pytest.raises(ValueError, match="in a form that this version does not read"):
            FlatTrees.from_arrays(others, 5)
