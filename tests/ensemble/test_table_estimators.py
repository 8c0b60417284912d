"""Estimators for tables as they come: boosted trees, and trees split at random."""

import pickle
import time
import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
    SubmodelError,
    store,
)
from partita.ensemble import (
    TableBlendClassifier,
    TableBlendRegressor,
    TableBoostingClassifier,
    TableBoostingRegressor,
    TableTreesClassifier,
    TableTreesRegressor,
)
from partita.ensemble._table_estimators import _centre_and_spread, _measured
from tests.ensemble.csv_table import FRAME, WORDS

CLASSIFIERS = [
    TableBoostingClassifier(max_iter=5),
    TableTreesClassifier(5),
    TableBlendClassifier(5, 5),
]
REGRESSORS = [
    TableBoostingRegressor(max_iter=200),
    TableTreesRegressor(20, max_features=None),
    TableBlendRegressor(200, 20),
]


def named(estimators):
    return pytest.mark.parametrize("estimator", estimators, ids=lambda one: type(one).__name__)


@named(CLASSIFIERS)
@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        lambda frame: frame.astype({"colour": "category", "zip": "category"}),
        lambda frame: frame.astype({"count": "Int64", "open": "boolean", "colour": "string"}),
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).cast({"colour": pl.Categorical, "zip": pl.Categorical}),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        lambda frame: frame.drop(columns="day").to_numpy(dtype=object),
        lambda frame: (
            frame.drop(columns="day")
            .astype(object)
            .where(frame.drop(columns="day").notna(), None)
            .to_numpy()
            .tolist()
        ),
    ],
    ids=[
        "pandas",
        "categories",
        "nullable",
        "polars",
        "polars categories",
        "pyarrow",
        "objects",
        "rows",
    ],
)
def test_a_table_gives_the_same_trees_whatever_holds_it(convert, estimator):
    table = convert(FRAME)
    clf = FeaturePartitionClassifier(estimator, n_submodels=3)
    as_pandas = FRAME if hasattr(table, "columns") else FRAME.drop(columns="day")
    expected = clf.fit(as_pandas, WORDS).ballots(as_pandas)
    assert np.array_equal(clf.fit(table, WORDS).ballots(table), expected)


@named(CLASSIFIERS)
def test_a_single_class_can_be_learnt(estimator):
    X = [[None, 1.0], [None, 2.0]] * 30
    constant = estimator.fit(X, ["a"] * 60)
    assert constant.predict_proba(X).tolist() == [[1.0]] * 60
    assert set(constant.predict(X)) == {"a"}


@named(REGRESSORS)
def test_a_column_without_values_can_be_learnt(estimator):
    X = [[None, 1.0], [None, 2.0]] * 30
    model = estimator.set_params(random_state=0).fit(X, [1.0, 2.0] * 30)
    assert np.allclose(model.predict(X[:2]), [1, 2], atol=0.01)
    with pytest.raises(InputError, match=r"X has 1 features, but Table\w+ is expecting 2"):
        model.predict([[1.0]])


@named(CLASSIFIERS)
def test_unseen_categories_and_missing_values_can_be_predicted(estimator):
    clf = FeaturePartitionClassifier(estimator).fit(FRAME, WORDS)
    new = FRAME.iloc[:5].copy()
    new["street"], new["colour"] = "a street never seen", None
    assert len(clf.predict(new)) == 5
    new["size"] = "large"
    with pytest.raises(SubmodelError, match=r"submodel \d \(of columns size\).*could not predict"):
        clf.predict(new)


@named(CLASSIFIERS)
def test_stored_trees_cannot_look_beyond_the_encoded_columns(estimator):
    """Whatever the stored number of columns says: rows have as many as there are codes."""
    fitted = estimator.fit([[1.0, 2.0], [2.0, 1.0]] * 30, [0, 1] * 30)
    assert pickle.loads(pickle.dumps(fitted)).predict([[1.0, 2.0]]) == [0]
    state = fitted.__getstate__()
    state["trees_"] = state["trees_"] | {"feature": np.abs(state["trees_"]["feature"]) + 7}
    with pytest.raises(ValueError, match="do not fit together"):
        type(fitted)().__setstate__(state | {"n_features_in_": 100})


