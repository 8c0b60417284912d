"""Alarms under attack: never better than an attacker who tries everything leaves them."""

from itertools import combinations, product

import numpy as np
import pytest

from partita import InputError, certify
from partita.metrics import certified_alarms, certified_recall, worst_case_precision
from partita.rules import Plurality, TopK, Tournament


def reachable(row, rule, r):
    """Every label that some attack on r submodels brings about."""
    n_submodels, n_labels = row.shape
    found = set()
    for taken in combinations(range(n_submodels), r):
        for ballots in product(np.eye(n_labels), repeat=r):
            attacked = row.copy()
            attacked[list(taken)] = np.array(ballots).reshape(r, n_labels)
            found.add(int(rule.decide(attacked[None])[0]))
    return found


@pytest.mark.parametrize("rule", [Plurality(), Tournament(margin=0, offset=[0, 1])], ids=repr)
@pytest.mark.parametrize("r", [0, 1, 2])
def test_counts_and_bounds_against_every_attack(rule, r):
    """Exact for two labels, where every row has an attacker of its own."""
    rng = np.random.default_rng(r)
    ballots = np.eye(2)[rng.integers(0, 2, (12, 5))]
    y = rng.integers(0, 2, 12)
    alarms = certified_alarms(y, rule.certify(ballots), positive=1, radius=r)
    ends = [reachable(row, rule, r) for row in ballots]
    now = rule.decide(ballots)
    assert alarms.raised == (now == 1).sum()
    assert alarms.quiet == (now == 0).sum()
    assert alarms.kept == sum(end == {1} for end in ends)
    assert alarms.kept_quiet == sum(end == {0} for end in ends)
    kept = [end == {1} and label == 1 for end, label in zip(ends, y, strict=True)]
    assert alarms.recall == sum(kept) / (y == 1).sum()
    false = sum(1 in end and label == 0 for end, label in zip(ends, y, strict=True))
    assert alarms.precision == (sum(kept) / (sum(kept) + false) if sum(kept) else 0.0)


def test_they_are_the_other_scores_of_the_label(five):
    y, proof = five
    for r in range(7):
        alarms = certified_alarms(y, proof, 0, r)
        assert alarms.recall == certified_recall(y, proof, r)[0]
        assert alarms.precision == worst_case_precision(y, proof, 0, r)
        assert alarms.raised + alarms.quiet == len(proof)


def test_without_the_truth_there_are_counts_alone(five):
    alarms = certified_alarms(None, five[1], positive=1, radius=1)
    assert (alarms.raised, alarms.kept, alarms.quiet, alarms.kept_quiet) == (2, 1, 3, 3)
    assert alarms.recall is alarms.precision is None
    assert str(alarms) == (
        "r = 1: 1 of 2 alarms cannot be silenced, 0 of 3 quiet rows can become one"
    )


def test_alarms_about_nothing_are_all_wrong(five):
    alarms = certified_alarms([0, 0, 0, 0, 0], five[1], positive=1)
    assert (alarms.raised, alarms.recall, alarms.precision) == (2, None, 0.0)


def test_what_is_no_label_is_refused(five):
    with pytest.raises(InputError, match=r"positive is 'x', which no row has .*: give one of 0, 1"):
        certified_alarms(*five, "x")
    with pytest.raises(InputError, match="radius is -1"):
        certified_alarms(*five, 0, -1)
    with pytest.raises(InputError, match="about given labels"):
        certified_alarms([0], TopK(1).certify(np.eye(2)[[[0, 0, 1]]], labels=[0]), 0)
    numbers = certify(np.eye(2)[[[0, 0, 1]]], "plurality")
    object.__setattr__(numbers, "of_values", True)
    with pytest.raises(InputError, match="about numbers"):
        certified_alarms([0], numbers, 0)
