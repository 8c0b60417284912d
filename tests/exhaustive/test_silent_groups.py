"""Models that leave groups out, where groups fall silent: no certificate is above the truth.

The rule is written once more from its definition. An attacker on a set of groups sets the answer of
every model that sees one of them, and where silence is read from values, makes groups silent and
lets silent ones speak.
"""

from itertools import chain, combinations, product

import numpy as np
import pytest

from partita.ballots import Abstentions, Ballots
from partita.rules import Agreement, PooledLabels, PooledValues
from tests.exhaustive.left_out_attacker import every_set

DESIGNS = [(4, 1), (5, 1), (5, 2)]  # groups, radius
MODES = pytest.mark.parametrize("detected", [False, True], ids=["declared", "detected"])


def subsets(groups, size=None):
    sizes = range(len(groups) + 1) if size is None else [size]
    return [frozenset(c) for k in sizes for c in combinations(sorted(groups), k)]


def agreed(says, sets, n_groups, radius, silent, choose):
    """The values of unanimous sets, or the least and largest of each set; by definition."""
    left = radius - -(-len(silent) // 2)
    others = set(range(n_groups)) - silent
    return [
        choose([says[d] for d, out in enumerate(sets) if silent | chosen <= set(out)])
        for chosen in subsets(others, left)
    ]


def label(votes, sets, n_groups, radius, silent):
    """The label that models without the silent groups agree on; None where none do."""
    if len(silent) > 2 * radius:
        return None
    found = {
        own[0] for own in agreed(votes, sets, n_groups, radius, silent, list) if len(set(own)) == 1
    }
    assert len(found) <= 1
    return found.pop() if found else None


def value(values, sets, n_groups, radius, silent):
    """Halfway between the largest of the least values and the smallest of the largest ones."""
    lows = agreed(values, sets, n_groups, radius, silent, min)
    highs = agreed(values, sets, n_groups, radius, silent, max)
    return max(lows) / 2 + min(highs) / 2


def silent_after(silent, attacked, detected):
    """The sets of silent groups that an attacker can bring about."""
    if not detected:
        return [silent]
    return [(silent - attacked) | quiet for quiet in subsets(attacked)]


def label_survives(votes, sets, n_groups, radius, silent, attacked, detected, before):
    touched = [d for d, out in enumerate(sets) if not attacked <= set(out)]
    for now in silent_after(silent, attacked, detected):
        relevant = [d for d in touched if now <= set(sets[d])]
        for said in product((0, 1), repeat=len(relevant)):
            changed = list(votes)
            for d, answer in zip(relevant, said, strict=True):
                changed[d] = answer
            if label(changed, sets, n_groups, radius, now) != before:
                return False
    return True


def label_cases(seed, how_many, n_groups, radius):
    rng = np.random.default_rng(seed)
    sets, _ = every_set(n_groups, radius)
    for _ in range(how_many):
        votes = (rng.random(len(sets)) < rng.choice([0, 0.1, 0.25])).astype(int)
        silent = frozenset(
            map(int, rng.choice(n_groups, size=rng.integers(0, 2 * radius + 2), replace=False))
        )
        yield sets, votes, silent


def ballots_with(scores, sets, silent, n_groups, detected=False, default=(0.0, -1.0)):
    """Ballots of one member per model and, for labels, of a full model."""
    full = scores.ndim == 2
    out = np.zeros((1, len(sets) + full, *scores.shape[1:]))
    out[0, : len(sets)] = scores
    abstains = [not silent <= set(groups) for groups in sets] + [bool(silent)] * full
    quiet = [group in silent for group in range(n_groups)]
    return Ballots(
        out,
        abstentions=Abstentions(
            np.array([abstains]), np.asarray(default), detected, np.array([quiet])
        ),
    )


def pooled(sets):
    return np.arange(len(sets) + 1), np.arange(len(sets))


@MODES
@pytest.mark.parametrize(("n_groups", "radius"), DESIGNS)
def test_labels_with_silent_groups_against_every_attack(n_groups, radius, detected):
    proven = 0
    for sets, votes, silent in label_cases(1, 60, n_groups, radius):
        rule = PooledLabels(radius, n_groups, pooled(sets), len(sets), as_probabilities=False)
        ballots = ballots_with(np.eye(2)[votes], sets, silent, n_groups, detected)
        proof = rule.certify(ballots)
        truth = label(votes, sets, n_groups, radius, silent)
        if truth is not None:
            assert proof.prediction[0] == truth
        others = set(range(n_groups)) - silent
        reachable = range(n_groups) if detected else others
        breakable = [rule.breakable(ballots, q)[0] for q in (1, 2)]
        for q in range(1, int(proof.radius[0]) + 1):
            proven += 1
            for attacked in subsets(reachable, q):
                assert label_survives(
                    votes, sets, n_groups, radius, silent, attacked, detected, proof.prediction[0]
                )
        for q in (1, 2):
            for k, groups in enumerate(combinations(range(n_groups), q)):
                attacked = frozenset(groups) if detected else frozenset(groups) - silent
                if not breakable[q - 1][k] and truth is not None:
                    assert label_survives(
                        votes, sets, n_groups, radius, silent, attacked, detected, truth
                    )
    assert proven > 5


@pytest.mark.parametrize(("n_groups", "radius"), DESIGNS)
def test_labels_that_survive_liars_and_silent_groups(n_groups, radius):
    """Nothing is silent yet; a liar may keep silent as well."""
    sets, left_out = every_set(n_groups, radius)
    beyond = 0
    for _, votes, _ in label_cases(2, 25, n_groups, radius):
        proof = Agreement(radius).certify(votes[None], left_out, fallback=[0])
        for m in range(n_groups + 1):
            for q in range(n_groups + 1 - m):
                if not proof.survives(q, m)[0]:
                    continue
                beyond += q + m > proof.radius[0]
                for silent in subsets(range(n_groups), m):
                    for attacked in subsets(set(range(n_groups)) - silent, q):
                        for now in subsets(attacked):
                            assert (q, m) == (0, 0) or label_survives(
                                votes,
                                sets,
                                n_groups,
                                radius,
                                silent | now,
                                attacked,
                                False,
                                proof.prediction[0],
                            )
    assert beyond > 10


def attacked_values(values, sets, attacked, rng):
    touched = [d for d, out in enumerate(sets) if not attacked <= set(out)]
    for k in range(6):
        changed = values.copy()
        ends = [-1e9, 1e9]
        changed[touched] = ends[k] if k < 2 else rng.choice([*ends, *values], size=len(touched))
        yield changed


@MODES
@pytest.mark.parametrize(("n_groups", "radius"), [*DESIGNS, (7, 3)])
def test_values_with_silent_groups_stay_in_their_intervals(n_groups, radius, detected):
    rng = np.random.default_rng(3)
    for sets, _, silent in label_cases(3, 40, n_groups, radius):
        values = (rng.normal(size=len(sets)) ** 3).round(1)  # far apart, some of them
        rule = PooledValues(radius, n_groups, pooled(sets))
        ballots = ballots_with(values, sets, silent, n_groups, detected, 0.0)
        if len(silent) <= 2 * radius:
            expected = value(values, sets, n_groups, radius, silent)
            assert rule.decide(ballots)[0] == pytest.approx(expected)
        others = set(range(n_groups)) - silent
        for q in range(1, radius + 1):
            low, high = rule.interval(ballots, q)
            proof = rule.certify(ballots, low, high)
            assert proof.radius[0] >= q
            if np.isinf(low[0]):
                continue
            for attacked in subsets(range(n_groups) if detected else others, q):
                for now in silent_after(silent, attacked, detected):
                    for changed in attacked_values(values, sets, attacked, rng):
                        moved = value(changed, sets, n_groups, radius, now)
                        assert low[0] - 1e-12 <= moved <= high[0] + 1e-12
            assert not rule.breakable(ballots, q, low, high).any()


@pytest.mark.parametrize(("n_groups", "radius"), DESIGNS)
def test_values_that_survive_liars_and_silent_groups(n_groups, radius):
    rng = np.random.default_rng(4)
    sets, left_out = every_set(n_groups, radius)
    claimed = 0
    for _ in range(15):
        values = rng.normal(scale=0.3, size=len(sets)).round(1)
        proof = Agreement(radius, "mean").certify_values(values[None], left_out, -0.4, 0.4)
        for m in range(1, 2 * radius + 1):
            for q in range(radius + 1):
                if not proof.survives(q, m)[0]:
                    continue
                claimed += 1
                for silent in subsets(range(n_groups), m):
                    for attacked in subsets(set(range(n_groups)) - silent, q):
                        for now, changed in product(
                            subsets(attacked), attacked_values(values, sets, attacked, rng)
                        ):
                            if len(silent | now) <= 2 * radius:
                                moved = value(changed, sets, n_groups, radius, silent | now)
                                assert -0.4 - 1e-12 <= moved <= 0.4 + 1e-12
    assert claimed > 3


def test_an_attacker_may_break_silence_that_is_read_from_values():
    """What is proven where silence is declared is more than where it is detected."""
    sets, _ = every_set(5, 2)
    rule = PooledLabels(2, 5, pooled(sets), len(sets), as_probabilities=False)
    scores, silent = np.eye(2)[np.zeros(5, int)], frozenset({0, 1})
    ballots = [ballots_with(scores, sets, silent, 5, detected) for detected in (False, True)]
    assert [int(rule.certify(one).radius[0]) for one in ballots] == [1, 0]
    assert list(chain.from_iterable(sets)).count(0) == 4
