"""No attack brings about a label outside of its certified set.

Every choice of corrupted submodels and every ballot of theirs is tried on small cases: the labels
that come about must be in the set, and for plurality be the set.
"""

from itertools import product

import numpy as np
import pytest

from partita.ballots import Ballots
from partita.errors import InputError
from partita.kernels import compiled
from partita.rules import Gated, Plurality, PooledLabels, RunOff, TopK, Tournament
from tests.exhaustive import attacker, left_out_attacker, numpy_kernels, silent_attacker, test_gate
from tests.exhaustive.cases import DECISIONS, random_reach, rows_and_reaches
from tests.exhaustive.silent_attacker import with_abstentions
from tests.exhaustive.test_silence import MARGIN, RULES, one_hot
from tests.exhaustive.test_silent_groups import pooled

# Labels in sets that no attack brings about, at most, for each that one does.
NEEDLESS = 0.05


def reachable(row, decide, margin, reach, size):
    """Every label that an attack on so many units brings about."""
    honest = attacker.tally(row, margin) * attacker.mask(row.shape[1], decide.hears)
    found = {int(attacker.decision(row, decide, margin))}
    for taken in attacker.unions(reach, min(size, len(reach))):
        found |= set(map(int, attacker.outcomes(honest, taken, decide, margin)))
    return found


def check_sets(rule, ballots, sizes, truth, reach=None):
    """Sets hold what comes about, grow with the radius, and are what certificates say.

    ``truth(size)``: the labels that come about. Returns how many these are, and how many more
    the sets hold.
    """
    proof = rule.certify(ballots, reach=reach)
    smaller = rule.prediction_set(ballots, 0, reach)[0]
    assert np.flatnonzero(smaller).tolist() == proof.prediction.tolist()
    found = needless = 0
    for size in sizes:
        possible = rule.prediction_set(ballots, size, reach)[0]
        labels, real = set(np.flatnonzero(possible).tolist()), truth(size)
        assert real <= labels, (np.asarray(ballots).tolist(), size)
        assert (smaller <= possible).all()
        if proof.radius[0] >= size:
            assert labels == set(proof.prediction.tolist())
        smaller = possible
        found, needless = found + len(real), needless + len(labels - real)
    return found, needless


