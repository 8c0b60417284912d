"""Metrics as Prometheus reads them, added up over workers."""

import re
from array import array

import pytest

from partita import serve
from partita.serve._metrics import Metrics, gauge, n_cells, request_families

from .client import CANCER, DIABETES, ask, rows_of

LINE = re.compile(
    r'(\w+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*\})? (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\+Inf|NaN)'
)


def parsed(text):
    """Samples by name and labels; every line must be valid, and every metric described once."""
    samples, described = {}, []
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# TYPE"):
            described.append(line.split()[2])
        elif not line.startswith("# HELP"):
            name, labels, value = LINE.fullmatch(line).groups()
            assert (
                re.sub("_(bucket|sum|count)$", "", name) == described[-1] or name == described[-1]
            )
            samples[name + (labels or "")] = float(value)
    assert len(set(described)) == len(described)
    return samples


def test_requests_rows_and_radii_are_counted(classifier):
    app = serve.make_app(classifier, low_radius=2)
    model_rows = rows_of(CANCER[:30])
    answers = [ask(app, {"rows": model_rows}), ask(app, {"rows": model_rows[:1]})]
    ask(app, {"rows": []})
    ask(app, b"", "/nothing/at/all", "GET")
    told = ask(app, b"", "/metrics", "GET")
    assert told.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = parsed(told.text)
    assert found['partita_requests_total{path="/certify",status="200"}'] == 2
    assert found['partita_requests_total{path="/certify",status="422"}'] == 1
    assert found['partita_requests_total{path="other",status="404"}'] == 1
    assert "nothing" not in told.text
    assert found["partita_rows_total"] == 31
    radii = [row["radius"] for answer in answers for row in answer.json()["rows"]]
    for bound in (0, 1, 2, 3, 5):
        known = found[f'partita_radius_bucket{{le="{bound}"}}']
        assert known == sum(radius <= bound for radius in radii)
    assert found['partita_radius_bucket{le="+Inf"}'] == found["partita_radius_count"] == 31
    assert found["partita_radius_sum"] == sum(radii)
    low = sum(radius < 2 for radius in radii)
    assert found["partita_low_radius_rows_total"] == low
    assert found["partita_low_radius_ratio"] == pytest.approx(low / 31)
    assert found["partita_low_radius_threshold"] == 2
    assert found["partita_request_seconds_count"] == 4  # without probes
    assert found["partita_requests_in_flight"] == 1  # the one that asks
    assert found["partita_batch_requests_sum"] == 3


def test_workers_are_added_up_and_a_new_one_goes_on_counting():
    paths = ("/certify",)
    cells = array("d", bytes(8 * 3 * n_cells(request_families(paths))))
    workers = [Metrics(paths, cells=cells, worker=k) for k in range(3)]
    for k, metrics in enumerate(workers):
        metrics.rows(k + 1, range(k + 1))
        metrics.add("partita_requests_in_flight")
    assert {metrics.text() for metrics in workers} == {workers[0].text()}
    found = parsed(workers[1].text())
    assert (found["partita_rows_total"], found["partita_radius_count"]) == (6, 6)
    assert found["partita_requests_in_flight"] == 3
    again = Metrics(paths, cells=cells, worker=1)  # the second one was killed
    found = parsed(again.text())
    assert (found["partita_rows_total"], found["partita_requests_in_flight"]) == (6, 2)
    assert found["partita_worker_starts_total"] == 4


def test_further_metrics_can_be_shown():
    metrics = Metrics(("/certify",), constants={"model": 'a "b"\\\n'})
    meaning = "Whether a source has changed."
    metrics.show(gauge("partita_suspect", meaning, [{"unit": "station A"}]), [1.0])
    found = parsed(metrics.text())
    assert found['partita_suspect{unit="station A"}'] == 1
    assert found[r'partita_info{model="a \"b\"\\\n"}'] == 1


def test_other_statuses_are_one_label():
    metrics = Metrics(("/certify",))
    metrics.request("/certify", 418, 0.5, False)
    assert parsed(metrics.text())['partita_requests_total{path="/certify",status="other"}'] == 1


def test_values_without_a_radius_are_counted(regressor):
    app = serve.make_app(regressor)
    ask(app, {"rows": rows_of(DIABETES[:4])})
    found = parsed(ask(app, b"", "/metrics", "GET").text)
    assert (found["partita_rows_total"], found["partita_radius_count"]) == (4, 0)
    assert found["partita_low_radius_ratio"] == 0
