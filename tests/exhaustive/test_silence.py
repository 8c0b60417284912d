"""No certificate about silence is above what an attacker finds who tries everything.

Liars, submodels that fall silent beside them, silence that is declared, and silence that a liar may
fake or break: every choice and every ballot, on small cases.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from partita.rules import Gated, Median, Plurality, RunOff, TopK, Tournament
from tests.exhaustive import attacker, silent_attacker
from tests.exhaustive.cases import DECISIONS, random_reach
from tests.exhaustive.silent_attacker import with_abstentions

MARGIN = 2.0
RULES = [Plurality(), RunOff(), RunOff(exact=True), Tournament(), Tournament(margin=MARGIN)]
SMALL = {0.0: 5, MARGIN: 3}  # submodels


def pairs(n_submodels):
    """Numbers of liars and of silent submodels that leave somebody."""
    return [(r, m) for r in range(n_submodels + 1) for m in range(n_submodels + 1 - r)]


def one_hot(label, n_labels):
    return np.where(np.arange(n_labels) == label, 0.0, -20.0)


def check_every_pair(proof, row, absent, decide, margin, default, detected):
    """What is claimed holds; returns how many claims there were, and how many more hold."""
    claimed = missed = 0
    for r, m in pairs(len(row)):
        holds = None
        if proof.survives(r, m)[0]:
            claimed += 1
            holds = silent_attacker.survives(row, absent, r, m, decide, margin, default, detected)
            assert holds, (row.tolist(), absent.tolist(), r, m)
        elif r + m < (~absent).sum():
            missed += silent_attacker.survives(row, absent, r, m, decide, margin, default, detected)
    return claimed, missed


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_liars_and_silent_submodels_together(rule):
    """Nobody is silent yet; liars may keep silent too."""
    rng = np.random.default_rng(1)
    margin, decide = getattr(rule, "margin", None) or 0.0, DECISIONS[type(rule)]
    claimed = missed = 0
    for row in attacker.profiles(rng, 60 if margin == 0 else 25, 3, SMALL[margin]):
        proof = rule.certify(row[None])
        assert proof.silence_radius[0] >= proof.radius[0]
        nobody = np.zeros(len(row), dtype=bool)
        found = check_every_pair(proof, row, nobody, decide, margin, 2, False)
        claimed, missed = claimed + found[0], missed + found[1]
    assert claimed > 60 if margin == 0 else claimed > 25
    if isinstance(rule, Plurality):
        assert missed == 0  # exact
    else:
        assert missed <= claimed / 4


def test_silence_may_push_the_winner_out_of_the_top_two():
    """Everybody's second choice: it wins every duel, and is out when its own voters are gone."""
    row = np.array([[0, 1, 2], [0, 1, 2], [2, 0, 1], [0, 2, 1]], dtype=float)
    proof = RunOff().certify(row[None])
    assert proof.prediction.tolist() == [2]
    nobody = np.zeros(4, dtype=bool)
    assert not silent_attacker.survives(row, nobody, 0, 2, attacker.runoff)
    check_every_pair(proof, row, nobody, attacker.runoff, 0.0, 2, False)


@pytest.mark.parametrize("detected", [False, True], ids=["declared", "detected"])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_rows_with_silence_against_every_attack(rule, detected):
    """Detected silence: a liar may fake it, and may speak in place of a silent submodel."""
    rng = np.random.default_rng(2)
    margin, decide = getattr(rule, "margin", None) or 0.0, DECISIONS[type(rule)]
    for row in attacker.profiles(rng, 60 if margin == 0 else 20, 3, SMALL[margin]):
        absent = rng.random(len(row)) < 0.4
        quiet = np.where(absent[:, None], np.nan, row)
        proof = rule.certify(with_abstentions(quiet[None], detected, one_hot(1, 3)))
        assert proof.prediction[0] == silent_attacker.decision(row, absent, decide, margin, 1)
        check_every_pair(proof, row, absent, decide, margin, 1, detected)


