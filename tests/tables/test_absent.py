"""Columns that a table lacks are missing, and only those that may be."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from partita.tables import open_file
from partita.tables._masking import CompletedFile, with_absent_columns

NAMES = ["a", "b", "c"]
NUMERIC = [True, True, False]


def test_a_frame_gets_missing_columns_in_the_order_of_training():
    for library in (pd, pl):
        frame = library.DataFrame({"b": [1.0, 2.0]})
        filled = with_absent_columns(frame, NAMES, ["a", "c"], NUMERIC)
        assert list(filled.columns) == NAMES
        assert np.isnan(np.asarray(filled["a"], dtype=float)).all()
        assert list(filled["b"]) == [1.0, 2.0]
        assert list(filled["c"]) in ([None, None], [np.nan, np.nan])
        assert list(frame.columns) == ["b"]


def test_a_pandas_index_stays():
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]}, index=["x"])
    filled = with_absent_columns(frame, NAMES, ["c"], NUMERIC)
    assert filled.index.tolist() == ["x"]


def test_nothing_else_is_touched():
    """The usual checks say what is wrong with these."""
    frame = pd.DataFrame({"b": [1.0]})
    assert with_absent_columns(frame, NAMES, ["a"], NUMERIC) is frame
    more = pd.DataFrame({"a": [1.0], "b": [1.0], "d": [1.0]})
    assert with_absent_columns(more, NAMES, NAMES, NUMERIC) is more
    array = np.zeros((2, 2))
    assert with_absent_columns(array, NAMES, NAMES, NUMERIC) is array


def test_a_file_without_columns_reads_them_as_missing(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("b\n1\n2\n3\n")
    kinds = {"a": "number", "b": "number", "c": "text", "t": "time", "f": "boolean"}
    absent = {name: kind for name, kind in kinds.items() if name != "b"}
    file = CompletedFile(open_file(path), absent)
    assert sorted(file.names) == sorted(kinds)
    assert CompletedFile(file, {"b": "number"}).names.count("b") == 1
    table = file.table(kinds)
    columns = table.read(list(range(5)))
    assert columns[1].tolist() == [1.0, 2.0, 3.0]
    for k in (0, 3, 4):
        assert np.isnan(columns[k].astype(float)).all()
    assert columns[2].tolist() == [None] * 3
    pieces = list(file.batches(["a", "b", "c"], 2))
    assert [piece.n_rows for piece in pieces] == [2, 1]
    assert pieces[0].arrow(["c", "b"]).to_pydict() == {"c": [None, None], "b": [1, 2]}
    only = list(file.batches(["a"], 2))
    assert [piece.n_rows for piece in only] == [2, 1]
    assert only[0].arrow(["a"]).column("a").type == pa.float64()
