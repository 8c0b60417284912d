"""What counts as right, and what a known table must be."""

import numpy as np
import pytest

from partita import InputError
from partita.datasets import TableData


def table(**settings):
    return TableData("made", None, np.zeros(1), None, np.zeros(1), "y", **settings)


def test_bounds_of_a_tolerance():
    lower, upper = table(tolerance=3.0).bounds([-1.5, 20])
    assert (lower.tolist(), upper.tolist()) == ([-4.5, 17], [1.5, 23])


def test_bounds_of_a_share_of_the_price():
    price = np.array([12_789.0, 100_000.0, 755_000.0])
    lower, upper = table(relative=0.15).bounds(np.log1p(price))
    assert np.allclose(np.expm1(lower), 0.85 * price, rtol=1e-12)
    assert np.allclose(np.expm1(upper), 1.15 * price, rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [1.0], "made says nothing of a tolerance: give lower and upper"),
        ({"tolerance": 3.0}, [1.0, np.nan], "y must hold finite numbers"),
        ({"relative": 0.15}, [12.0, -3.0], "y holds a number below 0, which is log1p of no price"),
    ],
)
def test_bounds_that_cannot_be(settings, y, message):
    with pytest.raises(InputError, match=message):
        table(**settings).bounds(y)
