"""Models that share members: what a model says, and ballots that do not fit."""

from itertools import combinations

import numpy as np
import pytest

from partita import InputError
from partita.partition import LeaveOut, Partition
from partita.rules import Agreement, PooledLabels, PooledValues
from tests.exhaustive.left_out_attacker import every_set

MEMBERS = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3), (0, 1), ())
SETS = LeaveOut(Partition([[0], [1], [2], [3]]), 1, MEMBERS)
BALLOTS = np.log(np.random.default_rng(0).dirichlet([1, 1, 1], size=(50, 6))).astype(np.float32)
VALUES = np.random.default_rng(0).normal(size=(50, 5))


def labels(as_probabilities=True, fallback=5):
    return PooledLabels(1, 4, SETS.pools(), fallback, as_probabilities)


def values(side="mean"):
    return PooledValues(1, 4, LeaveOut(SETS.groups, 1, MEMBERS[:-1]).pools(), side)


@pytest.mark.parametrize("as_probabilities", [True, False])
def test_a_model_is_the_mean_of_the_members_without_its_groups(as_probabilities):
    """The model on all columns is in no pool: it sees everything."""
    votes = labels(as_probabilities).model_votes(BALLOTS)
    scores = BALLOTS.astype(float)
    scores = np.exp(scores) if as_probabilities else scores
    for d, chosen in enumerate(combinations(range(4), 2)):
        pool = [t for t, groups in enumerate(MEMBERS) if set(chosen) <= set(groups)]
        assert 5 not in pool
        assert np.array_equal(votes[:, d], scores[:, pool].mean(axis=1).argmax(axis=1))


def test_labels_are_decided_by_agreement_of_these_models():
    rule = labels()
    proof = rule.certify(BALLOTS)
    fallback = BALLOTS[:, 5].argmax(axis=1)
    expected = Agreement(1).certify(rule.model_votes(BALLOTS), every_set(4, 1)[1], fallback)
    assert np.array_equal(proof.prediction, expected.prediction)
    assert np.array_equal(proof.radius, expected.radius)
    assert np.array_equal(rule.decide(BALLOTS), proof.prediction)
    assert np.array_equal(rule.probabilities(BALLOTS).argmax(axis=1), proof.prediction)
    assert np.array_equal(rule.votes(BALLOTS), BALLOTS.argmax(axis=2))
    most = PooledLabels(1, 4, SETS.pools()[:2], None).certify(BALLOTS[:, :5])
    assert np.array_equal(most.radius, proof.radius)


def test_a_tie_in_a_pool_goes_to_the_smallest_label():
    ballots = np.full((1, 6, 3), np.log(1 / 3), dtype=np.float32)
    assert not labels().model_votes(ballots).any()
    assert labels().certify(ballots).radius[0] == 1


@pytest.mark.parametrize("side", ["lower", "mean", "upper"])
def test_values_are_decided_by_agreement_of_these_models(side):
    rule, left_out = values(side), every_set(4, 1)[1]
    means = np.stack(
        [
            VALUES[:, [t for t, own in enumerate(MEMBERS) if set(chosen) <= set(own)]].mean(axis=1)
            for chosen in combinations(range(4), 2)
        ],
        axis=1,
    )
    assert np.allclose(rule.model_values(VALUES), means, rtol=1e-15)
    means = rule.model_values(VALUES)
    agreement = Agreement(1, side)
    assert np.array_equal(rule.decide(VALUES), agreement.predict(means, left_out))
    for radius in (0, 1):
        ends = agreement.interval(means, left_out, radius)
        assert np.array_equal(rule.interval(VALUES, radius), ends)
    expected = agreement.certify_values(means, left_out, -0.5, 0.5)
    assert np.array_equal(rule.certify(VALUES, -0.5, 0.5).radius, expected.radius)


def test_they_are_shown_as_the_rule_they_follow():
    assert repr(labels()) == "Agreement()"
    assert repr(values()) == "Agreement(side='mean')"


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: labels().certify(BALLOTS[:, :5]), "ballots has 5 members for 6 in the pools"),
        (lambda: labels().certify(np.zeros((2, 7, 3))), "ballots has 7 members for 6"),
        (lambda: labels().certify(BALLOTS[0]), "ballots has shape"),
        (lambda: labels().certify(BALLOTS * np.nan), "NaN or an infinity in row 0"),
        (lambda: labels().certify(BALLOTS, reach=np.eye(6, dtype=bool)), "reach does not apply"),
        (lambda: values().decide(VALUES[:, :4]), "votes has 4 members for 5 in the pools"),
        (lambda: values().decide(VALUES[0]), "votes has shape"),
        (lambda: values().decide(VALUES + np.inf), "NaN or an infinity in row 0"),
        (lambda: values().interval(VALUES, -1), "radius is -1"),
        (lambda: values().interval(VALUES, 0.5), "radius is 0.5"),
        (lambda: values().certify(VALUES, 1, 0), "lower is above upper"),
    ],
)
def test_what_is_wrong_is_named(work, message):
    with pytest.raises(InputError, match=message):
        work()


def test_a_bad_row_far_down_is_named():
    ballots = np.zeros((20_000, 6, 3), dtype=np.float32)
    ballots[17_321, 2, 1] = np.inf
    with pytest.raises(InputError, match="row 17321"):
        labels().certify(ballots)
