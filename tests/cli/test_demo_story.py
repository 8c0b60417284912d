"""``partita demo gas``, ``air`` and ``credit``, as a user meets them."""

import json
import os
import subprocess
import sys

import pytest

from partita.cli import _demo_story
from partita.deployments import _run
from tests.deployments.small import NAMES, needs_data, small_story


def children_seconds():
    """Processor time of finished children: other work on the machine does not count."""
    used = os.times()
    return used.children_user + used.children_system


@pytest.fixture
def quick(monkeypatch):
    """The command with a small story instead of a long one."""
    story = small_story("credit")

    def run(name, out, *, data, verbose):
        assert name == "credit"
        return story

    monkeypatch.setattr(_demo_story, "run_deployment", run)
    return story


def test_the_answers_are_printed_as_tables_and_the_decision_last(quick, partita, tmp_path):
    code, out, _ = partita("demo", "credit", "--out", tmp_path / "told")
    assert code == 0
    words = " ".join(out.split())
    for number, answer in enumerate(quick.answers.values(), start=1):
        assert f"{number}. {answer.question}" in words
        assert " ".join(answer.text.split()) in words
    assert " ".join(quick.decision.split()) in words
    assert str(tmp_path / "told" / "README.md") in "".join(out.split("\n"))


def test_json_is_one_object(quick, partita, tmp_path):
    code, out, _ = partita("demo", "credit", "--json", "--out", tmp_path / "told")
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(quick.as_dict()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["weather"], "name is 'weather': give one of gas, air, credit"),
        (["gas", "--data", "nothing.parquet"], "is not a file: give gas_drift.parquet"),
        (["--data", "x"], "data goes with a story: add gas, air or credit"),
        (["credit", "--out", __file__], "is not a folder: name one"),
    ],
)
def test_bad_requests_are_one_sentence(arguments, message, partita, cache):
    code, out, err = partita("demo", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_without_data_the_error_says_where_to_get_it(partita, cache, monkeypatch):
    from partita.datasets import _uci

    monkeypatch.setattr(_uci, "SITES", ())
    monkeypatch.setattr(_uci, "shared_file", lambda name: None)
    code, out, err = partita("demo", "gas")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "go online, or put gas+sensor+array+drift+dataset.zip" in err


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_whole_story_takes_less_than_five_minutes(name, tmp_path):
    needs_data(name)
    before = children_seconds()
    command = [sys.executable, "-m", "partita", "demo", name, "--out", tmp_path, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert children_seconds() - before < 2 * 300  # of processor time, on two cores
    found = json.loads(done.stdout)
    assert found["answers"]["audit"]["passed"]
    assert found["answers"]["audit"]["broken"] == 0
    page = (tmp_path / "README.md").read_text()
    assert found["decision"] in page
    for key in found["answers"]:
        assert (tmp_path / f"{key}.png").is_file()
        assert f"({key}.png)" in page
    assert json.loads((tmp_path / "results.json").read_text()) == found
    assert list(_run.STORIES) == list(NAMES)
