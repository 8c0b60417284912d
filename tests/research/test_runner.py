"""Runs are carried out once, resumed after an interruption, and left out with a reason."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from partita import InputError
from partita.vision import _pixel_sets as training
from partita.vision import _runtime
from research import data as data_module
from research.__main__ import main
from research.cells import CellSpec, Measurement, fill_cell
from research.data import load_run_data
from research.reproduce import reproduce
from research.runner import Pace, _data_of, duration, run_once
from research.runs import Run, Setting, read_result

ROOT = Path(__file__).resolve().parents[2]


def network_run(settings, count):
    details = {
        "stand_in": "digits",
        "train_rows": 60,
        "test_rows": 10,
        "submodel": "network",
        "settings": settings,
    }
    return Run(Setting("mnist", "partition", count, "strided"), details, 0)


def test_networks_are_left_out_where_there_is_no_gpu(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    content = reproduce("22", "full", tmp_path)
    assert {cell["not_run"] for cell in content["cells"]} == {
        "networks of this size wait for a machine with a GPU"
    }
    assert "some runs are left out: networks" in capsys.readouterr().err


def test_an_interrupted_run_resumes_and_states_no_time(monkeypatch, tmp_path):
    """How long it trained before is unknown, so the rest alone must not pass for the whole."""
    run = network_run({"width": 8, "blocks": 1, "epochs": 3, "flip": False, "shift": 0}, 8)
    run_epoch, epochs = training.PixelSetTraining.run_epoch, []

    def interrupted(self, epoch):
        if len(epochs) == 2:
            epochs.append("interrupted")
            raise KeyboardInterrupt
        epochs.append(epoch)
        return run_epoch(self, epoch)

    monkeypatch.setattr(_runtime, "SECONDS", 0.0)
    monkeypatch.setattr(training.PixelSetTraining, "run_epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_once(run, tmp_path, None)
    result = run_once(run, tmp_path, None)
    assert epochs == [0, 1, "interrupted", 2]
    assert result["resumed"]
    assert not (tmp_path / "unfinished").exists()
    assert read_result(tmp_path / "runs", run) == result

    def cell(what):
        measurement = Measurement(run.setting, what, "plurality")
        spec = CellSpec("seconds to train", "data", "FPA", "MNIST", 1.0, (measurement,))
        return fill_cell(spec, lambda _: [run], {run.name: result})

    for what in ("fit", "submodel", "row"):
        assert (
            cell(f"{what}_seconds")["not_run"]
            == "not timed: interrupted, or other runs had a share of the machine"
        )
    assert "ours" in cell("certified")


def test_data_that_are_not_available_are_listed_as_not_run(tmp_path, capsys):
    content = reproduce("13", "laptop", tmp_path / "out", cache=tmp_path)
    reasons = {cell["not_run"] for cell in content["cells"]}
    assert len(reasons) == 1
    assert "weather" in reasons.pop()
    assert str(tmp_path) not in json.dumps(content)  # results are for others, too
    log = capsys.readouterr().err
    assert log.count("left out") == 1
    assert "nothing to do" in log  # and not the days it would take


def test_several_runs_at_a_time_find_what_one_after_the_other_finds(results, tmp_path, capsys):
    """In processes of their own; what takes time, and the time, may differ."""
    found, _ = results
    content = reproduce("13", "smoke", tmp_path, n_jobs=2)
    assert content["cells"] == found["13"]["cells"]
    assert capsys.readouterr().err.count("partita: run ") == len(
        list((tmp_path / "smoke" / "runs").glob("*.json"))
    )


def test_data_that_are_missing_stop_no_other_run(monkeypatch, tmp_path, capsys):
    def no_digits(run, *_):
        if _data_of(run) == "digits":
            raise InputError("no digits here")
        return load_run_data(run, None)

    monkeypatch.setattr(data_module, "load_run_data", no_digits)
    content = reproduce("21", "smoke", tmp_path)
    assert [cell.get("not_run") for cell in content["cells"]] == [
        "no digits here",
        "no digits here",
        None,
        None,
    ]
    assert capsys.readouterr().err.count("digits is left out: no digits here") == 1


HANGS = """
import time
from research import runner
from research.__main__ import main

write_result = runner.write_result
runner.write_result = lambda *given: (write_result(*given), time.sleep(600))
main()
"""  # when the first run is written


@pytest.mark.long
def test_a_killed_run_resumes(tmp_path, capsys):
    """What is finished when the process is killed is read, not run again."""
    arguments = ["12", "--size", "smoke", "--out", str(tmp_path), "--json"]
    runs = tmp_path / "smoke" / "runs"
    process = subprocess.Popen(
        [sys.executable, "-c", HANGS, *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not list(runs.glob("[!.]*.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = {file.name: file.stat().st_mtime_ns for file in runs.glob("[!.]*.json")}
    assert finished
    assert not (tmp_path / "smoke" / "12.json").exists()
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert f"{len(finished)} of them done before" in err
    assert {name: (runs / name).stat().st_mtime_ns for name in finished} == finished
    assert json.loads(out)["tables"][0]["table"] == "12"


def test_the_time_left_follows_how_long_it_took():
    now = [0.0]
    pace = Pace(100.0, clock=lambda: now[0])
    assert pace.left == 100
    now[0] = 100.0
    pace.done(50.0)
    assert 50 < pace.left < 100  # twice as slow as thought: about 100 s, cautiously
    assert Pace(100.0, n_jobs=4, clock=lambda: now[0]).left == 25


def test_durations_are_in_units_that_people_like():
    assert [duration(seconds) for seconds in (0.2, 89, 600, 7200)] == [
        "1 s",
        "89 s",
        "10 minutes",
        "2.0 hours",
    ]
