"""Frames as users have them: nullable columns, columns without values, lazy frames, sparse
matrices."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError, store
from partita.ensemble._default_estimator import table_columns
from partita.tables._kinds import NUMBER, TEXT
from partita.tables._open import open_file

ROWS = 120
BIG = 2**53 + 1  # the first whole number that a float cannot hold: it becomes 2**53


def numbers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=list("abcd"))
    return frame, (frame["a"] + frame["b"] > 0).astype(int)


# ---- nullable integers ----


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
def test_labels_that_could_have_gaps_and_have_none_keep_their_type(as_target, dtype):
    X, y = numbers()
    clf = FeaturePartitionClassifier(n_submodels=3).fit(X, as_target(y))
    assert clf.classes_.dtype == dtype
    assert clf.certify(X).prediction.dtype == dtype
    assert (
        clf.predict(X).tolist()
        == FeaturePartitionClassifier(n_submodels=3).fit(X, y).predict(X).tolist()
    )


def test_large_labels_are_told_apart():
    X, y = numbers()
    clf = FeaturePartitionClassifier(n_submodels=3).fit(X, (y + 2**53).astype("Int64"))
    assert clf.classes_.tolist() == [2**53, 2**53 + 1]


def test_nullable_numbers_are_learnt():
    X, _ = numbers()
    for target in (X["a"].astype("Float64"), (10 * X["a"]).astype(int).astype("Int64")):
        reg = FeaturePartitionRegressor(n_submodels=3).fit(X, target)
        assert reg.predict(X).dtype == np.float64


def test_a_target_with_gaps_is_refused():
    X, y = numbers()
    with pytest.raises(ValueError, match=r"[Mm]issing|NaN"):
        FeaturePartitionClassifier(n_submodels=3).fit(X, y.astype("Int64").mask(y.index == 3))


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("kind", ["pandas", "polars", "parquet", "csv"])
def test_a_gap_changes_no_large_integer_of_its_column(kind, gap, tmp_path):
    """As a float it is the nearest one, with a gap elsewhere in the column or without."""
    values = [BIG, 5, None if gap else 7, -BIG - 2]
    if kind == "pandas":
        column = table_columns(pd.DataFrame({"n": pd.array(values, dtype="Int64")}))[0]
    elif kind == "polars":
        column = table_columns(pl.DataFrame({"n": pl.Series(values, dtype=pl.Int64)}))[0]
    else:
        path = tmp_path / f"t.{kind}"
        if kind == "parquet":
            pq.write_table(pa.table({"n": pa.array(values, pa.int64())}), path)
        else:
            path.write_text(
                "n,m\n" + "".join(f"{'' if value is None else value},1\n" for value in values)
            )
        column = open_file(path).table({"n": NUMBER}).take([0])["n"].to_numpy()
        again = open_file(path, kinds={"n": NUMBER}).table({"n": NUMBER}).take([0])["n"].to_numpy()
        assert np.array_equal(column, again, equal_nan=True)
    expected = [float(2**53), 5.0, np.nan if gap else 7.0, -float(2**53 + 4)]
    assert np.array_equal(column, expected, equal_nan=True)


def test_predictions_of_integers_are_integers_in_the_output(partita, tmp_path):
    """The target is a nullable column: its gaps lie in rows that are not learnt from."""
    X, y = numbers()
    part = np.where(np.arange(ROWS) < 100, "train", "new")
    target = pa.array(
        [
            None if split == "new" else 2**40 + label
            for split, label in zip(part, y.tolist(), strict=True)
        ],
        pa.int64(),
    )
    table = pa.Table.from_pandas(X.assign(part=part)).append_column("y", target)
    pq.write_table(table, tmp_path / "t.parquet")
    pq.write_table(table.drop_columns(["y"]), tmp_path / "new.parquet")
    (tmp_path / "u.toml").write_text('ignore = ["part"]')
    fit = (
        "fit",
        tmp_path / "t.parquet",
        "--target",
        "y",
        "--units",
        tmp_path / "u.toml",
        "--split",
        "part=train",
        "--submodels",
        3,
    )
    assert partita(*fit, "--out", tmp_path / "m")[0] == 0
    assert (
        partita(
            "certify", tmp_path / "m", tmp_path / "new.parquet", "--out", tmp_path / "c.parquet"
        )[0]
        == 0
    )
    found = pq.read_table(tmp_path / "c.parquet")
    assert found.schema.field("prediction").type == found.schema.field("rival").type == pa.int64()
    assert set(found.column("prediction").to_pylist()) <= {2**40, 2**40 + 1}


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
    """Fitted and asked without a warning; stored, it can be asked about tables in files."""
    X, y = numbers()
    given = without_values(X, kind)
    clf = FeaturePartitionClassifier(n_submodels=2).fit(given, y.to_numpy())
    assert clf.kinds_["c"] in (NUMBER, TEXT, "boolean")
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


# ---- lazy frames and sparse matrices ----


def test_lazy_frames_are_to_be_collected():
    import dask.dataframe
    import narwhals

    X, y = numbers()
    lazy = {
        "X.collect()": [pl.from_pandas(X).lazy(), narwhals.from_native(pl.from_pandas(X).lazy())],
        "X.compute()": [dask.dataframe.from_pandas(X, npartitions=2)],
    }
    fitted = FeaturePartitionClassifier(n_submodels=2).fit(X, y)
    for call, frames in lazy.items():
        for frame in frames:
            for ask in (
                lambda frame: FeaturePartitionClassifier(n_submodels=2).fit(frame, y),
                fitted.certify,
            ):
                with pytest.raises(InputError) as error:
                    ask(frame)
                assert str(error.value) == f"X is a lazy frame: collect it first, {call}"


@pytest.mark.parametrize("on_failure", ["raise", "vote"])
def test_a_sparse_matrix_for_the_default_estimator(on_failure):
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
    reads_it = FeaturePartitionClassifier(LogisticRegression(), n_submodels=2).fit(sparse, y)
    assert np.allclose(reads_it.ballots(sparse), reads_it.ballots(X.to_numpy()))
