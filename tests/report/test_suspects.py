"""What the report says of models that leave units out: who disagrees, and what is not proven."""

import re
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from partita import LeaveOutClassifier
from partita.report import gather, render
from partita.report._numbers import leave_out_numbers
from partita.watch import Disagreement
from partita.workflow import CertifiedTable

from .pages import quality_of


def models_without(groups, n_groups, radius):
    """The numbers of the models that leave out these groups, and others."""
    models = combinations(range(n_groups), 2 * radius)
    return [k for k, hidden in enumerate(models) if set(groups) <= set(hidden)]


def suspects_slowly(said, agree, n_groups, radius):
    """For each row the groups without which alone models agree, set by set."""
    found = np.zeros((len(said), n_groups), bool)
    for row, values in enumerate(said):
        agreeing = [
            set(groups)
            for groups in combinations(range(n_groups), radius)
            if agree(values, values[models_without(groups, n_groups, radius)])
        ]
        if len(set(values)) > 1 and agreeing:
            found[row, sorted(set.intersection(*agreeing))] = True
    return found


@pytest.mark.parametrize("radius", [1, 2])
def test_a_group_is_suspect_where_models_agree_only_without_it(radius, left_out):
    _, X, y = left_out
    clf = LeaveOutClassifier(GaussianNB(), radius=radius, n_groups=6).fit(X[::2], y[::2])
    certified = CertifiedTable.of(clf, X[1::2])
    found = Disagreement.of(certified.model, certified.ballots)
    votes = clf.rule_.model_votes(certified.ballots)
    slow = suspects_slowly(votes, lambda _, own: len(set(own)) == 1, 6, radius)
    assert np.array_equal(found.suspect, slow)
    assert slow.any()
    assert np.array_equal(found.contested, [len(set(row)) > 1 for row in votes])
    table = leave_out_numbers(clf, found)["suspects"]
    assert {one["group"]: one["only"] for one in table["groups"]} == dict(
        enumerate(slow.sum(axis=0).tolist())
    )
    assert [one["only"] for one in table["groups"]] == sorted(slow.sum(axis=0), reverse=True)
    sets = list(combinations(range(6), radius))
    for one in table["groups"]:
        own = [k for k, groups in enumerate(sets) if one["group"] in groups]
        assert one["without"] == (found.agree[:, own].any(axis=1) & found.contested).sum()


def test_values_agree_without_a_set_that_halves_their_span(left_out_values):
    reg, X, _ = left_out_values
    certified = CertifiedTable.of(reg, X)
    found = Disagreement.of(certified.model, certified.ballots)
    values = reg.rule_.model_values(certified.ballots)
    slow = suspects_slowly(values, lambda all_, own: np.ptp(own) <= np.ptp(all_) / 2, 6, 2)
    assert np.array_equal(found.suspect, slow)
    assert slow.any()


@pytest.mark.parametrize("unit", ["radius", "compactness", "symmetry"])
def test_a_device_that_is_stuck_comes_first(left_out, unit):
    clf, X, _ = left_out
    stuck = {name: X[name].max() for name in X if unit in name}
    facts = gather(CertifiedTable.of(clf, X.assign(**stuck)), title="")
    first, second = facts["leave_out"]["suspects"]["groups"][:2]
    assert first["units"] == [unit]
    assert first["only"] > 10 * second["only"]
    rows = [row for row in facts["rows"] if row["suspects"] == [unit]]
    assert len(rows) == first["only"]
    assert all(row["decided"].endswith(f"agree only without {unit}") for row in rows)


def test_no_vote_over_overlapping_models_is_drawn(left_out, masked, left_out_values):
    """A radius of another rule would count models, of which one unit reaches most."""
    for model, X, y in (left_out, masked):
        facts = gather(CertifiedTable.of(model, X, truth=y), title="")
        (curve,) = facts["curves"]
        proof = model.certify(X)
        right = proof.prediction == y
        expected = [np.mean(right), np.mean(right & (proof.radius >= 1)), 0]
        assert (curve["name"], curve["share"]) == ("agreement", expected)
    reg, X, _ = left_out_values
    assert gather(CertifiedTable.of(reg, X), title="")["curves"] == []


