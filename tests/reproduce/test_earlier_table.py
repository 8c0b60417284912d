"""Numbers in a table's file outlive the files of their runs, for the same settings only."""

import json
import shutil

import pytest

from partita.reproduce import _measure as measure_module
from partita.reproduce import reproduce
from partita.reproduce._earlier_table import EarlierTable, read_table, settings_of_runs
from partita.reproduce._runs import Run
from partita.reproduce._table_cells import fill_cell
from partita.reproduce._tables import table

from .smoke import smoke_run


@pytest.fixture
def alone(results, tmp_path):
    """The file of table 13 in a folder without its runs."""
    _, out = results
    file = tmp_path / "smoke" / "13.json"
    file.parent.mkdir()
    shutil.copy(out / "smoke" / "13.json", file)
    return file


def test_numbers_whose_runs_are_gone_are_kept(alone, monkeypatch, capsys):
    monkeypatch.setattr(measure_module, "measure", lambda *_: pytest.fail("it was measured before"))
    before = json.loads(alone.read_text())
    assert reproduce("13", "smoke", alone.parents[1]) == before
    assert json.loads(alone.read_text()) == before
    assert "nothing to do" in capsys.readouterr().err


def test_numbers_of_other_settings_are_measured_again(alone):
    content = json.loads(alone.read_text())
    changed = next(name for name in content["settings"] if name.startswith("weather-partition"))
    content["settings"][changed]["settings"]["n_estimators"] += 1
    for cell in content["cells"]:
        if "ours" in cell:
            cell["ours"] = 12345.0
    alone.write_text(json.dumps(content))
    again = reproduce("13", "smoke", alone.parents[1])
    for cell in again["cells"]:
        assert (cell["ours"] == 12345.0) == (changed not in cell["of"])
    runs = {file.stem.rpartition("-")[0] for file in (alone.parent / "runs").iterdir()}
    assert runs == {changed}
    assert again["resumed"]  # the time of the others is not known


def test_what_stands_in_a_file_is_a_number_with_the_settings_of_its_runs(results):
    found, _ = results
    for content in found.values():
        used = {name for cell in content["cells"] for name in cell.get("of", ())}
        assert set(content["settings"]) == used


def test_a_broken_file_is_no_obstacle(tmp_path):
    file = tmp_path / "13.json"
    assert read_table(file) == {}
    for text in ("{", "[]", "1"):
        file.write_text(text)
        assert read_table(file) == {}
    assert EarlierTable({}, []).cell(table("13").cells[0]) is None


def test_the_best_is_taken_of_earlier_and_new_settings():
    """T = 5 was measured earlier, T = 25 now; the others never."""
    spec = next(
        cell
        for cell in table("figure2").cells
        if cell.series == "CIFAR10, FPA, plurality" and cell.x == 13
    )
    runs = {
        one.setting: Run(one.setting, smoke_run(one.setting).details, 0)
        for one in spec.measurements
    }
    first, second, *others = runs

    def results_of(share, own):
        done = {"radii": {"plurality": [[-1, 100 - share], [20, share]]}}
        return {run.name: done if setting is own else "no" for setting, run in runs.items()}

    def filled(share, own, earlier=None):
        return fill_cell(spec, lambda setting: [runs[setting]], results_of(share, own), earlier)

    earlier, rest = filled(70, first), f"T = {', '.join(str(own.count) for own in others)}"
    better, worse = filled(75, second, earlier), filled(60, second, earlier)
    assert (better["ours"], worse["ours"]) == (75.0, 70.0)
    assert better["without"] == worse["without"] == rest
    assert set(better["of"]) == {runs[first].base_name, runs[second].base_name}
    assert filled(0, None, earlier) == earlier
    assert "not_run" in filled(0, None)


def test_seeds_are_part_of_the_settings():
    run = smoke_run(table("13").cells[0].measurements[0].setting)
    two = [run, Run(run.setting, run.details, 1)]
    (one,) = settings_of_runs([run]).values()
    (both,) = settings_of_runs(two).values()
    assert (one["seeds"], both["seeds"]) == ([0], [0, 1])
    assert "seed" not in one
