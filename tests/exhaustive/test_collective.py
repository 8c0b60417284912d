"""One attacker, many rows: every choice of units, against every row at once."""

from itertools import combinations

import numpy as np
import pytest

from partita import certify, certify_collective, criticality
from partita import collective as module
from partita.rules import Median, Plurality, RunOff, TopK, Tournament
from tests.exhaustive import attacker
from tests.exhaustive.cases import DECISIONS, random_reach


def batches(seed, how_many, n_rows=5, n_submodels=5, n_labels=3):
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        ballots = np.stack([next(iter_rows(rng, n_submodels, n_labels)) for _ in range(n_rows)])
        yield ballots, random_reach(rng, n_submodels)


def iter_rows(rng, n_submodels, n_labels):
    while True:
        for row in attacker.profiles(rng, 10, n_labels, n_submodels):
            if len(row) == n_submodels:
                yield row


def falls(row, decide, taken):
    """Whether some behaviour of the taken submodels changes the row's decision."""
    after = attacker.outcomes(attacker.tally(row, 0.0), taken, decide)
    return bool(np.any(after != attacker.decision(row, decide)))


def most_changed(ballots, decide, reach, radius):
    size = min(radius, len(reach))
    return max(
        sum(falls(row, decide, taken) for row in ballots) for taken in attacker.unions(reach, size)
    )


HEAD_START = Tournament(margin=0, offset=[2, 0, -1])


@pytest.mark.parametrize(
    "rule", [Plurality(), Tournament(), HEAD_START, RunOff(), TopK(1)], ids=repr
)
@pytest.mark.parametrize("program", [False, True], ids=["enumerated", "program"])
def test_never_below_what_an_attacker_does(rule, program, monkeypatch):
    if program:
        monkeypatch.setattr(module, "CHEAP", 0)
    decide = attacker.plurality if isinstance(rule, TopK) else DECISIONS[type(rule)]
    if rule is HEAD_START:
        decide = attacker.tournament_with(rule.offset)
    for ballots, reach in batches(0, 25 if program else 60):
        for radius in (1, 2):
            truth = most_changed(ballots, decide, reach, radius)
            found = certify_collective(ballots, radius, rule, reach)
            alone = (
                rule.certify(ballots, rule.decide(ballots), reach=reach)
                if isinstance(rule, TopK)
                else certify(ballots, rule, reach=reach)
            )
            pointwise = np.count_nonzero(alone.radius < radius)
            assert truth <= found.changed <= pointwise
            if isinstance(rule, Plurality):
                assert found.exact
                assert found.changed == truth


def test_disjoint_units_need_no_reach():
    for ballots, _ in batches(1, 20):
        assert certify_collective(ballots, 2, "plurality").changed == most_changed(
            ballots, attacker.plurality, np.eye(5, dtype=bool), 2
        )


@pytest.mark.parametrize("program", [False, True], ids=["enumerated", "program"])
def test_the_median_is_exact(program, monkeypatch):
    if program:
        monkeypatch.setattr(module, "CHEAP", 0)
    rng = np.random.default_rng(2)
    for _ in range(40):
        votes, reach = rng.integers(0, 4, size=(6, 5)).astype(float), random_reach(rng, 5)
        lower, upper = np.zeros(6), rng.integers(1, 4, size=6).astype(float)
        for radius in (1, 2):
            changed = []
            for units in combinations(range(len(reach)), min(radius, len(reach))):
                taken = reach[list(units)].any(axis=0)
                worst = [np.sort(np.where(taken, value, votes), axis=1)[:, 2] for value in (-9, 9)]
                middle = np.sort(votes, axis=1)[:, 2]
                changed.append(
                    np.count_nonzero(
                        (worst[0] < lower)
                        | (worst[1] > upper)
                        | (middle > upper)
                        | (middle < lower)
                    )
                )
            found = certify_collective(votes, radius, Median(), reach, lower=lower, upper=upper)
            assert found.changed == max(changed) or not reach.any()


def test_a_critical_unit_is_one_whose_attack_succeeds():
    for ballots, reach in batches(3, 40):
        for rule in (Plurality(), Tournament(), RunOff()):
            critical = criticality(ballots, rule, reach)
            assert critical.shape == (len(reach), len(ballots))
            for unit, row in np.ndindex(*critical.shape):
                truth = (
                    falls(ballots[row], DECISIONS[type(rule)], reach[unit])
                    if reach[unit].any()
                    else False
                )
                assert (
                    critical[unit, row] == truth
                    if isinstance(rule, Plurality)
                    else critical[unit, row] >= truth
                )
        assert (
            criticality(ballots, "plurality", reach).sum(axis=1).max()
            == certify_collective(ballots, 1, "plurality", reach).changed
        )
