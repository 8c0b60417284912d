"""What can be asked of a table in a file, whatever its format."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partita import InputError, MissingExtraError
from partita.tables import open_file
from partita.tables._arrow import FileTable
from partita.tables._table import NUMBER, TEXT, empty_frame, pandas_frame

from .conftest import KINDS, ROWS


def write(path, **columns):
    pq.write_table(pa.table(columns), path)
    return open_file(path)


# ---- columns and targets ----


def test_a_type_that_is_not_supported_is_named(tmp_path):
    file = write(tmp_path / "a.parquet", l=[[1], [2]])
    with pytest.raises(InputError, match=r"column 'l' of .* holds list.*, which is not supported"):
        file.kind("l")


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path):
    file = write(tmp_path / "a.parquet", **{f"c{k}": [1] for k in range(8)})
    with pytest.raises(InputError, match=r"target names the column 'y'.* 'c5' and 2 more$"):
        file.check_column("y", "target")
    file.check_column("c7", "target")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([1, 2], pa.int64()), np.array([1, 2])),
        (pa.array([0.5, 2]), np.array([0.5, 2])),
        (pa.array(["a", "b"]), np.array(["a", "b"], dtype=object)),
        (pa.array(["a", "b"]).dictionary_encode(), np.array(["a", "b"], dtype=object)),
        (pa.array([True, False]), np.array([True, False])),
        (pa.array([1, 2], pa.int64()).cast(pa.decimal128(25, 2)), np.array([1.0, 2.0])),
    ],
    ids=["int", "float", "string", "dictionary", "bool", "decimal"],
)
def test_a_target_keeps_its_type(values, expected, tmp_path):
    target = write(tmp_path / "a.parquet", y=values).target("y")
    assert target.dtype == expected.dtype
    assert target.tolist() == expected.tolist()


@pytest.mark.parametrize("values", [["x", None, "y"], [1.0, float("nan"), 2.0], [1, None, 2]])
def test_a_target_with_missing_values_is_refused(values, tmp_path):
    file = write(tmp_path / "a.parquet", y=values, whole=[1, 2, 3])
    with pytest.raises(
        InputError, match=r"target 'y' has 1 missing value\(s\), the first in row 1: leave out"
    ):
        file.target("y")
    assert (file.has_missing("y"), file.has_missing("whole")) == (True, False)


# ---- batches ----


@pytest.mark.parametrize("size", [1, 7, ROWS, 1000])
def test_batches_are_the_rows_in_order(size, path, frame):
    batches = list(open_file(path).batches(["whole", "word"], size))
    assert [batch.first_row for batch in batches] == list(range(0, ROWS, size))
    assert all(batch.n_rows == size for batch in batches[:-1])
    found = np.concatenate([batch.target("whole") for batch in batches])
    assert found.tolist() == frame["whole"].tolist()


@pytest.mark.parametrize("size", [4, 1000])
def test_batches_of_some_rows(size, path):
    rows = np.array([0, 3, 24, 25, 26, 59])
    batches = list(open_file(path).batches(["whole"], size, rows))
    assert np.concatenate([batch.target("whole") for batch in batches]).tolist() == rows.tolist()
    assert [batch.n_rows for batch in batches] == ([4, 2] if size == 4 else [6])


def test_a_bad_cell_in_a_later_batch_is_named_by_its_row_in_the_file(tmp_path):
    file = write(tmp_path / "a.parquet", b=[0, 1, 0, 1, 7])
    with pytest.raises(InputError, match=r"row 4, column 'b' holds 7.0"):
        list(file.table({"b": "boolean"}).batches([0], 2))


# ---- as a table ----


def test_a_table_of_some_rows(path):
    table = open_file(path).table(KINDS)
    part = table.with_rows(np.arange(10, 20))
    assert part.n_rows == 10
    assert part.take([0], np.array([1, 3]))["whole"].tolist() == [11, 13]
    assert part.with_rows(np.array([4, 5])).take([0])["whole"].tolist() == [14, 15]
    (batch,) = part.batches([5, 0], 100, np.array([2, 7]))
    assert batch["whole"].tolist() == [12, 17]
    assert list(batch.columns) == ["code", "whole"]


def test_numbers_booleans_and_times_are_numeric(path):
    table = open_file(path).table(KINDS)
    assert table.numeric() == [kind != TEXT for kind in KINDS.values()]
    assert list(table.header.columns) == list(KINDS)


def test_a_table_needs_rows_and_columns(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="has no rows: give a table with at least one"):
        open_file(tmp_path / "a.csv").table({"a": NUMBER})
    (tmp_path / "b.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="no columns to learn from"):
        open_file(tmp_path / "b.csv").table({})


def test_pandas_guesses_no_types():
    frame = pandas_frame({"w": np.array(["1", "2"], dtype=object), "n": np.array([1.0, 2.0])})
    assert frame["w"].dtype == object
    assert frame["n"].dtype == np.float64


def test_tables_in_files_need_pandas(tmp_path, monkeypatch):
    file = write(tmp_path / "a.parquet", a=[1])
    empty_frame.cache_clear()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"from files needs pandas.*'partita\[cli\]'"):
        FileTable(file, {"a": NUMBER})
