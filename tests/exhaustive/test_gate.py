"""A full model behind the vote, against an attacker who owns units and all that the model says.

A gate looks at a radius, and a radius hears more of a submodel than sums. So every corrupted ballot
is written out here, and goes through the rule and the gate as an honest one does.
"""

from itertools import product

import numpy as np
import pytest

from partita import certify_collective, criticality
from partita.ballots import Ballots
from partita.rules import Gated, Plurality, Tournament
from tests.exhaustive import attacker
from tests.exhaustive.cases import rows_and_reaches

MARGIN = 2.0
GATES = (0, 1, 2)
PLAIN = [Plurality(), Tournament(), Tournament(margin=0, offset=[2, 0, -1])]


def behaviours(rule, n_labels):
    """Every ballot of one submodel that a rule can tell from others."""
    if isinstance(rule, Plurality):
        return np.eye(n_labels)
    margin = rule.margin or 0.0
    steps = [0, margin / 2, margin, 2 * margin] if margin else range(n_labels)
    scores = np.array(list(product(steps, repeat=n_labels)), dtype=float)
    heard = attacker.tally(scores, margin)
    return scores[np.unique(heard, axis=0, return_index=True)[1]]


def attacks(row, taken, rule):
    """The row's ballots with every behaviour of the taken submodels."""
    own = behaviours(rule, row.shape[1])
    places = np.flatnonzero(taken)
    chosen = np.array(list(product(range(len(own)), repeat=len(places))), dtype=int)
    ballots = np.repeat(row[None], len(chosen), axis=0)
    ballots[:, places] = own[chosen.reshape(len(chosen), len(places))]
    return ballots


def behind(rule, ballots, gate, fallback, reach=None, cover="bound"):
    """What is predicted and certified where the full model says ``fallback`` of every row."""
    answers = np.eye(ballots.shape[2])[np.full(len(ballots), fallback)]
    given = Ballots(ballots, fallback=answers, reach=reach)
    return (Gated(rule, gate) if gate else rule).certify(given, cover=cover)


def falls(row, taken, rule, gate, before, **options):
    """Whether an attack on the taken submodels and on the full model changes the prediction."""
    other = (before + 1) % row.shape[1]
    after = behind(rule, attacks(row, taken, rule), gate, other, **options)
    return bool((after.prediction != before).any())


def every_set(reach, size):
    return attacker.unions(reach, size) if size else [np.zeros(reach.shape[1], dtype=bool)]


def assert_holds(row, rule, gate, reach=None, exact=False, **options):
    """No attack within the radius succeeds; if ``exact``, one of the next size does."""
    label = rule.decide(row[None])[0]
    proof = behind(rule, row[None], gate, label, **options)  # so that closed rows are like others
    radius, before = int(proof.radius[0]), int(proof.prediction[0])
    units = np.eye(len(row), dtype=bool) if reach is None else reach
    most = min(radius, len(units))
    for size in range(1, most + 1):
        for taken in every_set(units, size):
            assert not falls(row, taken, rule, gate, before, **options), (row, taken, gate)
    if exact and radius < len(units):
        assert any(
            falls(row, taken, rule, gate, before, **options)
            for taken in every_set(units, radius + 1)
        ), (row, gate)
    return radius


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("rule", PLAIN, ids=repr)
def test_certificates_behind_a_gate_against_every_attack(rule, gate):
    """Exact, too: what closes the gate hands the row to the attacker."""
    certified = 0
    for row in attacker.profiles(np.random.default_rng(gate), 250, 3, 7):
        exact = gate > 0 or isinstance(rule, Plurality)
        certified += assert_holds(row, rule, gate, exact=exact) > 0
    assert certified > (50, 15, 2)[gate]  # the attacker meets certified rows


@pytest.mark.parametrize(("gate", "n_submodels"), [(1, 7), (2, 9)])
def test_unanimous_votes_behind_a_gate(gate, n_submodels):
    """Large radii: the vote's is 3 and 4."""
    votes = np.eye(2)[[0] * n_submodels]
    for rule in (Plurality(), Tournament()):
        assert assert_holds(votes, rule, gate, exact=True) == 2


@pytest.mark.parametrize("gate", GATES)
def test_margins_behind_a_gate_against_every_attack(gate):
    rule, certified = Tournament(margin=MARGIN), 0
    for row in attacker.profiles(np.random.default_rng(10 + gate), 200, 3, 6):
        certified += assert_holds(2 * row, rule, gate, exact=gate > 0) > 0
    assert certified > (20, 2, -1)[gate]


@pytest.mark.long
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("rule", PLAIN, ids=repr)
def test_many_certificates_behind_a_gate(rule, gate):
    for row in attacker.profiles(np.random.default_rng(20 + gate), 1500, 3, 7):
        if row.shape[0] < 7 or isinstance(rule, Plurality):
            assert_holds(row, rule, gate, exact=gate > 0 or isinstance(rule, Plurality))


def test_the_full_model_answers_below_the_gate_and_nothing_is_proven_there():
    for row in attacker.profiles(np.random.default_rng(3), 200, 3, 6):
        vote = Plurality().certify(row[None])
        for gate, fallback in product(GATES, range(3)):
            proof = behind(Plurality(), row[None], gate, fallback)
            if vote.radius[0] < gate:
                assert proof.prediction[0] == fallback
                assert proof.radius[0] == 0
            else:
                assert proof.prediction[0] == vote.prediction[0]
            assert proof.runner_up[0] != proof.prediction[0]


# ---- units that share submodels ----


