"""Models that leave groups out, against an attacker who says anything with what sees a group."""

from itertools import product

import numpy as np
import pytest

from partita.collective import certify_collective
from partita.partition import LeaveOut, Partition
from partita.partition._leave_out import choose_members
from partita.rules import Agreement, PooledLabels, PooledValues
from tests.exhaustive import left_out_attacker as attacker

EVERY_PROFILE = [(3, 1, 2), (3, 1, 3), (4, 1, 2), (4, 1, 3), (5, 2, 2), (5, 2, 3)]
SOME_PROFILES = [(5, 1, 2, 150), (5, 1, 3, 60), (6, 1, 2, 80), (6, 2, 2, 150), (6, 2, 3, 15)]
SIDES = ["lower", "mean", "upper"]
HUGE = 1.7e308


def contested(rng, how_many, n_models, n_labels):
    """Votes that mostly agree: one to three models, or a third of them, say something else."""
    votes = np.repeat(rng.integers(n_labels, size=(how_many, 1)), n_models, axis=1)
    share = rng.choice([1 / n_models, 2 / n_models, 0.35], size=(how_many, 1))
    other = rng.random(votes.shape) < share
    votes[other] = rng.integers(n_labels, size=other.sum())
    return votes


def assert_labels_hold(votes, n_groups, radius, n_labels, rng):
    """The definition's label, and the largest radius that no attack breaks."""
    sets, left_out = attacker.every_set(n_groups, radius)
    fallback = rng.integers(n_labels, size=len(votes))
    proof = Agreement(radius).certify(votes, left_out, fallback)
    expected = attacker.agreed_labels(votes, sets, n_groups, radius)
    assert np.array_equal(proof.prediction, np.where(expected < 0, fallback, expected))
    truth = [
        attacker.largest_radius(row, sets, n_groups, radius, n_labels, label)
        for row, label in zip(votes, fallback, strict=True)
    ]
    assert proof.radius.tolist() == truth
    assert (proof.runner_up != proof.prediction).all()
    return proof.radius


@pytest.mark.parametrize(("n_groups", "radius", "n_labels"), EVERY_PROFILE)
def test_every_profile_is_certified_exactly(n_groups, radius, n_labels):
    n_models = len(attacker.every_set(n_groups, radius)[0])
    votes = np.array(list(product(range(n_labels), repeat=n_models)))
    radii = assert_labels_hold(votes, n_groups, radius, n_labels, np.random.default_rng(0))
    assert set(radii) == set(range(radius + 1))


@pytest.mark.parametrize(("n_groups", "radius", "n_labels", "how_many"), SOME_PROFILES)
def test_contested_profiles_are_certified_exactly(n_groups, radius, n_labels, how_many):
    rng = np.random.default_rng(n_groups)
    n_models = len(attacker.every_set(n_groups, radius)[0])
    votes = contested(rng, how_many, n_models, n_labels)
    radii = assert_labels_hold(votes, n_groups, radius, n_labels, rng)
    assert set(radii) == set(range(radius + 1))


@pytest.mark.long
@pytest.mark.parametrize(
    ("n_groups", "radius", "n_labels", "how_many"), [(6, 2, 3, 100), (6, 1, 3, 60), (7, 1, 2, 60)]
)
def test_many_contested_profiles_are_certified_exactly(n_groups, radius, n_labels, how_many):
    rng = np.random.default_rng(100 + n_groups)
    n_models = len(attacker.every_set(n_groups, radius)[0])
    votes = contested(rng, how_many, n_models, n_labels)
    assert_labels_hold(votes, n_groups, radius, n_labels, rng)


def test_the_only_group_that_nobody_vouches_for_is_found():
    """Every group but one is in a unanimous pair, the least that this takes is seven groups."""
    sets, left_out = attacker.every_set(7, 2)
    for alone in range(7):
        others = [group for group in range(7) if group != alone]
        pairs = [set(others[k : k + 2]) for k in (0, 2, 4)]
        votes = np.array([[0 if any(pair <= set(own) for pair in pairs) else 1 for own in sets]])
        votes[0, [k for k, own in enumerate(sets) if alone not in own]] = 0
        proof = Agreement(2).certify(votes, left_out)
        assert proof.prediction[0] == 0
        assert proof.radius[0] == 0
        assert attacker.largest_radius(votes[0], sets, 7, 2, 2, 0, largest=1) == 0


