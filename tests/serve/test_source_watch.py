"""Sources in /metrics: what a watcher finds in the same rows, for one worker and for several."""

from array import array

import numpy as np
import pytest

from partita import InputError, serve, store
from partita.serve._certifier import Certifier
from partita.serve._metrics import Metrics, SourceWatch, n_cells, request_families, source_families
from partita.serve._rows import json_bytes
from partita.serve._run import _watched_sources
from partita.store._reference_rates import REFERENCE_RATES, write_rates
from partita.watch import Watcher, learn_usual
from partita.workflow import CertifiedTable

from .client import CANCER, DIABETES, FIRST, ask, rows_of, server
from .test_metrics import parsed


def sources_of(text, usual):
    """The metrics of every source, as Watcher counts them."""
    found = parsed(text)
    return [
        [found.get(f'partita_source_{name}{{source="{source}"}}', 0.0) for source in usual.sources]
        for name in ("rows_total", "contradictions_total", "log10_wealth")
    ]


def expected_of(watcher):
    found = watcher.result.sources
    return [
        [one.counted for one in found],
        [one.contradictions for one in found],
        [one.log_wealth / np.log(10) for one in found],
    ]


def test_metrics_show_what_a_watcher_finds(classifier):
    usual = learn_usual(classifier, CANCER[:300])
    app = serve.make_app(classifier, usual=usual)
    for start, end in ((300, 340), (340, 341), (341, 400)):
        ask(app, {"rows": rows_of(CANCER[start:end])})
    watcher = Watcher(classifier, usual)
    watcher.update(classifier.ballots(CANCER[300:400]))
    text = ask(app, b"", "/metrics", "GET").text
    np.testing.assert_allclose(sources_of(text, usual), expected_of(watcher), atol=1e-9)
    found = parsed(text)
    limit = found["partita_source_alarm_log10_wealth"]
    assert limit == pytest.approx(np.log10(2 * len(usual.sources) / 0.01))
    source = usual.sources[0]
    assert found[f'partita_source_usual_ratio{{source="{source}"}}'] == usual.rates[0]


def test_without_usual_rates_nothing_is_watched(classifier):
    assert "partita_source" not in ask(serve.make_app(classifier), b"", "/metrics", "GET").text


def test_workers_are_added_up(classifier):
    usual = learn_usual(classifier, CANCER[:300])
    paths, further = ("/certify",), source_families(usual.sources)
    width = n_cells((*request_families(paths), *further))
    cells = array("d", bytes(8 * 2 * width))
    totals = []
    for k, rows in enumerate((CANCER[300:350], CANCER[350:400])):
        metrics = Metrics(paths, cells=cells, worker=k, further=further)
        watch = SourceWatch(Watcher(classifier, usual), metrics)
        watch(CertifiedTable.of(classifier, rows))
        totals.append(expected_of(watch._watcher))
    np.testing.assert_allclose(sources_of(metrics.text(), usual), np.sum(totals, axis=0), atol=1e-9)


def test_a_worker_that_is_replaced_leaves_what_it_won_or_lost(classifier):
    """Bets that were lost and forgotten would make false alarms likelier with every death."""
    usual = learn_usual(classifier, CANCER[:300])
    paths, further = ("/certify",), source_families(usual.sources)
    cells = array("d", bytes(8 * n_cells((*request_families(paths), *further))))
    total = np.zeros((3, len(usual.sources)))
    for life in range(10):
        metrics = Metrics(paths, cells=cells, further=further)
        watch = SourceWatch(Watcher(classifier, usual), metrics)
        watch(CertifiedTable.of(classifier, CANCER[300 + 20 * life : 320 + 20 * life]))
        total += expected_of(watch._watcher)
        metrics.add("partita_requests_in_flight")  # when it is killed
    assert total[2].min() < -1
    np.testing.assert_allclose(sources_of(metrics.text(), usual), total, atol=1e-9)
    assert Metrics(paths, cells=cells, further=further).in_flight == 0


def test_rows_with_a_silent_source_are_left_out(classifier):
    usual = learn_usual(classifier, CANCER[:300])
    metrics = Metrics(("/certify",), further=source_families(usual.sources))
    watch = SourceWatch(Watcher(classifier, usual), metrics)
    rows = CANCER[300:320].copy()
    name = next(name for name in CANCER if name not in ("mean texture", FIRST, "mean area"))
    rows.loc[rows.index[:5], name] = np.nan
    watch(CertifiedTable.of(classifier, rows, silent="detect"))
    assert watch._watcher.rows == 15


def test_a_watcher_that_fails_stops_no_answer(classifier, monkeypatch, caplog):
    usual = learn_usual(classifier, CANCER[:300])
    metrics = Metrics(("/certify",), further=source_families(usual.sources))
    watch = SourceWatch(Watcher(classifier, usual), metrics)
    monkeypatch.setattr(watch._watcher, "update", lambda ballots: 1 / 0)
    certifier = Certifier(classifier, None, None, 100, watch=watch)
    (answer,) = certifier.answers([json_bytes({"rows": rows_of(CANCER[:2])})])
    assert answer.n_rows == 2
    assert "could not be watched" in caplog.text


@pytest.mark.long
def test_a_stored_model_is_watched_by_all_workers(classifier, folder):
    model = store.save(classifier, folder / "watched")
    assert _watched_sources(model) == ()
    assert _watched_sources(folder / "nowhere") == ()
    usual = learn_usual(classifier, CANCER[:300])
    write_rates(model, usual.to_dict(), {})
    assert _watched_sources(model) == usual.sources
    with server(model, folder / "watched.log", workers=2) as running:
        client = running[0]
        for start in range(300, 360, 10):
            assert client.post("/certify", json={"rows": rows_of(CANCER[start : start + 10])})
        found = sources_of(client.get("/metrics").text, usual)
    watcher = Watcher(classifier, usual)
    watcher.update(classifier.ballots(CANCER[300:360]))
    np.testing.assert_array_equal(found[:2], expected_of(watcher)[:2])
    (model / REFERENCE_RATES).write_text("{")
    assert _watched_sources(model) == ()


def test_usual_rates_of_another_model_are_refused(classifier, regressor):
    with pytest.raises(InputError, match="other sources"):
        serve.make_app(classifier, usual=learn_usual(regressor, DIABETES))
