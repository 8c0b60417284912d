"""The default estimator reads tables as they come from a file."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from partita import FeaturePartitionClassifier, InputError, SubmodelError
from partita.ensemble import TableBoostingClassifier, TableBoostingRegressor
from tests.ensemble.csv_table import FRAME, WORDS


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
def test_a_table_gives_the_same_trees_whatever_holds_it(convert):
    table = convert(FRAME)
    clf = FeaturePartitionClassifier(TableBoostingClassifier(max_iter=5), n_submodels=3)
    as_pandas = FRAME if hasattr(table, "columns") else FRAME.drop(columns="day")
    expected = clf.fit(as_pandas, WORDS).ballots(as_pandas)
    assert np.array_equal(clf.fit(table, WORDS).ballots(table), expected)


def test_the_default_ensemble_learns_a_table_as_it_comes():
    clf = FeaturePartitionClassifier().fit(FRAME, WORDS)
    assert clf.score(FRAME, WORDS) > 0.55
    assert set(clf.certify(FRAME).prediction) <= {"low", "mid", "high"}


def test_a_single_class_and_a_column_without_values_can_be_learnt():
    X = [[None, 1.0], [None, 2.0]] * 30
    constant = TableBoostingClassifier().fit(X, ["a"] * 60)
    assert constant.predict_proba(X).tolist() == [[1.0]] * 60
    model = TableBoostingRegressor(max_iter=200).fit(X, [1.0, 2.0] * 30)
    assert np.allclose(model.predict(X[:2]), [1, 2], atol=0.01)
    with pytest.raises(InputError, match="X has 1 features, but this estimator was fitted with 2"):
        model.predict([[1.0]])


def test_unseen_categories_and_missing_values_can_be_predicted():
    clf = FeaturePartitionClassifier(TableBoostingClassifier(max_iter=5)).fit(FRAME, WORDS)
    new = FRAME.iloc[:5].copy()
    new["street"], new["colour"] = "a street never seen", None
    assert len(clf.predict(new)) == 5
    new["size"] = "large"
    with pytest.raises(SubmodelError, match=r"submodel \d \(of columns size\).*could not predict"):
        clf.predict(new)
