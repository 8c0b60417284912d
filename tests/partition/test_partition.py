"""Every strategy makes a partition: every unit exactly once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita import InputError, Partition
from partita.partition._partition import (
    patch_partition,
    random_partition,
    spiral_partition,
    strided_partition,
)


def assert_is_partition(partition, n_units, n_submodels):
    assert len(partition) == n_submodels
    assert sorted(unit for units in partition for unit in units) == list(range(n_units))
    assert all(len(units) > 0 for units in partition)


sizes = st.integers(1, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n)))


@given(size=sizes, seed=st.integers(0, 2**31))
def test_random_is_balanced(size, seed):
    partition = random_partition(*size, seed)
    assert_is_partition(partition, *size)
    lengths = [len(units) for units in partition]
    assert max(lengths) - min(lengths) <= 1
    assert partition == random_partition(*size, seed)


@given(size=sizes)
def test_strided(size):
    partition = strided_partition(*size)
    assert_is_partition(partition, *size)
    assert all(unit % size[1] == t for t, units in enumerate(partition) for unit in units)


@given(height=st.integers(1, 16), width=st.integers(1, 16), data=st.data())
def test_spiral(height, width, data):
    n_submodels = data.draw(st.integers(1, height * width))
    partition = spiral_partition((height, width, 3), n_submodels)
    assert_is_partition(partition, height * width, n_submodels)

    def distance(pixel):
        return abs(2 * (pixel // width) - (height - 1)) + abs(2 * (pixel % width) - (width - 1))

    # dealt out ring by ring: the k-th nearest pixels of all submodels lie between the (k-1)-th and
    # the (k+1)-th
    rings = [sorted(map(distance, units)) for units in partition]
    longest = max(map(len, rings))
    for k in range(longest - 1):
        assert max(ring[k] for ring in rings if len(ring) > k) <= min(
            ring[k + 1] for ring in rings if len(ring) > k + 1
        )


@given(height=st.integers(1, 33), width=st.integers(1, 33), n_submodels=st.integers(1, 60))
def test_patches_are_rectangles(height, width, n_submodels):
    fits = any(
        n_submodels % a == 0 and a <= height and n_submodels // a <= width
        for a in range(1, n_submodels + 1)
    )
    if not fits:
        with pytest.raises(InputError, match="no grid of that many patches"):
            patch_partition((height, width, 1), n_submodels)
        return
    partition = patch_partition((height, width, 1), n_submodels)
    assert_is_partition(partition, height * width, n_submodels)
    for units in partition:
        down, right = np.divmod(np.array(units), width)
        assert len(units) == (np.ptp(down) + 1) * (np.ptp(right) + 1)


def test_patches_are_as_square_as_can_be():
    partition = patch_partition((32, 32, 3), 64)
    assert {len(units) for units in partition} == {16}
    down, right = np.divmod(np.array(partition[0]), 32)
    assert (down.max(), right.max()) == (3, 3)
    wide = patch_partition((8, 32, 1), 4)  # four squares of 8 x 8, not four strips
    assert set(np.array(wide[0]) % 32) == set(range(8))


def test_a_partition_is_a_value():
    one, two = Partition([[2, 0], [1]]), Partition(((0, 2), (1,)))
    assert one == two
    assert hash(one) == hash(two)
    assert one[0] == (0, 2)
    assert repr(one) == "<Partition of 3 units in 2 submodels of 1 to 2>"
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
