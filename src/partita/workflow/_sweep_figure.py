"""What a sweep found, as a picture."""

import io
from collections.abc import Mapping
from typing import Any

from ..errors import MissingExtraError
from ..plot import CertifiedAccuracyDisplay
from ._recommend import Score, best, percent, shown


def plot_sweep(found: Mapping[str, Any]) -> bytes:
    """What a sweep found, as a PNG."""
    picture = io.BytesIO()
    sweep_figure(found).savefig(picture, format="png", dpi=120, metadata={"Software": None})
    return picture.getvalue()


def sweep_figure(found: Mapping[str, Any]) -> Any:
    """The best curve of every number of submodels, beside one model on all columns and the best
    constant.

    Parameters
    ----------
    found : mapping
        What :func:`partita.sweep.sweep` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Made without a window or a global setting.
    """
    try:
        from matplotlib import colormaps
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as exc:
        raise MissingExtraError("matplotlib", "a plot", "partita[plot]") from exc
    score = Score(found["score"], found["task"] == "regression")
    sizes = sorted({one["submodels"] for one in found["settings"]} - {1})
    figure = Figure(figsize=(8.2, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    longest = 1
    for k, size in enumerate(sizes):
        line = best(
            [
                one
                for one in found["settings"]
                if one["submodels"] == size and not one["nearly_constant"]
            ],
            score,
        )
        share = [at["score"] for at in line] + [0.0]
        longest = max(longest, len(line))
        colour = colormaps["viridis"](0.85 * k / max(1, len(sizes) - 1))
        curve = CertifiedAccuracyDisplay(
            range(len(share)), share, counts=found["counts"]["what"], name=f"{size} submodels"
        )
        curve.plot(ax=ax, color=colour, linewidth=1.8)
    full, constant = found["full_model"], found["constant"]
    if full is not None:
        name = f"one model on all columns\n({percent(full['score'])}, proves nothing)"
        ax.plot(
            [0],
            [full["score"]],
            "*",
            color="tab:red",
            markersize=12,
            clip_on=False,
            zorder=3,
            label=name,
        )
    if score.label is None:
        value = constant["balanced" if score.name == "balanced" else "accuracy"]
        name = f"always answering {_shortened(shown(constant['answer']))}\n({percent(value)})"
        ax.axhline(value, color="black", linestyle="--", linewidth=1.2, label=name)
    ax.set(xlim=(0, longest), ylim=(0, 1.02), ylabel=_shortened(score.words, 50))
    ax.set_title(
        _shortened(
            f"{found['target']}: {found['held_out']:,} held-out rows of {found['data']['name']}", 70
        )
    )
    for own in filter(None, [ax.get_legend()]):  # every curve made one, inside the axes
        own.remove()
    figure.legend(loc="outside right upper", frameon=False, fontsize="small")
    return figure


def _shortened(text: str, most: int = 24) -> str:
    """A text of bounded length, of which nothing is read as mathematics."""
    return (text if len(text) <= most else text[: most - 1] + "…").replace("$", r"\$")
