"""Groups, members that leave some of them out, and the pools of the models."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest

from partita import InputError, Partition
from partita.partition import LeaveOut
from partita.partition._leave_out import choose_members, count_groups, left_out_size

GROUPS = Partition([[0], [1, 4], [2], [3]])
PAIRS = tuple(combinations(range(4), 2))
SETS = LeaveOut(GROUPS, 1, (*PAIRS, (1, 2, 3), ()))


def test_a_member_sees_the_units_of_the_groups_it_does_not_leave_out():
    assert len(SETS) == 8
    assert SETS.n_units == 5
    assert SETS[0] == (2, 3)
    assert SETS[2] == (1, 2, 4)
    assert SETS[6] == (0,)
    assert SETS[7] == (0, 1, 2, 3, 4)
    assert [SETS.hidden(t) for t in (0, 6, 7)] == [(0, 1, 4), (1, 2, 3, 4), ()]
    for t in (-1, 8):
        with pytest.raises(IndexError):
            SETS[t]
    assert next(iter(SETS)) == (2, 3)


def test_incidence_is_what_members_see():
    reach = SETS.incidence()
    assert reach.shape == (5, 8)
    for t in range(len(SETS)):
        assert np.flatnonzero(reach[:, t]).tolist() == list(SETS[t])
        assert np.flatnonzero(~reach[:, t]).tolist() == list(SETS.hidden(t))


def test_a_pool_holds_all_members_without_the_models_groups_and_no_other():
    starts, members = SETS.pools()
    assert len(starts) == 7
    for d, chosen in enumerate(PAIRS):
        pool = members[starts[d] : starts[d + 1]].tolist()
        units = {unit for group in chosen for unit in GROUPS[group]}
        assert pool == [t for t in range(len(SETS)) if not units & set(SETS[t])]


def test_it_is_a_value():
    assert LeaveOut(GROUPS, 1, PAIRS) == LeaveOut(GROUPS, 1, PAIRS)
    assert hash(LeaveOut(GROUPS, 1, PAIRS)) == hash(LeaveOut(GROUPS, 1, PAIRS))


@pytest.mark.parametrize(
    ("radius", "left_out", "message"),
    [
        (1, PAIRS[:-1], r"no member without the groups \(2, 3\)"),
        (1, (*PAIRS, (1, 0)), r"set \(1, 0\): groups must be ascending"),
        (1, (*PAIRS, (1, 1)), r"set \(1, 1\)"),
        (1, (*PAIRS, (3, 4)), "from 0 to 3"),
        (1, (*PAIRS, (-1, 0)), "from 0 to 3"),
        (1, (*PAIRS, (0, 1, 2, 3)), "not all of them"),
        (2, PAIRS, "radius is 2: with 4 groups it must be from 1 to 1"),
        (0, PAIRS, "radius is 0"),
    ],
)
def test_what_proves_nothing_is_refused(radius, left_out, message):
    with pytest.raises(InputError, match=message):
        LeaveOut(GROUPS, radius, left_out)


@pytest.mark.parametrize(("n_groups", "radius"), [(101, 1), (1000, 2), (20_000, 3), (41, 20)])
def test_sets_too_many_to_enumerate_are_refused_at_once(n_groups, radius):
    message = rf"{n_groups:,} groups and radius {radius} have too many sets of groups"
    with pytest.raises(InputError, match=message):
        choose_members(n_groups, radius, 2 * radius, 150, 0)
    with pytest.raises(InputError, match=message):
        LeaveOut(Partition([[k] for k in range(n_groups)]), radius, ((0, 1),))
    with pytest.raises(InputError, match=r"left_out has 5,002 members: 5,001 are the most"):
        LeaveOut(GROUPS, 1, ((0, 1),) * 5002)


# ---- how many groups, and how many of them a member leaves out ----


@pytest.mark.parametrize(
    ("radius", "max_models", "n_units", "expected"),
    [
        (1, 150, 30, 17),
        (1, 150, 8, 8),
        (1, 150, 3, 3),
        (1, 3, 30, 3),
        (2, 150, 30, 9),
        (2, 500, 30, 12),
        (3, 150, 30, 9),
        (2, 3, 30, 5),  # choose_members says that three are too few
    ],
)
def test_auto_makes_as_many_groups_as_models_allow(radius, max_models, n_units, expected):
    assert count_groups("auto", radius, max_models, n_units, "columns") == expected
    if comb(expected, 2 * radius) <= max_models and expected < n_units:
        assert comb(expected + 1, 2 * radius) > max_models


@pytest.mark.parametrize(
    ("n_groups", "radius", "n_units", "kind", "message"),
    [
        (
            "auto",
            1,
            2,
            "columns",
            "radius is 1, which needs at least 3 columns, but the table has "
            "2: give it more columns",
        ),
        (
            "auto",
            2,
            4,
            "units",
            "at least 5 units, but the table has 4: lower radius, or use finer",
        ),
        (9, 1, 8, "columns", "n_groups is 9: with radius 1 and 8 columns it must be from 3 to 8"),
        (4, 2, 8, "columns", "n_groups is 4: .* from 5 to 8"),
    ],
)
def test_too_few_units_or_groups_are_refused(n_groups, radius, n_units, kind, message):
    with pytest.raises(InputError, match=message):
        count_groups(n_groups, radius, 150, n_units, kind)


def test_a_member_leaves_out_about_half_of_the_groups():
    assert [left_out_size("auto", 1, g) for g in (3, 4, 6, 16, 17)] == [2, 2, 3, 8, 8]
    assert [left_out_size("auto", 2, g) for g in (5, 6, 9, 12)] == [4, 4, 5, 7]
    assert left_out_size(5, 2, 9) == 5
    for wrong in (3, 9):
        with pytest.raises(InputError, match=f"leave_out is {wrong}: .* it must be from 4 to 8"):
            left_out_size(wrong, 2, 9)


# ---- members ----


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_the_defaults_leave_every_set_out_for_any_number_of_units(radius):
    for n_units in range(2 * radius + 1, 19):
        n_groups = count_groups("auto", radius, 150, n_units, "columns")
        size = left_out_size("auto", radius, n_groups)
        members = choose_members(n_groups, radius, size, 150, 0)
        assert len(set(members)) == len(members) <= min(150, comb(n_groups, 2 * radius))
        assert {len(groups) for groups in members} == {size}
        LeaveOut(Partition([[g] for g in range(n_groups)]), radius, tuple(members))


@pytest.mark.parametrize(
    ("n_groups", "radius", "size", "max_models"),
    [(17, 1, 8, 150), (10, 2, 6, 150), (9, 2, 6, 40), (6, 1, 3, 15)],
)
def test_members_serve_all_models_about_equally(n_groups, radius, size, max_models):
    members = choose_members(n_groups, radius, size, max_models, 3)
    served = Counter(chosen for own in members for chosen in combinations(own, 2 * radius))
    assert len(members) == len(set(members)) == min(max_models, comb(n_groups, 2 * radius))
    assert len(served) == comb(n_groups, 2 * radius)
    mean = sum(served.values()) / len(served)
    assert max(served.values()) - min(served.values()) <= max(3, mean)


def test_members_follow_from_the_seed():
    assert choose_members(17, 1, 8, 150, 0) == choose_members(17, 1, 8, 150, 0)
    assert choose_members(17, 1, 8, 150, 0) != choose_members(17, 1, 8, 150, 1)
    every = list(combinations(range(6), 4))
    assert choose_members(6, 1, 4, 150, 0) == choose_members(6, 1, 4, 150, 1) == every


@pytest.mark.parametrize(
    ("n_groups", "radius", "size", "max_models", "message"),
    [
        (
            12,
            2,
            4,
            150,
            "max_models is 150, but 12 groups and radius 2 need 495 models: raise "
            "max_models, or lower radius or n_groups, or raise leave_out",
        ),
        (
            5,
            2,
            4,
            3,
            "max_models is 3, but 5 groups and radius 2 need 5 models: raise max_models, "
            "or lower radius or n_groups$",
        ),
        (17, 1, 3, 20, "max_models is 20, too few for 17 groups and radius 1: raise max_models"),
    ],
)
def test_too_few_models_are_refused(n_groups, radius, size, max_models, message):
    with pytest.raises(InputError, match=message):
        choose_members(n_groups, radius, size, max_models, 0)
