"""reproduce(): tables of every kind, and what is written."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from partita import InputError
from research import measure as measure_module
from research.cells import fill_cell
from research.reproduce import EarlierTable, read_table, reproduce, settings_of_runs
from research.runs import Run
from research.tables import TITLES, table

from .smoke import smoke_run

ROOT = Path(__file__).resolve().parents[2]


def test_a_cell_is_the_papers_number_ours_and_the_difference(results):
    found, out = results
    for name, content in found.items():
        assert json.loads((out / "smoke" / f"{name}.json").read_text()) == content
        assert (out / "smoke" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert content["stand_ins"]
        for cell in content["cells"]:
            assert ("ours" in cell) != ("not_run" in cell)
            if cell.get("difference") is not None:
                assert float(cell["difference"]) == pytest.approx(
                    float(cell["ours"]) - float(cell["paper"]), rel=1e-3, abs=0.02
                )


def test_what_is_beside_a_number_comes_from_its_runs(results):
    found, out = results
    (cell,) = [
        c
        for c in found["13"]["cells"]
        if (c["series"], c["x"], c["beyond"]) == ("random", 1, False)
    ]
    runs = [
        json.loads((out / "smoke" / "runs" / f"{cell['of'][0]}-seed{seed}.json").read_text())
        for seed in (0, 1)
    ]
    rows = [row for run in runs for row in run["radii"]["median"]]
    assert cell["ours"] == pytest.approx(
        100 * sum(n for radius, n in rows if radius >= 1) / sum(n for _, n in rows)
    )


def test_a_second_call_runs_only_what_is_missing(results, monkeypatch, capsys):
    found, out = results
    monkeypatch.setattr(measure_module, "measure", lambda *_: pytest.fail("it was done before"))
    assert reproduce("13", "smoke", out) == found["13"]
    assert "nothing to do" in capsys.readouterr().err
    gone = next((out / "smoke" / "runs").glob("weather-partition-*seed1.json"))
    before = gone.read_text()
    gone.unlink()
    (out / "smoke" / "13.json").unlink()  # it has the run's numbers, too
    done = []
    monkeypatch.setattr(
        measure_module, "measure", lambda run, *_: done.append(run.name) or json.loads(before)
    )
    reproduce("13", "smoke", out)
    assert done == [gone.stem]


@pytest.mark.long
def test_every_table_and_figure_runs(tmp_path):
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "research",
        "all",
        "--size",
        "smoke",
        "--out",
        tmp_path,
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for name, title in TITLES.items():
        assert title in done.stdout
        content = json.loads((tmp_path / "smoke" / f"{name}.json").read_text())
        assert any("ours" in cell for cell in content["cells"]), name
        assert (tmp_path / "smoke" / f"{name}.png").is_file()
    assert "Not run (printed by the paper, not implemented here)" in done.stdout


def test_a_bad_size_or_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="size is 'huge': give one of smoke, laptop, full"):
        reproduce("21", "huge")
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match=r"is a file: give a folder"):
        reproduce("21", "smoke", file)
    with pytest.raises(InputError, match="n_jobs is 0: it must be a whole number, 1 or above"):
        reproduce("21", "smoke", tmp_path, n_jobs=0)


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