@pytest.mark.parametrize(("n_groups", "radius"), [(7, 2), (8, 2), (7, 3), (8, 3), (9, 4)])
def test_larger_designs_are_certified_by_the_definition(n_groups, radius):
    """Some sets are unanimous, and all other models say anything."""
    rng = np.random.default_rng(n_groups)
    sets, left_out = attacker.every_set(n_groups, radius)
    votes = rng.integers(2, size=(300, len(sets)))
    for row in votes:
        for _ in range(rng.integers(1, 12)):
            groups = rng.choice(n_groups, radius, replace=False)
            row[attacker.containing(sets, groups)] = 0
    proof = Agreement(radius).certify(votes, left_out)
    assert np.array_equal(proof.prediction, attacker.agreed_labels(votes, sets, n_groups, radius))
    expected = [attacker.covered_radius(row, sets, n_groups, radius) for row in votes]
    assert proof.radius.tolist() == expected
    assert len(set(expected)) > 1


def test_without_a_fallback_the_most_votes_decide_where_nobody_agrees():
    sets, left_out = attacker.every_set(4, 1)
    votes = np.array(list(product(range(3), repeat=6)))
    proof = Agreement(1).certify(votes, left_out)
    nobody = attacker.agreed_labels(votes, sets, 4, 1) < 0
    counts = np.array([[(row == label).sum() for label in range(3)] for row in votes])
    assert nobody.sum() > 100
    assert np.array_equal(proof.prediction[nobody], counts[nobody].argmax(axis=1))
    assert not proof.radius[nobody].any()


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("n_groups", "radius"), [(3, 1), (4, 1), (6, 1), (5, 2), (6, 2), (7, 3)])
def test_an_interval_is_what_attacks_reach_and_none_leaves_it(n_groups, radius, side):
    """The ends are reached by saying the least, or the most, with every model that is owned."""
    rng = np.random.default_rng(n_groups)
    sets, left_out = attacker.every_set(n_groups, radius)
    rule = Agreement(radius, side)
    for values in rng.integers(0, 9, size=(12, len(sets))).astype(float):
        args = (sets, n_groups, radius, side)
        predicted = rule.predict(values[None], left_out)
        assert predicted == attacker.agreed_values(values[None], *args)
        for size in range(radius + 1):
            low, high = rule.interval(values[None], left_out, size)
            reached = [
                attacker.agreed_values(changed, *args)
                for changed in attacker.value_attacks(values, sets, n_groups, size, rng, 40)
            ]
            assert low[0] == np.min(reached)
            assert high[0] == np.max(reached)
            assert low[0] <= predicted[0] <= high[0]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("n_groups", "radius"), [(4, 1), (6, 2), (7, 3)])
def test_the_radius_of_a_value_is_the_largest_whose_interval_is_inside(n_groups, radius, side):
    rng = np.random.default_rng(n_groups)
    sets, left_out = attacker.every_set(n_groups, radius)
    values = rng.integers(0, 9, size=(200, len(sets))).astype(float)
    lower = rng.integers(0, 5, size=200).astype(float)
    upper = np.where(rng.random(200) < 0.2, np.inf, lower + rng.integers(0, 9, size=200))
    rule = Agreement(radius, side)
    proof = rule.certify_values(values, left_out, lower, upper)
    expected = np.full(200, -1)
    for size in range(radius, -1, -1):
        low, high = rule.interval(values, left_out, size)
        inside = (lower <= low) & (high <= upper)
        expected = np.where((expected < 0) & inside, size, expected)
    assert np.array_equal(proof.radius, expected)
    assert np.array_equal(proof.prediction, rule.predict(values, left_out))
    assert set(proof.radius) == set(range(-1, radius + 1))


# ---- members that models share ----


def designs(rng, with_everything):
    """Members of all sizes, more and fewer than models, some fitted twice."""
    for n_groups, radius in [(3, 1), (4, 1), (5, 1), (6, 1), (8, 1), (5, 2), (7, 2)]:
        for size in range(2 * radius, n_groups):
            members = choose_members(n_groups, radius, size, 200, int(rng.integers(100)))
            twice = [members[k] for k in rng.integers(len(members), size=2)]
            groups = Partition([[g] for g in range(n_groups)])
            yield LeaveOut(groups, radius, (*members, *twice, *([()] * with_everything)))


def owned_members(sets, groups):
    """Members that see one of these groups."""
    return sets.incidence()[list(groups)].any(axis=0)


