"""Flat trees add up what scikit-learn's own add up, bit for bit."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from partita.ensemble._boosted_trees import BoostedTrees
from partita.kernels import plain

N_ROWS = 900


def table(categorical):
    """Numbers with missing values and, where asked for, two columns of codes."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_ROWS, 5))
    for column in np.flatnonzero(categorical):
        X[:, column] = np.arange(N_ROWS) % (11 * column)
    y = np.round(X[:, 0] + X[:, 1] % 2 + X[:, 3] % 3).astype(int) % 4
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def boosted(boosting, categorical):
    X, y = table(categorical)
    columns = categorical if any(categorical) else None
    model = boosting(
        max_iter=20, max_leaf_nodes=8, categorical_features=columns, early_stopping=False
    )
    return X, model.fit(X, y), BoostedTrees.of(model, categorical)


@pytest.mark.parametrize(
    "boosting", [HistGradientBoostingClassifier, HistGradientBoostingRegressor]
)
@pytest.mark.parametrize(
    "categorical", [[False] * 5, [False, True, False, True, False]], ids=["numbers", "codes"]
)
def test_sums_are_those_of_scikit_learn(boosting, categorical):
    X, model, trees = boosted(boosting, categorical)
    if any(categorical):
        X[0, 1], X[1, 3] = 300, 200  # codes that training never saw
        assert len(trees.categories) > 20
    else:
        X[0], X[1] = np.inf, -np.inf
    expected = model._raw_predict(X)
    assert np.array_equal(trees.sums(X), expected)
    assert np.array_equal(np.vstack([trees.sums(X[[i]]) for i in range(50)]), expected[:50])
    sums = np.repeat(trees.start[None], len(X), axis=0)
    arrays = trees.as_arrays()
    arrays.pop("start")
    plain.tree_sums(X, *arrays.values(), sums)
    assert np.array_equal(sums, expected)


def test_arrays_go_and_come_back():
    X, _, trees = boosted(HistGradientBoostingClassifier, [False, True, False, True, False])
    again = BoostedTrees.from_arrays(trees.as_arrays(), 5)
    assert np.array_equal(again.sums(X), trees.sums(X))


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
        ("output", 0, 4),
        ("output", 0, -1),
    ],
)
def test_arrays_that_could_lead_a_walk_astray_are_refused(name, position, value):
    _, _, trees = boosted(HistGradientBoostingClassifier, [False, True, False, True, False])
    arrays = {key: array.copy() for key, array in trees.as_arrays().items()}
    arrays[name][position] = value
    with pytest.raises(ValueError, match="do not fit together"):
        BoostedTrees.from_arrays(arrays, 5)


def test_arrays_of_another_type_or_length_are_refused():
    _, _, trees = boosted(HistGradientBoostingRegressor, [False] * 5)
    arrays = trees.as_arrays()
    for name, array in arrays.items():
        for other in (array.astype("f4"), array.tolist(), array[None]):
            with pytest.raises(ValueError, match=f"array '{name}' has another type or shape"):
                BoostedTrees.from_arrays(arrays | {name: other}, 5)
    with pytest.raises(ValueError, match="do not fit together"):
        BoostedTrees.from_arrays(arrays | {"threshold": arrays["threshold"][1:]}, 5)
