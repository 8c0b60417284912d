"""Tables in memory: what a cell is does not depend on the cells beside it."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError
from partita.tables._table import object_rows, one_row, open_table

CANCER, TUMOUR = load_breast_cancer(return_X_y=True)
CANCER = CANCER[:, :14]
NB = GaussianNB()
ROWS = [[1, "a"], [2, "b"], [3, "c"]]
KINDS = {
    "array": np.array(ROWS, dtype=object),
    "lists": ROWS,
    "tuples": tuple(map(tuple, ROWS)),
    "arrays in a list": [np.array(row, dtype=object) for row in ROWS],
    "pandas": pd.DataFrame(ROWS, columns=["n", "w"]),
    "polars": pl.DataFrame(ROWS, schema=["n", "w"], orient="row"),
    "pyarrow": pa.table({"n": [1, 2, 3], "w": ["a", "b", "c"]}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_says_the_same_of_itself(kind):
    table = open_table(KINDS[kind])
    assert (table.n_rows, table.n_columns, table.numeric()) == (3, 2, [True, False])
    part = table.take([1, 0], np.array([2, 0]))
    if not isinstance(part, np.ndarray):
        part = nw.from_native(part).to_numpy()
    assert [[row[0], float(row[1])] for row in part.tolist()] == [["c", 3.0], ["a", 1.0]]
    assert open_table(table) is table


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_of_a_part_is_of_the_same_type(kind):
    part = open_table(KINDS[kind]).take([0, 1])
    row = one_row(part, 1)
    assert type(row) is type(part)
    assert row.shape == (1, 2)


@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
def test_a_submodel_cannot_write_into_the_users_table(kind):
    numbers = np.arange(6.0).reshape(3, 2)
    X = {"array": numbers, "pandas": pd.DataFrame(numbers), "polars": pl.DataFrame(numbers)}[kind]
    part = open_table(X).take([0])
    if kind == "array":
        part[:] = 99
    elif kind == "pandas":
        part.iloc[:, 0] = 99
    else:
        part[0, 0] = 99
    assert np.array_equal(np.asarray(X), np.arange(6.0).reshape(3, 2))


def test_columns_lie_in_memory_in_one_way_whatever_stands_beside_them():
    """Matrix products are rounded by how their operands lie in memory."""
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 4)), columns=list("abcd"))
    with_text = numbers.assign(b="text").assign(b=lambda frame: frame["b"].astype(object))
    for columns in ([0, 2], [0, 2, 3]):
        one, other = (open_table(X).take(columns).to_numpy() for X in (numbers, with_text))
        assert np.array_equal(one, other)
        assert one.strides == other.strides


def test_sparse_matrices_stay_sparse():
    matrix = scipy.sparse.random(6, 4, density=0.5, format="coo", random_state=0)
    table = open_table(matrix)
    assert table.numeric() == [True] * 4
    part = table.take([3, 1], np.array([5, 0]))
    assert scipy.sparse.issparse(part)
    assert np.array_equal(part.toarray(), matrix.toarray()[[5, 0]][:, [3, 1]])


# ---- rows as lists ----


def test_a_hostile_row_does_not_change_the_others():
    """Kinds are settled at fit, and cells are converted one by one: a row of words is a row of
    missing values, and that row's own affair."""
    clf = FeaturePartitionClassifier(n_submodels=3).fit(CANCER[:100].tolist(), TUMOUR[:100])
    rows = [[f"{cell!r}" for cell in row] for row in CANCER[100:140].tolist()]
    before = clf.ballots(rows)
    assert np.array_equal(before, clf.ballots(CANCER[100:140]))
    with_hostile = clf.ballots([*rows, ["n/a"] * 14])
    assert np.array_equal(with_hostile[:-1], before)
    assert np.array_equal(with_hostile[-1:], clf.ballots(np.full((1, 14), np.nan)))


def test_a_word_in_one_column_of_the_training_rows_moves_its_submodel_alone():
    rows = CANCER[:100].tolist()
    clf = FeaturePartitionClassifier(n_submodels=7)
    before = clf.fit(rows, TUMOUR[:100]).ballots(CANCER)
    hostile = [list(row) for row in rows]
    column = clf.partition_[2][0]
    hostile[5][column] = "n/a"
    after = clone(clf).fit(hostile, TUMOUR[:100]).ballots(CANCER.tolist())
    assert np.flatnonzero((after != before).any(axis=(0, 2))).tolist() == [2]


@pytest.mark.parametrize(
    ("cells", "numeric"),
    [
        ([1, 2.5, True], True),
        (["1", " 2.5 ", "-3e5", "inf"], True),
        (["00464", "10115"], False),  # codes
        (["0.5", "0"], True),
        ([1, "x"], False),
        ([1, [2]], False),
        ([10**400], False),
    ],
)
def test_a_column_holds_numbers_if_all_its_cells_do(cells, numeric):
    assert open_table([[cell] for cell in cells]).numeric() == [numeric]


def test_the_training_table_decides_how_later_cells_are_read():
    table = open_table([["7"], ["x"], [[]]])
    assert table.numeric() == [False]
    table.set_numeric([True])
    assert np.array_equal(table.take([0]).ravel(), [7.0, np.nan, np.nan], equal_nan=True)


def test_a_cell_may_hold_anything_and_stays_one_cell():
    cell = [1, 2]
    assert object_rows([[cell, None], [np.zeros(3), {}]])[0, 0] is cell
    for no_rows in ([1, 2], [[1], [1, 2]], "text", 5, [[1], None]):
        assert object_rows(no_rows).ndim == 1


# ---- what is no table ----


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), r"X has 1 dimension\(s\).*X.reshape\(-1, 1\) if it is one column"),
        (np.zeros((2, 2, 2)), r"X has 3 dimension\(s\)"),
        ([[1, 2], [3]], r"rows of equal length if it is a list"),
        ([1, 2], r"X has 1 dimension\(s\)"),
        (np.zeros((0, 3)), r"X has 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (np.zeros((3, 0)), r"X has 0 feature\(s\) \(shape=\(3, 0\)\)"),
        (pd.DataFrame({"a": []}), r"X has 0 sample\(s\)"),
        (np.ma.masked_array([[1.0]], mask=[[True]]), r"X is a masked array, .* X.filled\(np.nan\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "X has two columns named 'a': rename one"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "X has two columns named '1'"),
        (pa.table([[1], [2]], names=["a", "a"]), "X has two columns named 'a'"),
    ],
)
def test_what_is_no_table_is_refused(X, message):
    with pytest.raises(InputError, match=message):
        open_table(X)


def test_columns_of_equal_cells_are_no_duplicates():
    assert open_table(pa.table({"a": [1, 1], "b": [1, 1]})).n_columns == 2


def test_lazy_frames_are_to_be_collected():
    pytest.importorskip("dask.dataframe.dask_expr", exc_type=ImportError)
    import dask.dataframe

    frame = pd.DataFrame({"a": [1, 2]})
    lazy = pl.from_pandas(frame).lazy()
    for X, call in (
        (lazy, "collect"),
        (nw.from_native(lazy), "collect"),
        (dask.dataframe.from_pandas(frame, npartitions=2), "compute"),
    ):
        with pytest.raises(InputError) as error:
            open_table(X)
        assert str(error.value) == f"X is a lazy frame: collect it first, X.{call}()"
