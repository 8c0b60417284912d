"""Values as JSON holds them."""

import json
import math
from pathlib import PurePosixPath

import numpy as np
import pytest

from partita._support import json_value


def test_containers_and_numpy_values_become_what_json_holds():
    value = {
        1: np.int64(2),
        "array": np.array([[1.5, 2], [3, 4]]),
        "tuple": (np.bool_(True), None, "text"),
        "path": PurePosixPath("a/b"),
        "large": 2**70,
    }
    expected = {
        "1": 2,
        "array": [[1.5, 2.0], [3.0, 4.0]],
        "tuple": [True, None, "text"],
        "path": "a/b",
        "large": 2**70,
    }
    assert json_value(value) == expected
    assert json.loads(json.dumps(json_value(value), allow_nan=False)) == expected


def test_booleans_stay_booleans_whatever_library_they_come_from():
    assert [type(value) for value in json_value([np.bool_(False), True, 1])] == [bool, bool, int]


@pytest.mark.parametrize("value", [math.nan, math.inf, np.float32("-inf"), np.array(math.nan)])
def test_what_json_lacks_is_replaced(value):
    assert json_value([1.0, value]) == [1.0, None]
    assert json_value([1.0, value], non_finite="none") == [1.0, "none"]


def test_a_callable_decides_what_stands_for_a_number_that_json_lacks():
    assert json_value({"r": -math.inf, "s": 2.0}, non_finite=str) == {"r": "-inf", "s": 2.0}


def test_digits_are_significant_ones_and_full_by_default():
    assert json_value([123456.789, 0.00012345], digits=3) == [123000.0, 0.000123]
    assert json_value(0.1 + 0.2) == 0.1 + 0.2
    assert json_value(7, digits=1) == 7


def test_times_are_texts_whatever_their_precision():
    times = [np.datetime64("2020-01-02", unit) for unit in ("D", "s", "ns")]
    assert json_value(times) == [str(time) for time in times]
