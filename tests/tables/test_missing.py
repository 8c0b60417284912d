"""One definition of a missing value, for every reader and encoder."""

import datetime
import decimal
import math
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from partita import FeaturePartitionClassifier, Informed
from partita.baselines import RowPartitionClassifier
from partita.partition._informed import row_hashes
from partita.tables._arrow import missing_cells
from partita.tables._files import open_file
from partita.tables._table import (
    KINDS,
    TEXT,
    encode_alone,
    is_missing,
    learn_codes,
    open_table,
    read_cells,
    table_columns,
)

MISSING = [
    None,
    math.nan,
    -math.nan,
    np.float64("nan"),
    np.float32("nan"),
    np.float16("nan"),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
    np.timedelta64("NaT"),
    decimal.Decimal("NaN"),
    decimal.Decimal("sNaN"),
]
PRESENT = [
    0,
    -0.0,
    False,
    "",
    " ",
    "nan",
    "NA",
    "None",
    math.inf,
    np.float32(1),
    np.bool_(False),
    datetime.date(2020, 1, 1),
    pd.Timestamp("2020-01-01"),
    np.datetime64("2020-01-01"),
    decimal.Decimal(0),
    b"",
    [],
    (None,),
    {},
    object(),
]


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_what_is_missing(value):
    assert is_missing(value) is True
    assert is_missing(pickle.loads(pickle.dumps(value)))


@pytest.mark.parametrize("value", PRESENT, ids=lambda value: type(value).__name__)
def test_what_is_not(value):
    assert is_missing(value) is False


def test_a_class_that_merely_has_the_name_of_pandas_marks_is_a_value():
    assert not is_missing(type("NAType", (), {})())


def test_pandas_agrees():
    """Otherwise a frame's own operations would see other missing values than we do."""
    for value in [*MISSING, *PRESENT]:
        if not isinstance(value, list | tuple | dict | decimal.Decimal):
            assert is_missing(value) == pd.isna(value), repr(value)


