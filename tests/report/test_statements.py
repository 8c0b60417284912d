"""The sentences of the report: one criterion, sampling errors, and nothing proven at r = 0."""

import re
from copy import copy
from dataclasses import replace

import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.ensemble import FixedVote
from partita.metrics import certified_accuracy
from partita.report import gather, render
from partita.report._statements import sampling_error, wilson
from partita.workflow import CertifiedTable
from partita.workflow._certified_table import TRAINING_ROWS

from .pages import cells


@pytest.mark.parametrize(
    ("hits", "n"), [(0, 1), (1, 1), (0, 40), (40, 40), (416, 540), (1, 10_000)]
)
def test_the_sampling_error_is_wilsons(hits, n):
    known = binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson(hits / n, n) == pytest.approx((known.low, known.high), abs=1e-9)


def test_a_percentage_is_written_with_its_sampling_error(visit, cancer, page_of_cancer):
    assert sampling_error(416 / 540, 540) == "95 % interval 73.3 to 80.4, 540 rows"
    certified, truth, _ = cancer
    page = visit(page_of_cancer)
    low, high = wilson(certified_accuracy(truth, certified.proof, 1), len(truth))
    assert (
        page.locator("#error").inner_text()
        == f"95 % interval {100 * low:.1f} to {100 * high:.1f}, {len(truth)} rows"
    )
    page.locator("#numbers summary").click()
    assert (
        f"{100 * low:.1f} to {100 * high:.1f}"
        in page.locator("#numbers tbody tr").nth(1).inner_text()
    )


def test_the_criterion_is_spelled_out_and_the_same_everywhere(visit, diabetes):
    reg, X, truth = diabetes
    facts = gather(CertifiedTable.of(reg, X, relative=0.4, truth=truth), title="Diabetes")
    page = visit(render(facts))
    assert "is right if it lies within 40 % of the truth" in page.locator("#criterion").inner_text()
    assert (
        f"{facts['right_now']} of {len(truth)} predictions are right now"
        in page.locator("#criterion").inner_text()
    )
    whole = page.locator("body").inner_text()
    assert not re.search(r"of (its|their) (own )?value|of the prediction", whole)
    one = facts["collective"][0]
    assert (
        f"breaks at most {one['changed']} of the {facts['right_now']} predictions that are right "
        "now" in page.locator("#collective-note").inner_text()
    )
    assert (
        f"{one['changed']} of {facts['right_now']} right"
        in page.locator("#collective").inner_text()
    )
    assert cells(page, "radius")[0] == "0"  # rows without a radius come last, up and down
    page.locator("#rows th[data-name=radius] button").click()
    assert cells(page, "radius")[0] == str(
        max(row["radius"] for row in facts["rows"] if row["right"])
    )
    page.locator("#show").select_option("wrong")
    assert set(cells(page, "radius")) == {"not right"}
    own = render(gather(CertifiedTable.of(reg, X, relative=0.4), title="Diabetes"))
    page = visit(own)
    assert (
        "stays if it remains within 40 % of its own value"
        in page.locator("#criterion").inner_text()
    )
    assert "of the truth" not in page.locator("body").inner_text()
    assert "stay within 40 % of their own value" in page.locator("#collective-note").inner_text()


def test_labels_say_what_counts_as_a_change(visit, page_of_cancer):
    page = visit(page_of_cancer)
    assert "stays if it remains the same label" in page.locator("#criterion").inner_text()
    assert "becomes another label, right or wrong before" in page.locator("body").inner_text()


@pytest.mark.parametrize("scripted", [True, False])
def test_accuracy_without_an_attack_is_not_called_proven(scripted, visit):
    """One submodel: nothing is proven at r = 1, so the page opens at r = 0."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=1, rule="plurality").fit(
        X[::2], y[::2]
    )
    facts = gather(CertifiedTable.of(clf, X[1::2], truth=y[1::2].to_numpy()), title="One")
    assert facts["curves"][0]["share"][1] == 0
    page = visit(render(facts), java_script_enabled=scripted)
    assert page.locator("#proven-title").inner_text() == "Without an attack"
    assert page.locator("#radius-value").inner_text() == "0"
    assert "Nothing is proven at r = 0" in page.locator("#sentence").inner_text()


def test_what_a_flag_and_a_warning_both_say_is_said_once(cancer):
    model = copy(cancer[0].model)
    model.estimators_ = [*model.estimators_[:6], *[FixedVote("no")] * 3]
    certified = replace(cancer[0], model=model)
    (banner,) = gather(certified, title="Cancer")["banners"]
    assert banner["text"].startswith("3 of 9 submodels failed to fit; each casts a fixed vote")
    quality = {"warnings": [TRAINING_ROWS, banner["text"]], "on_training": True}
    banners = gather(certified, title="Cancer", quality=quality)["banners"]
    assert [banner["kind"] for banner in banners] == ["training", "warning"]
    assert banners[1]["text"] == quality["warnings"][1]
