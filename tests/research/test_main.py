"""The command line of the tables, and what make adds to it."""

import json
import subprocess
from pathlib import Path

import pytest

from research.__main__ import main, show_table
from research.reproduce import command
from research.tables import TITLES

ROOT = Path(__file__).resolve().parents[2]


def test_every_table_is_listed(capsys):
    assert main(["--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"tables": TITLES}
    assert main(["--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in TITLES)


@pytest.mark.parametrize(("names", "cause"), [(["99"], "'99'"), ([], "no table is given")])
def test_bad_input_is_one_sentence(names, cause, tmp_path, capsys):
    assert main([*names, "--out", str(tmp_path / "r")]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert cause in err
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("name", ["22", "figure3", "ames"])
def test_the_command_that_a_table_names_makes_that_table(name):
    made = subprocess.run(
        [*command(name, "full").split(), "--dry-run", "--no-print-directory"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    words = made.stdout.split("-m research ")[1].replace("\\", " ").split()
    assert words == [name, "--size", "full"]


@pytest.mark.long
def test_a_table_says_how_it_was_run_and_where_it_is(results, capsys):
    tables, out = results
    show_table(tables["4"], out)
    text = capsys.readouterr().out
    assert text.startswith("Table 4: CIFAR10, patches\n")
    assert "scikit-learn's digits stand in for the images" in text
    assert "Not run (printed by the paper, not implemented here)" in text
    assert "All of it: make reproduce TABLE=4 SIZE=full" in text
    assert f"Written to {out / 'smoke' / '4'}.json and .png." in " ".join(text.split())
