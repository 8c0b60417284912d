"""CSV in one way of writing."""

import math

import pytest

from partita.datasets._canonical_csv import number_text, read_csv, write_csv
from partita.datasets._fetch_limits import FetchError


def test_there_is_one_way_of_writing():
    content = write_csv(["a", "b,c"], [["1", ""], ["x y", 'say "so"']])
    assert content == b'a,"b,c"\n1,x y\n,"say ""so"""\n'
    assert read_csv(content) == {"a": ["1", ""], "b,c": ["x y", 'say "so"']}


def test_other_ways_are_read_too():
    assert read_csv(b'\xef\xbb\xbfa,b\r\n"1",2\r\n') == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a valid CSV file"),
        (b'"', "not a valid CSV file"),
        (b"\xff\xfe", "not a valid CSV file"),
        (b"a,b\n1\n", "not a valid CSV file with 2 cells in every row"),
    ],
)
def test_what_is_no_csv_is_refused(content, message):
    with pytest.raises(FetchError, match=message):
        read_csv(content)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (1 / 3, "0.3333333333333333"), (math.nan, "")],
)
def test_a_number_is_written_as_short_as_can_be(value, text):
    assert number_text(value) == text
    assert value != value or float(text) == value
