"""A table's cells as a picture: the paper dashed and hollow, ours solid.

Without a window and without any global setting of matplotlib.
"""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from partita._support import require

from .cells import Cell, as_number
from .layout import SECONDS

MOST_PANELS, MOST_SERIES, PANELS_ACROSS = 12, 10, 3


def plot_table(title: str, cells: Sequence[Cell]) -> bytes:
    """A PNG with one panel per quantity and family of series."""
    figure_module = require("matplotlib.figure", "a figure", "partita[plot]")
    canvas = require("matplotlib.backends.backend_agg", "a figure", "partita[plot]")
    panels = _panels([cell for cell in cells if "ours" in cell])
    across = _panels_across(len(panels))
    down = max(1, -(-len(panels) // across))
    figure = figure_module.Figure(figsize=(5.6 * across, 4.0 * down + 0.5), layout="constrained")
    canvas.FigureCanvasAgg(figure)
    figure.suptitle(f"{title}\npaper: dashed, hollow; ours: solid")
    for k, (name, own) in enumerate(panels.items()):
        ax = figure.add_subplot(down, across, k + 1)
        draw = _lines if all(isinstance(cell["x"], int) for cell in own) else _dots
        draw(ax, own, name)
        missing = dict.fromkeys(cell["without"] for cell in own if "without" in cell)
        notes = [f"ours without {settings}" for settings in missing]
        ax.set_title("\n".join([name, *notes]), fontsize=10)
        ax.grid(alpha=0.3)
    if not panels:
        figure.add_subplot().text(0.5, 0.5, "nothing of this was run", ha="center", va="center")
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=75, metadata={"Software": None})
    return file.getvalue()


def _panels_across(n_panels: int) -> int:
    """Three, or as many as fill every row of a few panels."""
    if not n_panels:
        return 1
    fitting = (n for n in (3, 2, 1) if n_panels % n == 0)
    return next(fitting) if n_panels <= 4 else PANELS_ACROSS


def _panels(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Cells by panel: by quantity, or for curves over r by the first word of the series."""
    panels: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell["series"].startswith("always"):
            continue
        words = [
            cell["series"].split(", ")[0] if cell["over"] == "r" else "",
            "beyond the paper" if cell["beyond"] else "",
        ]
        if cell["over"] != "r":
            words.append(
                cell["quantity"] + (f" over {cell['over']}" if cell["over"] in ("T", "e") else "")
            )
        panels.setdefault(", ".join(word for word in words if word), []).append(cell)
    return dict(list(panels.items())[:MOST_PANELS])


def _series(cells: Sequence[Cell]) -> list[str]:
    """At most as many series as colours can distinguish, spread evenly over all."""
    names = list(dict.fromkeys(cell["series"] for cell in cells))
    chosen = sorted({int(k) for k in np.linspace(0, len(names) - 1, min(MOST_SERIES, len(names)))})
    return [names[k] for k in chosen]


def _number(value: Any) -> float:
    """A number to draw; NaN, which is not drawn, where there is none."""
    number = as_number(value)
    return float("nan") if number is None or np.isinf(number) else number


def _lines(ax: Any, cells: Sequence[Cell], panel: str) -> None:
    """Curves; where the paper has one curve for all series, it is drawn once."""
    from matplotlib.ticker import MaxNLocator

    names = _series(cells)
    paper_curves = {
        tuple((cell["x"], cell["paper"]) for cell in cells if cell["series"] == name)
        for name in names
    }
    one_curve = len(paper_curves) == 1 and len(names) > 1
    for k, name in enumerate(names):
        own = sorted(
            (cell for cell in cells if cell["series"] == name), key=lambda cell: int(cell["x"])
        )
        xs = [cell["x"] for cell in own]
        if not one_curve or k == 0:
            style = (
                {"color": "black", "label": "paper's best" if own[0]["beyond"] else "paper"}
                if one_curve
                else {"color": f"C{k}"}
            )
            ax.plot(
                xs,
                [_number(cell["paper"]) for cell in own],
                "--o",
                mfc="white",
                markersize=4,
                linewidth=1,
                **style,
            )
        ax.plot(
            xs,
            [_number(cell["ours"]) for cell in own],
            "-o",
            color=f"C{k}",
            markersize=4,
            label=_short(name, panel),
        )
    ax.set(xlabel=cells[0]["over"], ylabel=cells[0]["quantity"])
    if all(
        _number(cell[name]) >= 0
        for cell in cells
        for name in ("paper", "ours")
        if _number(cell[name]) == _number(cell[name])
    ):
        ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(fontsize=7)


def _short(name: str, panel: str) -> str:
    """A series' name without what the panel's title already says."""
    first, _, rest = name.partition(", ")
    return rest if rest and panel.split(", ")[0] == first else name


def _dots(ax: Any, cells: Sequence[Cell], panel: str) -> None:
    """A pair of dots for every series at every place, joined by a line."""
    xs, names = list(dict.fromkeys(cell["x"] for cell in cells)), _series(cells)
    for k, name in enumerate(names):
        own = [cell for cell in cells if cell["series"] == name]
        places = [xs.index(cell["x"]) + 0.7 * (k + 0.5) / len(names) - 0.35 for cell in own]
        ax.plot(
            places,
            [_number(cell["paper"]) for cell in own],
            "o",
            mfc="white",
            mec=f"C{k}",
            markersize=7,
        )
        ax.plot(
            places,
            [_number(cell["ours"]) for cell in own],
            "o",
            color=f"C{k}",
            markersize=7,
            label=name,
        )
        for place, cell in zip(places, own, strict=True):
            ax.plot(
                [place, place],
                [_number(cell["paper"]), _number(cell["ours"])],
                color=f"C{k}",
                linewidth=1,
            )
    ax.set_xticks(range(len(xs)), [str(x).replace(", ", "\n") for x in xs], fontsize=8)
    ax.set(ylabel=cells[0]["quantity"], xlim=(-0.5, len(xs) - 0.5))
    if SECONDS in cells[0]["quantity"] or "times" in cells[0]["quantity"]:
        ax.set_yscale("log")
    ax.legend(fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
