"""Cells from outside are read one by one, by the kind of their column."""

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita import FeaturePartitionClassifier, InputError
from partita.tables._kinds import BOOLEAN, NUMBER, TEXT, TIME, CellError, cells
from partita.tables._open import open_file

ROWS = 40


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (NUMBER, 3, 3.0),
        (NUMBER, math.inf, math.inf),
        (BOOLEAN, False, 0.0),
        (BOOLEAN, 1, 1.0),
        (TIME, "1970-01-02", 86400.0),
        (TIME, "1970-01-01T01:00:00+01:00", 0.0),
        (TIME, datetime.date(1970, 1, 2), 86400.0),
        (TEXT, "red", "red"),
    ],
)
def test_a_cell_is_read_by_its_kind(kind, value, read):
    assert cells([value], kind, "c")[0] == read


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (NUMBER, "3"),
        (NUMBER, True),
        (NUMBER, False),
        (NUMBER, [3]),
        (NUMBER, 10**400),
        (BOOLEAN, 2),
        (BOOLEAN, "yes"),
        (TIME, "soon"),
        (TIME, 5),
        (TEXT, 5),
        (TEXT, {}),
    ],
)
def test_a_cell_of_another_kind_is_named(kind, value):
    with pytest.raises(CellError, match=r"row 1, column 'c' holds .* is needed") as caught:
        cells([None, value], kind, "c")
    assert (caught.value.row, caught.value.column) == (1, "c")
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize("kind", [NUMBER, BOOLEAN, TIME, TEXT])
@pytest.mark.parametrize("gap", [None, math.nan])
def test_gaps(kind, gap):
    assert pd.isna(cells([gap], kind, "c")[0])


def test_a_fitted_model_knows_its_columns_kinds():
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
    of_polars = FeaturePartitionClassifier(n_submodels=3).fit(
        pl.DataFrame({"n": range(ROWS), "t": ["a"] * ROWS, "b": [True] * ROWS}), y
    )
    assert of_polars.kinds_ == {"n": NUMBER, "t": TEXT, "b": BOOLEAN}
    assert FeaturePartitionClassifier(n_submodels=2).fit(np.ones((ROWS, 2)), y).kinds_ is None


@pytest.mark.parametrize("column", [[None, True, False], [True, None, None]])
def test_a_file_with_booleans_where_numbers_were_learnt_is_refused(column, tmp_path):
    """The converse is fine: 0 and 1 are how files without booleans write them."""
    path = tmp_path / "table.parquet"
    pd.DataFrame({"c": pd.array(column, dtype="boolean"), "n": [0, 1, 1]}).to_parquet(path)
    file = open_file(path)
    with pytest.raises(
        CellError, match=r"row \d, column 'c' holds True where a number is needed"
    ) as caught:
        file.table({"c": NUMBER, "n": NUMBER}).take([0])
    assert (caught.value.row, caught.value.column) == (column.index(True), "c")
    assert file.table({"n": BOOLEAN}).take([0])["n"].tolist() == [0, 1, 1]
    assert file.table({"c": BOOLEAN}).take([0])["c"].isna().tolist() == [
        value is None for value in column
    ]
    pd.DataFrame({"c": pd.array([None, None], dtype="boolean")}).to_parquet(path)
    assert open_file(path).table({"c": NUMBER}).take([0])["c"].isna().all()


def test_a_csv_file_with_true_where_numbers_were_learnt_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("c\n1\ntrue\n")
    with pytest.raises(CellError, match="row 1, column 'c' holds 'true' where a number is needed"):
        open_file(path, kinds={"c": NUMBER})
