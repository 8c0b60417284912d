"""The report's table of sources that contradict the outcome."""

import numpy as np
import pytest

from partita import store
from partita.report import gather, render, write_report
from partita.report._numbers import watch_numbers
from partita.store._reference_rates import write_rates
from partita.watch import learn_usual, watch
from partita.workflow import CertifiedTable, certify_file


def test_without_usual_rates_contradictions_are_counted(cancer):
    certified, _, facts = cancer
    found = facts["watch"]
    usual = learn_usual(certified.model, certified.table.take(list(range(30))))
    assert found["usual_rows"] is None
    assert {one["source"]: one["contradictions"] for one in found["sources"]} == dict(
        zip(usual.sources[:-1], usual.contradictions[:-1].tolist(), strict=True)
    )
    rates = [one["rate"] for one in found["sources"]]
    assert rates == sorted(rates, reverse=True)


def test_a_source_that_has_changed_comes_first(visit, left_out, cancer):
    model, X, _ = left_out
    stuck = {name: X[name].max() for name in X if "radius" in name}
    usual = learn_usual(model, X)
    facts = gather(CertifiedTable.of(model, X.assign(**stuck)), title="", usual=usual)
    first = facts["watch"]["sources"][0]
    assert first["units"] == ["radius"]
    assert first["alarm"] is not None
    expected = watch(model, X.assign(**stuck), usual).alarms
    alarms = {one.source for one in expected} - {"all sources"}
    assert set(facts["watch"]["alarms"]) == alarms
    page = visit(render(facts))
    cells = page.locator("#watch tbody tr").first.inner_text().split("\t")
    assert cells[0].strip() == "radius"
    assert cells[-1].strip() == f"row {first['alarm']:,}"
    text = visit(render(cancer[2])).locator("main").inner_text()
    assert "What is usual is not known" in text


def test_values_need_usual_rates(left_out_values, diabetes):
    for model, X in (left_out_values[:2], diabetes[:2]):
        certified = CertifiedTable.of(model, X)
        assert watch_numbers(certified, None) is None
        found = watch_numbers(certified, learn_usual(model, X))
        assert found["usual_rows"] == len(certified)
        assert found["alarms"] == []


def test_rows_with_a_silent_source_are_left_out(cancer):
    certified = cancer[0]
    X = certified.table.take(list(range(30)))
    silent = np.zeros((len(X), len(certified.model.units_)), dtype=bool)
    silent[:10, 0] = True
    found = watch_numbers(CertifiedTable.of(certified.model, X, silent=silent), None)
    assert found["rows"] == len(X) - 10
    silent[:] = True
    assert watch_numbers(CertifiedTable.of(certified.model, X, silent=silent), None) is None


@pytest.mark.parametrize("known", [False, True])
def test_a_report_on_a_file_knows_what_the_model_keeps(cancer, tmp_path, known):
    certified = cancer[0]
    X = certified.table.take(list(range(30)))
    X.to_csv(tmp_path / "new.csv", index=False)
    path = store.save(certified.model, tmp_path / "model")
    if known:
        write_rates(path, learn_usual(certified.model, X).to_dict(), {})
    write_report(certify_file(path, tmp_path / "new.csv", verbose=0), tmp_path / "r.html")
    assert ("Usual is what" in (tmp_path / "r.html").read_text()) == known
