"""Estimators for tables read them as they come from a file."""

import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from partita import FeaturePartitionClassifier, InputError, SubmodelError
from partita.ensemble import (
    TableBoostingClassifier,
    TableBoostingRegressor,
    TableTreesClassifier,
    TableTreesRegressor,
)
from tests.ensemble.csv_table import FRAME, WORDS

CLASSIFIERS = [TableBoostingClassifier(max_iter=5), TableTreesClassifier(5)]
REGRESSORS = [TableBoostingRegressor(max_iter=200), TableTreesRegressor(20, max_features=None)]


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
