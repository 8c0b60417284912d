"""The gate between a vote and a full model, and what it refuses."""

import numpy as np
import pytest

from partita import InputError, certify, certify_collective, criticality
from partita.ballots import Ballots
from partita.rules import Gated, Median, Plurality, RunOff, TopK, Tournament, check_gate

SCORES = np.eye(3)[[[0] * 7, [0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1, 2], [2, 2, 2, 0, 0, 0, 1]]]
VOTES = certify(SCORES, rule="plurality")


def gated(scores, gate, labels, rule=None):
    ballots = Ballots(np.asarray(scores), fallback=np.eye(np.shape(scores)[2])[labels])
    return Gated(rule or Plurality(), gate).certify(ballots)


def test_a_vote_decides_from_the_gate_on_and_its_radius_is_less_by_it():
    assert VOTES.radius.tolist() == [3, 1, 1, 0]
    ballots = Ballots(SCORES, fallback=np.eye(3)[[1, 1, 1, 1]])
    for gate, expected in {1: [2, 0, 0, 0], 2: [1, 0, 0, 0]}.items():
        proof = Gated(Plurality(), gate).certify(ballots)
        assert proof.radius.tolist() == expected
        opened = VOTES.radius >= gate
        assert np.array_equal(Gated(Plurality(), gate).by_fallback(ballots), ~opened)
        assert np.array_equal(proof.prediction, np.where(opened, VOTES.prediction, 1))
        assert proof.counts == VOTES.counts


def test_the_runner_up_of_an_overruled_vote_is_its_label():
    proof = gated(SCORES, 2, [1, 1, 0, 2])
    assert proof.prediction.tolist() == [0, 1, 0, 2]
    # the vote's runner-up; the vote's label; where both agree, the vote's runner-up again
    assert proof.runner_up.tolist() == [1, 0, 1, 0]


def test_what_nothing_can_break_stays_so():
    rule, scores = Tournament(margin=0, offset=[9, 0]), np.eye(2)[[[1, 1, 1]]]
    vote = rule.certify(scores)
    assert (vote.prediction[0], vote.radius[0]) == (0, 3)
    for gate in (1, 3, 5):
        proof = gated(scores, gate, [1], rule)
        assert (proof.prediction[0], proof.radius[0]) == (0, 3)
    assert gated(np.zeros((2, 3, 1)), 2, [0, 0]).runner_up is None


def test_scores_of_a_fallback_are_needed():
    with pytest.raises(InputError, match="ballots hold no scores of a fallback"):
        Gated(Plurality()).certify(SCORES)


@pytest.mark.parametrize("rule", [RunOff(), RunOff(exact=True), TopK(2)], ids=repr)
def test_other_rules_are_refused(rule):
    check_gate(rule, 0, overlapping=True)
    with pytest.raises(InputError, match=r"not proven of .*: use rule='tournament' or 'plurality'"):
        check_gate(rule, 1, overlapping=False)
    with pytest.raises(InputError, match="not proven of"):
        certify_collective(np.eye(2)[[[0, 0, 1]]], 1, Gated(rule))


def test_larger_gates_are_refused_where_units_overlap():
    for rule in (Plurality(), Tournament()):
        check_gate(rule, 1, overlapping=True)
        check_gate(rule, 2, overlapping=False)
        with pytest.raises(InputError, match=r"gate is 2, .*: use gate=1, or spread=1"):
            check_gate(rule, 2, overlapping=True)
    ballots = np.eye(2)[[[0, 0, 1]]]
    with pytest.raises(InputError, match="gate is 2"):
        criticality(ballots, Gated(Plurality(), 2), np.array([[1, 1, 0], [0, 1, 1]], bool))
    # units of several submodels that share none of them are no obstacle
    criticality(ballots, Gated(Plurality(), 2), np.array([[1, 1, 0], [0, 0, 1]], bool))


def test_a_gate_is_a_whole_number_and_for_labels():
    for gate in (-1, 0, 1.5, True, "1"):
        with pytest.raises(InputError, match=r"gate is .*: it must be a whole number, 1 or above"):
            certify_collective(np.eye(2)[[[0, 0, 1]]], 1, Gated(Plurality(), gate))
    with pytest.raises(InputError, match="not proven of Median"):
        certify_collective(np.zeros((1, 3)), 1, Gated(Median()), lower=-1, upper=1)
