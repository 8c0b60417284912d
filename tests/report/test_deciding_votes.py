"""What decides a row, counted vote by vote."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionClassifier
from partita.report import gather, render
from partita.report._numbers import in_votes
from partita.rules import Plurality, RunOff, Tournament
from partita.workflow import CertifiedTable


def duel(ballots, mine, other, margin):
    """The gap of two labels in full votes, submodel by submodel."""
    gap = 0.0
    for scores in ballots.astype(np.float64):
        lead = scores[mine] - scores[other]
        gap += np.rint(127 * min(1, max(-1, lead / margin))) / 127 if margin else np.sign(lead)
    return gap


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_a_tournament_shows_its_closest_duel(visit, digits, margin):
    certified = digits[0].under(Tournament(margin=margin, prior=0.0))
    rows = gather(certified, title="Digits")["rows"]
    most_votes = np.array(
        [np.bincount(one.argmax(axis=1), minlength=10).argmax() for one in certified.ballots]
    )
    assert np.any(most_votes != certified.prediction)  # so votes would mislead
    told = set()
    for row in rows:
        gap = duel(certified.ballots[row["row"]], row["prediction"], row["runner_up"], margin)
        assert row["lead"] == pytest.approx(gap, abs=1e-4)
        kind, by = re.fullmatch(
            rf"(leads|behind|level with) {row['runner_up']}(?: by (.+) of 21 votes.*)?",
            row["decided"],
        ).groups()
        told.add(kind)
        assert kind == ("leads" if gap > 1e-9 else "behind" if gap < -1e-9 else "level with")
        if by is not None:
            assert (
                0 < abs(gap) < 0.05
                if by == "less than 0.1"
                else float(by) == pytest.approx(abs(gap), abs=0.0501)
            )
    assert "leads" in told
    page = visit(render(gather(certified, title="Digits")))
    assert page.locator("#rows th[data-name=votes]").inner_text() == "closest duel"
    assert page.locator("#rows td.votes small").all_inner_texts() == [
        row["decided"] for row in rows[:25]
    ]


@pytest.mark.parametrize(
    ("gap", "full", "told"),
    [(3, 127, "less than 0.1"), (160, 127, "1.3"), (254, 127, "2"), (3, 1, "3")],
)
def test_a_lead_is_in_full_votes_and_never_reads_as_zero(gap, full, told):
    assert in_votes(gap, full) == told


def test_a_head_start_is_named_beside_the_duel(digits):
    head = [0.0] * 9 + [2.0]
    certified = digits[0].under(Tournament(margin=0.0, prior=0.0, offset=head))
    for row in gather(certified, title="Digits")["rows"]:
        ahead = head[row["prediction"]] - head[row["runner_up"]]
        assert (
            row["lead"]
            == duel(certified.ballots[row["row"]], row["prediction"], row["runner_up"], 0) + ahead
        )
        assert row["decided"].endswith("(2 head start included)") == (ahead > 0)
        assert row["decided"].endswith("(2 head start for 9 deducted)") == (ahead < 0)


def test_a_run_off_shows_its_second_round(visit, digits):
    certified = digits[0].under(RunOff())
    facts = gather(certified, title="Digits")
    for row in facts["rows"]:
        ballots = certified.ballots[row["row"]]
        mine = sum(scores[row["prediction"]] > scores[row["runner_up"]] for scores in ballots)
        other = sum(scores[row["prediction"]] < scores[row["runner_up"]] for scores in ballots)
        undecided = f", {21 - mine - other} undecided" if mine + other < 21 else ""
        assert row["decided"] == f"{mine} to {other} against {row['runner_up']}{undecided}"
        assert mine >= other
    assert visit(render(facts)).locator("#rows th[data-name=votes]").inner_text() == "round 2"


def test_a_plurality_shows_the_votes(digits):
    certified = digits[0].under(Plurality())
    for row in gather(certified, title="Digits")["rows"]:
        counts = np.bincount(certified.ballots[row["row"]].argmax(axis=1), minlength=10)
        told = dict(
            map(int, part.split(": ")) for part in row["decided"].removesuffix(" · …").split(" · ")
        )
        assert told == {label: counts[label] for label in told}
        assert next(iter(told)) == row["prediction"]
        assert row["lead"] == counts[row["prediction"]] - counts[row["runner_up"]]


@pytest.mark.parametrize("rule", ["tournament", "plurality"])
def test_a_row_of_the_fallback_shows_the_vote_that_it_overrules(rule):
    X, y = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=21, rule=rule, fallback=DecisionTreeClassifier(), gate=1
    ).fit(X[:900], y[:900])
    certified = CertifiedTable.of(clf, X[900:1000], truth=y[900:1000])
    facts = gather(certified, title="Digits")
    assert facts["by_fallback"] == certified.by_fallback.sum() > 0
    assert [line["name"] for line in facts["curves"]] == (
        ["tournament", "plurality"] if rule == "tournament" else ["plurality", "tournament"]
    )
    vote = certified.rule.certify(certified.ballots)
    for row in facts["rows"]:
        i = row["row"]
        if certified.by_fallback[i]:
            label = f"{vote.prediction[i]} " if rule == "tournament" else f"{vote.prediction[i]}: "
            assert row["decided"].startswith(f"fallback; in the vote {label}")
            assert row["radius"] == 0
        else:
            assert "fallback" not in row["decided"]
    assert 'id="fallback"' in render(facts)
    assert 'id="fallback"' not in render(gather(digits_without(certified), title="Digits"))


def digits_without(certified):
    ballots = replace(certified.ballots, rule=certified.rule, fallback=None)
    return replace(certified, ballots=ballots)