def test_the_default_ensemble_learns_a_table_as_it_comes():
    clf = FeaturePartitionClassifier().fit(FRAME, WORDS)
    assert isinstance(clf.estimators_[0], TableBlendClassifier)
    assert clf.score(FRAME, WORDS) > 0.55
    assert set(clf.certify(FRAME).prediction) <= {"low", "mid", "high"}


def test_the_default_ensemble_of_numbers_blends_trees():
    reg = FeaturePartitionRegressor().fit(FRAME, FRAME["size"].fillna(0.0))
    assert isinstance(reg.estimators_[0], TableBlendRegressor)


X, Y = load_wine(return_X_y=True)
GAPS = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
SMALL = [
    TableTreesClassifier(5),
    TableTreesRegressor(5),
    TableBlendClassifier(5, 5),
    TableBlendRegressor(5, 5),
]
ROWS_NOT_WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data": "min_samples_leaf counts rows: one row of "
    "weight 2 is not two rows"
}


@parametrize_with_checks(
    SMALL,
    expected_failed_checks=lambda trees: ROWS_NOT_WEIGHTS if trees.min_samples_leaf > 1 else {},
)
def test_scikit_learn(estimator, check):
    check(estimator)


def measured(table, seen):
    """The floats on which scikit-learn grows the trees of rows that were seen."""
    scales = [_centre_and_spread(column) for column in seen.T]
    columns = [_measured(*one) for one in zip(table.T, scales, strict=True)]
    return np.column_stack(columns)


@pytest.mark.parametrize("table", [X, GAPS], ids=["complete", "with gaps"])
def test_labels_are_those_of_scikit_learns_forest(table):
    """On the same floats, bit for bit, also where training saw no missing values."""
    ours = TableTreesClassifier(20, random_state=3).fit(table[::2], Y[::2])
    encode = partial(measured, seen=table[::2])
    theirs = ExtraTreesClassifier(20, random_state=3).fit(encode(table[::2]), Y[::2])
    assert np.array_equal(ours.predict_proba(table), theirs.predict_proba(encode(table)))
    assert np.array_equal(ours.predict(table), theirs.predict(encode(table)))
    shares = sum(tree.tree_.predict(encode(GAPS)) for tree in theirs.estimators_) / 20
    assert np.array_equal(ours.predict_proba(GAPS), shares)


def test_numbers_are_those_of_scikit_learns_forest():
    bmi, target = load_diabetes(return_X_y=True, scaled=False)
    ours = TableTreesRegressor(20, random_state=3).fit(bmi[::2], target[::2])
    encode = partial(measured, seen=bmi[::2])
    settings = {"min_samples_leaf": 2, "max_features": 1 / 3, "random_state": 3}
    theirs = ExtraTreesRegressor(20, **settings).fit(encode(bmi[::2]), target[::2])
    assert np.array_equal(ours.predict(bmi), theirs.predict(encode(bmi)))


@pytest.mark.parametrize("step", [2.0, -1e292], ids=["the smallest differences", "huge"])
def test_neighbouring_values_are_divided_as_training_divided_them(step):
    """Where a threshold, given back in the column's own units, is rounded to one of them."""
    column = 2.0**53 + step * np.random.default_rng(0).integers(0, 5, (400, 2))
    labels = (column[:, 0] > np.median(column[:, 0])).astype(int)
    ours = TableTreesClassifier(20, random_state=3).fit(column, labels)
    theirs = ExtraTreesClassifier(20, random_state=3).fit(measured(column, column), labels)
    assert np.array_equal(
        ours.predict_proba(column), theirs.predict_proba(measured(column, column))
    )


