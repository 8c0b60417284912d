"""What the command line prints for people: tables of certified accuracy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

CELL = 7  # columns that a percentage takes, with the space after it


def say(text: str = "") -> None:
    """One line, as it is: names from a table are no markup."""
    Console(highlight=False, soft_wrap=True).print(Text(text))


def warn(text: str) -> None:
    """A warning that nobody passes over."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(" WARNING ", style="bold reverse red"), Text(text, style="bold"))


def fitting(how_many: int, label: int) -> list[int]:
    """The radii from 0 up to ``how_many`` that fit into a line beside a label of so many letters:
    the first ones, then evenly spread."""
    room = max(3, (Console().width - label - 4) // CELL)
    if how_many <= room:
        return list(range(how_many))
    first = min(4, room - 1)
    return sorted(
        {*range(first), *(int(r) for r in np.linspace(how_many - 1, first, room - first))}
    )


def show(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    texts: int | None = None,
    width: int | None = None,
) -> None:
    """A table; the first column is text, and those from ``texts`` on; the others are aligned right.
    ``width`` None: the terminal's."""
    table = Table(header_style="dim", pad_edge=False, box=None, padding=(0, 2, 0, 0))
    for k, column in enumerate(columns):
        of_numbers = 0 < k < (len(columns) if texts is None else texts)
        table.add_column(
            Text(column),
            justify="right" if of_numbers else "left",
            overflow="fold",
            no_wrap=k == 0 or of_numbers,
        )
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console = Console(highlight=False, soft_wrap=True, width=width)
    console.print(Text(title, style="bold"))
    console.print(Padding(table, (0, 0, 0, 2)))
