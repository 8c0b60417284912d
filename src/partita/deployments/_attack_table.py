"""What was left of each model under attack, as a table and as a figure."""

from dataclasses import dataclass
from typing import Any

from .._support import require
from ..baselines import Comparison
from ._poisoning import KINDS


@dataclass(frozen=True)
class AttackTable(Comparison):
    """One line per model: accuracy under every kind of attack, beside what is proven.

    Attributes
    ----------
    rows : list of dict
        One per model, with the same keys in the same order; shares are from 0 to 1.
    radii : tuple of int
        How many sources were attacked.
    title : str
        What the models predict.
    source : str
        What a source is called.
    notes : tuple of str
        What the numbers were measured on.
    """

    radii: tuple[int, ...] = ()
    title: str = ""
    source: str = "source"
    notes: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """Convert to a Markdown table in percent, with the notes below it.

        Returns
        -------
        str
            The table.
        """
        kinds = " / ".join(KINDS)
        head = ["model", "accuracy"]
        for r in self.radii:
            head += [f"r = {r}: {kinds}", f"proven at {r}"]
        lines = ["| " + " | ".join([*head, "fit"]) + " |", "|" + "---|" * (len(head) + 1)]
        for row in self.rows:
            cells = [row["method"], _percent(row["accuracy"])]
            for r in self.radii:
                cells.append(" / ".join(_percent(row[f"{kind}, r = {r}"]) for kind in KINDS))
                cells.append(self._proven(row, r))
            lines.append("| " + " | ".join([*cells, f"{row['fit']:.1f} x"]) + " |")
        return "\n".join([*lines, "", *self.notes])

    @staticmethod
    def _proven(row: dict[str, Any], r: int) -> str:
        if row["proof covers"] == "nothing":
            return ""
        only = "" if row["proof covers"] == "all" else f" ({row['proof covers']} only)"
        return _percent(row[f"proven, r = {r}"]) + only

    def plot(self, ax: Any = None) -> Any:
        """Draw accuracy under the worst attack against the number of sources, model by model.

        Dotted lines are what is proven against all kinds of attacks.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            With the picture.
        """
        ticker = require("matplotlib.ticker", "a plot", "partita[plot]")
        if ax is None:
            figures = require("matplotlib.figure", "a plot", "partita[plot]")
            ax = figures.Figure(figsize=(6.4, 4.4), layout="constrained").add_subplot()
        radii = [0, *self.radii]
        for row in self.rows:
            proven = row["proof covers"] == "all"
            worst = [row["accuracy"], *(row[f"worst, r = {r}"] for r in self.radii)]
            style = {"linewidth": 2.4} if proven else {"linewidth": 1.3, "alpha": 0.85}
            (line,) = ax.plot(radii, worst, "o-", markersize=4, label=row["method"], **style)
            if proven:
                shares = [row["accuracy"], *(row[f"proven, r = {r}"] for r in self.radii)]
                label = f"{row['method']}: proven"
                ax.plot(radii, shares, ":", color=line.get_color(), linewidth=2, label=label)
        ax.set(xlabel=f"{self.source}s attacked", ylabel="right under the worst attack found")
        ax.set_ylim(0, 1.02)
        ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        ax.yaxis.set_major_formatter(ticker.PercentFormatter(1.0))
        ax.grid(alpha=0.3)
        ax.set_title(self.title)
        ax.legend(fontsize=7)
        return ax


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"
