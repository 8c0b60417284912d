"""What is left to run, with its command and its time."""

from partita.reproduce._earlier_table import settings_of_runs
from partita.reproduce._reproduce import runs_of
from partita.reproduce._rest import missing_runs, rest_section
from partita.reproduce._tables import TITLES, table


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
    assert "`partita reproduce 8 --size full` | 4 runs, about 40 minutes |  |" in eight
    (weather,) = [line for line in lines if line.startswith("| Table 13")]
    assert "--size full` |  | 20 runs, about" in weather
    assert not any(line.startswith("| Table 8") for line in rest_section({"8": complete("8")}))


def test_nothing_left_is_no_section():
    assert rest_section({name: complete(name) for name in TITLES}) == ""
