"""What ``choose`` found: every setting's accuracy and certified accuracy, and the one to take.

Plain numbers of settings that were judged already; nothing here fits or certifies.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._support import require
from ..errors import InputError
from ..workflow import CHOSEN, ON_TRAINING
from ._reference_splits import mean, mostly

CERTIFIED, BALANCED, ACCURACY = "certified", "balanced", "accuracy="


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One setting on the validation rows, or its means over splits of a trusted sample.

    Attributes
    ----------
    method : {"partition", "leave-out"}
        How the proof is made.
    options : dict
        As ``partita fit`` takes them.
    accuracy : float
        The share of rows that are right.
    certified : float
        The share that stay right, whatever is written into ``radius`` units.
    balanced, certified_balanced : float, optional
        The mean of the classes' recalls, and of their certified recalls; None for numbers.
    seconds : float
        For fitting all submodels.
    estimator : estimator
        Not fitted; ``fit`` it on all rows to use it.
    nearly_constant : bool
        Whether it gives nearly all rows one label, so that its proofs say little.
    warnings : list of str
        What else speaks against it: submodels that failed to fit.
    """

    method: str
    options: dict[str, Any]
    accuracy: float
    certified: float
    balanced: float | None
    certified_balanced: float | None
    seconds: float
    estimator: Any = field(repr=False)
    nearly_constant: bool = False
    warnings: list[str] = field(default_factory=list)

    @property
    def fit_options(self) -> str:
        """The setting as options of ``partita fit``."""
        return " ".join(f"--{name} {value}" for name, value in self.options.items())

    def as_dict(self) -> dict[str, Any]:
        """Everything but the estimator, for JSON."""
        return {name: value for name, value in vars(self).items() if name != "estimator"} | {
            "fit": self.fit_options
        }


@dataclass(frozen=True, eq=False)
class Choice:
    """Settings of both methods on validation rows, and the one that is recommended.

    Attributes
    ----------
    radius : int
        What is certified counts at this radius.
    settings : list of Evaluation
        All settings, in the order they were tried.
    one_model : dict
        ``accuracy`` and ``balanced`` of one model on all columns, which proves nothing.
    constant : dict
        The best constant answer, with its ``accuracy`` and ``balanced``: proven at every radius.
    counts : str
        What a radius counts.
    rows : int
        Number of validation rows.
    want : str
        What the recommendation goes by.
    best : Evaluation or None
        The recommended setting; None where no setting is better than a constant.
    reason : str
        Why this one, or why none.
    chosen : {"on-training", "on-reference"}
        What the choice was made on: ensembles that learnt from the training table, or a trusted
        sample alone.

    See Also
    --------
    choose : Makes it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import choose
    >>> X, y = load_wine(return_X_y=True)
    >>> found = choose(X[::2], y[::2], X[1::2], y[1::2], estimator=GaussianNB())
    >>> found.best.certified <= found.best.accuracy
    True
    """

    radius: int
    settings: list[Evaluation]
    one_model: dict[str, Any]
    constant: dict[str, Any]
    counts: str
    rows: int
    want: str
    best: Evaluation | None
    reason: str
    chosen: str = ON_TRAINING

    @property
    def depends(self) -> str:
        """What the choice means for a radius, to be said where one is published."""
        return CHOSEN[self.chosen]

    @property
    def estimator(self) -> Any:
        """The recommended estimator, not fitted.

        Raises
        ------
        InputError
            If nothing is recommended.
        """
        if self.best is None:
            raise InputError(f"no setting is recommended: {self.reason}")
        return self.best.estimator

    @property
    def frontier(self) -> list[Evaluation]:
        """The settings that no other one beats in both, the least accurate first."""
        useful = [one for one in self.settings if not one.nearly_constant]
        return frontier(useful)

    def to_frame(self) -> Any:
        """Return all settings as a pandas DataFrame, the most certified first.

        Returns
        -------
        pandas.DataFrame
            One line per setting.
        """
        pandas = require("pandas", "to_frame()")
        lines = [one.as_dict() for one in self.settings]
        for line in lines:
            line.pop("options")
        order = ["certified", "accuracy"]
        return pandas.DataFrame(lines).sort_values(order, ascending=False, ignore_index=True)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON.

        Returns
        -------
        dict
            Settings without their estimators.
        """
        plain = ("radius", "one_model", "constant", "counts", "rows", "want", "reason", "chosen")
        return {name: getattr(self, name) for name in plain} | {
            "depends": self.depends,
            "best": None if self.best is None else self.best.as_dict(),
            "frontier": [one.as_dict() for one in self.frontier],
            "settings": [one.as_dict() for one in self.settings],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw accuracy against certified accuracy: every setting, and both frontiers.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            With the picture.
        """
        if ax is None:
            figures = require("matplotlib.figure", "a plot", "partita[plot]")
            ax = figures.Figure(figsize=(6.4, 4.6), layout="constrained").add_subplot()
        for method, colour, marker in (
            ("partition", "tab:blue", "o"),
            ("leave-out", "tab:orange", "D"),
        ):
            own = [one for one in self.settings if one.method == method]
            own = [one for one in own if not one.nearly_constant]
            line = frontier(own)
            ax.plot(
                [100 * one.accuracy for one in own],
                [100 * one.certified for one in own],
                marker,
                color=colour,
                alpha=0.35,
                markersize=5,
            )
            ax.plot(
                [100 * one.accuracy for one in line],
                [100 * one.certified for one in line],
                marker + "-",
                color=colour,
                label=f"{method} (frontier of {len(own)})",
            )
        ax.axvline(
            100 * self.one_model["accuracy"],
            color="tab:red",
            linestyle=":",
            label="one model, no proof",
        )
        ax.axhline(
            100 * self.constant["accuracy"],
            color="black",
            linestyle="--",
            linewidth=1,
            label="a constant answer",
        )
        if self.best is not None:
            place = (100 * self.best.accuracy, 100 * self.best.certified)
            ax.plot(*place, "*", color="black", markersize=13, label="recommended")
        ax.set(
            xlabel="% right",
            ylabel=f"% right whatever {self.radius} of the {self.counts} say",
        )
        ax.legend(frameon=False, fontsize="small", loc="lower left")
        return ax

    def png(self) -> bytes:
        """Return the picture as the bytes of a PNG file.

        Returns
        -------
        bytes
            The same for the same numbers.
        """
        figures = require("matplotlib.figure", "a plot", "partita[plot]")
        canvases = require("matplotlib.backends.backend_agg", "a plot", "partita[plot]")
        figure = figures.Figure(figsize=(6.4, 4.6), layout="constrained")
        canvases.FigureCanvasAgg(figure)
        self.plot(figure.add_subplot())
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=120, metadata={"Software": None})
        return picture.getvalue()