@pytest.mark.parametrize(
    ("rule", "n_labels"),
    [(rule, n) for rule in RULES for n in (2, 3, 4) if n < 4 or not getattr(rule, "margin", None)],
)
def test_sets_against_every_attack(rule, n_labels):
    margin, decide = getattr(rule, "margin", None) or 0.0, DECISIONS[type(rule)]
    most = 4 if margin or n_labels == 4 else 7
    found = needless = 0
    for row in attacker.profiles(np.random.default_rng(n_labels), 120 // n_labels, n_labels, most):
        own = np.eye(len(row), dtype=bool)

        def truth(size, row=row, own=own):
            return reachable(row, decide, margin, own, size)

        sizes = range(1, min(3 if margin else 4, len(row)) + 1)
        more = check_sets(rule, row[None], sizes, truth)
        found, needless = found + more[0], needless + more[1]
    print(f"{rule!r}: {needless} labels too many beside {found}")
    exact = isinstance(rule, Plurality) or n_labels == 2
    assert needless <= (0 if exact else NEEDLESS * found)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_sets_where_units_overlap(rule):
    margin, decide = getattr(rule, "margin", None) or 0.0, DECISIONS[type(rule)]
    for row, reach in rows_and_reaches(5, 60, most_submodels=3 if margin else 5):

        def truth(size, row=row, reach=reach):
            return reachable(row, decide, margin, reach, size)

        check_sets(rule, row[None], range(1, len(reach) + 2), truth, reach)


@pytest.mark.parametrize("detected", [False, True], ids=["declared", "detected"])
@pytest.mark.parametrize("rule", [*RULES, "head starts"], ids=str)
def test_sets_of_rows_with_silence(rule, detected):
    """Where silence is read from values, a liar may fake it, or speak in place of one silent."""
    rng = np.random.default_rng(7)
    given, found, needless = rule, 0, 0
    for _ in range(60):
        start = rng.choice([-1.0, 0.0, 0.4, 1.0, 2.0, 6.0], size=3)
        rule = Tournament(margin=0.0, offset=start) if given == "head starts" else given
        margin, decide = getattr(rule, "margin", None) or 0.0, DECISIONS[type(rule)]
        (row,) = attacker.profiles(rng, 1, 3, 3 if margin else 5)
        default = 1
        if given == "head starts":
            decide = attacker.tournament_with(rule.head_start(3))
            default = 1 if len(set(rule.head_start(3))) == 1 else None
        absent = rng.random(len(row)) < 0.4
        quiet = np.where(absent[:, None], np.nan, row)

        def truth(size, row=row, absent=absent, margin=margin, decide=decide, default=default):
            return {
                int(label)
                for lying in range(size + 1)
                for lies, gone in silent_attacker.cases(len(row), absent, lying, 0, detected)
                for label in silent_attacker.outcomes(
                    row, lies, gone & ~lies, decide, margin, default, may_fake=True
                )
            }

        ballots = with_abstentions(quiet[None], detected, one_hot(1, 3))
        more = check_sets(rule, ballots, range(1, len(row) + 1), truth)
        if not absent.all():
            found, needless = found + more[0], needless + more[1]
    print(f"{given!r}: {needless} labels too many beside {found}")
    assert needless <= (0 if isinstance(given, Plurality) else NEEDLESS * found)


@pytest.mark.parametrize("detected", [False, True], ids=["declared", "detected"])
@pytest.mark.parametrize("rule", RULES[:4], ids=repr)
def test_sets_where_units_overlap_and_submodels_abstain(rule, detected):
    """Among them submodels out of reach, which keep their votes."""
    decide = DECISIONS[type(rule)]
    rng = np.random.default_rng(10)
    for row, reach in rows_and_reaches(10, 120, most_submodels=5):
        absent = rng.random(len(row)) < 0.4
        quiet = np.where(absent[:, None], np.nan, row)

        def truth(size, row=row, reach=reach, absent=absent):
            return {
                int(label)
                for lies, _ in silent_attacker.union_cases(reach, min(size, len(reach)), 0)
                for label in silent_attacker.outcomes(
                    row, lies & (detected | ~absent), absent, decide, 0.0, 1, may_fake=detected
                )
            }

        ballots = with_abstentions(quiet[None], detected, one_hot(1, 3))
        check_sets(rule, ballots, range(1, len(reach) + 2), truth, reach)


def test_who_votes_for_the_other_label_of_round_two_may_side_with_neither():
    """A liar lifts label 0 into round 2 by scoring it as high as label 1, which then wins there."""
    row = [[1, 0, 2], [1, 2, 2], [0, 0, 2], [2, 2, 2], [0, 2, 2], [1, 0, 2]]
    ballots = np.array([row], dtype=float)
    one_liar = reachable(ballots[0], attacker.runoff, 0.0, np.eye(6, dtype=bool), 1)
    assert one_liar == {0, 1, 2}
    assert RunOff().prediction_set(ballots, 1).all()


@pytest.mark.parametrize("margin", [0.0, MARGIN])
def test_sets_with_head_starts(margin):
    rng = np.random.default_rng(8)
    found = needless = 0
    for row in attacker.profiles(rng, 150 if margin == 0 else 40, 3, 6 if margin == 0 else 4):
        rule = Tournament(margin=margin, offset=rng.choice([-1.0, 0.0, 0.4, 2.0], size=3))
        decide = attacker.tournament_with(rule.head_start(3))

        def truth(size, row=row, decide=decide):
            return reachable(row, decide, margin, np.eye(len(row), dtype=bool), size)

        more = check_sets(rule, row[None], range(1, min(3, len(row)) + 1), truth)
        found, needless = found + more[0], needless + more[1]
    assert needless <= NEEDLESS * found


def test_a_prior_is_taken_out_before_sets_are_made():
    shares = np.array([0.7, 0.2, 0.1])
    ballots = np.log(np.random.default_rng(9).dirichlet(np.ones(3), size=(200, 7)))
    with_prior = Tournament(margin=0.5, prior=1.0, shares=shares).prediction_set(ballots, 2)
    without = Tournament(margin=0.5).prediction_set(ballots - np.log(shares), 2)
    assert np.array_equal(with_prior, without)


@pytest.mark.parametrize("gate", [1, 2])
@pytest.mark.parametrize("rule", [Plurality(), Tournament()], ids=repr)
def test_sets_behind_a_gate(rule, gate):
    """The fallback belongs to the attacker: a label besides the prediction means every label."""
    alone = 0
    for row in attacker.profiles(np.random.default_rng(gate), 100, 3, 7):
        gated = Gated(rule, gate)
        ballots = Ballots(row[None], fallback=np.eye(3)[rule.decide(row[None])])

        def truth(size, row=row):
            found = set()
            for taken in attacker.unions(np.eye(len(row), dtype=bool), size):
                attacked = test_gate.attacks(row, taken, rule)
                for label in range(3):
                    found |= set(test_gate.behind(rule, attacked, gate, label).prediction.tolist())
            return found

        before = gated.prediction_set(ballots, 1)[0].sum()
        alone += before == 1
        assert check_sets(gated, ballots, range(1, min(2, len(row)) + 1), truth)[1] == 0
    assert alone > 0


@pytest.mark.parametrize(("n_groups", "radius"), [(4, 1), (5, 1), (5, 2)])
def test_sets_of_models_that_leave_groups_out(n_groups, radius):
    """Exact: where no unanimous set contains the attacked groups, the full model decides."""
    rng = np.random.default_rng(n_groups + radius)
    sets, _ = left_out_attacker.every_set(n_groups, radius)
    rule = PooledLabels(radius, n_groups, pooled(sets), len(sets), as_probabilities=False)
    alone = 0
    for _ in range(40):
        votes = (rng.random(len(sets)) < rng.choice([0, 0.1, 0.25])).astype(int)
        ballots = np.eye(2)[np.append(votes, rng.integers(2))][None]
        before = int(rule.decide(ballots)[0])

        def truth(size, votes=votes, before=before):
            found = {before}
            for groups in left_out_attacker.attacks(n_groups, size):
                owned = left_out_attacker.attacked(sets, groups)
                answers = left_out_attacker.every_answer(2, len(owned))
                changed = np.repeat(votes[None].astype(np.int8), len(answers), axis=0)
                changed[:, owned] = answers
                agreed = left_out_attacker.agreed_labels(changed, sets, n_groups, radius)
                found |= {0, 1} if -1 in agreed else set(agreed.tolist())
            return found

        alone += rule.prediction_set(ballots, 1)[0].sum() == 1
        assert check_sets(rule, ballots, range(1, radius + 1), truth)[1] == 0
        assert rule.prediction_set(ballots, radius + 1).all()
    assert alone > 3


def test_top_k_has_no_label_sets():
    with pytest.raises(InputError, match="label sets"):
        TopK(2).prediction_set(np.zeros((1, 3, 3)))


SETTINGS = [
    ("plurality", 0),
    ("runoff", False),
    *(
        ("tournament", (m, start))
        for m, start in product((0.0, 0.8), ([0] * 6, [1, 0, -3, 99, 0, 9]))
    ),
]


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_both_twins_of_the_kernels_find_the_same_labels(name, setting):
    rng = np.random.default_rng(3)
    for n_submodels, n_labels in [(1, 1), (3, 2), (4, 3), (7, 4), (9, 6), (70, 3)]:
        given = setting
        if isinstance(setting, tuple):
            given = setting[0], np.array(setting[1][:n_labels], dtype=np.int64)
        ballots = rng.integers(0, 4, size=(25, n_submodels, n_labels)).astype(np.float32)
        attackable = rng.random((25, n_submodels)) < 0.9
        idle = rng.integers(0, 3, size=25)
        for most in (0, 1, 2, n_submodels // 2, n_submodels):
            found = []
            for twin in (compiled, numpy_kernels):
                possible = np.ones((25, n_labels), dtype=bool)
                getattr(twin, f"{name}_labels")(ballots, given, attackable, idle, most, possible)
                found.append(possible)
            assert np.array_equal(*found), (n_submodels, n_labels, most)


def test_a_submodel_out_of_reach_keeps_its_vote():
    reach = random_reach(np.random.default_rng(0), 5) & np.array([True, True, False, False, False])
    ballots = np.eye(3)[[[0, 1, 2, 2, 2]]]
    assert Plurality().prediction_set(ballots, 5, reach).tolist() == [[False, False, True]]
