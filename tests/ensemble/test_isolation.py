"""A corrupted column stays with its submodel: in-place estimators, mixed columns, strange cells."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    Informed,
    SubmodelWarning,
)

X, Y = load_breast_cancer(return_X_y=True)


X, Y = X[::4, :6], Y[::4]


@pytest.mark.parametrize(
    "frame",
    [
        np.asarray,
        pd.DataFrame,
        lambda table: pl.DataFrame(table, schema=[f"c{k}" for k in range(6)]),
    ],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_estimator_that_works_in_place_changes_neither_the_table_nor_its_neighbours(
    frame, n_jobs
):
    scaled = make_pipeline(Normalizer(copy=False), MaxAbsScaler(copy=False), LogisticRegression())
    clf = FeaturePartitionClassifier(
        scaled, trusted=[0], partition=[[1], [2], [3], [4], [5]], n_jobs=n_jobs
    )
    table = frame(X.copy())
    honest = clf.fit(table, Y).ballots(frame(X.copy()))
    assert np.array_equal(np.asarray(table), X)
    corrupt = X.copy()
    corrupt[:, 1] = 1e3 * Y
    ballots = clone(clf).fit(frame(corrupt), Y).ballots(frame(X.copy()))
    assert np.flatnonzero((ballots != honest).any(axis=(0, 2))).tolist() == [0]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_estimator_that_writes_into_its_targets(n_jobs):
    reg = FeaturePartitionRegressor(
        PLSRegression(1, copy=False, scale=False), n_submodels=5, n_jobs=n_jobs
    )
    target = X[:, 0].copy()
    honest = reg.fit(X[:, 1:], target).ballots(X[:, 1:])
    assert np.array_equal(target, X[:, 0])
    corrupt = X[:, 1:].copy()
    corrupt[:, 2] = 1e6 * target
    moved = (clone(reg).fit(corrupt, target).ballots(X[:, 1:]) != honest).any(axis=0)
    assert moved.sum() == 1


@pytest.mark.parametrize(
    "convert",
    [
        lambda columns: np.array(columns, dtype=object).T,
        lambda columns: pd.DataFrame(
            {f"c{k}": pd.Series(column, dtype=object) for k, column in enumerate(columns)}
        ),
        lambda columns: [list(row) for row in zip(*columns, strict=True)],
    ],
    ids=["objects", "pandas", "rows"],
)
def test_a_row_alone_or_in_a_batch_with_numbers_and_texts_in_one_column(convert):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    columns = []
    for k in range(5):
        values = [int(v) if k % 2 else float(v) for v in y + (rng.random(200) < 0.2)]
        columns.append([("?" if rng.random() < 0.03 else value) for value in values])
    clf = FeaturePartitionClassifier(n_submodels=5).fit(convert(columns), y)
    batch = clf.ballots(convert(columns))
    for i in range(0, 200, 7):
        alone = clf.ballots(convert([column[i : i + 1] for column in columns]))
        assert np.array_equal(alone[0], batch[i])


@pytest.mark.parametrize("cell", [[1, 2], (1,), [], np.arange(3), 10**400, {"a": 1}, object()])
@pytest.mark.parametrize("kind", ["rows", "objects", "pandas"])
def test_a_strange_cell_stops_one_submodel_only(cell, kind):
    def convert(table, damage=False):
        rows = [list(row) for row in table]
        if damage:
            rows[3][2] = cell
        if kind == "rows":
            return rows
        array = np.empty((len(rows), 6), dtype=object)
        for i, j in np.ndindex(array.shape):
            array[i, j] = rows[i][j]
        return array if kind == "objects" else pd.DataFrame(array)

    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=6, partition="strided", on_failure="vote"
    ).fit(convert(X), Y)
    honest = clf.ballots(convert(X))
    with pytest.warns(SubmodelWarning):
        ballots = clf.ballots(convert(X, damage=True))
    assert np.argwhere((ballots != honest).any(axis=2)).tolist() in ([[3, 2]], [])
    with pytest.warns(SubmodelWarning):
        ballots = clone(clf).fit(convert(X, damage=True), Y).ballots(convert(X))
    assert np.flatnonzero((ballots != honest).any(axis=(0, 2))).tolist() == [2]


def test_informed_reads_strange_cells_and_sparse_tables():
    import scipy.sparse

    wine, y = load_wine(return_X_y=True)
    strange = wine[::2].astype(object)
    strange[0, 0] = 10**400
    informed = Informed(wine[1::2].astype(object), y[1::2])
    with pytest.warns(SubmodelWarning):
        FeaturePartitionClassifier(GaussianNB(), partition=informed, on_failure="vote").fit(
            strange, y[::2]
        )
    sparse = Informed(scipy.sparse.csr_matrix(wine[1::2]), y[1::2])
    assert np.allclose(sparse.information(), Informed(wine[1::2], y[1::2]).information())


@pytest.mark.parametrize(
    "model",
    [
        FeaturePartitionRegressor(Ridge(0.1), n_submodels=5),
        FeaturePartitionRegressor(n_submodels=5),
    ],
)
def test_how_a_table_lies_in_memory_changes_no_bit(model):
    """A text in one column splits pandas' block of floats, and matrix products round by layout."""
    whole, y = load_diabetes(return_X_y=True)
    X, y = whole[::2].copy(), y[::2]
    names = [f"c{k}" for k in range(X.shape[1])]
    layouts = {
        "one block": pd.DataFrame(X, columns=names),
        "by column": pd.DataFrame({name: X[:, k].copy() for k, name in enumerate(names)}),
        "rows and columns swapped": pd.DataFrame(np.asfortranarray(X), columns=names),
        "every other row of a larger table": pd.DataFrame(whole, columns=names)[::2],
        "some columns of a larger table": load_diabetes(as_frame=True)
        .frame[::2]
        .drop(columns="target")
        .set_axis(names, axis=1),
    }
    parted = layouts["some columns of a larger table"].copy()
    parted["c9"] = "text"
    parted["c9"] = X[:, 9]
    layouts["parted by a text"] = parted
    ballots = {name: clone(model).fit(table, y).ballots(table) for name, table in layouts.items()}
    for name, own in ballots.items():
        assert np.array_equal(own, ballots["one block"]), name
    arrays = [X, np.asfortranarray(X), whole[::2], np.hstack([X, X])[:, :10]]
    first, *others = [clone(model).fit(table, y).ballots(table) for table in arrays]
    assert all(np.array_equal(own, first) for own in others)
