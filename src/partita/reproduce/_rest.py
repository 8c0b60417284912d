"""What is left to run at size full: which tables, by which command, and for how long."""

from collections.abc import Mapping, Sequence
from typing import Any

from ._earlier_table import EarlierTable
from ._reproduce import command, measured_before, runs_of
from ._runner import duration
from ._runs import Run
from ._sizes import plan_for
from ._tables import TITLES, table

HEAD = """## What is left to run

With `--out benchmarks/results/reproduce` every command adds to the numbers that are here. Tables
share runs, so their times do not add up. `--jobs 3` carries out three runs at a time, since a small
network leaves a GPU half idle.
"""


def rest_section(tables: Mapping[str, dict[str, Any]]) -> str:
    """A line per table that is not complete at size full; ``tables`` are the files there are."""
    lines, rest = [], {}
    for name, title in TITLES.items():
        missing = missing_runs(name, tables.get(name, {}))
        if missing:
            rest.update({run.name: run for run in missing})
            networks = [run for run in missing if _on_gpu(run)]
            others = [run for run in missing if not _on_gpu(run)]
            lines.append(
                f"| {title} | `{command(name, 'full')}` | {_amount(networks)} | {_amount(others)} |"
            )
    if not lines:
        return ""
    networks = [run for run in rest.values() if _on_gpu(run)]
    return "\n".join(
        [
            HEAD,
            "| table | command | on a GPU | with the files of Weather |",
            "|" + "---|" * 4,
            *lines,
            "",
            f"All that needs a GPU, each run counted once: {_amount(networks)} on one H200.",
            "",
        ]
    )


def missing_runs(name: str, content: dict[str, Any]) -> list[Run]:
    """The runs of a table at size full of which its file lacks a number."""
    wanted = table(name)
    runs = runs_of(wanted, "full")
    earlier = EarlierTable(content if content.get("size") == "full" else {}, runs)
    measured = measured_before(wanted, "full", earlier)
    return [run for run in runs if run.name not in measured]


def _amount(runs: Sequence[Run]) -> str:
    """How many runs, and about how long they take; empty if there are none."""
    seconds = sum(plan_for("full", run.setting.data).estimate(run) for run in runs)
    count = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
    return f"{count}, about {duration(seconds)}" if runs else ""


def _on_gpu(run: Run) -> bool:
    return "network" in (run.details.get("submodel"), run.details.get("model"))
