"""The page of results, from the JSON files of reproduced tables.

``python -m research.page FOLDER > docs/results/paper.md`` prints it; no number in it is typed.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from partita.errors import InputError

from .cells import Cell
from .layout import blocks, missing_settings, not_run
from .reproduce import EarlierTable, command, measured_before, read_table, runs_of
from .runner import duration
from .runs import Run
from .sizes import SIZES, plan_for
from .tables import TITLES, table

REST = """## What is left to run

With `OUT=benchmarks/results/reproduce` every command adds to the numbers that are here. Tables
share runs, so their times do not add up. `JOBS=3` carries out three runs at a time, since a small
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
            REST,
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


# of the rules beyond the paper, those of the overview
OURS = re.compile(r"(^|, )(tournament|stretch 1\.2)(, counting patches)?$")
PICTURES = "../../benchmarks/results/reproduce"  # where the page finds them

HEAD = """# The paper's tables

Every table and figure of the paper that was run, beside the paper's own numbers. This page is
generated, so no number in it is typed by hand:
`python -m research.page benchmarks/results/reproduce > docs/results/paper.md`
([how to run the tables](reproduce.md)).

Each cell is the paper's number / ours (the difference); ± is the standard deviation between seeds.

* Size `full` is the paper's. Size `laptop` has fewer rows and settings, and LightGBM instead of
  networks for images.
* Networks at size `full` are partita's own from T = 6 on and the paper's below that. With more
  members they certify more ([images](../guide/vision.md)).
* Which rows of Ames the paper certified is not known, so every seed draws a new split. The paper's
  numbers come from one split with 293 rows to certify, so they too have a standard deviation of
  about 3 points.
* Times were measured on machines that were not idle: on the GPU, two or three ensembles were
  trained at the same time, so each took longer than it would alone.
* In the overview, "ours" is the tournament for labels and a stretch of 1.2 for numbers, compared
  with the paper's best at the same T.
"""


def results_page(folder: Path) -> str:
    """The page for all tables in a folder's subfolders full and laptop; full comes first."""
    tables = {name: content for name in TITLES if (content := _read(folder, name)) is not None}
    if not tables:
        raise InputError(
            f"folder {str(folder)!r} has no results: give the --out of python -m research"
        )
    parts = [HEAD, _overview(tables), rest_section(tables)]
    for content in tables.values():
        place = f"{content['size']}/{content['table']}.png"
        parts.append(
            "\n".join(
                _section(content, f"{PICTURES}/{place}" if (folder / place).is_file() else None)
            )
        )
    return "\n".join(parts)


def _read(folder: Path, name: str) -> dict[str, Any] | None:
    """A table's file of the largest size there is."""
    for size in reversed(SIZES[1:]):
        if content := read_table(folder / size / f"{name}.json"):
            return content
    return None


def _overview(tables: dict[str, dict[str, Any]]) -> str:
    """One line per table: how near the paper's own rules come, and one rule beyond the paper."""
    titles = [
        "table",
        "size",
        "run",
        "not run",
        "in %: not below the paper's",
        "mean difference",
        "ours: not below its best",
        "mean difference",
    ]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for content in tables.values():
        own = [cell for cell in content["cells"] if not cell["beyond"]]
        ours = [cell for cell in content["cells"] if cell["beyond"] and OURS.search(cell["series"])]
        cells = own or content["cells"]
        run = sum("ours" in cell for cell in cells)
        lines.append(
            f"| {content['title']} | {content['size']} | {run} | {len(cells) - run} | "
            f"{_near(own)} | {_near(ours)} |"
        )
    return "\n".join(lines) + "\n"


def _near(cells: list[Cell]) -> str:
    """How many shares are not below the paper's, and their mean difference.

    Where both certify nothing, nothing is compared.
    """
    known = [
        cell
        for cell in cells
        if "%" in cell["quantity"]
        and cell.get("difference") is not None
        and (cell["paper"] or cell["ours"])
    ]
    differences = [float(cell["difference"]) for cell in known]
    if not differences:
        return " | "
    not_below = sum(value >= 0 for value in differences)
    mean = sum(differences) / len(differences)
    return f"{not_below} of {len(differences)} | {mean:+.1f}"


def _section(content: dict[str, Any], picture: str | None) -> Iterator[str]:
    """A table's command, notes, picture and blocks."""
    yield f"## {content['title']}\n"
    machine = " and ".join(content["machine"]) or "nothing"
    seconds = f"{'more than ' if content['resumed'] else ''}{content['seconds']:,} s"
    yield f"`{content['command']}`, {seconds} on {machine}. {'. '.join(content['how'])}."
    if content["note"]:
        yield f"\n{content['note']}"
    if picture is not None:
        yield f"\n![{content['title']}]({picture})"
    for block in blocks(content["cells"]) if not content["table"].startswith("figure") else ():
        yield f"\n{block.title[0].upper() + block.title[1:]}:\n\n{block.markdown()}"
    for what in missing_settings(content["cells"]):
        yield f"\nOurs is the best of those that were run. {what}."
    for why, what in not_run(content["cells"]):
        yield f"\nNot run ({why}): {what}." + (
            f" `{command(content['table'], 'full')}`" if content["size"] != "full" else ""
        )
    yield ""


if __name__ == "__main__":
    print(results_page(Path(sys.argv[1])), end="")
