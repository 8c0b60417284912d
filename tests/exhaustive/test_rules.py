"""No certificate is above what an attacker that tries everything finds; exact rules equal it."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from partita.rules import Median, Plurality, RunOff, TopK, Tournament
from tests.exhaustive import attacker, slow_rules
from tests.exhaustive.cases import DECISIONS

MARGIN = 2.0


@st.composite
def ballots_of(draw, most_submodels=7, most_labels=3, values=(0, 3)):
    """A row of ballots with many ties; submodels lean towards the same labels more or less."""
    shape = draw(st.tuples(st.integers(1, most_submodels), st.integers(2, most_labels)))
    lean = draw(npst.arrays(np.float32, shape[1], elements=st.integers(0, 2)))
    return draw(npst.arrays(np.float32, shape, elements=st.integers(*values))) + lean


RULES = [Plurality(), RunOff(), RunOff(exact=True), Tournament(), Tournament(margin=MARGIN)]


def is_exact(rule, n_labels):
    """The tournament is exact for two labels; the run-off's bound never claims to be."""
    return {Plurality: True, RunOff: getattr(rule, "exact", False), Tournament: n_labels == 2}[
        type(rule)
    ]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_certificate_against_every_attack(rule, data):
    margin, decide = getattr(rule, "margin", None) or 0.0, DECISIONS[type(rule)]
    row = data.draw(ballots_of(most_submodels=4 if margin else 7))
    proof = rule.certify(row[None])
    assert proof.prediction[0] == attacker.decision(row.astype(float), decide, margin)
    truth = attacker.truth(row.astype(float), decide, margin)
    assert proof.radius[0] <= truth
    if is_exact(rule, row.shape[1]):
        assert proof.radius[0] == truth


@pytest.mark.parametrize("margin", [0.0, MARGIN])
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_head_starts_against_every_attack(margin, data):
    """A constant of any size in every gap: the radius stays sound, and exact for two labels."""
    row = data.draw(ballots_of(most_submodels=4 if margin else 6))
    votes = data.draw(
        st.lists(
            st.sampled_from([-3.0, -1.0, -0.4, 0.0, 0.3, 0.5, 1.0, 2.0, 9.0]),
            min_size=row.shape[1],
            max_size=row.shape[1],
        )
    )
    rule = Tournament(margin=margin, offset=votes)
    proof = rule.certify(row[None])
    head_start = [round((127 if margin else 1) * one) for one in votes]
    assert as_tuples(proof)[0] == slow_rules.tournament(row.tolist(), margin, head_start)
    decide = attacker.tournament_with(head_start)
    assert proof.prediction[0] == attacker.decision(row.astype(float), decide, margin)
    truth = attacker.truth(row.astype(float), decide, margin)
    assert proof.radius[0] <= truth
    if row.shape[1] == 2:
        assert proof.radius[0] == truth


@pytest.mark.parametrize("rule", [RunOff(exact=True), Tournament(), RunOff()], ids=repr)
@settings(max_examples=40, deadline=None)
@given(
    row=npst.arrays(
        np.float32, st.tuples(st.integers(3, 4), st.just(4)), elements=st.integers(0, 3)
    )
)
def test_four_labels_against_every_attack(rule, row):
    truth = attacker.truth(row.astype(float), DECISIONS[type(rule)])
    radius = rule.certify(row[None]).radius[0]
    assert radius == truth if is_exact(rule, 4) else radius <= truth


@settings(max_examples=300, deadline=None)
@given(row=ballots_of(most_submodels=6, most_labels=5, values=(0, 1)), data=st.data())
def test_topk_is_exact(row, data):
    n_labels = row.shape[1]
    label, k = data.draw(st.integers(0, n_labels - 1)), data.draw(st.integers(1, n_labels))
    radius = TopK(k).certify(row[None], [label]).radius[0]
    votes = np.eye(n_labels, dtype=int)[row.argmax(axis=1)]
    assert radius == every_topk_attack(votes, label, k)


def every_topk_attack(votes, label, k):
    """Every way to set at most m votes, as counts: m votes are taken away and m given, anywhere."""
    n_submodels, n_labels = votes.shape
    for m in range(n_submodels + 1):
        for taken in combinations_with_replacement(range(n_labels), m):
            left = votes.sum(axis=0) - np.bincount(taken, minlength=n_labels)
            if (left < 0).any():
                continue
            for given_ in combinations_with_replacement(range(n_labels), m):
                counts = left + np.bincount(given_, minlength=n_labels)
                if not attacker.in_top(label, k)(counts[None], None, None)[0]:
                    return m - 1
    return n_submodels


bounds = st.one_of(st.integers(-2, 5).map(float), st.sampled_from([-np.inf, np.inf]))


@settings(max_examples=300, deadline=None)
@given(
    votes=npst.arrays(np.float64, st.integers(1, 6), elements=st.integers(0, 4)),
    ends=st.tuples(bounds, bounds),
)
def test_median_is_exact(votes, ends):
    lower, upper = min(ends), max(ends)
    assert Median().certify(votes[None], lower, upper).radius[0] == attacker.median_truth(
        votes, lower, upper
    )


