"""Several processes behind one address: one that dies is replaced, and all stop together."""

import os
import re
import signal
from pathlib import Path

import httpx
import pytest

from partita import store

from .client import CANCER, address_of, rows_of, server, start, strict, told_of_labels, wait_for


def children_of(process):
    """The worker processes, without the resource tracker."""
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    found = [int(number) for number in path.read_text().split()]
    return [one for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


def is_gone(pid):
    status = Path(f"/proc/{pid}/status")
    return not status.exists() or "\nState:\tZ" in status.read_text()


def metric(client, name):
    found = re.search(rf"^{re.escape(name)} (\S+)$", client.get("/metrics").text, re.MULTILINE)
    return float(found[1]) if found else 0.0


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="processes are found in /proc"
)


@pytest.mark.long
@needs_proc
def test_a_killed_worker_is_replaced_and_metrics_go_on(classifier, folder):
    model, log = store.save(classifier, folder / "workers"), folder / "workers.log"
    rows, expected = rows_of(CANCER[:5]), told_of_labels(classifier, CANCER[:5])
    with server(model, log, workers=2, drain_seconds=0) as (client, process, _):

        def answers():
            with httpx.Client(base_url=client.base_url, timeout=60) as other:  # a new connection
                return strict(other.post("/certify", json={"rows": rows}))["rows"]

        for _ in range(10):
            told = answers()
            assert [{name: row[name] for name in expected[0]} for row in told] == expected
        assert metric(client, "partita_rows_total") == 50  # whichever worker is asked
        workers = children_of(process)
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        wait_for(lambda: metric_of_any(client, "partita_worker_starts_total") == 3)
        wait_for(lambda: len(children_of(process)) == 2)
        assert metric_of_any(client, "partita_rows_total") == 50
        answers()
        assert metric_of_any(client, "partita_rows_total") == 55
        workers += children_of(process)
    assert f"worker 0 ended with code {-signal.SIGKILL}" in log.read_text() or (
        f"worker 1 ended with code {-signal.SIGKILL}" in log.read_text()
    )
    assert all(map(is_gone, workers))


def metric_of_any(client, name):
    """Over a new connection: an old one may have died with its worker."""
    with httpx.Client(base_url=client.base_url, timeout=60) as other:
        return metric(other, name)


@pytest.mark.long
@needs_proc
def test_workers_end_with_their_parent(regressor, folder):
    model, log = store.save(regressor, folder / "orphans"), folder / "orphans.log"
    process = start(model, log, workers=2)
    try:
        address_of(process, log)
        workers = children_of(process)
        assert len(workers) == 2
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: all(map(is_gone, workers)), 20)


@pytest.mark.long
def test_what_keeps_workers_from_starting_is_one_sentence(regressor, folder, partita):
    model = store.save(regressor, folder / "not started")
    code, _, told = partita("serve", model, "--port", 0, "--workers", 2, "--tolerance", -1)
    assert code == 2
    assert "it must be a finite number, 0 or above" in told
    assert "Traceback" not in told
