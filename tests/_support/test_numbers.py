"""Arguments that must be numbers."""

import numpy as np
import pytest

from partita import InputError
from partita._support import check_number, check_whole


@pytest.mark.parametrize("value", [0, 3, np.int64(3), np.uint8(1)])
def test_whole_numbers_of_every_type_are_accepted(value):
    check_whole("radius", value, 0)


@pytest.mark.parametrize("value", [-1, 1.0, True, np.True_, "1", None, np.array([1])])
def test_anything_else_is_refused_by_name(value):
    with pytest.raises(InputError, match=r"^radius is .*: it must be a whole number, 0 or above$"):
        check_whole("radius", value, 0)


@pytest.mark.parametrize(("value", "limit"), [(0, None), (1e9, None), (0.999, 1.0)])
def test_numbers_below_the_limit_are_accepted(value, limit):
    check_number("average", value, limit)


@pytest.mark.parametrize(
    ("value", "limit"),
    [(-0.1, None), (float("nan"), None), (float("inf"), None), ("1", 1.0), (1, 1.0)],
)
def test_numbers_out_of_range_are_refused_by_name(value, limit):
    with pytest.raises(InputError, match=r"^average is .*: it must be a number, at least 0"):
        check_number("average", value, limit)
