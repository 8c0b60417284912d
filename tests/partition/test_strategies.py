"""Every strategy makes a partition: every unit exactly once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita import InputError
from partita.partition import (
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


def test_random_is_the_same_for_good():
    """Stored models hold their partition, but papers hold a seed."""
    assert random_partition(7, 3, 0).sets == ((1, 2, 6), (4, 5), (0, 3))


@given(size=sizes)
def test_strided_deals_in_turn(size):
    partition = strided_partition(*size)
    assert_is_partition(partition, *size)
    assert all(unit % size[1] == t for t, units in enumerate(partition) for unit in units)


@given(height=st.integers(1, 16), width=st.integers(1, 16), data=st.data())
def test_spiral_deals_ring_by_ring(height, width, data):
    n_submodels = data.draw(st.integers(1, height * width))
    partition = spiral_partition((height, width, 3), n_submodels)
    assert_is_partition(partition, height * width, n_submodels)

    def distance(pixel):
        return abs(2 * (pixel // width) - (height - 1)) + abs(2 * (pixel % width) - (width - 1))

    # the k-th nearest pixels of all submodels lie between the (k-1)-th and the (k+1)-th
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
