"""The page of results is made from files."""

import json
from pathlib import Path

import pytest

from partita import InputError
from research.page import missing_runs, rest_section, results_page
from research.reproduce import runs_of, settings_of_runs
from research.tables import TITLES, table

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "reproduce"


@pytest.mark.skipif(not RESULTS.exists(), reason="the results are not part of an installed package")
def test_the_page_of_results_is_made_from_the_files():
    assert (ROOT / "docs" / "results" / "paper.md").read_text() == results_page(RESULTS)


def test_the_overview_counts_what_is_not_below_the_paper(tmp_path):
    def cell(series, paper, ours, beyond=False):
        return {
            "quantity": "q in %",
            "over": "T",
            "series": series,
            "x": 5,
            "paper": paper,
            "beyond": beyond,
        } | (
            {"not_run": "no"}
            if ours is None
            else {"ours": ours, "difference": ours - paper, "of": []}
        )

    cells = [
        cell("a", 50.0, 51.0),
        cell("b", 50.0, 48.0),
        cell("c", 0.0, 0.0),
        cell("d", 50.0, None),
    ]
    cells += [
        cell("T = 5, tournament", 50.0, 54.0, True),
        cell("T = 5, tournament, margin 1", 50.0, 10.0, True),
    ]
    content = {
        "table": "23",
        "title": "Table 23",
        "size": "full",
        "command": "c",
        "note": "",
        "seconds": 1,
        "machine": [],
        "how": [],
    }
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "23.json").write_text(
        json.dumps({**content, "resumed": True, "cells": cells})
    )
    made = results_page(tmp_path)
    assert "| Table 23 | full | 3 | 1 | 1 of 2 | -0.5 | 1 of 1 | +4.0 |" in made
    assert "`c`, more than 1 s on nothing." in made


def test_a_page_of_nothing_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no results"):
        results_page(tmp_path)


def complete(name):
    """A file of size full that has every number."""
    runs, wanted = runs_of(table(name), "full"), table(name)
    cells = [
        {
            "quantity": spec.quantity,
            "over": spec.over,
            "series": spec.series,
            "x": spec.x,
            "beyond": spec.beyond,
            "ours": 1.0,
            "of": list(settings_of_runs(runs)),
        }
        for spec in wanted.cells
    ]
    return {"size": "full", "settings": settings_of_runs(runs), "cells": cells}


def test_a_table_lists_the_runs_it_lacks():
    assert {run.name for run in missing_runs("8", {})} == {
        run.name for run in runs_of(table("8"), "full")
    }
    whole = complete("8")
    assert missing_runs("8", whole) == []
    assert missing_runs("8", whole | {"size": "laptop"}) == missing_runs("8", {})
    own = runs_of(table("8"), "full")[0].base_name
    whole["cells"][0]["of"].remove(own)  # one number of many
    assert {run.base_name for run in missing_runs("8", whole)} == {own}


def test_a_line_has_the_command_and_what_it_takes():
    lines = rest_section({}).splitlines()
    (eight,) = [line for line in lines if line.startswith("| Table 8")]
    assert "`make reproduce TABLE=8 SIZE=full` | 4 runs, about 40 minutes |  |" in eight
    (weather,) = [line for line in lines if line.startswith("| Table 13")]
    assert "SIZE=full` |  | 20 runs, about" in weather
    assert not any(line.startswith("| Table 8") for line in rest_section({"8": complete("8")}))


def test_nothing_left_is_no_section():
    assert rest_section({name: complete(name) for name in TITLES}) == ""
