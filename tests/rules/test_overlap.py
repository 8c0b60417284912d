"""Overlapping units: the integer program, its dual bound, and its time limit."""

import numpy as np
import pytest
import scipy.optimize

from partita import (
    certify,
)
from partita.rules import Plurality
from partita.rules import _overlap as cover
from tests.exhaustive import attacker


def test_a_program_that_stops_early_proves_its_bound_and_no_more(monkeypatch):
    """A solver with a gap left: its best attack is too large, and only its dual bound is proven."""
    honest = scipy.optimize.milp

    def hasty(*arguments, options, **rest):
        found = honest(*arguments, options=options | {"mip_rel_gap": 0.0}, **rest)
        if found.x is not None:  # as if it had stopped at a worse attack, with the same bound
            found.fun = found.fun + 2
            found.x = np.ones_like(found.x)
        return found

    monkeypatch.setattr(scipy.optimize, "milp", hasty)
    monkeypatch.setattr(
        cover, "_greedy_attack", lambda losses, budget, reach: len(reach) + 1
    )  # leaves all to the program
    rng = np.random.default_rng(7)
    solved = 0
    for _ in range(40):
        row = np.eye(2)[(rng.random(9) < 0.1).astype(int)]
        reach = rng.random((6, 9)) < 0.15
        reach[:, :3] = True  # all units meet in three submodels, which the bound counts six times
        exact = certify(row[None], "plurality", reach=reach, cover="exact").radius[0]
        assert exact <= attacker.truth(row, attacker.plurality, reach=reach)
        solved += exact > certify(row[None], "plurality", reach=reach).radius[0]
    assert solved > 0  # it does improve on the bound


def test_the_integer_program_finds_the_least_cover(monkeypatch):
    """Cases that neither the bound nor a greedy attack settles; every set of units is tried."""
    solved = []
    least = cover._least_attack
    monkeypatch.setattr(
        cover, "_least_attack", lambda *arguments: solved.append(1) or least(*arguments)
    )
    rng = np.random.default_rng(0)
    for _ in range(150):
        reach = rng.random((10, 30)) < 0.2
        row = rng.normal(size=(30, 3)) + np.array([2.5, 0, 0])
        votes = row.argmax(axis=1)
        counts = np.bincount(votes, minlength=3)
        y = counts.argmax()
        opponents = [z for z in range(3) if z != y]

        def broken(taken, y=y, opponents=opponents, votes=votes, counts=counts):
            losses = [
                np.sum(1 + (votes[taken] == y) - (votes[taken] == z).astype(int)) for z in opponents
            ]
            return any(
                loss > counts[y] - counts[z] - (z < y)
                for loss, z in zip(losses, opponents, strict=True)
            )

        sizes = (
            size
            for size in range(1, 11)
            if any(broken(taken) for taken in attacker.unions(reach, size))
        )
        truth = next(sizes, 11) - 1
        assert Plurality().certify(row[None], reach=reach, cover="exact").radius[0] == truth
    assert len(solved) > 30


@pytest.mark.parametrize(("n_submodels", "radius"), [(10, 1), (11, 1), (12, 3), (13, 3)])
def test_where_the_greedy_attack_is_not_the_best(n_submodels, radius):
    """Two units share six submodels; a third reaches four of them, looks better, and misleads."""
    reach = np.zeros((3, n_submodels), dtype=bool)
    reach[0, [0, 1, 3, 4]] = reach[1, [0, 1, 2]] = reach[2, [3, 4, 5]] = True
    ballots = np.tile(
        [1.0, 0.0], (1, n_submodels, 1)
    )  # six corrupted votes cost 12 of a lead of n_submodels
    assert Plurality().certify(ballots, reach=reach, cover="exact").radius[0] == radius
    assert Plurality().certify(ballots, reach=reach).radius[0] <= radius


def test_a_solver_without_time_is_still_sound():
    rng = np.random.default_rng(0)
    reach = rng.random((40, 60)) < 0.1
    ballots = (rng.normal(size=(20, 60, 3)) + np.array([1.5, 0, 0])).astype(np.float32)
    bound = Plurality().certify(ballots, reach=reach).radius
    hurried = Plurality().certify(ballots, reach=reach, cover="exact", time_limit=1e-3).radius
    patient = Plurality().certify(ballots, reach=reach, cover="exact", time_limit=20).radius
    assert np.all(bound <= hurried)
    assert np.all(hurried <= patient)
    assert np.any(bound < patient)
