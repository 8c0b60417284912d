"""What certificates say about silence before anything is silent."""

import pickle

import numpy as np
import pytest

from partita import certify
from partita.ballots import Ballots
from partita.errors import InputError
from partita.rules import Gated, Median, Plurality, Reach, RunOff, TopK, Tournament


def random_ballots(seed=0, shape=(40, 9, 3)):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) + rng.normal(size=(shape[0], 1, shape[2]))


@pytest.mark.parametrize("rule", [Plurality(), RunOff(), Tournament(margin=0.5)], ids=repr)
def test_more_silence_never_helps(rule):
    proof = rule.certify(random_ballots())
    assert (proof.silence_radius >= proof.radius).all()
    shares = proof.survival()
    assert (np.diff(shares, axis=0) <= 0).all()
    assert (np.diff(shares, axis=1) <= 0).all()
    assert np.allclose(shares[:, 0], [(proof.radius >= r).mean() for r in range(len(shares))])
    assert np.allclose(
        shares[0], [(proof.silence_radius >= m).mean() for m in range(shares.shape[1])]
    )


def test_one_class_survives_everything():
    proof = certify(np.zeros((2, 3, 1)), "plurality")
    assert proof.silence_radius.tolist() == [3, 3]
    assert proof.survives(3, 3).all()


def test_nothing_is_proven_where_nobody_is_left():
    """Label 0 would win an empty vote by the order of labels, but nobody says so."""
    proof = certify(np.eye(2)[[[0, 0, 0]]], "plurality")
    assert proof.silence_radius.tolist() == [2]
    assert not proof.survives(0, 3).any()


def test_an_odd_number_of_votes_is_even_when_one_is_silent():
    """Of 1, 5, 5 the median is 5; without one of the fives the lower median is 1."""
    proof = Median().certify([[1.0, 5.0, 5.0]], 4.0, 6.0)
    assert proof.radius.tolist() == [0]
    assert proof.silence_radius.tolist() == [0]
    mirrored = Median().certify([[9.0, 5.0, 5.0]], 4.0, 6.0)
    assert mirrored.silence_radius.tolist() == [1]


def test_overlapping_units_cost_all_their_submodels():
    ballots = np.eye(2)[[[0] * 6]]
    reach = np.kron(np.eye(3, dtype=bool), np.ones((1, 2), dtype=bool))
    alone, shared = certify(ballots, "plurality"), certify(ballots, "plurality", reach=reach)
    assert alone.silence_radius.tolist() == [5]
    assert shared.silence_radius.tolist() == [2]
    assert shared.survives(1, 1).all()


def test_a_frontier_in_submodels_counts_units_on_the_safe_side():
    reach = Reach(np.array([[True, True, False], [False, False, True]]), 3)
    radii = np.array([[2, 1, 0]])
    assert reach.frontier_from_submodels(radii).tolist() == [[1, 0]]


def test_topk_counts_voters_of_the_label_alone():
    votes = np.eye(3)[[[0, 0, 0, 1, 1]]]
    assert TopK(1).certify(votes, [0]).silence_radius.tolist() == [1]
    assert TopK(2).certify(votes, [0]).silence_radius.tolist() == [4]


def test_behind_a_gate_the_gate_must_stay_open():
    ballots = np.eye(2)[[[0] * 9, [0, 0, 0, 0, 0, 1, 1, 1, 1]]]
    vote = certify(ballots, "plurality")
    behind = Ballots(ballots, fallback=np.eye(2)[[1, 1]])
    proof = Gated(Plurality()).certify(behind)
    assert proof.radius.tolist() == [3, 0]
    assert proof.prediction.tolist() == [0, 1]
    assert proof.silence_radius.tolist() == [7, 0]
    assert vote.silence_radius.tolist() == [8, 1]


def test_what_is_asked_is_checked():
    proof = certify(random_ballots(), "tournament")
    for lying, silent, name in ((-1, 0, "lying"), (0, 1.5, "silent"), (0, True, "silent")):
        with pytest.raises(InputError, match=f"^{name} is"):
            proof.survives(lying, silent)


def test_the_frontier_is_computed_when_it_is_asked_for():
    class Counting(Plurality):
        asked = 0

        def frontier(self, ballots, reach, *about):
            type(self).asked += 1
            return super().frontier(ballots, reach, *about)

    proof = Counting().certify(random_ballots())
    assert Counting.asked == 0
    assert (proof.silence_radius >= 0).all()
    assert proof.survives(1, 1).any()
    assert Counting.asked == 1


def test_certificates_with_a_frontier_can_be_pickled():
    proof = certify(random_ballots(), "tournament")
    again = pickle.loads(pickle.dumps(proof))
    assert np.array_equal(again.silence_radius, proof.silence_radius)