@pytest.mark.parametrize("detected", [False, True], ids=["declared", "detected"])
@pytest.mark.parametrize("margin", [0.0, MARGIN])
def test_head_starts_and_silence(margin, detected):
    """A head start may outlast all votes, and then decides where nobody is left."""
    rng = np.random.default_rng(3)
    for row in attacker.profiles(rng, 120 if margin == 0 else 25, 3, SMALL[margin]):
        offset = rng.choice([-1.0, 0.0, 0.4, 1.0, 2.0, 6.0], size=3)
        rule = Tournament(margin=margin, offset=offset)
        decide = attacker.tournament_with(rule.head_start(3))
        default = 1 if len(set(rule.head_start(3))) == 1 else None
        nobody = np.zeros(len(row), dtype=bool)
        check_every_pair(rule.certify(row[None]), row, nobody, decide, margin, default, False)
        absent = rng.random(len(row)) < 0.4
        quiet = np.where(absent[:, None], np.nan, row)
        proof = rule.certify(with_abstentions(quiet[None], detected, one_hot(1, 3)))
        assert proof.prediction[0] == silent_attacker.decision(row, absent, decide, margin, default)
        check_every_pair(proof, row, absent, decide, margin, default, detected)


def test_a_prior_is_taken_out_of_ballots_that_are_there_alone():
    shares = np.array([0.7, 0.2, 0.1])
    rule = Tournament(margin=0.5, prior=1.0, offset=0.5, shares=shares)
    rng = np.random.default_rng(4)
    ballots = np.log(rng.dirichlet(np.ones(3), size=(50, 6)))
    quiet = ballots.copy()
    quiet[:, 2:4] = np.nan
    alone = rule.certify(ballots[:, [0, 1, 4, 5]])
    proof = rule.certify(with_abstentions(quiet, False, one_hot(0, 3)))
    assert np.array_equal(proof.prediction, alone.prediction)
    assert np.array_equal(
        np.minimum(proof.radius, 4), np.minimum(alone.radius, 4)
    )  # all that vote: all
    assert np.array_equal(proof.runner_up, alone.runner_up)


@pytest.mark.parametrize("detected", [False, True], ids=["declared", "detected"])
def test_topk_and_silence(detected):
    rng = np.random.default_rng(5)
    for row in attacker.profiles(rng, 150, 4, 4):
        k, label = int(rng.integers(1, 5)), int(rng.integers(0, 4))
        decide = attacker.in_top(label, k)
        absent = rng.random(len(row)) < rng.choice([0, 0.5])
        quiet = np.where(absent[:, None], np.nan, row)
        proofs = [TopK(k).certify(with_abstentions(quiet[None], detected, one_hot(1, 4)), [label])]
        if not absent.any():
            proofs.append(TopK(k).certify(row[None], [label]))
        inside = silent_attacker.decision(row, absent, decide, 0.0, None)
        for proof in proofs:
            assert (proof.radius[0] >= 0) == inside
            check_every_pair(proof, row, absent, decide, 0.0, None, detected)


def some_medians(seed, how_many, most=5):
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        votes = rng.integers(0, 5, size=rng.integers(1, most + 1)).astype(float)
        ends = np.sort(rng.choice([-np.inf, 0.0, 1.0, 2.0, 3.0, np.inf], size=2))
        yield votes, ends[0], ends[1], rng.random(len(votes)) < rng.choice([0, 0.4])


@pytest.mark.parametrize("detected", [False, True], ids=["declared", "detected"])
def test_median_and_silence(detected):
    """A vote that is left out changes which of the others is the median."""
    claimed = missed = 0
    for votes, low, high, absent in some_medians(6, 250):
        quiet = np.where(absent, np.nan, votes)
        default = 4.0
        proofs = [Median().certify(with_abstentions(quiet[None], detected, default), low, high)]
        if not absent.any():
            proofs.append(Median().certify(votes[None], low, high))
        for proof in proofs:
            assert proof.prediction[0] == silent_attacker.median(quiet, default)
            assert (proof.radius[0] >= 0) == (low <= proof.prediction[0] <= high)
            for r, m in pairs(len(votes)):
                holds = silent_attacker.median_survives(quiet, low, high, r, m, default, detected)
                claims = bool(proof.survives(r, m)[0])
                assert holds or not claims, (quiet.tolist(), low, high, r, m)
                claimed += claims
                missed += holds and not claims and r + m < (~absent).sum()
    assert claimed > 500
    assert missed == 0  # exact while somebody is left


