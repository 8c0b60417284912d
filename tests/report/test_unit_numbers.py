"""The table of units."""

import numpy as np
import pytest

from partita.report._numbers import unit_numbers
from partita.workflow import CertifiedTable


def test_bars_of_units_are_shares_of_all_rows(visit, cancer, page_of_cancer):
    facts = cancer[2]
    page = visit(page_of_cancer)
    widths = page.evaluate(
        "[...document.querySelectorAll('#units .bar rect')].map((bar) => bar.getAttribute('width'))"
    )
    assert widths == [f"{100 * unit['critical'] / facts['n_rows']:.1f}%" for unit in facts["units"]]


def test_the_most_critical_unit_comes_first_and_counts_its_rows(cancer):
    certified, _, facts = cancer
    names = certified.model.units_.names
    critical = dict(zip(names, certified.critical_units.sum(axis=1).tolist(), strict=True))
    assert {unit["name"]: unit["critical"] for unit in facts["units"]} == critical
    assert [unit["critical"] for unit in facts["units"]] == sorted(critical.values(), reverse=True)
    worst = next(unit for unit in facts["units"] if unit["name"] == "worst")
    assert len(worst["columns"]) == 10
    votes = certified.model.classes_[certified.ballots.scores.argmax(axis=2)]
    agreement = (votes == certified.prediction[:, None]).mean(axis=0)
    for unit in facts["units"]:
        assert unit["agreement"] == pytest.approx(agreement[unit["submodels"]].mean())


def test_only_counted_rows_count(cancer):
    certified = cancer[0]
    some = np.zeros(len(certified), bool)
    some[:50] = True
    found = {unit["name"]: unit["critical"] for unit in unit_numbers(certified, some)}
    for name, rows in zip(certified.model.units_.names, certified.critical_units, strict=True):
        assert found[name] == rows[:50].sum()


def test_without_a_statement_nothing_is_critical(diabetes):
    reg, X, _ = diabetes
    for unit in unit_numbers(CertifiedTable.of(reg, X), None):
        assert (unit["critical"], unit["agreement"]) == (None, None)