def test_no_attack_on_members_breaks_a_label():
    """The model on all columns, the last member, is owned in every attack."""
    rng = np.random.default_rng(0)
    certified = changed = 0
    for sets in designs(rng, with_everything=True):
        n_groups = len(sets.groups)
        for as_probabilities in (True, False):
            rule = PooledLabels(
                sets.radius, n_groups, sets.pools(), len(sets) - 1, as_probabilities
            )
            lean = rng.normal(size=(40, 1, 3)) * rng.choice([0.1, 1, 3], size=(40, 1, 1))
            honest = np.log(softmax(lean + rng.normal(size=(40, len(sets), 3))))
            before = rule.certify(honest.astype(np.float32))
            for size in range(1, sets.radius + 1):
                for groups in attacker.attacks(n_groups, size):
                    owned = owned_members(sets, groups)
                    assert owned[-1]
                    for ballots in label_attacks(honest, owned, rng):
                        after = rule.decide(ballots)
                        safe = before.radius >= size
                        assert np.array_equal(after[safe], before.prediction[safe])
                        certified += safe.sum()
                        changed += (after != before.prediction).sum()
    assert certified > 20_000
    assert changed > 20_000


def test_no_set_of_groups_changes_more_rows_than_the_collective_certificate_says():
    """For whole tables; where every model is a member of its own, some attack changes as many."""
    rng = np.random.default_rng(3)
    reached = tried = 0
    for sets in designs(rng, with_everything=True):
        n_groups = len(sets.groups)
        rule = PooledLabels(sets.radius, n_groups, sets.pools(), len(sets) - 1)
        lean = rng.normal(size=(25, 1, 2)) * rng.choice([0.3, 1, 3], size=(25, 1, 1))
        honest = np.log(softmax(lean + rng.normal(size=(25, len(sets), 2)) * 0.7))
        honest = honest.astype(np.float32)
        before = rule.decide(honest)
        for size in range(1, sets.radius + 1):
            found = certify_collective(honest, size, rule)
            assert found.pointwise == (rule.certify(honest).radius < size).sum()
            most = 0
            for groups in attacker.attacks(n_groups, size):
                owned = owned_members(sets, groups)
                changed = np.zeros(len(honest), bool)
                for ballots in label_attacks(honest, owned, rng):  # each row has its own attack
                    changed |= rule.decide(ballots) != before
                assert changed.sum() <= found.changed
                most = max(most, changed.sum())
            tried += 1
            reached += most == found.changed > 0
    assert reached > tried / 4


def softmax(scores):
    raised = np.exp(scores)
    return raised / raised.sum(axis=2, keepdims=True)


def label_attacks(honest, owned, rng):
    """Every label at its loudest, and scores at random; all float32 and finite."""
    n_labels = honest.shape[2]
    loudest = np.finfo(np.float32).max
    for label in range(n_labels):
        ballots = honest.astype(np.float32)
        ballots[:, owned] = np.where(np.arange(n_labels) == label, loudest, -loudest)
        yield ballots
    ballots = honest.astype(np.float32)
    shape = ballots[:, owned].shape
    ballots[:, owned] = rng.normal(size=shape) * rng.choice([1, 100, 1e30], size=shape)
    yield ballots


def test_no_attack_on_members_moves_a_value_out_of_its_interval():
    rng = np.random.default_rng(0)
    inside = moved = 0
    for sets in designs(rng, with_everything=False):
        n_groups = len(sets.groups)
        for side in SIDES:
            rule = PooledValues(sets.radius, n_groups, sets.pools(), side)
            honest = rng.normal(size=(30, 1)) + rng.normal(size=(30, len(sets))) * 0.3
            before = rule.decide(honest)
            proof = rule.certify(honest, before - 0.2, before + 0.2)
            for size in range(1, sets.radius + 1):
                low, high = rule.interval(honest, size)
                for groups in attacker.attacks(n_groups, size):
                    owned = owned_members(sets, groups)
                    for values in member_attacks(honest, owned, rng):
                        after = rule.decide(values)
                        assert ((low <= after) & (after <= high)).all()
                        safe = proof.radius >= size
                        assert (np.abs(after - before)[safe] <= 0.2 + 1e-12).all()
                        inside += safe.sum()
                        moved += (after != before).sum()
    assert inside > 5000
    assert moved > 20_000


def member_attacks(honest, owned, rng):
    """The largest finite values, whose sums are infinite, and values at random."""
    for end in (-HUGE, HUGE, rng.normal()):
        values = honest.copy()
        values[:, owned] = end
        yield values
    values = honest.copy()
    values[:, owned] = rng.choice([-HUGE, -1, 0, 1, HUGE], size=(len(honest), owned.sum()))
    yield values


def test_beyond_the_radius_nothing_is_claimed():
    sets = LeaveOut(Partition([[0], [1], [2]]), 1, ((0, 1), (0, 2), (1, 2)))
    low, high = PooledValues(1, 3, sets.pools()).interval([[1.0, 2.0, 3.0]], 2)
    assert (low[0], high[0]) == (-np.inf, np.inf)