def test_pandas_is_not_needed():
    code = """
import sys
sys.modules["pandas"] = None
from partita.tables._table import is_missing
assert is_missing(None) and is_missing(float("nan")) and not is_missing(object())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- every reader and encoder ----


@pytest.mark.parametrize("value", MISSING, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_cells_from_outside(kind, value):
    (cell,) = read_cells([value], kind, "c")
    assert isinstance(cell, float)
    assert math.isnan(cell)


def objects(*values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_encoders(value):
    numbers, words = objects(1, value, 2.5), objects("a", value, "b")
    assert learn_codes(numbers) is None
    assert learn_codes(words) == {"a": 0, "b": 1}
    assert learn_codes(objects(value, value)) == {}
    assert encode_alone(numbers)[0].tolist() == [1.0, 1.75, 2.5]  # the median
    assert encode_alone(words)[0].tolist() == [0.0, -1.0, 1.0]


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_rows_as_lists(value):
    table = open_table([[1, "a"], [value, value], ["2.5", "b"]])
    assert table.numeric() == [True, False]
    assert np.array_equal(table.take([0]).ravel(), [1.0, np.nan, 2.5], equal_nan=True)


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_rows_that_differ_in_how_a_cell_is_missing_are_equal_rows(value):
    """Otherwise reference rows that are training rows would go unnoticed."""
    one, other = objects("a", value), objects("a", None)
    assert row_hashes(open_table(one[:, None]))[1] == row_hashes(open_table(other[:, None]))[1]


def test_arrow_columns():
    column = pa.chunked_array([[1.0, None], [math.nan, math.inf]])
    assert missing_cells(column).tolist() == [is_missing(value) for value in column.to_pylist()]
    assert missing_cells(pa.chunked_array([["", None, "NA"]])).tolist() == [False, True, False]


NUMBERS = [1.5, None, 3.0, None, 2.0, 0.0] * 10
WORDS = ["a", "b", None, None, "", "NA"] * 10
FLAGS = [True, None, False, None, True, False] * 10
LABELS = [0, 1, 1, 0, 0, 1] * 10


def written_as(kind, folder):
    """The same table of a number, a word and a flag, from one reader or another."""
    nan, na = math.nan, pd.NA
    columns = {"n": NUMBERS, "w": WORDS, "f": FLAGS}
    if kind.startswith("rows"):
        mark = {"rows of None": None, "rows of NaN": nan, "rows of NA": na, "rows of NaT": pd.NaT}
        cells = [[mark[kind] if cell is None else cell for cell in row] for row in by_row(columns)]
        return open_table(cells)
    if kind == "objects":
        return open_table(np.array(by_row(columns), dtype=object))
    if kind == "pandas objects":
        frame = pd.DataFrame({name: objects(*values) for name, values in columns.items()})
        return open_table(frame.astype({"n": float}))
    if kind == "pandas nullable":
        types = {"n": "Float64", "w": "string", "f": "boolean"}
        return open_table(
            pd.DataFrame({name: pd.array(columns[name], dtype=types[name]) for name in columns})
        )
    if kind == "pandas of Arrow":
        types = {"n": "float64[pyarrow]", "w": "string[pyarrow]", "f": "bool[pyarrow]"}
        return open_table(
            pd.DataFrame({name: pd.array(columns[name], dtype=types[name]) for name in columns})
        )
    if kind == "polars":
        return open_table(pl.DataFrame(columns))
    if kind == "polars of NaN":
        filled = [nan if value is None else value for value in NUMBERS]
        return open_table(pl.DataFrame(columns | {"n": filled}))
    if kind == "pyarrow":
        return open_table(pa.table(columns))
    path = folder / f"t.{kind}"
    if kind == "parquet":
        pd.DataFrame({name: objects(*values) for name, values in columns.items()}).to_parquet(path)
    else:
        lines = [",".join(map(csv_cell, row)) for row in by_row(columns)]
        path.write_text("\n".join(["n,w,f", *lines, ""]))
    return open_file(path).table({"n": "number", "w": TEXT, "f": "boolean"})


def by_row(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


def csv_cell(value):
    """A word in quotes is a word, even "" and "NA"; nothing at all is a missing value."""
    return "" if value is None else f'"{value}"' if isinstance(value, str) else str(value).lower()


READERS = [
    "rows of None",
    "rows of NaN",
    "rows of NA",
    "rows of NaT",
    "objects",
    "pandas objects",
    "pandas nullable",
    "pandas of Arrow",
    "polars",
    "polars of NaN",
    "pyarrow",
    "parquet",
    "csv",
]


@pytest.mark.parametrize("kind", READERS)
def test_all_readers_agree_on_which_cells_are_missing(kind, tmp_path):
    table = written_as(kind, tmp_path)
    numbers, words, flags = (table_columns(table.take([j]))[0] for j in range(3))
    assert [is_missing(value) for value in numbers] == [value is None for value in NUMBERS]
    assert [is_missing(value) for value in words] == [value is None for value in WORDS]
    assert [is_missing(value) for value in flags] == [value is None for value in FLAGS]


@pytest.mark.parametrize("kind", READERS)
def test_all_readers_lead_to_the_same_ballots(kind, tmp_path):
    """The default estimator, and a row's bucket, do not see which library marked a cell missing."""
    table, plain = written_as(kind, tmp_path), written_as("rows of None", tmp_path)
    clf = FeaturePartitionClassifier(n_submodels=3)
    assert np.array_equal(
        clf.fit(table, LABELS).ballots(table), clf.fit(plain, LABELS).ballots(plain)
    )
    informed = [Informed(one, LABELS).information() for one in (table, plain)]
    assert np.array_equal(*informed)


class Majority(ClassifierMixin, BaseEstimator):
    """Says the most frequent label: a ballot tells which rows a submodel was trained on."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict(self, X):
        return self.classes_[np.zeros(len(X), dtype=int)]

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))


def test_a_row_falls_into_the_same_bucket_however_its_cells_are_missing(tmp_path):
    found = []
    for kind in ("rows of None", "rows of NaN", "rows of NA", "rows of NaT", "pandas nullable"):
        rows = written_as(kind, tmp_path)
        X = rows.take([0, 1, 2])
        X = X.tolist() if isinstance(X, np.ndarray) else X
        model = RowPartitionClassifier(Majority(), n_submodels=5, classes=[0, 1])
        found.append(model.fit(X, LABELS).ballots(X))
    assert all(np.array_equal(found[0], other) for other in found)
