"""Models that leave groups out, some of which are silent; attacks are in tests/exhaustive."""

from dataclasses import replace

import numpy as np
import pytest

from partita import certify_collective, criticality
from partita.rules import PooledLabels
from tests.exhaustive.test_silent_groups import ballots_with, every_set, pooled


def quiet_labels(silent, detected=False, n_groups=5, radius=1):
    sets, _ = every_set(n_groups, radius)
    rule = PooledLabels(radius, n_groups, pooled(sets), len(sets), as_probabilities=False)
    scores = np.eye(2)[np.zeros(len(sets), int)]
    ballots = ballots_with(scores, sets, frozenset(silent), n_groups, detected, (-1.0, 0.0))
    return rule, replace(ballots, rule=rule)


@pytest.mark.parametrize(("silent", "label"), [([], 0), ([1], 0), ([1, 2], 0), ([1, 2, 3], 1)])
def test_the_models_without_the_silent_groups_decide(silent, label):
    """Beyond what any model leaves out only a fixed label remains."""
    rule, ballots = quiet_labels(silent)
    proof = rule.certify(ballots)
    assert proof.prediction.tolist() == [label]
    assert proof.radius.tolist() == [1 if not silent else 0]
    assert rule.probabilities(ballots)[0].argmax() == label


def test_silent_groups_are_critical_only_where_their_silence_may_be_broken():
    _, ballots = quiet_labels([0])
    assert criticality(ballots)[:, 0].tolist() == [False, True, True, True, True]
    _, ballots = quiet_labels([0], detected=True)
    assert criticality(ballots)[:, 0].tolist() == [False, True, True, True, True]
    _, ballots = quiet_labels([0, 1], detected=True)
    assert criticality(ballots)[:, 0].all()
    assert certify_collective(ballots, 1).changed == 1
