"""One attacker, many rows: every choice of units, against every row at once."""

from itertools import combinations

import numpy as np
import pytest

from partita import InputError, certify, certify_collective, criticality
from partita import collective as module
from partita.kernels import compiled, plain
from partita.rules import Median, Plurality, RunOff, TopK, Tournament
from tests.exhaustive import attacker
from tests.exhaustive.test_reach import DECISIONS, reaches


def batches(seed, how_many, n_rows=5, n_submodels=5, n_labels=3):
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        ballots = np.stack([next(iter_rows(rng, n_submodels, n_labels)) for _ in range(n_rows)])
        yield ballots, reaches(rng, n_submodels)


def iter_rows(rng, n_submodels, n_labels):
    while True:
        for row in attacker.profiles(rng, 10, n_labels, n_submodels):
            if len(row) == n_submodels:
                yield row


def falls(row, decide, taken):
    """Whether some behaviour of the taken submodels changes the row's decision."""
    n_labels = row.shape[1]
    honest = attacker.tally(row, 0.0)
    before = decide(*attacker.parts(honest.sum(axis=0, keepdims=True), n_labels))[0]
    after = honest[~taken].sum(axis=0) + attacker.multisets(n_labels, int(taken.sum()), 0.0)
    return bool(np.any(decide(*attacker.parts(after, n_labels)) != before))


def most_changed(ballots, decide, reach, radius):
    size = min(radius, len(reach))
    return max(
        sum(falls(row, decide, taken) for row in ballots) for taken in attacker.unions(reach, size)
    )


HEAD_START = Tournament(margin=0, offset=[2, 0, -1])


@pytest.mark.parametrize(
    "rule", [Plurality(), Tournament(), HEAD_START, RunOff(), TopK(1)], ids=repr
)
@pytest.mark.parametrize("program", [False, True], ids=["enumerated", "program"])
def test_never_below_what_an_attacker_does(rule, program, monkeypatch):
    if program:
        monkeypatch.setattr(module, "CHEAP", 0)
    decide = attacker.plurality if isinstance(rule, TopK) else DECISIONS[type(rule)]
    if rule is HEAD_START:
        decide = attacker.tournament_with(rule.offset)
    for ballots, reach in batches(0, 25 if program else 60):
        for radius in (1, 2):
            truth = most_changed(ballots, decide, reach, radius)
            found = certify_collective(ballots, radius, rule, reach)
            alone = (
                rule.certify(ballots, rule.decide(ballots), reach=reach)
                if isinstance(rule, TopK)
                else certify(ballots, rule, reach=reach)
            )
            pointwise = np.count_nonzero(alone.radius < radius)
            assert truth <= found.changed <= pointwise
            if isinstance(rule, Plurality):
                assert found.exact
                assert found.changed == truth


def test_disjoint_units_need_no_reach():
    for ballots, _ in batches(1, 20):
        assert certify_collective(ballots, 2, "plurality").changed == most_changed(
            ballots, attacker.plurality, np.eye(5, dtype=bool), 2
        )


@pytest.mark.parametrize("program", [False, True], ids=["enumerated", "program"])
def test_median(program, monkeypatch):
    if program:
        monkeypatch.setattr(module, "CHEAP", 0)
    rng = np.random.default_rng(2)
    for _ in range(40):
        votes, reach = rng.integers(0, 4, size=(6, 5)).astype(float), reaches(rng, 5)
        lower, upper = np.zeros(6), rng.integers(1, 4, size=6).astype(float)
        for radius in (1, 2):
            changed = []
            for units in combinations(range(len(reach)), min(radius, len(reach))):
                taken = reach[list(units)].any(axis=0)
                worst = [np.sort(np.where(taken, value, votes), axis=1)[:, 2] for value in (-9, 9)]
                middle = np.sort(votes, axis=1)[:, 2]
                changed.append(
                    np.count_nonzero(
                        (worst[0] < lower)
                        | (worst[1] > upper)
                        | (middle > upper)
                        | (middle < lower)
                    )
                )
            found = certify_collective(votes, radius, Median(), reach, lower=lower, upper=upper)
            assert found.changed == max(changed) or not reach.any()


def test_criticality():
    for ballots, reach in batches(3, 40):
        for rule in (Plurality(), Tournament(), RunOff()):
            hangs = criticality(ballots, rule, reach)
            assert hangs.shape == (len(reach), len(ballots))
            for unit, row in np.ndindex(*hangs.shape):
                truth = (
                    falls(ballots[row], DECISIONS[type(rule)], reach[unit])
                    if reach[unit].any()
                    else False
                )
                assert (
                    hangs[unit, row] == truth
                    if isinstance(rule, Plurality)
                    else hangs[unit, row] >= truth
                )
        assert (
            criticality(ballots, "plurality", reach).sum(axis=1).max()
            == certify_collective(ballots, 1, "plurality", reach).changed
        )


def test_the_worst_choice_is_named():
    ballots = np.zeros((4, 5, 2))
    ballots[:, :3, 0] = ballots[:, 3:, 1] = (
        1  # three votes to two, everywhere: whoever owns submodel 0, 1 or 2 turns all rows
    )
    found = certify_collective(ballots, 1, "plurality")
    assert found.units[0] in (0, 1, 2)
    assert (found.changed, found.rows.tolist(), found.total) == (4, [0, 1, 2, 3], 4)
    assert (
        str(found)
        == "whoever owns 1 units can change at most 4 of 4 predictions (4 if each row had an "
        "attacker of its own)"
    )
    ballots[2:] = ballots[2:, ::-1]  # now rows 2 and 3 hang on submodels 2, 3 and 4
    assert certify_collective(ballots, 1, "plurality").units == (2,)


def test_twins():
    rng = np.random.default_rng(0)
    for _ in range(100):
        n_submodels, n_pairs = rng.integers(2, 8), rng.integers(1, 30)
        losses, budgets = (
            rng.integers(0, 3, size=(n_submodels, n_pairs)).astype(np.int32),
            rng.integers(-1, 6, size=n_pairs),
        )
        rows = np.sort(rng.integers(0, 9, size=n_pairs))
        groups = reaches(rng, n_submodels)
        groups = groups[groups.any(axis=1)]
        starts, members = (
            np.concatenate([[0], np.cumsum(groups.sum(axis=1))]),
            np.nonzero(groups)[1],
        )
        for size in range(1, len(groups) + 1):
            for first in range(len(groups) - size + 1):
                answers = [np.zeros(size, np.int64) for _ in range(2)]
                counts = [
                    twin.worst_choice(first, size, losses, budgets, rows, starts, members, chosen)
                    for twin, chosen in zip((compiled, plain), answers, strict=True)
                ]
                assert counts[0] == counts[1]
                assert np.array_equal(*answers)


@pytest.mark.parametrize("radius", [0, -1, 1.5, True])
def test_a_radius_must_be_a_number_of_units(radius):
    with pytest.raises(InputError, match="radius is"):
        certify_collective(np.zeros((2, 3, 2)), radius)