@pytest.mark.parametrize("cover", ["bound", "exact"])
@pytest.mark.parametrize("rule", [Plurality(), Tournament()], ids=repr)
def test_overlapping_units_behind_a_gate_of_one(rule, cover):
    """The gate is asked by the bound, whatever the cover: at one unit the bound is exact."""
    most = 6 if isinstance(rule, Plurality) else 4
    certified = 0
    for row, reach in rows_and_reaches(4, 150 if most == 6 else 100, most_submodels=most):
        other = (rule.decide(row[None])[0] + 1) % 3
        proof = behind(rule, row[None], 1, other, reach=reach, cover=cover)
        before, radius = int(proof.prediction[0]), int(proof.radius[0])
        for size in range(1, min(radius, len(reach)) + 1):
            for taken in every_set(reach, size):
                assert not falls(row, taken, rule, 1, before, reach=reach), (row, reach)
        certified += radius > 0
    assert certified > 5


@pytest.mark.parametrize("rule", [Plurality(), Tournament()], ids=repr)
def test_other_units_than_those_that_open_the_gate(rule):
    """Patches, say: the gate wants a radius in submodels, and each patch touches several."""
    certified = 0
    for row, reach in rows_and_reaches(5, 400, most_submodels=5):
        other = (rule.decide(row[None])[0] + 1) % 3
        given = Ballots(row[None], fallback=np.eye(3)[[other]])
        proof = Gated(rule).certify(given, reach)
        before, radius = int(proof.prediction[0]), int(proof.radius[0])
        assert before == Gated(rule).decide(given)[0]
        for size in range(1, min(radius, len(reach)) + 1):
            for taken in every_set(reach, size):
                assert not falls(row, taken, rule, 1, before), (row, reach)
        certified += radius > 0
    assert certified > 4


def test_an_overlapping_bound_may_fall_by_more_than_one():
    """Why a larger gate is refused there: a lost submodel may cast a vote that others share."""
    n = 9
    reach = np.zeros((n, n + 1), dtype=bool)
    reach[:, 0] = reach[np.arange(n), np.arange(n) + 1] = True
    votes = np.eye(2)[[1] + [0] * n]
    assert Plurality().certify(votes[None], reach=reach).radius[0] == 4
    attacked = votes.copy()
    attacked[0] = [1, 0]  # the first submodel alone, which any one unit reaches
    assert Plurality().certify(attacked[None], reach=reach).radius[0] == 2


# ---- one attacker, many rows ----


def batch(rng, n_rows=4, n_submodels=5):
    rows = []
    while len(rows) < n_rows:
        rows += [
            row for row in attacker.profiles(rng, 10, 3, n_submodels) if len(row) == n_submodels
        ]
    return np.stack(rows[:n_rows])


def row_falls(row, taken, rule, gate, reach):
    """A row of the full model is anybody's; others must be taken from the vote."""
    options = {} if reach is None else {"reach": reach}
    vote = rule.certify(row[None], **options)
    if vote.radius[0] < gate and vote.radius[0] < vote.counts.total:
        return True
    return falls(row, taken, rule, gate, int(vote.prediction[0]), **options)


@pytest.mark.parametrize("program", [False, True], ids=["enumerated", "program"])
@pytest.mark.parametrize("rule", [Plurality(), Tournament()], ids=repr)
def test_one_attacker_behind_a_gate(rule, program, monkeypatch):
    if program:
        monkeypatch.setattr("partita.collective.CHEAP", 0)
    rng = np.random.default_rng(6)
    for _ in range(4 if program else 12):
        ballots = batch(rng)
        for gate, radius in product((1, 2), (1, 2)):
            found = certify_collective(ballots, radius, Gated(rule, gate))
            proof = behind(rule, ballots, gate, 0)
            pointwise = int(np.count_nonzero(proof.radius < radius))
            assert found.pointwise == pointwise
            truth = max(
                sum(row_falls(row, taken, rule, gate, None) for row in ballots)
                for taken in every_set(np.eye(5, dtype=bool), radius)
            )
            assert truth <= found.changed <= pointwise
            taken = np.isin(np.arange(5), found.units)
            fallen = [i for i in range(4) if row_falls(ballots[i], taken, rule, gate, None)]
            assert found.rows.tolist() == fallen
            assert found.exact == (len(fallen) == found.changed)


@pytest.mark.parametrize("rule", [Plurality(), Tournament()], ids=repr)
def test_a_critical_unit_behind_a_gate(rule):
    rng = np.random.default_rng(7)
    for _ in range(10):
        ballots = batch(rng)
        for gate in (1, 2):
            critical = criticality(ballots, Gated(rule, gate))
            for unit, row in np.ndindex(*critical.shape):
                taken = np.arange(5) == unit
                assert critical[unit, row] == row_falls(ballots[row], taken, rule, gate, None)
        reach = rng.random((4, 5)) < 0.4
        critical = criticality(ballots, Gated(rule), reach)
        for unit, row in np.ndindex(*critical.shape):
            if reach[unit].sum() <= 3:
                truth = row_falls(ballots[row], reach[unit], rule, 1, reach)
                assert critical[unit, row] >= truth


def test_a_unit_of_no_submodel_still_owns_the_full_model():
    """Rows that it answers count as changed by whoever owns any column."""
    ballots = np.eye(2)[[[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]]]
    reach = np.zeros((2, 5), dtype=bool)
    reach[0] = [True, False, False, False, False]
    assert criticality(ballots, Gated(Plurality()), reach).tolist() == [
        [False, True],
        [False, True],
    ]
