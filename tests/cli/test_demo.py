"""``partita demo``, as a user meets it."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from partita.cli import _demo_tour


@pytest.mark.long
def test_the_demo_takes_less_than_a_minute(tmp_path):
    started = time.monotonic()
    command = [sys.executable, "-m", "partita", "demo", "--out", tmp_path / "demo", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert time.monotonic() - started < 60
    found = json.loads(done.stdout)
    assert "fitted" in done.stderr  # progress
    for name in ("breast_cancer", "digits", "diabetes"):
        assert (tmp_path / "demo" / f"{name}.html").stat().st_size > 20_000
        assert (tmp_path / "demo" / f"{name}.png").is_file()
    curves = found["digits"]["certified_accuracy"]
    assert curves["tournament"][3] > curves["runoff"][3] > curves["plurality"][3]
    assert list(found["diabetes"]["certified_accuracy"]) == ["median"]


def test_json_is_what_the_tour_found(partita, monkeypatch):
    monkeypatch.setattr(_demo_tour, "run_demo", lambda out, quiet: {"out": str(out), "q": quiet})
    code, out, _ = partita("demo", "--json")
    assert (code, json.loads(out)) == (0, {"out": "partita-demo", "q": True})
    code, out, _ = partita("demo", "--out", Path("elsewhere"))
    assert (code, out) == (0, "")
