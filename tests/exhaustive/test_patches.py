"""Patches: every position, and everything that the submodels under it could vote."""

from itertools import combinations, product

import numpy as np
import pytest

from partita import InputError, certify_patches
from partita.partition._partition import random_partition
from partita.rules import Plurality, RunOff, Tournament
from tests.exhaustive import attacker
from tests.exhaustive.cases import DECISIONS, pixels_under

SHAPE = (4, 5, 1)


@pytest.mark.parametrize("rule", [Plurality(), Tournament(), RunOff()], ids=repr)
@pytest.mark.parametrize("n_patches", [1, 2])
def test_no_position_breaks_what_is_certified(rule, n_patches):
    rng = np.random.default_rng(0)
    for row in attacker.profiles(rng, 150, 3, 6):
        if len(row) < 4:
            continue
        partition = random_partition(20, len(row), int(rng.integers(100)))
        patch = [(1, 1), (1, 2), (2, 1)][rng.integers(3)]
        reach = np.array(
            [
                [t in under for t in range(len(row))]
                for under in pixels_under(partition, SHAPE, patch)
            ]
        )
        truth = min(
            attacker.truth(row, DECISIONS[type(rule)], reach=np.unique(reach, axis=0)), n_patches
        )
        radius = certify_patches(row[None], partition, SHAPE, patch, rule, n_patches).radius[0]
        assert radius <= truth
        if n_patches == 1 and isinstance(rule, Plurality):
            assert radius == truth


def survives_patches(votes, under, lying, silent):
    """Whether no positions of lying and silent patches change the plurality of these votes."""
    honest = int(np.bincount(votes, minlength=2).argmax())
    for places in combinations(range(len(under)), lying + silent):
        for liars in combinations(places, lying):
            lie = sorted(set().union(*(under[place] for place in liars)))
            mute = set().union(*(under[place] for place in places))
            heard = np.bincount([v for t, v in enumerate(votes) if t not in mute], minlength=2)
            for ballots in product(range(2), repeat=len(lie)):
                if (heard + np.bincount(ballots, minlength=2)).argmax() != honest:
                    return False
    return True


@pytest.mark.parametrize("n_patches", [1, 2])
def test_nothing_false_is_said_of_patches_that_lie_beside_silent_ones(n_patches):
    """A refusal says nothing; whatever is said must hold against every choice of positions."""
    rng = np.random.default_rng(3)
    said = 0
    for _ in range(60):
        n_submodels = int(rng.integers(3, 6))
        partition = random_partition(9, n_submodels, int(rng.integers(100)))
        votes = rng.integers(0, 2, n_submodels) | (rng.random() < 0.5)
        proof = certify_patches(
            np.eye(2)[votes[None]], partition, (3, 3), (1, 1), "plurality", n_patches
        )
        under = pixels_under(partition, (3, 3), (1, 1))
        for lying, silent in product(range(3), range(3)):
            try:
                claimed = bool(proof.survives(lying, silent)[0])
            except InputError:
                assert silent > 0
                continue
            said += claimed
            assert not claimed or survives_patches(votes, under, lying, silent)
    assert said > 60
