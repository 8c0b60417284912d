"""What was silent, added up over the pieces of a table."""

import numpy as np

from partita.silence import Silence
from partita.workflow._silence_counts import SilenceCounts


def counts_of(units, abstained, radius, without):
    names = tuple(f"station {k}" for k in range(units.shape[1]))
    silence = Silence(units, names, np.array(abstained), 9, np.array(radius), np.array(without))
    return SilenceCounts.of(silence)


def test_pieces_add_up():
    first = counts_of(np.array([[True, False], [False, False]]), [1, 0], [3, 9], [4, 9])
    second = counts_of(np.array([[True, True]]), [2], [1], [4])
    both = first + second
    assert both.sentence(3) == (
        "Silent in 2 of 3 rows: station 0 (2), station 1 (1). Up to 2 submodels abstain; the "
        "median radius there is 2, at best 4 without the silence."
    )
    assert both.to_dict() == {
        "rows": 2,
        "units": {"station 0": 2, "station 1": 1},
        "median_radius": 2.0,
        "median_radius_at_best_without": 4.0,
    }


def test_a_long_list_and_no_silence():
    many = counts_of(np.ones((1, 7), dtype=bool), [1], [0], [0])
    assert "2 more. Up to 1 submodel abstains;" in many.sentence(1)
    nobody = counts_of(np.zeros((2, 2), dtype=bool), [0, 0], [1, 1], [1, 1])
    assert nobody.sentence(2) == "No source is silent in any row."
    assert nobody.to_dict() == {"rows": 0, "units": {}}