def test_trees_of_some_rows_know_every_class_and_no_row_without_weight():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(2000, 2))
    labels = (table[:, 0] > 0).astype(int)
    labels[:3], table[:3] = 2, 9.0  # a class that most samples of 50 rows miss
    settings = {"n_estimators": 200, "max_samples": 50, "random_state": 0}
    trees = TableTreesClassifier(**settings).fit(table, labels)
    assert trees.score(table[3:], labels[3:]) > 0.95
    known = trees.predict_proba(table[:1])[0, 2]  # 3 of 2000 rows: in 7 % of 200 samples
    assert 0.03 < known < 0.12
    weights = np.where(np.arange(2000) < 3, 0.0, 1.0)
    assert (
        not TableTreesClassifier(**settings)
        .fit(table, labels, weights)
        .predict_proba(table)[:, 2]
        .any()
    )
    weights = np.where(np.arange(2000) < 3, 100.0, 1.0)
    weighted = TableTreesClassifier(**settings).fit(table, labels, weights)
    assert weighted.predict_proba(table[:1])[0, 2] > 0.95
    whole = [
        TableTreesClassifier(5, max_samples=size, random_state=0).fit(table, labels).trees_
        for size in (None, 2000)
    ]
    assert np.array_equal(whole[0].threshold, whole[1].threshold)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_a_blend_is_the_geometric_mean_of_both(load):
    table, labels = load(return_X_y=True)
    table[::7, 2] = np.nan
    weights = np.arange(len(labels)) % 3 + 1.0
    blend = TableBlendClassifier(random_state=3).fit(table[::2], labels[::2], weights[::2])
    boosted = TableBoostingClassifier(random_state=3).fit(table[::2], labels[::2], weights[::2])
    trees = TableTreesClassifier(50, 4, None, random_state=3)
    trees.fit(table[::2], labels[::2], weights[::2])
    shares = np.maximum(trees.predict_proba(table), 1e-3)
    assert (shares == 1e-3).any()
    mean = np.sqrt(boosted.predict_proba(table) * shares)
    expected = mean / mean.sum(axis=1, keepdims=True)
    assert np.allclose(blend.predict_proba(table), expected, rtol=1e-9, atol=0)
    alone = np.vstack([blend.predict_proba(table[[i]]) for i in range(50)])
    assert np.array_equal(alone, blend.predict_proba(table)[:50])


def test_a_blend_of_numbers_is_the_mean_of_both():
    table, target = load_diabetes(return_X_y=True)
    blend = TableBlendRegressor(random_state=3).fit(table[::2], target[::2])
    boosted = TableBoostingRegressor(random_state=3).fit(table[::2], target[::2])
    trees = TableTreesRegressor(50, 4, None, random_state=3).fit(table[::2], target[::2])
    expected = (boosted.predict(table) + trees.predict(table)) / 2
    assert np.allclose(blend.predict(table), expected, rtol=1e-12, atol=0)


def test_raw_columns_give_the_same_labels_as_measured_from_their_centre():
    """Thresholds are drawn between a column's least and largest value, wherever these lie."""
    theirs = ExtraTreesClassifier(50, random_state=0).fit(X[::2], Y[::2])
    ours = TableTreesClassifier(random_state=0).fit(X[::2], Y[::2])
    assert np.mean(ours.predict(X[1::2]) == theirs.predict(X[1::2])) > 0.98


@pytest.mark.parametrize(
    "change",
    [lambda x: x * 1e-12, lambda x: x * 1e30, lambda x: x + 2.0**45, lambda x: x * 1e-320 * 1e4],
    ids=["tiny", "huge", "far from 0", "subnormal"],
)
def test_the_scale_of_a_column_does_not_matter(change):
    """A forest on raw values would take small differences, and those far from 0, for none."""
    digits, y = load_digits(return_X_y=True)  # whole numbers
    trees = TableTreesClassifier(10, random_state=0).fit(digits[::2], y[::2])
    changed = TableTreesClassifier(10, random_state=0).fit(change(digits[::2]), y[::2])
    same = trees.predict(digits[1::2]) == changed.predict(change(digits[1::2]))
    assert same.mean() > 0.99


def test_infinities_and_outliers_are_large_numbers():
    odd = X.copy()
    odd[0, 0], odd[1, 0], odd[2, 1], odd[3, 2] = np.inf, -np.inf, 1e308, -1e20
    trees = TableTreesClassifier(20, random_state=0).fit(odd, Y)
    assert trees.score(odd, Y) == 1.0
    for value in (np.inf, -np.inf, 1e308):
        assert np.isfinite(trees.predict_proba(np.full_like(X, value))).all()


