"""Collective certificates: what is named, and what is refused."""

import numpy as np
import pytest

from partita import InputError, certify_collective


def test_the_worst_choice_is_named():
    ballots = np.zeros((4, 5, 2))
    # three votes to two, everywhere: an attacker who owns submodel 0, 1 or 2 turns all rows
    ballots[:, :3, 0] = ballots[:, 3:, 1] = 1
    found = certify_collective(ballots, 1, "plurality")
    assert found.units[0] in (0, 1, 2)
    assert (found.changed, found.rows.tolist(), found.total) == (4, [0, 1, 2, 3], 4)
    assert str(found) == (
        "an attacker who owns 1 unit can change at most 4 of 4 predictions (4 if each row had its "
        "own)"
    )
    ballots[2:] = ballots[2:, ::-1]  # now submodels 2, 3 and 4 are critical in rows 2 and 3
    assert certify_collective(ballots, 1, "plurality").units == (2,)


@pytest.mark.parametrize("radius", [0, -1, 1.5, True])
def test_a_radius_must_be_a_number_of_units(radius):
    with pytest.raises(InputError, match="radius is"):
        certify_collective(np.zeros((2, 3, 2)), radius)
