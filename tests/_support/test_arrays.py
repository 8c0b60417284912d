"""Arguments that must be arrays."""

import numpy as np
import pytest

from partita import InputError
from partita._support import array_of


def test_what_can_be_an_array_is_one_of_the_requested_type():
    assert array_of("y", [1, 2]).tolist() == [1, 2]
    assert array_of("width", [1, 2], np.float64).dtype == np.float64


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        ([[1, 2], [3]], None, r"^votes cannot be read as an array \(.*\): give numbers or an"),
        (["a", "b"], np.float64, r"^votes cannot be read as numbers \(could not convert"),
        ([{}], np.float64, "votes cannot be read as numbers"),
        ([10**400], np.float64, "votes cannot be read as numbers"),
    ],
)
def test_what_cannot_is_refused_by_the_name_of_the_argument(value, dtype, message):
    with pytest.raises(InputError, match=message):
        array_of("votes", value, dtype)
