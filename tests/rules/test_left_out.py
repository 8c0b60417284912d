"""Complete families of left-out sets, and the tables of sets in sets."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from partita import InputError
from partita.rules._agreement import MOST_ENTRIES, read_design, supersets
from tests.exhaustive.left_out_attacker import every_set


@pytest.mark.parametrize(("n_groups", "radius"), [(3, 1), (5, 1), (5, 2), (7, 3)])
def test_the_order_is_that_of_the_sets(n_groups, radius):
    sets, left_out = every_set(n_groups, radius)
    shuffled = np.random.default_rng(0).permutation(len(sets))
    design = read_design(left_out[shuffled], radius)
    assert (design.n_groups, design.radius) == (n_groups, radius)
    for k, chosen in enumerate(sets):
        assert np.flatnonzero(left_out[shuffled][design.order[k]]).tolist() == list(chosen)


@pytest.mark.parametrize(
    ("n_groups", "size", "larger"), [(5, 0, 2), (5, 1, 2), (6, 2, 4), (4, 3, 3)]
)
def test_every_set_lists_the_sets_that_contain_it(n_groups, size, larger):
    table = supersets(n_groups, size, larger)
    sets = list(combinations(range(n_groups), larger))
    assert table.shape == (comb(n_groups, size), comb(n_groups - size, larger - size))
    for row, chosen in zip(table, combinations(range(n_groups), size), strict=True):
        assert sorted(row) == [k for k, groups in enumerate(sets) if set(chosen) <= set(groups)]
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 0


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_tables_name_the_models_that_leave_a_set_out(radius):
    """Sets of one, two, ... groups, and the models without them: slow and obvious."""
    n_groups = 2 * radius + 2
    sets, left_out = every_set(n_groups, radius)
    shuffled = left_out[np.random.default_rng(1).permutation(len(sets))]
    design = read_design(shuffled, radius)

    def without(groups):
        return np.flatnonzero(shuffled[:, list(groups)].all(axis=1)).tolist()

    models_of, covers, starts, widths = design.labels()
    own = list(combinations(range(n_groups), radius))
    assert [sorted(row) for row in models_of] == [without(groups) for groups in own]
    assert len(widths) == len(starts) - 1 == radius - 1
    for q in range(1, radius):
        table = covers[starts[q - 1] : starts[q]].reshape(-1, widths[q - 1])
        for row, chosen in zip(table, combinations(range(n_groups), q), strict=True):
            assert sorted(row) == [k for k, groups in enumerate(own) if set(chosen) <= set(groups)]
    for q in range(radius + 1):
        models_of, sets_with, models_beyond, beyond_with = design.bounds(q)
        larger = list(combinations(range(n_groups), radius + q))
        assert [sorted(row) for row in models_beyond] == [without(groups) for groups in larger]
        attacked = list(combinations(range(n_groups), q))
        for a, chosen in enumerate(attacked):
            for table, those in ((sets_with, own), (beyond_with, larger)):
                inside = [k for k, groups in enumerate(those) if set(chosen) <= set(groups)]
                assert sorted(table[a]) == inside


MATRIX = every_set(4, 1)[1]
TWICE = MATRIX.copy()
TWICE[1] = TWICE[0]
ONE_MORE = MATRIX.copy()
ONE_MORE[2] = True


@pytest.mark.parametrize(
    ("left_out", "radius", "message"),
    [
        (MATRIX[0], 1, r"left_out has shape \(4,\) and holds bool"),
        (MATRIX.astype(int), 1, "holds int64: it must be bool"),
        ([[True], [True, False]], 1, "left_out cannot be read as an array"),
        (MATRIX, 2, "left_out has 4 groups: a radius of 2 needs more than 4"),
        (every_set(5, 2)[1], 1, "model 0 in left_out leaves out 4 groups: .* must leave out 2"),
        (ONE_MORE, 1, "model 2 in left_out leaves out 4 groups"),
        (TWICE, 1, "every set of 2 of the 4 groups must be left out by exactly one, 6 in all"),
        (MATRIX[:-1], 1, "left_out has 5 models"),
        (np.concatenate([MATRIX, MATRIX[:1]]), 1, "left_out has 7 models"),
        (np.zeros((0, 4), dtype=bool), 1, "left_out has 0 models"),
    ],
)
def test_what_is_no_complete_family_is_refused(left_out, radius, message):
    with pytest.raises(InputError, match=message):
        read_design(left_out, radius)


def test_a_table_that_would_fill_the_memory_is_refused():
    assert comb(60, 3) * comb(57, 3) > MOST_ENTRIES
    with pytest.raises(InputError, match=r"60 groups and sets of 6 .* fewer groups or a smaller"):
        supersets(60, 3, 6)
