"""Cases that several exhaustive tests share: the rules' decisions, and random reaches."""

import numpy as np

from partita.rules import Plurality, RunOff, Tournament
from tests.exhaustive import attacker

DECISIONS = {
    Plurality: attacker.plurality,
    RunOff: attacker.runoff,
    Tournament: attacker.tournament,
}


def random_reach(rng, n_submodels):
    """Disjoint, overlapping, nested and empty reaches, and submodels out of everybody's reach."""
    return rng.random((rng.integers(1, 6), n_submodels)) < rng.choice([0.2, 0.4, 0.6])


def rows_and_reaches(seed, how_many, n_labels=3, most_submodels=6):
    """Contested elections, each with a random reach."""
    rng = np.random.default_rng(seed)
    for row in attacker.profiles(rng, how_many, n_labels, most_submodels):
        yield row, random_reach(rng, len(row))


def pixels_under(partition, shape, patch):
    """The submodels under each position of a patch, pixel by pixel."""
    owner = {unit: t for t, units in enumerate(partition) for unit in units}
    return [
        {owner[(top + i) * shape[1] + left + j] for i in range(patch[0]) for j in range(patch[1])}
        for top in range(shape[0] - patch[0] + 1)
        for left in range(shape[1] - patch[1] + 1)
    ]
