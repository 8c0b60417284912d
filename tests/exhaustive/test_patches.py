"""Patches: every position, and everything that the submodels under it could vote."""

import numpy as np
import pytest

from partita import (
    certify_patches,
)
from partita.partition._strategies import random_partition
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
