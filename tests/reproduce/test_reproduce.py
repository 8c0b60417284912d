"""reproduce(): tables of every kind, and what is written."""

import json
import subprocess
import sys

import pytest

from partita import InputError
from partita.reproduce import _measure as measure_module
from partita.reproduce import reproduce
from partita.reproduce._tables import TITLES


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
        "partita",
        "reproduce",
        "all",
        "--size",
        "smoke",
        "--out",
        tmp_path,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
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
