"""One stop of the tour does what the commands it prints do."""

import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest

from partita import store
from partita.cli import _demo_tour
from partita.cli._demo_tour import TOUR


@pytest.fixture
def diabetes_only(monkeypatch, tmp_path):
    """The quickest stop, with fewer settings."""
    stop = replace(next(stop for stop in TOUR if stop.name == "diabetes"), sweep=(3,))
    monkeypatch.setattr(_demo_tour, "TOUR", (stop,))
    monkeypatch.chdir(tmp_path)
    return stop


@pytest.mark.long
def test_the_printed_commands_give_the_same_model(diabetes_only, partita, capsys, tmp_path):
    found = _demo_tour._visit(diabetes_only, tmp_path / "demo", quiet=False)
    out = capsys.readouterr().out
    commands = [shlex.split(line) for line in re.findall(r"\$ partita (.*)", out)]
    assert [command[0] for command in commands] == ["sweep", "fit", "report"]
    assert "median  " in out
    before = store.manifest(found["model"])["files"]
    assert partita(*commands[1])[0] == 0
    assert store.manifest(found["model"])["files"] == before
    report = (tmp_path / "demo" / "diabetes.html").read_text()
    assert "Diabetes, within 40 % of the truth" in report
    curve = found["certified_accuracy"]["median"]
    assert json.loads(json.dumps(curve)) == curve
    assert np.all(np.diff(curve) <= 0)


def test_every_stop_has_a_split_of_its_own_rows():
    for stop in TOUR:
        train, test = _demo_tour._tables(stop)
        assert list(train) == list(test)
        assert stop.target in train
        assert len(train[stop.target]) > len(test[stop.target]) > 100
