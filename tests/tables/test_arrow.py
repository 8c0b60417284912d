"""Arrow columns as floats or strings."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from partita import InputError
from partita.tables._arrow import arrow_kind, column_values
from partita.tables._table import BOOLEAN, KINDS, NUMBER, TEXT, TIME, CellError


def column(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


@pytest.mark.parametrize(
    ("data_type", "kind"),
    [
        (pa.int8(), NUMBER),
        (pa.uint64(), NUMBER),
        (pa.float16(), NUMBER),
        (pa.decimal128(10, 2), NUMBER),
        (pa.null(), NUMBER),
        (pa.bool_(), BOOLEAN),
        (pa.timestamp("ns", "UTC"), TIME),
        (pa.date32(), TIME),
        (pa.string(), TEXT),
        (pa.large_string(), TEXT),
        (pa.dictionary(pa.int8(), pa.string()), TEXT),
        (pa.list_(pa.int8()), None),
        (pa.binary(), None),
        (pa.time32("s"), None),
    ],
)
def test_the_kind_of_a_type(data_type, kind):
    assert arrow_kind(data_type) == kind


def test_a_column_without_values_can_be_of_any_kind():
    for kind in KINDS:
        values = column_values(column([None, None], pa.null()), kind, "c")
        assert [value != value for value in values] == [True, True]


@pytest.mark.parametrize("cells", [[None, True, False], [True, None, None]])
def test_booleans_are_no_numbers_but_zeros_and_ones_are_booleans(cells):
    """0 and 1 are how files without booleans write them."""
    with pytest.raises(CellError, match=r"holds True where a number is needed") as caught:
        column_values(column(cells), NUMBER, "c", first_row=10)
    assert (caught.value.row, caught.value.column) == (10 + cells.index(True), "c")
    assert column_values(column([0, 1, 1]), BOOLEAN, "c").tolist() == [0, 1, 1]
    with pytest.raises(CellError, match=r"row 2, column 'c' holds 2.0 where true or false"):
        column_values(column([0, None, 2]), BOOLEAN, "c")
    only_missing = column([None, None], pa.bool_())
    assert np.isnan(column_values(only_missing, NUMBER, "c")).all()


def test_a_type_that_cannot_be_the_kind_is_named():
    with pytest.raises(CellError, match="row 0, column 'n' holds '1' where a number is needed"):
        column_values(column(["1", "x"]), NUMBER, "n")
    with pytest.raises(InputError, match="column 't' holds int64 where the model was fitted with"):
        column_values(column([1, 2]), TEXT, "t")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_are_seconds_whatever_their_unit(unit):
    moment = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
    values = column_values(column([moment, None], pa.timestamp(unit, "UTC")), TIME, "t")
    assert np.array_equal(values, [moment.timestamp(), np.nan], equal_nan=True)


@pytest.mark.parametrize("data_type", [pa.date32(), pa.date64()])
def test_dates_are_seconds(data_type):
    values = column_values(column([datetime.date(1970, 1, 3)], data_type), TIME, "t")
    assert values.tolist() == [2 * 86400.0]


def test_dates_beyond_what_python_knows_are_read():
    far = column([10**6], pa.int32()).cast(pa.date32())
    assert column_values(far, TIME, "t").tolist() == [86400.0 * 10**6]


def test_times_in_text_are_read_cell_by_cell():
    values = column_values(column(["1970-01-02", None, "1970-01-01T00:00:01Z"]), TIME, "t")
    assert np.array_equal(values, [86400.0, np.nan, 1.0], equal_nan=True)
    with pytest.raises(CellError, match="row 1, column 't' holds 'soon' where a time"):
        column_values(column(["1970-01-02", "soon"]), TIME, "t")


def test_dictionaries_are_read_as_what_they_hold():
    words = column(["a", None, "b"]).dictionary_encode()
    assert column_values(words, TEXT, "c").tolist()[::2] == ["a", "b"]
    numbers = column([3, None, 4]).dictionary_encode()
    assert np.array_equal(column_values(numbers, NUMBER, "c"), [3, np.nan, 4], equal_nan=True)


def test_bytes_that_are_not_utf_8_are_refused():
    offsets, content = pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xe9")
    bad = pa.chunked_array([pa.Array.from_buffers(pa.string(), 1, [None, offsets, content])])
    with pytest.raises(InputError, match="column 't' holds bytes that are not valid UTF-8"):
        column_values(bad, TEXT, "t")


def test_values_can_be_written_to():
    """An estimator may work in place, and Arrow's memory is read-only."""
    values = column_values(column([1.0, 2.0]), NUMBER, "c")
    values[0] = 5.0
    assert values.tolist() == [5.0, 2.0]
