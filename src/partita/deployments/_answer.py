"""An answer: a question, a sentence, a table, a figure and the numbers behind them.

The command line, the page and the gallery show the same answers. Nothing here computes numbers.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

from .._support import require

EXTRA = ("a figure", "partita[plot]")
WIDTH = 76  # of a line of text, as printed


@dataclass(frozen=True, eq=False)
class Answer:
    """One answer about a deployment.

    Attributes
    ----------
    key : str
        Its name in the JSON file and of its figure.
    question : str
        What is asked, as a heading.
    text : str
        The answer in one to three sentences.
    columns : tuple of str
        Headings of the table.
    rows : list of tuple of str
        Its cells.
    numbers : dict
        The numbers behind it, for JSON.
    draw : callable or None
        Draws the figure on the matplotlib Figure that it is given.
    size : (float, float)
        Of the figure, in inches.
    """

    key: str
    question: str
    text: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    numbers: dict[str, Any] = field(default_factory=dict, repr=False)
    draw: Callable[[Any], None] | None = field(default=None, repr=False)
    size: tuple[float, float] = (7.2, 4.0)

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.columns))]
        cells = [
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*cells, "", fill(self.text, WIDTH)])

    def markdown(self) -> str:
        """The answer as a section of a page, with a link to its figure."""
        lines = [f"## {self.question}", "", self.text, ""]
        if self.columns:
            lines += [
                _markdown_line(self.columns),
                _markdown_line(["---", *["---:"] * (len(self.columns) - 1)]),
                *map(_markdown_line, self.rows),
                "",
            ]
        if self.draw is not None:
            lines += [f"![{self.question}]({self.key}.png)", ""]
        return "\n".join(lines)

    def plot(self) -> Any:
        """Draw the figure with pyplot, for notebooks."""
        figure = require("matplotlib.pyplot", *EXTRA).figure(
            figsize=self.size, layout="constrained"
        )
        if self.draw is not None:
            self.draw(figure)
        return figure

    def png(self) -> bytes:
        """The figure as a PNG file, without a window or global settings."""
        agg = require("matplotlib.backends.backend_agg", *EXTRA)
        figure = require("matplotlib.figure", *EXTRA).Figure(
            figsize=self.size, layout="constrained"
        )
        agg.FigureCanvasAgg(figure)
        if self.draw is not None:
            self.draw(figure)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=120, metadata={"Software": None})
        return picture.getvalue()


def percent(share: float) -> str:
    """A share as a cell of a table."""
    return f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """A difference of two shares, in words."""
    size = abs(round(100 * difference, 1))
    if size == 0:
        return "as many as"
    return f"{size:.1f} points {'more' if difference > 0 else 'fewer'} than"


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
