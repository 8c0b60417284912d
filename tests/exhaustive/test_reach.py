"""Overlapping units: no certificate is above what an attacker that tries everything finds."""

import numpy as np
import pytest

from partita.rules import Median, Plurality, RunOff, TopK, Tournament
from tests.exhaustive import attacker
from tests.exhaustive.cases import DECISIONS, random_reach, rows_and_reaches


@pytest.mark.parametrize(
    "rule", [Plurality(), Tournament(), RunOff(), RunOff(exact=True)], ids=repr
)
def test_certificates_against_every_attack(rule):
    for row, reach in rows_and_reaches(0, 500):
        truth = attacker.truth(row, DECISIONS[type(rule)], reach=reach)
        bound = rule.certify(row[None], reach=reach).radius[0]
        assert bound <= truth, (row, reach)
        if isinstance(rule, RunOff):  # has no integer program
            continue
        exact = rule.certify(row[None], reach=reach, cover="exact").radius[0]
        assert bound <= exact <= truth, (row, reach)
        if isinstance(rule, Plurality):
            assert exact == truth, (row, reach)


def test_margins_over_units_are_never_above_the_truth():
    for row, reach in rows_and_reaches(1, 150, most_submodels=3):
        truth = attacker.truth(row, attacker.tournament, 2.0, reach)
        rule = Tournament(margin=2.0)
        assert (
            rule.certify(row[None], reach=reach).radius[0]
            <= rule.certify(row[None], reach=reach, cover="exact").radius[0]
            <= truth
        )


@pytest.mark.parametrize("margin", [0.0, 2.0])
def test_priors_and_head_starts_over_units_are_never_above_the_truth(margin):
    """Both are part of every gap, also where units overlap."""
    shares = np.array([0.8, 0.15, 0.05])
    rule = Tournament(margin=margin, prior=0.9, offset=0.5, shares=shares)
    decide = attacker.tournament_with(rule.head_start(3))
    certified = 0
    for row, reach in rows_and_reaches(
        5, 150 if margin else 500, most_submodels=3 if margin else 6
    ):
        row = row * 2
        truth = attacker.truth(row - 0.9 * np.log(shares), decide, margin, reach)
        bound, exact = (
            rule.certify(row[None], reach=reach, cover=cover).radius[0]
            for cover in ("bound", "exact")
        )
        assert bound <= exact <= truth, (row, reach)
        certified += bound > 0
    assert certified > 25  # the attacker meets certified rows


def test_top_k_over_units_is_never_above_the_truth():
    for row, reach in rows_and_reaches(2, 400):
        for label in range(3):
            decide = attacker.in_top(label, 2)
            proof = TopK(2).certify(row[None], [label], reach=reach)
            if proof.radius[0] >= 0:
                assert proof.radius[0] <= attacker.truth(row, decide, reach=reach)


def test_the_exact_median_over_units_is_the_truth():
    rng = np.random.default_rng(3)
    better = 0
    for _ in range(300):
        votes = rng.integers(0, 3, size=rng.integers(1, 9)).astype(float)
        reach = random_reach(rng, len(votes))
        lower, upper = np.sort(rng.choice([-np.inf, -1, 0, 1, 2, np.inf], size=2))
        truth = attacker.median_truth(votes, lower, upper, reach)
        bound = Median().certify(votes[None], lower, upper, reach=reach).radius[0]
        exact = Median().certify(votes[None], lower, upper, reach=reach, cover="exact").radius[0]
        assert bound <= exact == truth
        better += exact > bound
    assert better > 0


def test_an_interval_over_units_holds_what_an_attack_reaches():
    rng = np.random.default_rng(4)
    for _ in range(200):
        votes = rng.integers(0, 5, size=rng.integers(1, 6)).astype(float)
        reach = random_reach(rng, len(votes))
        radius = int(rng.integers(0, len(reach) + 1))
        low, high = Median().interval(votes[None], radius, reach=reach)
        for taken in attacker.unions(reach, radius) if radius else [np.zeros(len(votes), bool)]:
            for value in (-np.inf, np.inf):
                middle = np.sort(np.where(taken, value, votes))[(len(votes) + 1) // 2 - 1]
                assert low[0] <= middle <= high[0]
