"""The load test of benchmarks/service.py, in short: real processes, faults, all answers checked."""

import importlib.util
from pathlib import Path

import pytest

from partita.serve import _certifier

FILE = Path(__file__).resolve().parent.parent / "benchmarks" / "service.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("benchmark_service_load", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_wrong_answer_is_noticed(benchmark):
    """Otherwise the load test proves nothing."""
    question = benchmark.Question("q1", b"", 200, [{"prediction": 1, "radius": 2, "runner_up": 0}])
    right = b'{"rows": [{"prediction": 1, "radius": 2, "runner_up": 0, "intervals": null}]}'
    assert benchmark.is_right(question, "q1", 200, right)
    assert not benchmark.is_right(question, "q2", 200, right)
    assert not benchmark.is_right(question, "q1", 422, right)
    assert not benchmark.is_right(question, "q1", 200, right.replace(b"2", b"3"))


@pytest.mark.long
def test_no_request_is_lost_or_mixed_up(benchmark, tmp_path):
    """While a worker is killed, clients are slow and the log's disk is full."""
    model, frame, path = benchmark.fitted(tmp_path)
    outcome = benchmark.faults(model, frame, path, tmp_path, n_requests=800, clients=16, kills=1)
    assert outcome.counts["workers killed"] == 1
    assert _certifier.MOST_TOGETHER > 16  # clients are answered together
