"""Disjoint and overlapping sets of units."""

import numpy as np
import pytest

from partita import InputError, Partition
from partita.partition import Overlap, random_partition


def test_a_partition_is_a_value():
    one, two = Partition([[2, 0], [1]]), Partition(((0, 2), (1,)))
    assert one == two
    assert hash(one) == hash(two)
    assert one[0] == (0, 2)
    assert [len(units) for units in one] == [2, 1]
    assert one.n_units == 3
    assert repr(one) == "<Partition of 3 units in 2 submodels of 1 to 2>"
    assert str(Partition([[1], [0]])) == "2 units in 2 submodels of 1\n  0: 1\n  1: 0"
    with pytest.raises(AttributeError):
        one.sets = ()


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "no submodels"),
        ([[0], []], "submodel 1 without units"),
        ([[0, 1], [1]], "unit 1 in submodels 0 and 1"),
        ([[0, 3], [1]], "leaves out unit 2"),
        ([[0, 0], [1]], "unit 0 in submodels 0 and 0"),
    ],
)
def test_what_is_no_partition_is_refused(sets, message):
    with pytest.raises(InputError, match=message):
        Partition(sets)


def test_each_unit_reaches_its_own_submodel():
    partition = Partition([[2, 0], [1]])
    assert partition.incidence().tolist() == [[True, False], [False, True], [True, False]]


def test_overlapping_sets():
    overlap = Overlap.from_seed(random_partition(24, 12, 0), 3, random_state=5)
    reach = overlap.incidence()
    assert reach.shape == (24, 12)
    assert np.all(reach.sum(axis=1) == 3)  # every unit is in three submodels
    for t in range(12):
        assert set(overlap[t]) == set(np.flatnonzero(reach[:, t]))
    assert (len(overlap), overlap.n_units) == (12, 24)
    assert len(list(overlap)) == 12  # iteration ends
    with pytest.raises(IndexError):
        overlap[12]


def test_the_seed_decides_the_shifts():
    sets = random_partition(24, 12, 0)
    one = Overlap.from_seed(sets, 3, random_state=5)
    assert one == Overlap.from_seed(sets, 3, random_state=5)
    assert one.shifts != Overlap.from_seed(sets, 3, random_state=6).shifts


def test_a_unit_cannot_be_in_more_submodels_than_there_are():
    with pytest.raises(InputError, match="spread is 3, but there are only 2 subsets"):
        Overlap.from_seed(random_partition(24, 2, 0), 3, random_state=0)
