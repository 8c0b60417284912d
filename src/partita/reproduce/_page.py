"""The page of results, from the JSON files of reproduced tables: python -m partita.reproduce FOLDER
> docs/results.md"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import InputError
from ._cells import Cell
from ._show import blocks, not_run, without
from ._sizes import SIZES
from ._tables import TITLES
from ._work import command

OURS = re.compile(
    r"(^|, )(tournament|stretch 1\.2)(, counting patches)?$"
)  # of the rules beyond the paper, those of the overview
PICTURES = "../benchmarks/results/reproduce"  # where the page finds them

HEAD = """# Results

This page is made from files, and no number in it is typed:
`python -m partita.reproduce benchmarks/results/reproduce > docs/results.md`. [How to make such files](reproduce.md).

Each cell is the paper's number / ours (the difference); ± is the standard deviation from seed to seed. Size full is the paper's; laptop has
fewer rows and settings, and for images LightGBM in place of networks. Networks at size full are partita's own from T = 6 on, the paper's
below; with longer training they certify more ([Images](vision.md)). Which rows of Ames the paper certified is not known, so every seed
splits anew; the paper's numbers there are of one split with 293 rows to certify, so they too have a standard deviation of some 3 points.
Times were taken while the machine did other work, too: on the GPU two or three ensembles learnt at once, so each took longer than it
would alone. In the overview, "ours" is the tournament for labels and a stretch of 1.2 for values, beside the best that the paper has
with the same T.
"""


def page(folder: Path) -> str:
    """The page for all tables whose files are in a folder's parts full and laptop: of a table in
    both, that of size full."""
    found = {name: content for name in TITLES if (content := _read(folder, name)) is not None}
    if not found:
        raise InputError(
            f"folder {str(folder)!r} has no results: give the --out of partita reproduce"
        )
    parts = [HEAD, _overview(found)]
    for content in found.values():
        place = f"{content['size']}/{content['table']}.png"
        parts.append(
            "\n".join(
                _section(content, f"{PICTURES}/{place}" if (folder / place).is_file() else None)
            )
        )
    missing = [name for name in TITLES if name not in found]
    if missing:
        parts.append(
            "## Not run here\n\n"
            + "\n".join(f"* {TITLES[name]}: `{command(name, 'full')}`" for name in missing)
            + "\n"
        )
    return "\n".join(parts)


def _read(folder: Path, name: str) -> dict[str, Any] | None:
    for size in reversed(SIZES[1:]):
        file = folder / size / f"{name}.json"
        if file.is_file():
            content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return content
    return None


def _overview(found: dict[str, dict[str, Any]]) -> str:
    """How near each table is, in one line: the paper's own rules, and, apart, one that goes beyond
    it beside the paper's best."""
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
    for content in found.values():
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
    """How many shares are not below the paper's, and by how much they differ; where both certify
    nothing, nothing is compared."""
    known = [
        cell
        for cell in cells
        if "%" in cell["quantity"]
        and cell.get("difference") is not None
        and (cell["paper"] or cell["ours"])
    ]
    by = [float(cell["difference"]) for cell in known]
    return (
        f"{sum(value >= 0 for value in by)} of {len(by)} | {sum(by) / len(by):+.1f}"
        if by
        else " | "
    )


def _section(content: dict[str, Any], picture: str | None) -> Iterator[str]:
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
    for what in without(content["cells"]):
        yield f"\nOurs is the best of those that were run. {what}."
    for why, what in not_run(content["cells"]):
        yield f"\nNot run ({why}): {what}." + (
            f" `{command(content['table'], 'full')}`" if content["size"] != "full" else ""
        )
    yield ""
