"""What a sweep found, as a picture."""

import io
from collections.abc import Mapping
from typing import Any

from .._support import answer_text, percent, require, shortened
from ..plot import CertifiedAccuracyDisplay
from ._recommend import Score, best


def plot_sweep(found: Mapping[str, Any]) -> bytes:
    """What a sweep found, as a PNG."""
    picture = io.BytesIO()
    sweep_figure(found).savefig(picture, format="png", dpi=120, metadata={"Software": None})
    return picture.getvalue()


def sweep_figure(found: Mapping[str, Any]) -> Any:
    """Draw the best curve of every number of submodels.

    One model on all columns and the best constant answer are drawn beside them.

    Parameters
    ----------
    found : mapping
        What :func:`partita.selection.sweep` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Made without a window or a global setting.
    """
    matplotlib = require("matplotlib", "a plot", "partita[plot]")
    figures = require("matplotlib.figure", "a plot", "partita[plot]")
    canvases = require("matplotlib.backends.backend_agg", "a plot", "partita[plot]")
    score = Score(found["score"], found["task"])
    figure = figures.Figure(figsize=(8.2, 4.6), layout="constrained")
    canvases.FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    sizes = sorted({one["submodels"] for one in found["settings"]} - {1})
    longest = 1
    for k, size in enumerate(sizes):
        settings = [
            one
            for one in found["settings"]
            if one["submodels"] == size and not one["nearly_constant"]
        ]
        share = [entry["score"] for entry in best(settings, score)] + [0.0]
        longest = max(longest, len(share) - 1)
        colour = matplotlib.colormaps["viridis"](0.85 * k / max(1, len(sizes) - 1))
        curve = CertifiedAccuracyDisplay(
            range(len(share)), share, counts=found["counts"]["what"], name=f"{size} submodels"
        )
        curve.plot(ax=ax, color=colour, linewidth=1.8)
    _draw_comparisons(ax, found, score)
    ax.set(xlim=(0, longest), ylim=(0, 1.02), ylabel=_plain_text(score.words, 50))
    title = f"{found['target']}: {found['held_out']:,} held-out rows of {found['data']['name']}"
    ax.set_title(_plain_text(title, 70))
    for own in filter(None, [ax.get_legend()]):  # every curve made one, inside the axes
        own.remove()
    figure.legend(loc="outside right upper", frameon=False, fontsize="small")
    return figure


def _draw_comparisons(ax: Any, found: Mapping[str, Any], score: Score) -> None:
    """One model on all columns, and the best constant answer."""
    full, constant = found["full_model"], found["constant"]
    if full is not None:
        name = f"one model on all columns\n({percent(full['score'])}, proves nothing)"
        style = {"color": "tab:red", "markersize": 12, "clip_on": False, "zorder": 3}
        ax.plot([0], [full["score"]], "*", label=name, **style)
    if score.label is None:
        share = constant["balanced" if score.name == "balanced" else "accuracy"]
        answer = _plain_text(answer_text(constant["answer"]), 24)
        name = f"always answering {answer}\n({percent(share)})"
        ax.axhline(share, color="black", linestyle="--", linewidth=1.2, label=name)


def _plain_text(text: str, most: int) -> str:
    """A text of bounded length, of which nothing is read as mathematics."""
    return shortened(text, most).replace("$", r"\$")
