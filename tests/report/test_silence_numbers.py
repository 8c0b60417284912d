"""The heat map of liars and silent sources."""

import numpy as np
import pytest

from partita import FeaturePartitionRegressor, LeaveOutClassifier
from partita.report import gather, render
from partita.report._numbers import silence_numbers
from partita.rules import Plurality, RunOff
from partita.workflow import CertifiedTable


def test_entries_are_shares_of_right_rows_that_survive(cancer):
    certified, y, facts = cancer
    right = certified.prediction == y
    proof, found = certified.proof, facts["silence"]
    assert found["shares"][0][0] == right.mean()
    for r, m in ((1, 0), (0, 2), (1, 1)):
        assert found["shares"][r][m] == (proof.survives(r, m) & right).mean()
    assert found["shades"][0][0] == round(10 * right.mean())
    assert found["now"] is None
    assert silence_numbers(certified, None)["shares"][0][0] == 1.0


def test_the_page_has_the_table(page_of_cancer, cancer):
    found = cancer[2]["silence"]
    assert page_of_cancer.count('<td class="h') == sum(map(len, found["shares"]))
    assert '<th scope="col">2 silent</th>' in page_of_cancer


def test_the_heat_map_is_coloured_in_a_browser(visit, page_of_cancer):
    page = visit(page_of_cancer)
    colours = page.eval_on_selector_all(
        "#silence td", "cells => cells.map(cell => getComputedStyle(cell).backgroundColor)"
    )
    assert len(set(colours)) > 3


@pytest.mark.parametrize("rule", [None, Plurality(), RunOff()], ids=str)
@pytest.mark.parametrize("silent", ["detect", ["mean radius", "worst"]], ids=str)
def test_a_report_on_rows_with_silence(cancer, rule, silent):
    certified, y, _ = cancer
    X = certified.table.header.copy()
    X.loc[X.index[::3], "mean radius"] = np.nan
    model = certified.model
    table = CertifiedTable.of(model, X, truth=y, silent=silent)
    if rule is not None:
        table = table.under(rule)
    facts = gather(table, title="Cancer")
    page = render(facts)
    if rule is None:
        assert facts["silence"]["now"].startswith("Silent: ")
        assert "mean radius in" in page
    assert facts["curves"][0]["name"] == type(rule or model.rule_).__name__.lower()


def test_reports_on_leave_out_models_and_values_with_silence(cancer, diabetes):
    certified, y, _ = cancer
    X = certified.table.header
    clf = LeaveOutClassifier(radius=1, n_groups=4).fit(X, y)
    table = CertifiedTable.of(clf, X, truth=y, silent=["mean radius"])
    page = render(gather(table, title="Cancer"))
    assert "mean radius in" in page
    reg, rows, truth = diabetes
    assert isinstance(reg, FeaturePartitionRegressor)
    table = CertifiedTable.of(reg, rows, tolerance=50, truth=truth, silent=["bmi"])
    assert "bmi in" in render(gather(table, title="Diabetes"))
    without = CertifiedTable.of(reg, rows, silent=["bmi"])
    assert gather(without, title="Diabetes")["silence"] is None
