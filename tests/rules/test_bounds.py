"""Where a value must stay: bounds, tolerances, and what is refused."""

import numpy as np
import pytest

from partita import InputError
from partita.certificates import bounds_around, check_order, row_bound

PREDICTION = np.array([10.0, -4.0, 0.0])
TRUTH = [12.0, -2.0, 5.0]


def test_a_missing_bound_leaves_its_side_open():
    low, high, truth = bounds_around(PREDICTION, upper=3)
    assert low.tolist() == [-np.inf] * 3
    assert high.tolist() == [3, 3, 3]
    assert truth is None


def test_a_tolerance_lies_around_the_prediction_or_the_truth():
    low, high, truth = bounds_around(PREDICTION, tolerance=[1, 2, 3])
    assert (low.tolist(), high.tolist(), truth) == ([9, -6, -3], [11, -2, 3], None)
    low, high, truth = bounds_around(PREDICTION, tolerance=1, around=TRUTH)
    assert (low.tolist(), high.tolist(), truth.tolist()) == ([11, -3, 4], [13, -1, 6], TRUTH)


def test_a_relative_tolerance_is_a_share_of_the_size():
    low, high, _ = bounds_around(PREDICTION, relative=0.5, around=TRUTH)
    assert (low.tolist(), high.tolist()) == ([6, -3, 2.5], [18, -1, 7.5])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs to know what must hold"),
        ({"tolerance": 1, "relative": 0.1}, "only one of the three"),
        ({"lower": 0, "tolerance": 1}, "only one of the three"),
        ({"lower": 0, "around": TRUTH}, "around goes with tolerance or relative"),
        ({"tolerance": -1}, "tolerance must be a number, 0 or above"),
        ({"relative": np.nan}, "relative must be a number, 0 or above"),
        ({"tolerance": [1, 2]}, "one for each of the 3 rows"),
        ({"tolerance": 1, "around": [1, 2]}, "around must hold one finite number"),
        ({"tolerance": 1, "around": [1, 2, np.inf]}, "around must hold one finite number"),
        ({"tolerance": "wide"}, "tolerance cannot be read as numbers"),
        ({"lower": 5, "upper": 3}, "lower is above upper in row 0"),
    ],
)
def test_wrong_bounds_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        bounds_around(PREDICTION, **arguments)


def test_one_bound_serves_every_row():
    assert row_bound("lower", 2, 3).tolist() == [2, 2, 2]
    with pytest.raises(InputError, match="lower must be one number or one for each of the 3 rows"):
        row_bound("lower", [1, 2], 3)
    with pytest.raises(InputError, match="without NaN"):
        row_bound("lower", np.nan, 3)
    check_order(np.array([1.0]), np.array([1.0]))  # a single value is an interval
