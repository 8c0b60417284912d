"""An attacker over units: every set of units, and everything that the submodels they reach could
say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita import InputError, certify
from partita.kernels import compiled, plain
from partita.rules import Median, Plurality, RunOff, TopK, Tournament
from partita.rules import _overlap as cover
from tests.exhaustive import attacker

DECISIONS = {
    Plurality: attacker.plurality,
    RunOff: attacker.runoff,
    Tournament: attacker.tournament,
}


def reaches(rng, n_submodels):
    """Disjoint, overlapping, nested and empty reaches, and submodels out of everybody's reach."""
    return rng.random((rng.integers(1, 6), n_submodels)) < rng.choice([0.2, 0.4, 0.6])


def cases(seed, how_many, n_labels=3, most_submodels=6):
    rng = np.random.default_rng(seed)
    for row in attacker.profiles(rng, how_many, n_labels, most_submodels):
        yield row, reaches(rng, len(row))


@pytest.mark.parametrize(
    "rule", [Plurality(), Tournament(), RunOff(), RunOff(exact=True)], ids=repr
)
def test_certificates_against_every_attack(rule):
    for row, reach in cases(0, 500):
        truth = attacker.truth(row, DECISIONS[type(rule)], reach=reach)
        bound = rule.certify(row[None], reach=reach).radius[0]
        exact = rule.certify(row[None], reach=reach, cover="exact").radius[0]
        assert bound <= exact <= truth, (row, reach)
        if isinstance(rule, Plurality):
            assert exact == truth, (row, reach)


def test_a_margin():
    for row, reach in cases(1, 150, most_submodels=3):
        truth = attacker.truth(row, attacker.tournament, 2.0, reach)
        rule = Tournament(margin=2.0)
        assert (
            rule.certify(row[None], reach=reach).radius[0]
            <= rule.certify(row[None], reach=reach, cover="exact").radius[0]
            <= truth
        )


@pytest.mark.parametrize("margin", [0.0, 2.0])
def test_a_prior_and_a_head_start(margin):
    """Both are part of every gap, also where units overlap: the attacker meets the shifted scores
    and the head start."""
    shares = np.array([0.8, 0.15, 0.05])
    rule = Tournament(margin=margin, prior=0.9, offset=0.5, shares=shares)
    decide = attacker.tournament_with(rule.head_start(3))
    certified = 0
    for row, reach in cases(5, 150 if margin else 500, most_submodels=3 if margin else 6):
        row = row * 2
        truth = attacker.truth(row - 0.9 * np.log(shares), decide, margin, reach)
        bound, exact = (
            rule.certify(row[None], reach=reach, cover=cover).radius[0]
            for cover in ("bound", "exact")
        )
        assert bound <= exact <= truth, (row, reach)
        certified += bound > 0
    assert certified > 25  # the attacker meets certified rows


def test_top_k():
    for row, reach in cases(2, 400):
        for label in range(3):
            decide = attacker.in_top(label, 2)
            proof = TopK(2).certify(row[None], [label], reach=reach)
            if proof.radius[0] >= 0:
                assert proof.radius[0] <= attacker.truth(row, decide, reach=reach)


def test_median():
    rng = np.random.default_rng(3)
    better = 0
    for _ in range(300):
        votes = rng.integers(0, 3, size=rng.integers(1, 9)).astype(float)
        reach = reaches(rng, len(votes))
        lower, upper = np.sort(rng.choice([-np.inf, -1, 0, 1, 2, np.inf], size=2))
        truth = attacker.median_truth(votes, lower, upper, reach)
        bound = Median().certify(votes[None], lower, upper, reach=reach).radius[0]
        exact = Median().certify(votes[None], lower, upper, reach=reach, cover="exact").radius[0]
        assert bound <= exact == truth
        better += exact > bound
    assert better > 0


