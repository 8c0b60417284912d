"""Ballots of NaN are abstentions, for these rules alone."""

import numpy as np
import pytest

from partita import certify_collective, criticality
from partita.errors import InputError
from partita.rules import Median, Plurality, RunOff, TopK, Tournament
from partita.rules._silenced import SilencedGaps, SilencedMedian, SilencedVotes, silenced

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
    proof = silenced(rule, False, DEFAULT).certify(ballots)
    shares = silenced(rule, False, DEFAULT).probabilities(ballots)
    for i in range(1, len(ballots)):
        alone = rule.certify(ballots[i : i + 1, ~absent[i]])
        assert proof.prediction[i] == alone.prediction[0] == shares[i].argmax()
        assert proof.radius[i] == alone.radius[0]
        assert proof.silence_radius[i] == alone.silence_radius[0]
    assert proof.prediction[0] == 0  # the fixed ballot
    assert proof.radius[0] == 0


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_other_rules_refuse_abstentions_and_these_refuse_half_a_ballot(rule):
    ballots, _ = ballots_with_silence()
    with pytest.raises(InputError, match="NaN"):
        rule.certify(ballots)
    ballots[1, 2, 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        silenced(rule, False, DEFAULT).certify(ballots)


@pytest.mark.parametrize("detected", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_criticality_and_collective_agree_with_the_radius(rule, detected):
    ballots, absent = ballots_with_silence()
    quiet = silenced(rule, detected, DEFAULT)
    proof = quiet.certify(ballots)
    critical = criticality(ballots, quiet)
    assert not critical[:, proof.radius >= 1].any()
    if not detected and isinstance(quiet, SilencedGaps):
        heard_alone = critical[:, 1:] & absent.T[:, 1:] & (proof.radius[1:] > 0)
        assert not heard_alone.any()
    worst = certify_collective(ballots, 1, quiet)
    assert worst.changed <= (proof.radius < 1).sum()


def test_detected_silence_may_be_broken_against_a_head_start():
    """Label 0 leads by three votes alone; two silent submodels may be made to speak."""
    rule = Tournament(margin=0.0, offset=[3.0, 0.0])
    ballots = np.array([[[1.0, 0.0], [np.nan, np.nan], [np.nan, np.nan]]])
    declared, detected = (
        silenced(rule, mode, np.array([0.0, -1.0])).certify(ballots) for mode in (False, True)
    )
    assert declared.prediction.tolist() == detected.prediction.tolist() == [0]
    assert declared.radius.tolist() == [3]  # nothing breaks it
    assert detected.radius.tolist() == [3]
    closer = Tournament(margin=0.0, offset=[2.0, 0.0])
    detected = silenced(closer, True, np.array([0.0, -1.0])).certify(ballots)
    assert detected.radius.tolist() == [2]


def test_each_rule_gets_its_kind():
    kinds = [type(silenced(rule, False, DEFAULT)) for rule in (Plurality(), RunOff(), TopK(2))]
    assert kinds == [SilencedGaps, SilencedVotes, SilencedVotes]
    quiet = silenced(Median(stretch=2.0, centre=1.0), True, np.array(1.0))
    assert isinstance(quiet, SilencedMedian)
    assert quiet.decide([[3.0, np.nan, 2.0], [np.nan] * 3]).tolist() == [3.0, 1.0]


def test_median_reports_what_is_outside_now():
    proof = silenced(Median(), False, np.array(9.0)).certify(
        [[1.0, np.nan, 1.0], [np.nan] * 3], 0.0, 2.0
    )
    assert proof.radius.tolist() == [0, -1]
    assert proof.prediction.tolist() == [1.0, 9.0]