@settings(max_examples=200, deadline=None)
@given(
    votes=npst.arrays(np.float64, st.integers(1, 6), elements=st.integers(0, 4)),
    ends=st.tuples(bounds, bounds),
    stretch=st.sampled_from([1.5, 2.0, 3.0]),
    centre=st.integers(0, 4).map(float),
)
def test_a_stretched_median_is_exact(votes, ends, stretch, centre):
    """The stretched median is predicted; a corrupted submodel's stretched vote is any number."""
    lower, upper = min(ends), max(ends)
    rule, stretched = Median(stretch=stretch, centre=centre), centre + stretch * (votes - centre)
    assert rule.certify(votes[None], lower, upper).radius[0] == attacker.median_truth(
        stretched, lower, upper
    )
    assert rule.decide(votes[None])[0] == np.sort(stretched)[(len(votes) - 1) // 2]


@settings(max_examples=150, deadline=None)
@given(votes=npst.arrays(np.float64, st.integers(1, 5), elements=st.integers(0, 4)), data=st.data())
def test_interval_is_what_an_attack_reaches(votes, data):
    radius = data.draw(st.integers(0, len(votes)))
    low, high = Median().interval(votes[None], radius)
    assert (low[0], high[0]) == attacker.median_range(votes, radius)


@settings(max_examples=200, deadline=None)
@given(
    ballots=npst.arrays(
        np.float32,
        st.tuples(st.integers(1, 3), st.integers(1, 25), st.integers(2, 6)),
        elements=st.integers(0, 8),
    ),
    margin=st.sampled_from([0.0, 0.7, 3.0]),
    k=st.integers(1, 6),
)
def test_rules_equal_their_slow_obvious_versions(ballots, margin, k):
    assert_same_as_slow(ballots, margin, k)


def assert_same_as_slow(ballots, margin, k):
    rows = ballots.tolist()
    assert as_tuples(Plurality().certify(ballots)) == [slow_rules.plurality(row) for row in rows]
    assert as_tuples(RunOff().certify(ballots)) == [slow_rules.runoff(row) for row in rows]
    assert as_tuples(Tournament(margin).certify(ballots)) == [
        slow_rules.tournament(row, margin) for row in rows
    ]
    labels = np.arange(len(rows)) % ballots.shape[2]
    expected = [slow_rules.topk(row, label, k) for row, label in zip(rows, labels, strict=True)]
    assert TopK(k).certify(ballots, labels).radius.tolist() == expected
    assert np.all(RunOff(exact=True).certify(ballots).radius >= RunOff().certify(ballots).radius)


def as_tuples(proof):
    return list(
        zip(proof.prediction.tolist(), proof.radius.tolist(), proof.runner_up.tolist(), strict=True)
    )


def assert_holds(row):
    """On one profile: the same decision, never above the truth, equal to it where exact."""
    truths = {
        rule: attacker.truth(row, rule)
        for rule in (attacker.plurality, attacker.runoff, attacker.tournament)
    }
    for rule in (Plurality(), RunOff(), RunOff(exact=True), Tournament()):
        decide = DECISIONS[type(rule)]
        proof = rule.certify(row[None])
        assert proof.prediction[0] == attacker.decision(row, decide), (rule, row)
        assert proof.radius[0] <= truths[decide], (rule, row)
        if is_exact(rule, row.shape[1]):
            assert proof.radius[0] == truths[decide], (rule, row)


@pytest.mark.parametrize(
    ("n_labels", "how_many", "most_submodels"), [(2, 300, 7), (3, 4000, 7), (4, 800, 5)]
)
def test_contested_elections_against_every_attack(n_labels, how_many, most_submodels):
    for row in attacker.profiles(
        np.random.default_rng(n_labels), how_many, n_labels, most_submodels
    ):
        assert_holds(row)


@pytest.mark.long
@pytest.mark.parametrize(
    ("n_labels", "how_many", "most_submodels"), [(3, 80_000, 8), (4, 20_000, 6)]
)
def test_many_contested_elections_against_every_attack(n_labels, how_many, most_submodels):
    for row in attacker.profiles(
        np.random.default_rng(100 + n_labels), how_many, n_labels, most_submodels
    ):
        assert_holds(row)


def test_contested_elections_with_a_margin():
    for row in attacker.profiles(np.random.default_rng(0), 400, 3, 4):
        proof = Tournament(MARGIN).certify(row[None])
        assert proof.radius[0] <= attacker.truth(row, attacker.tournament, MARGIN), row


def test_contested_elections_of_many():
    """Too many submodels for the attacker: the slow obvious version is the yardstick."""
    rng = np.random.default_rng(1)
    for n_labels in (2, 3, 4, 6):
        for row in attacker.profiles(rng, 500, n_labels, 30):
            each_label = np.repeat(row[None].astype(np.float32), n_labels, axis=0)
            assert_same_as_slow(each_label, margin=1.5, k=2)


def test_topk_is_exact_for_every_small_count():
    """Every count of votes, label and k for up to four submodels and labels."""
    for n_submodels, n_labels in product(range(1, 5), range(1, 5)):
        for ballot in combinations_with_replacement(range(n_labels), n_submodels):
            votes = np.eye(n_labels)[list(ballot)]
            for label, k in product(range(n_labels), range(1, n_labels + 1)):
                assert TopK(k).certify(votes[None], [label]).radius[0] == every_topk_attack(
                    votes.astype(int), label, k
                )