def test_interval():
    rng = np.random.default_rng(4)
    for _ in range(200):
        votes = rng.integers(0, 5, size=rng.integers(1, 6)).astype(float)
        reach = reaches(rng, len(votes))
        radius = int(rng.integers(0, len(reach) + 1))
        low, high = Median().interval(votes[None], radius, reach=reach)
        for taken in attacker.unions(reach, radius) if radius else [np.zeros(len(votes), bool)]:
            for value in (-np.inf, np.inf):
                middle = np.sort(np.where(taken, value, votes))[(len(votes) + 1) // 2 - 1]
                assert low[0] <= middle <= high[0]


def test_units_of_one_submodel_each_count_as_before():
    ballots = np.random.default_rng(0).normal(size=(200, 9, 4)).astype(np.float32)
    for rule in (Plurality(), RunOff(), Tournament(), Tournament(margin=0.5)):
        plain_proof, over = rule.certify(ballots), rule.certify(ballots, reach=np.eye(9))
        assert np.array_equal(plain_proof.radius, over.radius)
        assert np.array_equal(plain_proof.runner_up, over.runner_up)
    twice = Tournament().certify(ballots, reach=np.repeat(np.eye(9), 2, axis=0))
    assert np.array_equal(
        twice.radius, Tournament().certify(ballots).radius
    )  # owning two units of one reach is owning one


def test_what_cannot_be_broken_withstands_all_units():
    ballots = np.tile(np.array([5.0, 0, 0]), (1, 7, 1))
    reach = np.zeros((4, 7), dtype=bool)
    reach[:, :3] = True  # four submodels of seven are out of reach
    for rule in (Plurality(), Tournament(), RunOff()):
        assert rule.certify(ballots, reach=reach).radius[0] == 4
    assert TopK(1).certify(ballots, [0], reach=reach).radius[0] == 4


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), margin=st.sampled_from([0.0, 0.7]))
def test_twins(seed, margin):
    rng = np.random.default_rng(seed)
    n_rows, n_submodels, n_labels = rng.integers(1, 5), rng.integers(1, 9), rng.integers(1, 5)
    ballots = rng.integers(0, 4, size=(n_rows, n_submodels, n_labels)).astype(np.float32)
    votes, ends = (
        ballots[:, :, 0].astype(float),
        np.sort(rng.choice([-np.inf, 0, 1, 2, np.inf], size=(2, n_rows)), axis=0),
    )
    groups = reaches(rng, n_submodels)
    groups = groups[groups.any(axis=1)]
    starts, members = np.concatenate([[0], np.cumsum(groups.sum(axis=1))]), np.nonzero(groups)[1]
    for name, arguments, n_rivals in (
        ("plurality_losses", (ballots, 0), n_labels),
        ("tournament_losses", (ballots, (margin, rng.integers(-3, 4, size=n_labels))), n_labels),
        ("median_losses", (votes, *ends), 2),
    ):
        answers = []
        for module in (compiled, plain):
            losses, budgets = (
                np.zeros((n_rows, n_rivals, n_submodels), np.int32),
                np.zeros((n_rows, n_rivals), np.int64),
            )
            getattr(module, name)(*arguments, losses, budgets)
            for largest in (int(losses.max()) * n_submodels, 10**6):  # by counting and by sorting
                radius, rival = np.zeros((2, n_rows), np.int64)
                module.reach_radius(losses, budgets, starts, members, largest, radius, rival)
                answers.append((losses.tolist(), budgets.tolist(), radius.tolist(), rival.tolist()))
        assert all(answer == answers[0] for answer in answers)


def test_the_integer_program_finds_the_least_cover(monkeypatch):
    """Cases large enough that neither the bound nor a greedy attack settles them; every set of
    units is tried here."""
    asked = []
    least = cover._least_attack
    monkeypatch.setattr(
        cover, "_least_attack", lambda *arguments: asked.append(1) or least(*arguments)
    )
    rng = np.random.default_rng(0)
    for _ in range(150):
        reach = rng.random((10, 30)) < 0.2
        row = rng.normal(size=(30, 3)) + np.array([2.5, 0, 0])
        votes = row.argmax(axis=1)
        counts = np.bincount(votes, minlength=3)
        y = counts.argmax()
        rivals = [z for z in range(3) if z != y]

        def broken(taken, y=y, rivals=rivals, votes=votes, counts=counts):
            losses = [
                np.sum(1 + (votes[taken] == y) - (votes[taken] == z).astype(int)) for z in rivals
            ]
            return any(
                loss > counts[y] - counts[z] - (z < y)
                for loss, z in zip(losses, rivals, strict=True)
            )

        sizes = (
            size
            for size in range(1, 11)
            if any(broken(taken) for taken in attacker.unions(reach, size))
        )
        truth = next(sizes, 11) - 1
        assert Plurality().certify(row[None], reach=reach, cover="exact").radius[0] == truth
    assert len(asked) > 30


@pytest.mark.parametrize(("n_submodels", "radius"), [(10, 1), (11, 1), (12, 3), (13, 3)])
def test_where_the_greedy_attack_is_not_the_best(n_submodels, radius):
    """Two units share six submodels out between them; a third reaches four of the six, looks
    better, and leads astray."""
    reach = np.zeros((3, n_submodels), dtype=bool)
    reach[0, [0, 1, 3, 4]] = reach[1, [0, 1, 2]] = reach[2, [3, 4, 5]] = True
    ballots = np.tile(
        [1.0, 0.0], (1, n_submodels, 1)
    )  # six corrupted votes cost 12 of a lead of n_submodels
    assert Plurality().certify(ballots, reach=reach, cover="exact").radius[0] == radius
    assert Plurality().certify(ballots, reach=reach).radius[0] <= radius


def test_a_solver_without_time_is_still_sound():
    rng = np.random.default_rng(0)
    reach = rng.random((40, 60)) < 0.1
    ballots = (rng.normal(size=(20, 60, 3)) + np.array([1.5, 0, 0])).astype(np.float32)
    bound = Plurality().certify(ballots, reach=reach).radius
    hurried = Plurality().certify(ballots, reach=reach, cover="exact", time_limit=1e-3).radius
    patient = Plurality().certify(ballots, reach=reach, cover="exact", time_limit=20).radius
    assert np.all(bound <= hurried)
    assert np.all(hurried <= patient)
    assert np.any(bound < patient)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"reach": np.ones((2, 3))}, r"reach has shape \(2, 3\): it must be \(units, 5\)"),
        ({"reach": np.ones((0, 5))}, "reach has shape"),
        ({"reach": np.ones(5)}, "reach has shape"),
        ({"reach": np.full((2, 5), 2)}, "other values than True and False"),
        ({"reach": np.ones((2, 5)), "cover": "best"}, "cover is 'best'"),
        ({"reach": np.ones((2, 5)), "time_limit": 0}, "time_limit is 0"),
    ],
)
def test_wrong_questions_are_named(question, message):
    with pytest.raises(InputError, match=message):
        certify(np.zeros((1, 5, 2)), "plurality", **question)