def mean_evaluation(same: Sequence[Evaluation]) -> Evaluation:
    """One setting's results over several splits: shares are means, warnings are of all."""
    shares = ("accuracy", "certified", "balanced", "certified_balanced", "seconds")
    means: dict[str, Any] = {name: mean([getattr(one, name) for one in same]) for name in shares}
    return replace(
        same[0],
        **means,
        nearly_constant=mostly([one.nearly_constant for one in same]),
        warnings=list(dict.fromkeys(text for one in same for text in one.warnings)),
    )


def frontier(settings: Sequence[Evaluation]) -> list[Evaluation]:
    """The settings that no other one beats in both, the least accurate first."""
    best: list[Evaluation] = []
    for one in sorted(settings, key=lambda one: (-one.accuracy, -one.certified)):
        if not best or one.certified > best[-1].certified:
            best.append(one)
    return best[::-1]


def check_want(want: str) -> float | None:
    """The accuracy that is asked for; None where something else is. Refuses other wishes."""
    if want in (CERTIFIED, BALANCED):
        return None
    try:
        least = float(want.removeprefix(ACCURACY)) if want.startswith(ACCURACY) else -1.0
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise InputError(
            f"want is {want!r}: give certified, balanced, or accuracy=0.84 or the like"
        )
    return least


def recommend(
    settings: Sequence[Evaluation], want: str, constant: dict[str, Any], by_labels: bool
) -> tuple[Evaluation | None, str]:
    """The setting that a wish leads to, and why; None where a constant answer does as well.

    A setting must prove more than the best constant answer does, by accuracy or, for labels, by the
    mean of the classes' recalls.
    """
    least = check_want(want)
    if want == BALANCED and not by_labels:
        raise InputError("want is 'balanced', which is for labels: give certified or accuracy=...")

    def is_useful(one: Evaluation) -> bool:
        if one.nearly_constant:
            return False
        by_recall = by_labels and (one.certified_balanced or 0) > constant["balanced"]
        return one.certified > constant["accuracy"] or by_recall

    useful = [one for one in settings if is_useful(one)]
    if not useful:
        return None, "no setting proves more than a constant answer, at this radius"
    if want == BALANCED:
        chosen = max(useful, key=lambda one: (one.certified_balanced or 0, one.accuracy))
        return chosen, "the highest mean certified recall"
    if least is None:
        return max(useful, key=lambda one: (one.certified, one.accuracy)), "the most certified"
    accurate = [one for one in useful if one.accuracy >= least]
    if not accurate:
        best = max(useful, key=lambda one: (one.accuracy, one.certified))
        return best, f"none reaches an accuracy of {least:g}: this is the most accurate"
    chosen = max(accurate, key=lambda one: (one.certified, one.accuracy))
    return chosen, f"the most certified with an accuracy of at least {least:g}"
