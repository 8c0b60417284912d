"""The tour, whole."""

import json
import subprocess
import sys
import time

import pytest


@pytest.mark.long
def test_demo_is_done_within_a_minute(tmp_path):
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
