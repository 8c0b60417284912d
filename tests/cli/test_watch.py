"""``partita watch``."""

import json

import pandas as pd
import pytest

from .tables import fit_model


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
    assert "Usual contradictions on 180 clean rows" in out
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
    assert partita("watch", model, new, "--usual", clean, "--state", state, "--every", "2")[0] == 0
    code, out, _ = partita("watch", model, new, "--state", state, "--json")
    assert (code, json.loads(out)["rows"], json.loads(out)["every"]) == (0, 208, 2)


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
