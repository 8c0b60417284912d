"""Cells from outside are read one by one, by the kind of their column."""

import datetime
import math
import pickle

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from partita import InputError
from partita.tables._table import BOOLEAN, NUMBER, TEXT, TIME, CellError, frame_kinds, read_cells


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
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
def test_a_cell_is_read_by_its_kind(kind, value, expected):
    assert read_cells([value], kind, "c")[0] == expected


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
    with pytest.raises(CellError, match=r"row 8, column 'c' holds .* is needed") as caught:
        read_cells([None, value], kind, "c", first_row=7)
    assert (caught.value.row, caught.value.column) == (8, "c")
    assert isinstance(caught.value, InputError)


def test_an_error_comes_back_whole_from_another_process():
    error = CellError(3, "price", NUMBER, "x" * 100)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.row, again.column) == (str(error), 3, "price")
    assert "'xxx" in str(error)
    assert len(str(error)) < 120  # a long value is cut


NOTHING = [None, None]
COLUMNS = {
    "number": [1, 2],
    "fraction": [0.5, None],
    "flag": [True, False],
    "word": ["a", None],
    "day": [datetime.date(2020, 1, 1)] * 2,
}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_kinds_of_a_frame_are_the_same_in_every_library(library):
    kinds = frame_kinds(nw.from_native(library(COLUMNS)))
    assert kinds == {
        "number": NUMBER,
        "fraction": NUMBER,
        "flag": BOOLEAN,
        "word": TEXT,
        "day": None,  # a file would give back numbers
    }


def test_what_a_file_could_not_give_back_has_no_kind():
    frame = pd.DataFrame(
        {
            "category": pd.Categorical(["x", "y"]),
            "mixed": pd.Series(["x", 1], dtype=object),
            "words": pd.Series(["x", np.nan], dtype=object),
            "marks": pd.Series([pd.NA, None], dtype=object),
        }
    )
    assert frame_kinds(nw.from_native(frame)) == {
        "category": None,
        "mixed": None,
        "words": TEXT,
        "marks": TEXT,
    }


def test_a_column_without_a_type_and_without_values_holds_numbers():
    frame = pl.DataFrame({"nothing": pl.Series(NOTHING, dtype=pl.Null)})
    assert frame_kinds(nw.from_native(frame)) == {"nothing": NUMBER}


def test_a_text_is_read_alike_whatever_stands_beside_it():
    """Columns of texts alone are read in another way than those with NaN among them."""
    alone = read_cells(["a", None, ""], TEXT, "c")
    beside = read_cells(["a", None, "", np.nan], TEXT, "c")
    for cells in (alone, beside):
        assert (cells[0], cells[2]) == ("a", "")
        assert type(cells[1]) is float
        assert np.isnan(cells[1])
    assert read_cells([], TEXT, "c").dtype == object
