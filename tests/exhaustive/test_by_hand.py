"""Small cases worked out by hand."""

import numpy as np
import pytest

from partita import certify
from partita.kernels import compiled, plain
from partita.rules import Median, Plurality, RunOff, TopK, Tournament
from tests.exhaustive import slow_rules


def one_hot(votes, n_labels):
    return np.eye(n_labels, dtype=np.float32)[votes][None]


def test_run_off_hears_what_plurality_wastes():
    """Votes 0, 0, 1, 2. One submodel moved from 0 to 1 ends the lead of 0; but everyone prefers 0
    as second choice."""
    ballots = np.array([[[9, 5, 1], [9, 1, 5], [5, 9, 1], [5, 1, 9]]], dtype=np.float32)
    plurality, runoff = certify(ballots, "plurality"), certify(ballots, "runoff")
    assert (plurality.prediction[0], plurality.radius[0], plurality.runner_up[0]) == (0, 0, 1)
    assert (runoff.prediction[0], runoff.radius[0], runoff.runner_up[0]) == (0, 1, 1)


@pytest.mark.parametrize("dp", [compiled.dp, plain.dp], ids=["compiled", "plain"])
def test_dp(dp):
    assert dp(-1, 4) == 2
    for a in range(-20, 40):
        for b in range(-20, 40):
            if max(a, b) >= 0:  # one of the two gaps holds before the attack
                assert dp(a, b) == slow_rules.dp(a, b)


def test_top_k():
    ballots = one_hot([3] * 6 + [4], 5)
    assert TopK(4).certify(ballots, [4]).radius[0] == 0
    ballots = one_hot([0, 0, 0, 3], 4)
    assert TopK(3).certify(ballots, [0]).radius[0] == 2
    assert TopK(5).certify(ballots, [2]).radius[0] == 4  # k >= C: never ejected
    assert TopK(1).certify(ballots, [3]).radius[0] == -1  # not there now
    assert TopK(2).decide(ballots)[0] == 0


def test_ties():
    """Equal scores: the vote goes to the smallest label, a duel is worth nothing to either, and the
    smaller label wins the rest."""
    ballots = np.zeros((1, 3, 2), dtype=np.float32)
    assert Plurality().certify(ballots).prediction[0] == 0
    assert Plurality().certify(ballots).radius[0] == 1  # all three votes are for 0
    assert RunOff().certify(ballots).radius[0] == 0  # but in the duel nobody prefers it
    assert Tournament().certify(ballots).radius[0] == 0


def test_no_label_beats_all_others():
    """A Condorcet cycle: some label is predicted, and nothing is certified."""
    ballots = np.array([[[3, 2, 1], [1, 3, 2], [2, 1, 3]]], dtype=np.float32)
    proof = Tournament().certify(ballots)
    assert (proof.prediction[0], proof.radius[0], proof.runner_up[0]) == (0, 0, 2)


@pytest.mark.parametrize(
    "rule",
    [Plurality(), RunOff(), RunOff(exact=True), Tournament(), Tournament(margin=1)],
    ids=repr,
)
def test_one_class_cannot_change(rule):
    proof = rule.certify(np.zeros((2, 5, 1), dtype=np.float32))
    assert proof.radius.tolist() == [5, 5]
    assert proof.runner_up is None


def test_prior_shifts_the_scores():
    """Everyone leans to the commonest label; subtracting its log share turns the decision round."""
    ballots = np.log(np.array([[[0.7, 0.3]] * 5], dtype=np.float32))
    shares = [0.9, 0.1]
    assert Tournament(prior=0.0).certify(ballots).prediction[0] == 0
    assert Tournament(prior=0.9, shares=shares).certify(ballots).prediction[0] == 1
    shifted = ballots.astype(np.float64) - 0.4 * np.log(shares)
    for margin in (0, 0.5):
        expected, proof = (
            Tournament(margin).certify(shifted),
            Tournament(margin, prior=0.4, shares=shares).certify(ballots),
        )
        assert (expected.prediction, expected.radius) == (proof.prediction, proof.radius)


def test_median_by_hand():
    votes = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]])
    assert Median().decide(votes)[0] == 3
    assert Median().certify(votes, 2.5, 4.5).radius[0] == 0
    assert Median().certify(votes, 1, 5).radius[0] == 2
    assert Median().certify(votes, 3.5, 9).radius[0] == -1
    assert Median().certify(votes, -np.inf, np.inf).radius[0] == 5
    even = votes[:, :4]
    assert Median().decide(even)[0] == 2  # the lower median
    assert Median().certify(even, 1, 4).radius[0] == 1  # one vote below 1 is not enough, two are
    assert Median().certify(even, -np.inf, 4).radius[0] == 2


def test_stretch_moves_votes_from_the_centre():
    votes = np.array([[9.0, 10.0, 12.0]])
    rule = Median(stretch=1.5, centre=8.0)
    assert rule.decide(votes)[0] == 11
    assert [end[0] for end in rule.interval(votes, 1)] == [9.5, 14]
    assert rule.certify(votes, 9.5, 14).radius[0] == 1
    huge = np.array([[1e308, -1e308, 1e308]])
    assert np.isfinite(Median(stretch=5, centre=0.0).decide(huge)[0])
