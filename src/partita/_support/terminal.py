"""What the command line prints on standard output for people: lines, warnings and tables.

Names and cells come from users' tables, so nothing printed here is taken for rich's markup.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

CELL_WIDTH = 7  # of a percentage, with the space after it


def print_line(text: str = "") -> None:
    """Print one line as it is."""
    _console().print(Text(text))


def print_warning(text: str) -> None:
    """Print a warning that nobody overlooks."""
    _console().print(Text(" WARNING ", style="bold reverse red"), Text(text, style="bold"))


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    first_text: int | None = None,
    width: int | None = None,
) -> None:
    """Print a table under a title.

    Parameters
    ----------
    title : str
        The line above the table.
    columns : sequence of str
        Headings.
    rows : sequence of sequences
        Cells; anything becomes its text.
    first_text : int, optional
        Columns from this one on hold text and are aligned left, as column 0 always is; the columns
        between hold numbers and are aligned right. By default there are none.
    width : int, optional
        Characters per line; by default the terminal's.
    """
    table = Table(header_style="dim", pad_edge=False, box=None, padding=(0, 2, 0, 0))
    for k, column in enumerate(columns):
        holds_numbers = 0 < k < (len(columns) if first_text is None else first_text)
        table.add_column(
            Text(column),
            justify="right" if holds_numbers else "left",
            overflow="fold",
            no_wrap=k == 0 or holds_numbers,
        )
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console = _console(width)
    console.print(Text(title, style="bold"))
    console.print(Padding(table, (0, 0, 0, 2)))


def radii_that_fit(n_radii: int, label_width: int) -> list[int]:
    """The radii below ``n_radii`` that fit beside a label: the first ones, then evenly spaced."""
    room = max(3, (Console().width - label_width - 4) // CELL_WIDTH)
    if n_radii <= room:
        return list(range(n_radii))
    first = min(4, room - 1)
    spaced = np.linspace(n_radii - 1, first, room - first)
    return sorted({*range(first), *(int(radius) for radius in spaced)})


def _console(width: int | None = None) -> Console:
    return Console(highlight=False, soft_wrap=True, width=width)
