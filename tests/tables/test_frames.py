"""Frames as users have them, through fit and certify: nullable columns, columns without values."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    store,
)
from partita.tables import open_file
from partita.tables._table import BOOLEAN, NUMBER, TEXT

ROWS = 60
NB = GaussianNB()


def numbers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=list("abcd"))
    return frame, (frame["a"] + frame["b"] > 0).astype(int)


# ---- nullable targets ----


@pytest.mark.parametrize(
    ("as_target", "dtype"),
    [
        (lambda y: y.astype("Int64"), "int64"),
        (lambda y: y.astype("UInt8"), "uint8"),
        (lambda y: y.astype("int32[pyarrow]"), "int32"),
        (lambda y: y.astype("boolean"), "bool"),
        (lambda y: y.astype("Int64").array, "int64"),
        (lambda y: pl.Series(y.to_numpy()), "int64"),
        (lambda y: pa.chunked_array([y.to_numpy()]), "int64"),
    ],
    ids=["Int64", "UInt8", "arrow", "boolean", "array", "polars", "pyarrow"],
)
def test_labels_that_could_be_missing_and_are_not_keep_their_type(as_target, dtype):
    X, y = numbers()
    clf = FeaturePartitionClassifier(NB, n_submodels=3).fit(X, as_target(y))
    assert clf.classes_.dtype == dtype
    assert clf.certify(X).prediction.dtype == dtype
    assert clf.predict(X).tolist() == clf.fit(X, y).predict(X).tolist()


def test_large_labels_are_told_apart():
    X, y = numbers()
    clf = FeaturePartitionClassifier(NB, n_submodels=3).fit(X, (y + 2**53).astype("Int64"))
    assert clf.classes_.tolist() == [2**53, 2**53 + 1]


def test_nullable_numbers_are_learnt():
    X, _ = numbers()
    for target in (X["a"].astype("Float64"), (10 * X["a"]).astype(int).astype("Int64")):
        reg = FeaturePartitionRegressor(DecisionTreeRegressor(), n_submodels=3).fit(X, target)
        assert reg.predict(X).dtype == np.float64


def test_a_target_with_missing_values_is_refused():
    X, y = numbers()
    with pytest.raises(ValueError, match=r"[Mm]issing|NaN"):
        FeaturePartitionClassifier(NB, n_submodels=3).fit(X, y.astype("Int64").mask(y.index == 3))


# ---- kinds ----


def test_a_fitted_model_knows_the_kinds_of_its_columns():
    y = np.arange(ROWS) % 2
    frame = pd.DataFrame(
        {
            "n": np.arange(ROWS) * 1.0,
            "b": y == 1,
            "t": ["a", None] * (ROWS // 2),
            "d": pd.Timestamp("2020-01-01"),
            "c": pd.Categorical(["x"] * ROWS),
        }
    )
    clf = FeaturePartitionClassifier(n_submodels=3).fit(frame, y)
    assert clf.kinds_ == {"n": NUMBER, "b": BOOLEAN, "t": TEXT, "d": None, "c": None}
    assert FeaturePartitionClassifier(NB, n_submodels=2).fit(np.eye(ROWS), y).kinds_ is None


# ---- columns without values ----


def without_values(X, kind):
    if kind.startswith("polars"):
        dtype = {"polars": pl.Null, "polars float": pl.Float64, "polars text": pl.String}[kind]
        return pl.from_pandas(X).with_columns(c=pl.Series([None] * ROWS, dtype=dtype))
    if kind == "arrow":
        table = pa.Table.from_pandas(X)
        return table.set_column(2, "c", pa.nulls(ROWS))
    dtype = {
        "nan": float,
        "object": object,
        "text": "string",
        "Int64": "Int64",
        "boolean": "boolean",
    }[kind]
    return X.assign(c=pd.Series([None] * ROWS, dtype=dtype))


@pytest.mark.parametrize(
    "kind",
    ["nan", "object", "text", "Int64", "boolean", "polars", "polars float", "polars text", "arrow"],
)
def test_a_column_of_only_missing_values_in_a_frame(kind, tmp_path):
    """It is fitted and certified without a warning; stored, it certifies tables in files."""
    X, y = numbers()
    given = without_values(X, kind)
    clf = FeaturePartitionClassifier(n_submodels=2).fit(given, y.to_numpy())
    assert clf.kinds_["c"] in (NUMBER, TEXT, BOOLEAN)
    proof = clf.certify(given)
    store.save(clf, tmp_path / "m")
    pq.write_table(
        pa.Table.from_pandas(X).set_column(2, "c", pa.nulls(ROWS)), tmp_path / "new.parquet"
    )
    table = open_file(tmp_path / "new.parquet").table(clf.kinds_)
    assert store.load(tmp_path / "m").certify(table).radius.tolist() == proof.radius.tolist()


@pytest.mark.parametrize("kind", ["nan", "Int64", "polars float"])
def test_a_column_of_only_missing_values_with_lightgbm(kind):
    X, y = numbers()
    given = without_values(X, kind)
    clf = FeaturePartitionClassifier(LGBMClassifier(n_estimators=3, verbose=-1), n_submodels=2).fit(
        given, y.to_numpy()
    )
    assert len(clf.certify(given).radius) == ROWS


# ---- sparse matrices ----


@pytest.mark.parametrize("on_failure", ["raise", "vote"])
def test_a_sparse_matrix_for_the_default_estimator_is_refused_with_the_cure(on_failure):
    X, y = numbers()
    sparse = scipy.sparse.csr_array(X.to_numpy())
    for ensemble in (FeaturePartitionClassifier, FeaturePartitionRegressor):
        with pytest.raises(
            InputError,
            match=r"X is a sparse matrix, which the default estimator does not read: give "
            r"X\.toarray\(\)",
        ):
            ensemble(n_submodels=2, on_failure=on_failure).fit(sparse, y)
    fitted = FeaturePartitionClassifier(n_submodels=2, on_failure=on_failure).fit(X.to_numpy(), y)
    with pytest.raises(InputError, match="X is a sparse matrix"):
        fitted.certify(sparse)


def test_a_sparse_matrix_gives_the_ballots_of_the_array():
    X, y = numbers()
    sparse = scipy.sparse.csr_array(X.to_numpy())
    clf = FeaturePartitionClassifier(LogisticRegression(), n_submodels=2).fit(sparse, y)
    assert np.allclose(clf.ballots(sparse), clf.ballots(X.to_numpy()))


@pytest.mark.parametrize("model", [FeaturePartitionClassifier, LeaveOutClassifier])
def test_integers_that_no_float_is_equal_to_are_learnt_from_every_frame(model):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    frame["a"] = 2**53 + 1 + rng.integers(0, 2**40, 90)
    frame["b"] = np.uint64(2**64 - 1) - rng.integers(0, 2**40, 90).astype(np.uint64)
    y = (frame["a"] > frame["a"].median()).astype(int)
    expected = model().fit(frame, y).ballots(frame)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    for X in (pl.from_pandas(frame), arrow, arrow.to_pandas(types_mapper=pd.ArrowDtype)):
        assert np.array_equal(model().fit(X, y).ballots(X), expected)
