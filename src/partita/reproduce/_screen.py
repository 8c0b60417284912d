"""A reproduced table on the terminal."""

import shutil
from pathlib import Path
from typing import Any

from .._support.terminal import say, show
from ._show import blocks, not_run, without
from ._tables import TITLES
from ._work import command


def tell(content: dict[str, Any], out: Path) -> None:
    """What was found, how, what was not run, and where it is written."""
    width = shutil.get_terminal_size((160, 24)).columns  # so wide where it is no terminal
    say(content["title"])
    for line in (*content["stand_ins"], *content["how"], *filter(None, [content["note"]])):
        say(f"  {line}")
    for block in blocks(content["cells"]):
        for part in block.narrow(width - 4):
            say()
            show(part.title, ["", *part.columns], part.rows, width=width)
    for what in without(content["cells"]):
        say()
        say(f"Ours is the best of those that were run. {what}.")
    for why, what in not_run(content["cells"]):
        say()
        say(f"Not run ({why}): {what}.")
    if content["size"] != "full" and not_run(content["cells"]):
        say(f"All of it: {command(content['table'], 'full')}")
    place = out / content["size"]
    say()
    say(f"Written to {place / content['table']}.json and .png.")


def tell_list() -> None:
    """Every table there is."""
    show(
        "Tables and figures of the paper, and beyond",
        ["name", "what it is"],
        [[name, title] for name, title in TITLES.items()],
        texts=1,
    )
    say("Next: partita reproduce NAME --size smoke, laptop or full.")
