"""What a silence cost, in words."""

import numpy as np

from partita.silence import Silence


def silence_of(units, abstained, radius, without):
    names = tuple(f"station {k}" for k in range(units.shape[1]))
    return Silence(units, names, np.array(abstained), 9, np.array(radius), np.array(without))


def test_words_name_units_rows_submodels_and_radii():
    units = np.array([[True, False], [True, True], [False, False]])
    words = str(silence_of(units, [1, 2, 0], [3, 1, 4], [4, 4, 4]))
    assert words == (
        "Silent: station 0 in 2 rows, station 1 in 1 row; 2 of 3 rows lack a source. In these 1 to "
        "2 of 9 submodels abstain, and the median radius is 2 (at best 4 without the silence)"
    )


def test_nothing_silent_is_said_too():
    words = str(silence_of(np.zeros((2, 3), dtype=bool), [0, 0], [1, 1], [1, 1]))
    assert words == "No source is silent in any of 2 rows"


def test_a_long_list_is_cut():
    words = str(silence_of(np.ones((1, 8), dtype=bool), [8], [0], [4]))
    assert "station 4 in 1 row, 3 more; 1 of 1 rows" in words
