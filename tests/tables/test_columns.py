"""Columns of a request, as a table: what submodels get is what a frame would give them."""

import numpy as np
import pandas as pd
import pytest

from partita import FeaturePartitionClassifier
from partita.tables._arrow import pandas_frame
from partita.tables._table import ColumnsTable, open_table

KINDS = {"size": "number", "grade": "text", "known": "boolean"}
COLUMNS = {
    "size": np.array([1.5, np.nan, 3.0, np.inf]),
    "grade": np.array(["low", np.nan, "", "high"], dtype=object),
    "known": np.array([1.0, 0.0, np.nan, 1.0]),
}


def test_reads_are_those_of_a_frame():
    table, frame = ColumnsTable(COLUMNS, KINDS), open_table(pandas_frame(COLUMNS))
    for columns in ([0], [1], [2, 0], [0, 1, 2]):
        for ours, theirs in zip(table.read(columns), frame.read(columns), strict=True):
            assert ours.dtype == theirs.dtype
            assert [*map(repr, ours)] == [*map(repr, theirs)]
        pd.testing.assert_frame_equal(table.take(columns), frame.take(columns))
    rows = np.array([3, 1])
    pd.testing.assert_frame_equal(
        table.take([1, 0], rows), frame.take([1, 0], rows).reset_index(drop=True)
    )
    assert (table.n_rows, table.n_columns) == (4, 3)
    assert table.numeric() == [True, False, True]


def test_a_submodel_that_writes_to_its_rows_changes_nobody_elses():
    table = ColumnsTable(COLUMNS, KINDS)
    part = table.take([0])
    part.iloc[0, 0] = 99.0
    part.to_numpy(copy=True)[:] = 7
    assert table.read([0])[0][0] == 1.5


def test_names_are_compared_with_those_of_training():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    model = FeaturePartitionClassifier(n_submodels=3).fit(frame, rng.integers(0, 2, 60))
    columns = {name: frame[name].to_numpy() for name in frame}
    kinds = dict.fromkeys(frame, "number")
    np.testing.assert_array_equal(model.ballots(ColumnsTable(columns, kinds)), model.ballots(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        model.ballots(ColumnsTable(columns, {"b": "number", "a": "number", "c": "number"}))