@pytest.mark.parametrize("detected", [False, True], ids=["declared", "detected"])
def test_intervals_hold_where_votes_are_left_out(detected):
    for votes, _, _, absent in some_medians(7, 120, most=4):
        quiet = np.where(absent, np.nan, votes)
        for r in range(3):
            low, high = Median().interval(with_abstentions(quiet[None], detected, 4.0), r)
            if r <= (len(votes) if detected else (~absent).sum()):
                assert silent_attacker.median_survives(quiet, low[0], high[0], r, 0, 4.0, detected)


@pytest.mark.parametrize("rule", RULES[:4], ids=repr)
def test_overlapping_units_that_lie_or_fall_silent(rule):
    rng = np.random.default_rng(8)
    decide, claimed = DECISIONS[type(rule)], 0
    for row in attacker.profiles(rng, 60, 3, 5):
        reach = random_reach(rng, len(row))
        proof = rule.certify(row[None], reach=reach)
        nobody = np.zeros(len(row), dtype=bool)
        before = silent_attacker.decision(row, nobody, decide, 0.0, 2)
        for r, m in pairs(len(reach)):
            if proof.survives(r, m)[0]:
                claimed += 1
                for lies, gone in silent_attacker.union_cases(reach, r, m):
                    for outcome in silent_attacker.outcomes(
                        row, lies, gone, decide, 0.0, 2, may_fake=True
                    ):
                        assert outcome == before
    assert claimed > 60


def test_overlapping_medians_that_fall_silent():
    rng = np.random.default_rng(9)
    for votes, low, high, _ in some_medians(9, 80):
        reach = random_reach(rng, len(votes))
        proof = Median().certify(votes[None], low, high, reach=reach)
        for m in range(len(reach) + 1):
            if proof.survives(0, m)[0]:
                for _, gone in silent_attacker.union_cases(reach, 0, m):
                    value = silent_attacker.median(np.where(gone, np.nan, votes), 4.0)
                    assert low <= value <= high


@pytest.mark.parametrize("detected", [False, True], ids=["declared", "detected"])
@pytest.mark.parametrize(
    "rule", [Plurality(), Tournament(), Tournament(margin=0.0, offset=[2.0, 0.0])], ids=repr
)
def test_a_gate_stays_open_beside_liars_and_silence(rule, detected):
    """The attacker owns the full model behind it: whenever it answers, it answers wrongly."""
    rng, claimed = np.random.default_rng(10), 0
    default, choices = one_hot(0, 2), [*np.eye(2), np.full(2, np.nan)]
    for row in attacker.profiles(rng, 160, 2, 5):
        absent = rng.random(len(row)) < rng.choice([0, 0.3])
        quiet, gate = np.where(absent[:, None], np.nan, row), int(rng.integers(1, 3))
        vote = rule.certify(with_abstentions(quiet[None], detected, default))
        behind, wrong = Gated(rule, gate), np.eye(2)[1 - vote.prediction]
        ballots = with_abstentions(quiet[None], detected, default)
        proof = behind.certify(replace(ballots, fallback=wrong))
        if proof.prediction[0] != vote.prediction[0]:
            continue
        for r, m in pairs(len(row)):
            if not proof.survives(r, m)[0]:
                continue
            attacked = [quiet[None]]
            for lies, gone in silent_attacker.cases(len(row), absent, r, m, detected):
                said = np.array(list(product(choices, repeat=r))).reshape(3**r, r, 2)
                rows = np.repeat(np.where(gone[:, None], np.nan, row)[None], len(said), axis=0)
                rows[:, lies] = said
                attacked.append(rows)
            ballots = with_abstentions(np.concatenate(attacked), detected, default)
            fallback = np.repeat(wrong, len(ballots), axis=0)
            now = behind.certify(replace(ballots, fallback=fallback))
            assert (now.prediction == vote.prediction[0]).all(), (row.tolist(), r, m, gate)
            claimed += r + m > 0
    assert claimed > 10
