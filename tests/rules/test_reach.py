"""Which submodels units reach: merging, counting, and what is refused."""

import numpy as np
import pytest

from partita import InputError, certify
from partita.rules import Plurality, Reach, RunOff, TopK, Tournament


def test_units_of_one_submodel_each_count_as_before():
    ballots = np.random.default_rng(0).normal(size=(200, 9, 4)).astype(np.float32)
    for rule in (Plurality(), RunOff(), Tournament(), Tournament(margin=0.5)):
        plain_proof, over = rule.certify(ballots), rule.certify(ballots, reach=np.eye(9))
        assert np.array_equal(plain_proof.radius, over.radius)
        assert np.array_equal(plain_proof.runner_up, over.runner_up)
    twice = Tournament().certify(ballots, reach=np.repeat(np.eye(9), 2, axis=0))
    assert np.array_equal(
        twice.radius, Tournament().certify(ballots).radius
    )  # owning two units of one reach is owning one


def test_what_cannot_be_broken_withstands_all_units():
    ballots = np.tile(np.array([5.0, 0, 0]), (1, 7, 1))
    reach = np.zeros((4, 7), dtype=bool)
    reach[:, :3] = True  # four submodels of seven are out of reach
    for rule in (Plurality(), Tournament(), RunOff()):
        assert rule.certify(ballots, reach=reach).radius[0] == 4
    assert TopK(1).certify(ballots, [0], reach=reach).radius[0] == 4


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"reach": np.ones((2, 3))}, r"reach has shape \(2, 3\): it must be \(units, 5\)"),
        ({"reach": np.ones((0, 5))}, "reach has shape"),
        ({"reach": np.ones(5)}, "reach has shape"),
        ({"reach": np.full((2, 5), 2)}, "other values than True and False"),
        ({"reach": np.ones((2, 5)), "cover": "best"}, "cover is 'best'"),
        ({"reach": np.ones((2, 5)), "time_limit": 0}, "time_limit is 0"),
    ],
)
def test_wrong_arguments_are_named(question, message):
    with pytest.raises(InputError, match=message):
        certify(np.zeros((1, 5, 2)), "plurality", **question)


def test_a_ragged_reach_is_refused():
    with pytest.raises(InputError, match="reach is ragged"):
        certify(np.zeros((1, 2, 2)), "plurality", reach=[[1, 0], [1]])


def test_units_of_equal_reach_are_one_group():
    reach = Reach([[1, 1, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1]], 3)
    assert (reach.n_units, len(reach), reach.largest) == (4, 2, 2)
    assert reach.unit_group[0] == reach.unit_group[1] != reach.unit_group[3]
    assert reach.unit_group[2] == -1
    for group in range(len(reach)):
        members = reach.members[reach.starts[group] : reach.starts[group + 1]]
        assert set(members) == set(np.flatnonzero(reach.groups[group]))


def test_a_radius_in_submodels_counts_the_units_that_reach_no_more():
    """The slow obvious version: add up the largest reaches."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        reach = Reach(rng.random((5, 6)) < 0.4, 6)
        sizes = sorted(reach.sizes.tolist(), reverse=True)
        for radius in range(-1, 7):
            (found,) = reach.from_submodels(np.array([radius]))
            fits = max((r for r in range(len(sizes) + 1) if sum(sizes[:r]) <= radius), default=-1)
            if radius < 0:
                assert found == -1
            elif fits == len(sizes) or radius >= reach.groups.any(axis=0).sum():
                assert found == reach.n_units
            else:
                assert found == fits
