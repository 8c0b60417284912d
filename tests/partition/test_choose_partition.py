"""The partition that an estimator's arguments ask for."""

import numpy as np
import pytest

from partita import InputError, Partition, Units
from partita.partition import Overlap, random_partition, spiral_partition
from partita.partition._partition import (
    AUTO_SUBMODELS,
    choose_partition,
    choose_units,
    count_sets,
    partition_from_columns,
)

NAMES = [f"c{k}" for k in range(13)]
COLUMNS = choose_units(None, NAMES, (), None)
LABS = choose_units({"lab A": ["c0", "c1", "c2"]}, NAMES, ["c12"], None)


def choose(partition, n_submodels="auto", spread=1, units=COLUMNS, image_shape=None):
    return choose_partition(partition, n_submodels, spread, units, NAMES, image_shape, 7)


@pytest.mark.parametrize(
    ("n_units", "spread", "expected"),
    [(1, 1, 1), (2, 1, 1), (8, 1, 7), (9, 1, 9), (22, 1, 21), (500, 1, 21), (9, 2, 3), (60, 2, 21)],
)
def test_auto_is_odd_fits_and_has_a_limit(n_units, spread, expected):
    units = Units(tuple((k,) for k in range(n_units)), ("",) * n_units, "columns")
    assert count_sets("auto", units, spread) == expected * spread
    assert AUTO_SUBMODELS == 21


@pytest.mark.parametrize(
    ("n_submodels", "spread", "message"),
    [
        (14, 1, "n_submodels is 14, but there are only 13 columns: choose at most 13"),
        (5, 3, "n_submodels is 5 times spread=3, but there are only 13 columns: choose at most 4"),
        ("auto", 14, "n_submodels is 1 times spread=14, but there are only 13 columns"),
    ],
)
def test_more_sets_than_units_are_refused(n_submodels, spread, message):
    with pytest.raises(InputError, match=message):
        count_sets(n_submodels, COLUMNS, spread)


def test_strategies_by_name():
    assert choose("random", 5) == random_partition(13, 5, 7)
    assert choose("strided", 13) == Partition([[k] for k in range(13)])
    image = choose_units(None, [str(k) for k in range(16)], (), (4, 4, 1))
    assert choose("spiral", 4, units=image, image_shape=(4, 4, 1)) == spiral_partition((4, 4), 4)
    assert len(choose("patch", 4, units=image, image_shape=(4, 4, 1))) == 4


def test_strategies_for_images_need_pixels():
    with pytest.raises(InputError, match=r"partition='spiral' needs image_shape="):
        choose("spiral", 4)
    with pytest.raises(InputError, match="assigns pixels, but the units are not"):
        choose("patch", 4, image_shape=(4, 4, 1))


def test_with_spread_the_sets_overlap():
    overlap = choose("random", 3, spread=2)
    assert isinstance(overlap, Overlap)
    assert len(overlap) == 6
    assert np.all(overlap.incidence().sum(axis=1) == 2)


def test_a_partition_is_taken_as_it_is():
    given = random_partition(13, 5)
    assert choose(given) is given
    assert choose(given, 5) is given
    with pytest.raises(InputError, match="n_submodels is 4, but partition has 5 submodels"):
        choose(given, 4)
    with pytest.raises(InputError, match="made for 12 units, but the table has 13 columns"):
        choose(random_partition(12, 5))


def test_an_object_that_deals_is_asked():
    class Dealer:
        def deal(self, units, names, n_submodels, spread, verbose):
            assert (units, names, n_submodels, spread, verbose) == (COLUMNS, NAMES, 4, 1, 0)
            return random_partition(13, 4)

    assert choose(Dealer(), 4) == random_partition(13, 4)


# ---- lists of columns ----


def test_columns_of_each_submodel_by_name_or_position():
    lists = [["c0", 1, "c2"], np.array([3, 4]), (*range(5, 12),)]
    units = partition_from_columns(lists, LABS, NAMES)
    assert units == Partition([[0], [1, 2], list(range(3, 10))])
    trusted_too = [[*lists[0], "c12"], *lists[1:]]
    assert partition_from_columns(trusted_too, LABS, NAMES) == units


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (["c0"], r"partition\[0\] is 'c0': give a list of columns for each submodel"),
        ([["c0"], 5], r"partition\[1\] is 5"),
        ([["c0", "nothing"]], "partition names the column 'nothing'"),
        ([["c0"], ["c0"]], "the column 'c0' in submodels 0 and 1: every column belongs to one"),
        ([["c0", "c1", "c2"]], "leaves out the column 'c3': every column belongs to one submodel"),
        ([["c0"], list(range(1, 12))], "splits the unit 'lab A' over submodels 0 and 1: keep it"),
    ],
)
def test_lists_that_are_no_partition_are_refused(lists, message):
    with pytest.raises(InputError, match=message):
        partition_from_columns(lists, LABS, NAMES)
