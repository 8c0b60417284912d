"""Submodels that abstain are left out, whatever their scores hold."""

from dataclasses import replace

import numpy as np
import pytest

from partita import certify_collective, criticality
from partita.ballots import Abstentions, Ballots
from partita.errors import InputError
from partita.rules import Median, Plurality, RunOff, Tournament
from tests.exhaustive.silent_attacker import with_abstentions

DEFAULT = np.array([0.0, -20.0, -20.0])
RULES = [Plurality(), RunOff(), Tournament(margin=0.5)]


def ballots_with_silence(seed=0, n_submodels=7):
    rng = np.random.default_rng(seed)
    ballots = rng.normal(size=(30, n_submodels, 3)) + rng.normal(size=(30, 1, 3))
    absent = rng.random((30, n_submodels)) < 0.3
    absent[0] = True
    absent[1] = False
    return np.where(absent[:, :, None], np.nan, ballots), absent


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_declared_silence_is_as_if_the_submodels_were_not_there(rule):
    ballots, absent = ballots_with_silence()
    given = with_abstentions(ballots, False, DEFAULT)
    proof, shares = rule.certify(given), rule.probabilities(given)
    for i in range(1, len(ballots)):
        alone = rule.certify(ballots[i : i + 1, ~absent[i]])
        assert proof.prediction[i] == alone.prediction[0] == shares[i].argmax()
        assert proof.radius[i] == alone.radius[0]
        assert proof.silence_radius[i] == alone.silence_radius[0]
    assert proof.prediction[0] == 0  # the fixed ballot
    assert proof.radius[0] == 0


@pytest.mark.parametrize("detected", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_scores_of_those_who_abstain_do_not_matter(rule, detected):
    ballots, absent = ballots_with_silence()
    given = with_abstentions(ballots, detected, DEFAULT)
    junk = np.where(absent[:, :, None], 1e9 * np.eye(3)[2], given.scores)
    for other in (replace(given, scores=junk), replace(given, scores=ballots)):
        one, two = rule.certify(given), rule.certify(other)
        assert np.array_equal(one.prediction, two.prediction)
        assert np.array_equal(one.radius, two.radius)
        assert np.array_equal(one.silence_radius, two.silence_radius)
        assert np.array_equal(rule.votes(given), rule.votes(other))
        assert np.array_equal(rule.probabilities(given), rule.probabilities(other))


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_a_nan_is_no_abstention(rule):
    ballots, _ = ballots_with_silence()
    with pytest.raises(InputError, match="NaN"):
        rule.certify(ballots)
    given = with_abstentions(ballots, False, DEFAULT)
    given.scores[1, 2, 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        rule.certify(given)
    values = with_abstentions([[1.0, np.nan, 2.0]], False, 0.0)
    values.scores[0, 0] = np.nan
    with pytest.raises(InputError, match="NaN"):
        Median().certify(values, 0, 1)


def test_rows_of_ballots_take_their_abstentions_with_them():
    ballots, absent = ballots_with_silence()
    given = with_abstentions(ballots, False, DEFAULT, Plurality())
    some = given[[3, 1]]
    assert np.array_equal(some.abstentions.submodels, absent[[3, 1]])
    assert some.n_voters.tolist() == (~absent[[3, 1]]).sum(axis=1).tolist()
    assert Plurality().certify(some).radius.tolist() == (
        Plurality().certify(given).radius[[3, 1]].tolist()
    )


@pytest.mark.parametrize("detected", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_criticality_and_collective_agree_with_the_radius(rule, detected):
    ballots, absent = ballots_with_silence()
    given = with_abstentions(ballots, detected, DEFAULT, rule)
    proof, critical = rule.certify(given), criticality(given)
    assert not critical[:, proof.radius >= 1].any()
    if not detected and not isinstance(rule, RunOff):
        heard_alone = critical[:, 1:] & absent.T[:, 1:] & (proof.radius[1:] > 0)
        assert not heard_alone.any()
    worst = certify_collective(given, 1)
    assert worst.changed <= (proof.radius < 1).sum()


def test_detected_silence_may_be_broken_against_a_head_start():
    """Label 0 leads by three votes alone; two silent submodels may be made to speak."""
    rule = Tournament(margin=0.0, offset=[3.0, 0.0])
    ballots = np.array([[[1.0, 0.0], [np.nan, np.nan], [np.nan, np.nan]]])
    default = np.array([0.0, -1.0])
    declared, detected = (
        rule.certify(with_abstentions(ballots, mode, default)) for mode in (False, True)
    )
    assert declared.prediction.tolist() == detected.prediction.tolist() == [0]
    assert declared.radius.tolist() == [3]  # nothing breaks it
    assert detected.radius.tolist() == [3]
    closer = Tournament(margin=0.0, offset=[2.0, 0.0])
    detected = closer.certify(with_abstentions(ballots, True, default))
    assert detected.radius.tolist() == [2]


def test_a_median_of_those_who_vote():
    rule = Median(stretch=2.0, centre=1.0)
    given = with_abstentions([[3.0, np.nan, 2.0], [np.nan] * 3], True, np.array(1.0))
    assert rule.decide(given).tolist() == [3.0, 1.0]


def test_median_reports_what_is_outside_now():
    given = with_abstentions([[1.0, np.nan, 1.0], [np.nan] * 3], False, np.array(9.0))
    proof = Median().certify(given, 0.0, 2.0)
    assert proof.radius.tolist() == [0, -1]
    assert proof.prediction.tolist() == [1.0, 9.0]


def test_ballots_that_do_not_fit_are_refused():
    scores, silent = np.zeros((2, 3, 2)), np.zeros((2, 3), dtype=bool)
    with pytest.raises(InputError, match=r"abstentions holds bool of shape \(3, 2\): give truth"):
        Ballots(scores, abstentions=Abstentions(silent.T, [0.0, 1.0]))
    with pytest.raises(InputError, match="abstentions holds float64 of shape"):
        Ballots(scores, abstentions=Abstentions(silent * 1.0, [0.0, 1.0]))
    with pytest.raises(InputError, match=r"a default of shape \(\): give one submodel's ballot"):
        Ballots(scores, abstentions=Abstentions(silent, 0.0))
    with pytest.raises(InputError, match=r"fallback has shape \(3, 2\): give one score"):
        Ballots(scores, fallback=np.zeros((3, 2)))
