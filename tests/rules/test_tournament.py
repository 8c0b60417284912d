"""The tournament by hand: cycles, priors, offsets."""

import numpy as np
import pytest

from partita import InputError
from partita.rules import Tournament


def test_no_label_beats_all_others():
    """A Condorcet cycle: some label is predicted, and nothing is certified."""
    ballots = np.array([[[3, 2, 1], [1, 3, 2], [2, 1, 3]]], dtype=np.float32)
    proof = Tournament().certify(ballots)
    assert (proof.prediction[0], proof.radius[0], proof.runner_up[0]) == (0, 0, 2)


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


def test_a_single_offset_puts_the_prior_back_once():
    """``b(y) = lambda * Q * log(share) / margin``, rounded once for each label."""
    shares = np.array([0.9, 0.09, 0.01])
    for margin, full in ((0.5, 127), (2.0, 127), (0.0, 1)):
        expected = np.rint(full * 0.7 * np.log(shares) / (margin or 1))
        assert np.array_equal(
            Tournament(margin=margin, offset=0.7, shares=shares).head_start(3), expected
        )
    ballots = np.random.default_rng(0).normal(size=(200, 9, 3)).astype(np.float32)
    plain, once = Tournament(margin=0.5), Tournament(margin=0.5, offset=1.0, shares=shares)
    assert (
        np.bincount(once.decide(ballots), minlength=3)[0]
        > np.bincount(plain.decide(ballots), minlength=3)[0] + 50
    )


Y = np.array(["no"] * 8 + ["yes"] * 2)
CLASSES = np.array(["no", "yes"])


def test_open_settings_depend_on_the_scores_and_the_labels():
    resolved = Tournament().resolve(Y, CLASSES)
    assert (resolved.margin, resolved.prior, resolved.offset) == (0.25, 1.0, 0.25)
    assert resolved.shares == pytest.approx([9 / 12, 3 / 12])
    for options in ({"probabilities": False}, {"balanced": True}):
        resolved = Tournament().resolve(Y, CLASSES, **options)
        assert (resolved.prior, resolved.offset, resolved.shares) == (0.0, 0.0, None)
    attacked = Tournament().resolve(None, CLASSES)
    assert (attacked.margin, attacked.prior, attacked.shares) == (0.25, 0.0, None)
    given = Tournament(margin=2, prior=0.5, offset=0).resolve(Y, CLASSES)
    assert (given.margin, given.prior, given.offset) == (2, 0.5, 0)


def test_weights_that_are_whole_numbers_repeat_rows():
    """Others are scaled to a mean of 1, so that no share depends on their unit."""
    twice = np.where(Y == "yes", 2, 1)
    assert Tournament().resolve(Y, CLASSES, weights=twice).shares == pytest.approx(
        Tournament().resolve(np.append(Y, ["yes"] * 2), CLASSES).shares
    )
    shares = [
        Tournament().resolve(Y, CLASSES, weights=scale * (twice + 0.5)).shares for scale in (1, 7)
    ]
    assert shares[0] == pytest.approx(shares[1])


def test_an_offset_names_labels():
    resolved = Tournament(offset={"yes": 2}).resolve(Y, CLASSES)
    assert resolved.offset == [0.0, 2.0]
    assert Tournament(offset={1: 3}).resolve(np.arange(2), np.arange(2)).offset == [0.0, 3.0]
    with pytest.raises(InputError, match="offset names the label 'maybe'"):
        Tournament(offset={"maybe": 1}).resolve(Y, CLASSES)
    with pytest.raises(InputError, match="offset names labels, which ballots do not"):
        Tournament(offset={"yes": 1}).certify(np.zeros((1, 3, 2)))


def test_a_brief_rule_leaves_out_what_was_learnt():
    assert repr(Tournament().resolve(Y, CLASSES).without_fitted_state()) == (
        "Tournament(margin=0.25, prior=1.0, offset=0.25)"
    )
    assert repr(Tournament(offset=0).without_fitted_state()) == "Tournament()"