def test_one_attacker_is_shown_up_to_the_radius_and_no_further(left_out, left_out_values):
    clf, X, y = left_out
    certified = CertifiedTable.of(clf, X, truth=y)
    facts = gather(certified, title="")
    (one,) = facts["collective"]
    assert one["radius"] == 1
    assert one["pointwise"] == (certified.proof.radius < 1).sum()
    assert one["changed"] == max(unit["critical"] for unit in facts["units"])
    reg, X, y = left_out_values
    certified = CertifiedTable.of(reg, X, relative=0.3, truth=y)
    facts = gather(certified, title="")
    assert [one["radius"] for one in facts["collective"]] == [1, 2]
    proof = reg.certify(X, around=y, relative=0.3)
    for one in facts["collective"]:
        assert one["pointwise"] == ((proof.radius >= 0) & (proof.radius < one["radius"])).sum()
        assert one["changed"] <= one["pointwise"]


def text_of(page):
    return re.sub(r"\s+", " ", page.locator("main").inner_text())


def test_the_page_says_nothing_that_is_true_of_disjoint_submodels_only(visit, left_out):
    clf, X, y = left_out
    certified = CertifiedTable.of(clf, X, truth=y)
    quality = quality_of(certified, y, full_model=0.97)
    page = visit(render(gather(certified, title="Cancer", quality=quality)))
    lead = page.locator(".lead").inner_text()
    assert "10 units, 45 submodels that each leave some of them out, one that sees all" in lead
    text = text_of(page)
    for false in ("share no", "one vote", "votes at most", "No unit is in two", "trained on which"):
        assert false not in lead + text
    assert "for each of the 10 units there are models that never see it" in text
    assert "in all training rows, in the row that is predicted, or in both" in text
    assert "More than 1 of the 10 units" in text
    accuracy = 100 * np.mean(certified.prediction == y)
    assert page.locator("#price").inner_text() == f"{97 - accuracy:.1f} points of accuracy"
    suspects = page.locator("#suspects tbody tr")
    assert suspects.count() == 10
    headings = page.locator("#units thead").inner_text().strip().split("\t")
    assert headings == ["unit", "critical, of 284", "columns"]


def test_the_page_of_a_model_whose_training_is_trusted_says_so(visit, masked):
    clf, X, y = masked
    facts = gather(CertifiedTable.of(clf, X, truth=y), title="Masked")
    assert facts["trusted"] == ["mean radius"]
    page = visit(render(facts))
    text = text_of(page)
    assert "one model that is asked with 10 choices of these masked" in (
        page.locator(".lead").inner_text()
    )
    assert "The training table is trusted" in page.locator("#only-rows").inner_text()
    assert "training rows" not in text
    assert "whatever is written into any 1 of the 10 units of a row" in text
    assert "Training labels" not in text


def test_rows_on_which_no_models_agree_are_counted():
    X, y = load_digits(return_X_y=True)
    clf = LeaveOutClassifier(GaussianNB(), n_groups=6).fit(X[:900], y[:900])
    noise = np.random.default_rng(0).permuted(X[900:960], axis=0)
    certified = CertifiedTable.of(clf, noise)
    facts = gather(certified, title="Noise")
    agree = ~clf.rule_.breakable(certified.ballots, 1)
    unsettled = (~agree.any(axis=1)).sum()
    assert facts["leave_out"]["suspects"]["unsettled"] == unsettled > 0
    assert f"whatever is left out: {unsettled} of 60" in re.sub(r"\s+", " ", render(facts))
    ends = [row["decided"] for row in facts["rows"] if "no set agrees" in row["decided"]]
    assert len(ends) == unsettled


def test_many_values_of_a_row_are_thinned_out_between_their_ends(left_out_values, monkeypatch):
    reg, X, _ = left_out_values
    certified = CertifiedTable.of(reg, X)
    values = np.sort(reg.rule_.model_values(certified.ballots), axis=1)
    for most, shown in ((15, list(range(15))), (8, list(range(0, 15, 2)))):
        monkeypatch.setattr("partita.report._numbers.MOST_VALUES", most)
        for row in gather(certified, title="")["rows"]:
            assert row["values"] == pytest.approx(values[row["row"], shown], rel=1e-5)
