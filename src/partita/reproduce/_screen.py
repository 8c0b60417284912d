"""A reproduced table on the terminal."""

import shutil
from pathlib import Path
from typing import Any

from .._support.terminal import print_line, print_table
from ._layout import blocks, missing_settings, not_run
from ._reproduce import command
from ._tables import TITLES


def show_table(content: dict[str, Any], out: Path) -> None:
    """Print what was found, how, what was not run, and where it is written."""
    width = shutil.get_terminal_size((160, 24)).columns  # so wide where it is not a terminal
    print_line(content["title"])
    for line in (*content["stand_ins"], *content["how"], *filter(None, [content["note"]])):
        print_line(f"  {line}")
    for block in blocks(content["cells"]):
        for part in block.split(width - 4):
            print_line()
            print_table(part.title, ["", *part.columns], part.rows, width=width)
    for what in missing_settings(content["cells"]):
        print_line()
        print_line(f"Ours is the best of those that were run. {what}.")
    missing = not_run(content["cells"])
    for why, what in missing:
        print_line()
        print_line(f"Not run ({why}): {what}.")
    if missing and content["size"] != "full":
        print_line(f"All of it: {command(content['table'], 'full')}")
    print_line()
    print_line(f"Written to {out / content['size'] / content['table']}.json and .png.")


def show_list() -> None:
    """Print every table there is."""
    print_table(
        "Tables and figures of the paper, and beyond",
        ["name", "what it is"],
        [[name, title] for name, title in TITLES.items()],
        first_text=1,
    )
    print_line("Next: partita reproduce NAME --size smoke, laptop or full.")
