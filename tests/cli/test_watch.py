"""``partita watch``."""

import json

import pandas as pd
import pytest

from .tables import fit_model


def flat(text):
    """Without the line breaks of the terminal."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def rows(cancer, tmp_path_factory):
    """A model, clean rows, and rows in which the units of one submodel are stuck."""
    folder = tmp_path_factory.mktemp("watch")
    model = fit_model(cancer / "train.csv", "diagnosis", folder / "model", 5, cancer / "units.toml")
    frame = pd.read_csv(cancer / "test.csv").sample(frac=1, random_state=0)
    frame[:180].to_csv(folder / "clean.csv", index=False)
    new = frame[180:]
    new.to_csv(folder / "new.csv", index=False)
    stuck = {name: 3 * new[name].max() for name in new if name.startswith("worst")}
    new.assign(**stuck).to_csv(folder / "stuck.csv", index=False)
    return folder, model


def test_usual_is_learnt_and_rows_are_watched(partita, rows, cancer):
    folder, model = rows
    code, _, err = partita("watch", model, folder / "new.csv")
    assert (code, "does not say what is usual" in err) == (2, True)
    code, out, _ = partita("watch", model, "--usual", folder / "clean.csv")
    assert code == 0
    assert "ReferenceRates contradictions on 180 clean rows" in out
    code, out, _ = partita("watch", model, folder / "new.csv")
    assert code == 0
    assert "No alarm in 104 rows" in out
    picture = folder / "watch.png"
    code, out, _ = partita(
        "watch", model, folder / "new.csv", folder / "stuck.csv", "--time", "id", "--out", picture
    )
    assert code == 3
    assert "contradicts" in out
    assert "patient" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    code, out, _ = partita("watch", model, folder / "stuck.csv", "--json", "--quiet")
    found = json.loads(out)
    assert code == 3
    (alarm,) = [one for one in found["alarms"] if one["source"] != "all sources"]
    by_name = {one["source"]: one for one in found["sources"]}
    assert "worst" in by_name[alarm["source"]]["units"]
    assert partita("certify", model, cancer / "test.csv")[0] == 0


def test_both_at_once_and_a_state(partita, rows):
    folder, model = rows
    state = folder / "state.json"
    clean, new = folder / "clean.csv", folder / "new.csv"
    code, out, _ = partita("watch", model, new, "--usual", clean, "--state", state, "--every", "2")
    assert code == 0
    assert "is new, so that this call begins a budget of false alarms" in flat(out)
    code, out, _ = partita("watch", model, new, "--state", state, "--json")
    found = json.loads(out)
    assert (code, found["rows"], found["every"]) == (0, 208, 2)
    assert found["false_alarms_in"] == "all calls with this state"
    code, out, _ = partita("watch", model, new, "--state", state)
    assert "False alarms in all calls with this state have a probability of at most 1 %" in flat(
        out
    )
    assert "begins a budget" not in flat(out)


def test_without_a_state_every_call_says_that_its_false_alarms_are_its_own(partita, rows):
    folder, model = rows
    new = folder / "new.csv"
    code, out, _ = partita("watch", model, new, "--usual", folder / "clean.csv")
    assert code == 0
    assert "False alarms in this call have a probability of at most 1 %, if rows do" in flat(out)
    assert "Without --state, each call has that probability again." in flat(out)
    code, out, _ = partita("watch", model, folder / "stuck.csv", "--false-alarms", "0.0002")
    assert code == 3
    assert "False alarms in this call have a probability of at most 0.02 %" in flat(out)
    code, out, _ = partita("watch", model, new, "--json")
    assert json.loads(out)["false_alarms_in"] == "this call"


def test_clean_rows_that_depend_on_their_neighbours_are_pointed_out(partita, rows):
    folder, model = rows
    clean = pd.read_csv(folder / "clean.csv")
    clean.loc[clean.index.repeat(6)].to_csv(folder / "repeated.csv", index=False)
    code, _, err = partita("watch", model, "--usual", folder / "repeated.csv")
    assert (code, "the clean rows depend on their neighbours" in flat(err)) == (0, True)
    code, _, err = partita("watch", model, "--usual", folder / "repeated.csv", "--every", "6")
    assert (code, "depend on their neighbours" in flat(err)) == (0, False)


def test_bad_input(partita, rows, cancer):
    folder, model = rows
    wrong = {
        (): "data is missing",
        (folder / "new.csv", "--usual", cancer / "train.csv"): "is the training table",
        (folder / "new.csv", "--usual", folder / "clean.csv", "--false-alarms", 2): "false_alarms",
        (folder / "new.csv", "--out", "picture.txt"): "out 'picture.txt'",
        (folder / "new.csv", "--time", "hour", "--usual", folder / "clean.csv"): "time names",
    }
    for arguments, message in wrong.items():
        code, _, err = partita("watch", model, *arguments)
        assert (code, message in err) == (2, True), err