def test_a_row_is_scored_the_same_alone_and_in_a_batch():
    trees = TableTreesClassifier(20, random_state=0).fit(GAPS[::2], Y[::2])
    alone = np.vstack([trees.predict_proba(GAPS[[i]]) for i in range(1, len(GAPS), 2)])
    assert np.array_equal(alone, trees.predict_proba(GAPS)[1::2])


def test_a_seed_gives_the_same_trees_and_another_gives_others():
    trees = [TableTreesClassifier(5, random_state=seed).fit(X, Y).trees_ for seed in (1, 1, 2)]
    assert np.array_equal(trees[0].threshold, trees[1].threshold)
    assert not np.array_equal(trees[0].threshold, trees[2].threshold)


def test_members_do_not_depend_on_threads():
    fitted = [
        LeaveOutClassifier(TableTreesClassifier(3), n_groups=4, n_jobs=n_jobs).fit(X, Y)
        for n_jobs in (1, 4)
    ]
    assert np.array_equal(*(clf.ballots(X) for clf in fitted))
    with joblib.parallel_config("threading", n_jobs=2):
        inside = LeaveOutClassifier(TableTreesClassifier(3), n_groups=4).fit(X, Y)
    assert np.array_equal(inside.ballots(X), fitted[0].ballots(X))


def test_a_text_that_tells_the_label_is_used():
    frame = pd.DataFrame({"noise": np.arange(300.0) % 7, "word": list("abc") * 100})
    labels = frame["word"].str.upper().to_numpy()
    trees = TableTreesClassifier(random_state=0).fit(frame[:200], labels[:200])
    assert trees.score(frame[200:], labels[200:]) == 1.0


def test_they_are_the_default_members():
    clf = LeaveOutClassifier(n_groups=4).fit(FRAME, WORDS)
    assert {type(member) for member in clf.estimators_} == {TableTreesClassifier}
    assert clf.score(FRAME, WORDS) > 0.9
    reg = LeaveOutRegressor(n_groups=4).fit(FRAME, FRAME["count"])
    assert {type(member) for member in reg.estimators_} == {TableTreesRegressor}


def test_members_with_other_leaves_have_as_many_trees_as_the_default():
    def sizes(estimator):
        members = LeaveOutClassifier(estimator, n_groups=8).fit(X, Y).estimators_
        return sorted(len(member.trees_.roots) for member in members)

    default = sizes(None)
    assert default[0] < default[-1] == 50  # a model is the mean of several members
    assert sizes(TableTreesClassifier(min_samples_leaf=4)) == default
    assert set(sizes(TableTreesClassifier(5))) == {5}


def test_one_model_of_masked_rows_stands_for_all_members():
    clf = LeaveOutClassifier(n_groups=5, training="trusted").fit(X[::2], Y[::2])
    assert [type(member) for member in clf.estimators_] == [TableTreesClassifier]
    assert clf.score(X[1::2], Y[1::2]) > 0.9


def test_a_model_of_many_trees_is_stored_and_loaded_fast(tmp_path):
    """Digits, 67 members: about 21 bytes per node, and no object per tree."""
    digits, y = load_digits(return_X_y=True)
    members = TableTreesClassifier(5)
    clf = LeaveOutClassifier(members, n_groups=12).fit(digits[:600], y[:600])
    started = time.perf_counter()
    path = store.save(clf, tmp_path / "model")
    loaded = store.load(path)
    seconds = time.perf_counter() - started
    assert np.array_equal(loaded.ballots(digits[600:]), clf.ballots(digits[600:]))
    n_nodes = sum(len(member.trees_.feature) for member in clf.estimators_)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    assert size < 21 * n_nodes + 20_000 * len(clf.estimators_)
    assert seconds < 20  # about 1 where nothing else runs


def test_huge_values_bring_no_warnings_about():
    X = np.repeat([*range(9), 1e308, -1e308], 20)[:, None]
    y = np.repeat([*[2] * 9, 0, 1], 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trees = TableTreesClassifier(5, random_state=0).fit(X, y)
    assert (trees.predict(X) == y).all()


def test_threads_leave_the_warning_filters_alone():
    """Forests of the library set those of the process in every thread, and may leave none."""
    X, y = load_wine(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        for seed in range(3):
            LeaveOutClassifier(n_groups=6, random_state=seed, n_jobs=4).fit(X, y)
            assert list(warnings.filters) == before
