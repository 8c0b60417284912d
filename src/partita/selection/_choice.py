"""What a search found: every setting's accuracy and certified accuracy, and the one to take.

Nothing here fits or certifies. A choice.json may come from a stranger, so all that is read from it
is checked.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support import (
    Estimator,
    JsonObject,
    PathLike,
    answer_text,
    percent,
    require,
    shortened,
)
from ..errors import InputError
from ..plot import CertifiedAccuracyDisplay, figure_png
from ..workflow import CHOSEN, ON_TRAINING
from ._evaluation import LEAVE_OUT, ONE_MODEL, PARTITION, Evaluation, Objective, at, one_label_from

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

COLUMNS = [  # of to_frame
    *("method", "accuracy", "certified", "balanced", "certified_balanced", "seconds"),
    *("nearly_constant", "warnings", "fit"),
]


SHOWN = 8  # settings of a longer frontier, evenly spaced


@dataclass(frozen=True, eq=False)
class Choice:
    """Settings on validation rows, and the one that is recommended.

    Attributes
    ----------
    objective : Objective
        What settings are compared by.
    radius : int or None
        Both methods are compared at this radius; None: partitions at all radii.
    settings : list of Evaluation
        All settings, in the order they were tried.
    ordinary : list of Evaluation
        Ordinary models of all columns, which prove nothing: boosting, randomized trees, a linear
        model, and the user's own.
    constant : dict
        The best constant answer, with its ``accuracy`` and ``balanced``: proven at every radius.
    counts : str
        What a radius counts.
    labels : dict of str to int
        How many validation rows have each label; empty for numbers.
    rows : int
        Number of validation rows.
    chosen : {"on-training", "on-reference"}
        What the choice was made on: ensembles that learnt from the training table, or a trusted
        sample alone.
    row_warnings : list of str
        What speaks against judging by these rows.
    about : dict
        How rows were held out; of a table in a file also where it is, and its units.
    splits : dict of str to Choice
        Where settings were judged by several kinds of split ("random", "last", "group"): the
        choice by each. The other attributes are of the worst, by which settings are recommended.

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

    objective: Objective
    radius: int | None
    settings: list[Evaluation]
    ordinary: list[Evaluation]
    constant: JsonObject
    counts: str
    labels: dict[str, int]
    rows: int
    chosen: str = ON_TRAINING
    row_warnings: list[str] = field(default_factory=list)
    about: JsonObject = field(default_factory=dict, repr=False)
    splits: dict[str, "Choice"] = field(default_factory=dict, repr=False)

    @property
    def want(self) -> str:
        """What the recommendation goes by."""
        return self.objective.name

    @cached_property
    def _reference(self) -> Evaluation | None:
        tried = [
            one
            for one in [*self.ordinary, *self.settings]
            if one.is_one_model and not one.warnings  # it failed
        ]
        if self.objective.by_accuracy:  # labels' shares are divided out for the sake of recall
            tried = [one for one in tried if not one.options.get("prior")]
        return self.objective.best(tried, 0)

    @cached_property
    def one_model(self) -> JsonObject:
        """The best ordinary model on these very rows, which proves nothing, with its ``name``.

        ``accuracy``, ``score`` and the like as in ``by_radius``.
        """
        if self._reference is None:
            failed = Evaluation(ONE_MODEL, {"submodels": 1}, 1, [], 0.0, None)
            return self.objective.entry(failed, 0) | {"name": None}
        options, name = self._reference.options, self._reference.fit_options
        if self._reference.method == ONE_MODEL:
            name = f"{options['estimator']}{' with prior 1' * ('prior' in options)}"
        return self.objective.entry(self._reference, 0) | {"name": name}

    @property
    def price(self) -> JsonObject | None:
        """How much lower than one model's the recommended score is without an attack.

        As a ``share``, with its ``standard_error`` as if the two were right independently, and the
        share of ``accuracy`` below the most accurate model. None where nothing is recommended, or
        every ordinary model failed.
        """
        if self.best is None or self._reference is None:
            return None
        pair, counts = (self._reference, self.best), (self.rows, self.labels)
        before, after = (at(self.objective.curve(one), 0) for one in pair)
        errors = [self.objective.standard_error(one, *counts) for one in pair]
        highest = max(one.accuracy for one in self.ordinary or [self._reference])
        return {
            "share": before - after,
            "standard_error": math.hypot(*errors),
            "accuracy": highest - self.best.accuracy,
        }

    @cached_property
    def by_radius(self) -> list[Evaluation]:
        """The recommended settings for r = 0, 1, ..., as far as one beats a constant answer."""
        found: list[Evaluation] = []
        while (one := self.objective.recommend(self.settings, self.constant, len(found))[0]) and (
            at(self.objective.curve(one), len(found)) > 0
        ):
            found.append(one)
        return found

    @property
    def best(self) -> Evaluation | None:
        """The recommended setting; None where no setting is better than a constant answer.

        Without a radius, the one for r = 1, or for 0 if there is none.
        """
        return self._recommended[0]

    @property
    def reason(self) -> str:
        """Why this one, or why none."""
        return self._recommended[1]

    @cached_property
    def _recommended(self) -> tuple[Evaluation | None, str]:
        best, reason = self.objective.recommend(self.settings, self.constant, self.radius_of_best)
        if best is None and self.radius is not None:
            reason = f"no setting proves more than a constant answer, at this radius: {reason}"
        if best is None and self.splits:
            reason += f"; this is by {self.about['held_out_how']}"
        disagreement = None if best is None else self._disagreement(best, self.radius_of_best)
        return (best, reason) if disagreement is None else (None, disagreement)

    def _disagreement(self, best: Evaluation, radius: int) -> str | None:
        """What to say if the splits' scores differ by more than the sampling error, or a point."""
        number = next(k for k, one in enumerate(self.settings) if one is best)
        for r in (radius, 0):
            found = []
            for one in self.splits.values():
                setting, about = one.settings[number], one.about["held_out_how"]
                error = self.objective.standard_error(setting, one.rows, one.labels, r)
                found.append((at(self.objective.curve(setting), r), error, about))
            if not found:
                return None
            (low, error, worse), (high, other, better) = min(found), max(found)
            splits = [one.about["split"] for one in self.splits.values()]
            group = next((one["column"] for one in splits if "column" in one), "COLUMN")
            if high - low > max(0.01, 2 * math.hypot(error, other)):
                return (
                    f"the {self.objective.words} at r = {r} of {best.fit_options} is "
                    f"{percent(high)} by {better}, and {percent(low)} by {worse}, which differ by "
                    "more than the sampling error. Say which rows are like new ones: --last 0.25 "
                    f"(later ones), --group {group} (of new groups) or --holdout 0.25 (like all "
                    "others); in Python X_valid and y_valid"
                )
        return None

    @property
    def no_more(self) -> str | None:
        """Why ``by_radius`` ends; None where nothing is certified at the next radius."""
        listed = len(self.by_radius)
        if listed and not any(at(self.objective.curve(one), listed) > 0 for one in self._models):
            return None
        return self.objective.recommend(self.settings, self.constant, listed)[1]

    @property
    def one_label_from(self) -> int | None:
        """From which radius on only rows of the most common label are certified; None: none."""
        return one_label_from(self.settings, self.constant)

    @property
    def nearly_constant(self) -> int:
        """How many settings are left out since they are nearly constant."""
        return len(self._models) - len(self._useful)

    @property
    def warnings(self) -> list[str]:
        """What speaks against the rows or the submodels."""
        failed = [f"{text}." for one in self.settings for text in one.warnings]
        return [*self.row_warnings, *dict.fromkeys(failed)]

    @property
    def depends(self) -> str:
        """What the choice means for a radius, to be said where one is published."""
        return CHOSEN[self.chosen]

    @property
    def estimator(self) -> Estimator:
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
        return frontier(self._useful, self._shares)

    def _shares(self, one: Evaluation) -> tuple[float, float]:
        """What settings are compared by, without an attack and at the radius."""
        curve = self.objective.curve(one)
        return at(curve, 0), at(curve, 1 if self.radius is None else self.radius)

    @property
    def _models(self) -> list[Evaluation]:
        """The settings but for one model on all columns."""
        return [one for one in self.settings if not one.is_one_model]

    @property
    def _useful(self) -> list[Evaluation]:
        return [one for one in self._models if not one.nearly_constant]

    @property
    def radius_of_best(self) -> int:
        """The radius that the recommended setting is for."""
        return max(0, min(1, len(self.by_radius) - 1)) if self.radius is None else self.radius

    @property
    def loud(self) -> list[str]:
        """What must be seen before the table."""
        own = [] if self.best is None else self.best.warnings
        found = [text for text in self.warnings if text.removesuffix(".") not in own]
        found += [f"With the recommended setting {text}." for text in own]
        none = [f"NO SETTING IS RECOMMENDED: {self.reason}."] if self.best is None else []
        return found + none

    def table(self) -> tuple[str, list[str], list[list[str]]]:
        """Return a title, headings and rows: what is recommended, and what to compare it with.

        Without a radius, one row per radius; with one, the frontier of both methods and the
        recommended setting, if it lies inside. Several kinds of split stand side by side.

        Returns
        -------
        title, headings, rows
            Texts, between one model on all columns and the best constant answer.
        """
        objective, radius, best = self.objective, self.radius, self.best
        name = self.one_model["name"] or "failed"
        lines: list[tuple[str, Evaluation | None, str]]
        lines = [("0", None, f"one model on all columns: {name}")]
        if radius is None:
            title = f"Best {objective.words} at each radius r, in %"
            lines += [(str(r), one, one.fit_options) for r, one in enumerate(self.by_radius)]
        else:
            title = (
                f"In % of {self.rows:,} rows, as they are and (r={radius}) whatever {radius} of "
                f"the {self.counts} say"
            )
            front = self.frontier
            if len(front) > SHOWN:
                few = np.linspace(0, len(front) - 1, SHOWN).round().astype(int)
                front = [front[k] for k in few]
            shown = dict.fromkeys([*front, *([best] if best else [])])
            for one in sorted(shown, key=self._shares, reverse=True):
                lines.append(("0", one, one.fit_options + "  (recommended)" * (one is best)))
        lines.append(("any", None, f"always answering {answer_text(self.constant['answer'])}"))
        columns = objective.columns(radius)
        cells = [(heading, key, self) for heading, key in columns]
        if self.splits:  # the score by each, and by the worst what else there is at all radii
            title += ", by " + " and ".join(f"{kind} rows" for kind in self.splits)
            own = columns[: 1 if radius is None else 2]
            by_each = [
                (heading if number else kind, key, split)
                for kind, split in self.splits.items()
                for number, (heading, key) in enumerate(own)
            ]
            cells = by_each + cells[1:] * (radius is None)
        places = {one: place for place, one in enumerate(self.settings)}
        rows = [
            [
                *[lead] * (radius is None),
                *(
                    _cell(split._measured(None if one is None else places[one], lead).get(key))
                    for _, key, split in cells
                ),
                text,
            ]
            for lead, one, text in lines
        ]
        headings = [*["r"] * (radius is None), *(heading for heading, _, _ in cells)]
        return title, [*headings, "options of partita fit"], rows

    def _measured(self, place: int | None, lead: str) -> Mapping[str, object]:
        """What a setting reaches; None stands for one model, or for a constant at any radius."""
        if place is not None:
            one = self.settings[place]
            if self.radius is None:
                return self.objective.entry(one, int(lead))
            then = {"certified_score": self._shares(one)[1]}
            return self.objective.entry(one, 0) | one.as_dict() | then
        if lead == "0":
            return self.one_model
        # a constant is certified at every radius, and has no row of any other label
        accuracy, balanced = (self.constant[name] for name in ("accuracy", "balanced"))
        proven = {"certified": accuracy, "certified_balanced": balanced}
        return {"lowest": 0.0} | proven | self.constant

    def notes(self) -> list[str]:
        """Return what to know beside the table, in sentences.

        Returns
        -------
        list of str
            How it was measured, what is not listed and why, and what the proof costs.
        """
        number, _, kind = self.counts.partition(" ")
        how = f": {self.about['held_out_how']}" if "held_out_how" in self.about else ""
        how += "; settings are compared by these" * bool(self.splits)
        counted = f"A radius counts {kind} ({int(number):,} in all)."
        found = [
            f"Measured on {one.rows:,} held-out rows: {one.about['held_out_how']}."
            for one in self.splits.values()
            if one.settings is not self.settings
        ]
        found.append(f"Measured on {self.rows:,} held-out rows{how}. {counted}")
        if self.objective.why:
            found.append(f"Settings are compared by {self.objective.words}: {self.objective.why}.")
        if self.radius is None and self.best is not None and self.no_more:
            found.append(f"Not listed, from r = {len(self.by_radius)} on: {self.no_more}.")
        if self.radius is None and self.one_label_from is not None:
            found.append(
                f"From r = {self.one_label_from} on, no setting certifies a row that has another "
                f"label than {answer_text(self.constant['answer'])}."
            )
        if self.nearly_constant:
            found.append(
                f"Left out as nearly constant: {self.nearly_constant} "
                f"setting{'s' * (self.nearly_constant > 1)}, with one label for nearly all rows."
            )
        found.append(f"{self.depends} On new rows expect a little less.")
        if self.best is None:
            return found
        costs, price = "every ordinary model failed, so the price is not known", self.price
        if price is not None:
            points, error = (100 * price[name] for name in ("share", "standard_error"))
            what = self.objective.score_name
            costs = f"the proof costs no {what} on these rows"
            if round(points, 1) > 0:
                costs = f"the price of the proof is {points:.1f} points of {what}"
            costs += f", give or take {error:.1f}, against {self.one_model['name']}"
            if not self.objective.by_accuracy:
                costs += f", and {100 * price['accuracy']:.1f} points of accuracy"
        return [*found, f"Recommended for r = {self.radius_of_best} ({self.reason}): {costs}."]

    def __str__(self) -> str:
        title, headings, rows = self.table()
        cells = [headings, *rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        table = ["  ".join([*map(str.rjust, line[:-1], widths[:-1]), line[-1]]) for line in cells]
        return "\n".join([*self.loud, title, *table, *self.notes()])

    def to_frame(self) -> "pandas.DataFrame":
        """Return all settings as a pandas DataFrame, the most certified first.

        Returns
        -------
        pandas.DataFrame
            One line per setting.
        """
        lines = [one.as_dict() for one in self.settings]
        frame = require("pandas", "to_frame()").DataFrame(lines)[COLUMNS]
        return frame.sort_values(["certified", "accuracy"], ascending=False, ignore_index=True)

    def as_dict(self) -> JsonObject:
        """Return everything as plain data, for JSON.

        Returns
        -------
        dict
            Settings without their estimators.
        """
        plain = [
            *("radius", "want", "one_model", "constant", "counts", "rows", "reason", "no_more"),
            *("one_label_from", "nearly_constant", "warnings", "chosen", "depends", "price"),
            "labels",
        ]
        return (
            self.about
            | {name: getattr(self, name) for name in plain}
            | {
                "task": self.objective.task,
                "compared_by": self.objective.why,
                "ordinary": [one.as_dict() for one in self.ordinary],
                "best": None if self.best is None else self.best.as_dict(),
                "by_radius": [self.objective.entry(one, r) for r, one in enumerate(self.by_radius)],
                "frontier": [one.as_dict() for one in self.frontier],
                "settings": [one.as_dict() for one in self.settings],
                "splits": {
                    kind: {
                        "split": one.about["split"],
                        "key": one.about.get("key"),
                        "ordinary": [model.as_dict() for model in one.ordinary],
                        "held_out_how": one.about["held_out_how"],
                        "rows": one.rows,
                        "one_model": one.one_model,
                        "constant": one.constant,
                        "settings": [setting.as_dict() for setting in one.settings],
                    }
                    for kind, one in self.splits.items()
                },
            }
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the settings, one model on all columns and the best constant answer.

        With a radius, accuracy against certified accuracy, and the frontier of each method;
        without one, the best curve of each number of submodels over the radius.

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
            ax = figures.Figure(figsize=self._size, layout="constrained").add_subplot()
        if self.radius is None:
            self._plot_curves(ax)
        else:
            self._plot_frontier(ax)
        return ax

    @property
    def _size(self) -> tuple[float, float]:
        return (8.2, 4.6) if self.radius is None else (6.4, 4.6)

    def _plot_frontier(self, ax: "Axes") -> None:
        for method, colour, marker in (
            (PARTITION, "tab:blue", "o"),
            (LEAVE_OUT, "tab:orange", "D"),
        ):
            own = [one for one in self._useful if one.method == method]
            best = frontier(own, self._shares)
            ax.plot(*self._places(own), marker, color=colour, alpha=0.35, markersize=5)
            name = f"{method} (frontier of {len(own)})"
            ax.plot(*self._places(best), marker + "-", color=colour, label=name)
        name = "one model, no proof"
        ax.axvline(100 * self.one_model["score"], color="tab:red", linestyle=":", label=name)
        level = self.objective.level(self.constant)
        if level is not None:
            name = "a constant answer"
            ax.axhline(100 * level, color="black", linestyle="--", linewidth=1, label=name)
        if self.best is not None:
            place = self._places([self.best])
            ax.plot(*place, "*", color="black", markersize=13, label="recommended")
        what = _plain_text(self.objective.words, 50)
        ax.set(xlabel="the same without an attack, in %")
        ax.set(ylabel=f"{what}, in %,\nwhatever {self.radius} of the {self.counts} say")
        ax.legend(frameon=False, fontsize="small", loc="lower left")

    def _places(self, settings: Sequence[Evaluation]) -> list[list[float]]:
        """The settings in a picture of what they are compared by, in percent."""
        return [[100 * self._shares(one)[k] for one in settings] for k in (0, 1)]

    def _plot_curves(self, ax: "Axes") -> None:
        colours = require("matplotlib", "a plot", "partita[plot]").colormaps["viridis"]
        sizes = list(dict.fromkeys(one.size for one in self._models))
        longest = 1
        for k, size in enumerate(sizes):
            share = [
                *self.objective.envelope([one for one in self._useful if one.size == size]),
                0.0,
            ]
            longest = max(longest, len(share) - 1)
            what = self.counts.partition(" ")[2]
            curve = CertifiedAccuracyDisplay(range(len(share)), share, counts=what, name=size)
            curve.plot(ax=ax, color=colours(0.85 * k / max(1, len(sizes) - 1)), linewidth=1.8)
        score = self.one_model["score"]
        name = f"one model on all columns\n({percent(score)}, proves nothing)"
        (star,) = ax.plot([0], [score], "*", label=name, color="tab:red", markersize=12)
        star.set(clip_on=False, zorder=3)
        level = self.objective.level(self.constant)
        if level is not None:
            answer = _plain_text(answer_text(self.constant["answer"]), 24)
            name = f"always answering {answer}\n({percent(level)})"
            ax.axhline(level, color="black", linestyle="--", linewidth=1.2, label=name)
        ax.set(xlim=(0, longest), ylim=(0, 1.02), ylabel=_plain_text(self.objective.words, 50))
        if "data" in self.about:
            data, target = self.about["data"]["name"], self.about["target"]
            ax.set_title(_plain_text(f"{target}: {self.rows:,} held-out rows of {data}", 70))
        for own in filter(None, [ax.get_legend()]):  # every curve made one, inside the axes
            own.remove()
        ax.figure.legend(loc="outside right upper", frameon=False, fontsize="small")

    def png(self) -> bytes:
        """Return the picture as the bytes of a PNG file.

        Returns
        -------
        bytes
            The same for the same numbers.
        """
        return figure_png(self.plot, self._size)


def _cell(share: object) -> str:
    return f"{100 * share:.1f}" if isinstance(share, float) and np.isfinite(share) else "-"


def _plain_text(text: str, most: int) -> str:
    """A text of bounded length, of which nothing is read as mathematics."""
    return shortened(text, most).replace("$", r"\$")


def frontier(
    settings: Sequence[Evaluation], shares: Callable[[Evaluation], tuple[float, float]]
) -> list[Evaluation]:
    """Return the settings that no other one beats in both shares, the lowest first one first."""
    best: list[Evaluation] = []
    for one in sorted(settings, key=shares, reverse=True):
        if not best or shares(one)[1] > shares(best[-1])[1]:
            best.append(one)
    return best[::-1]


def worst_of(splits: Mapping[str, Choice]) -> Choice:
    """Return the choice by the split whose best score is the lowest; it keeps all of them."""
    first = next(iter(splits.values()))
    if len(splits) == 1:
        return first
    radius = 1 if first.radius is None else first.radius

    def best_score(one: Choice) -> float:
        curves = [one.objective.curve(setting) for setting in one._models]
        return max((at(curve, radius) for curve in curves), default=0.0)

    worst = min(splits.values(), key=best_score)
    told = [text for one in splits.values() for text in one.row_warnings]
    told = list(dict.fromkeys(told))
    return replace(worst, objective=first.objective, splits=dict(splits), row_warnings=told)


def read_choice(path: PathLike) -> Choice:
    """Read the choice.json of an earlier search.

    Parameters
    ----------
    path : str or path
        The file, or the folder that ``partita choose`` wrote.

    Returns
    -------
    Choice
        Without estimators; ``about`` has what the file says of its table.
    """
    place = Path(path)
    place = place / "choice.json" if place.is_dir() else place
    if not place.is_file():
        raise InputError(
            f"sweep {str(place)!r} does not exist: give the choice.json that partita choose wrote"
        )
    try:
        return _checked(json.loads(place.read_bytes()))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as exc:
        raise InputError(
            f"sweep {str(place)!r} is not a choice.json of partita choose: {type(exc).__name__}"
        ) from exc


def _checked(found: JsonObject) -> Choice:
    """A choice from its JSON; any error means that it is not one."""
    objective = Objective.parse(str(found["want"]), str(found["task"]))
    names = [name for name in Evaluation.__dataclass_fields__ if name != "estimator"]
    settings = []
    for one in found["settings"]:
        setting = Evaluation(**{name: one[name] for name in names}, estimator=None)
        labels = [*(setting.recall or {}).values(), *(setting.precision or {}).values()]
        _check_curves([setting.curve, setting.balanced_curve or [], *labels])
        size = setting.options.get("groups" if setting.method == LEAVE_OUT else "submodels")
        if not isinstance(size, int) or not isinstance(setting.radius, int):
            raise TypeError("a number of submodels is not an integer")
        settings.append(setting)
    constant = {name: found["constant"][name] for name in ("answer", "accuracy", "balanced")}
    shares = [constant["accuracy"], *([constant["balanced"]] if constant["balanced"] else [])]
    _check_curves([[share] for share in shares])
    if not settings:
        raise ValueError("no settings")
    objective.envelope(settings)  # fails if a setting lacks what the score needs
    radius = None if found["radius"] is None else int(found["radius"])
    counts, rows, about = str(found["counts"]), int(found["rows"]), {"target": str(found["target"])}
    return Choice(objective, radius, settings, [], constant, counts, {}, rows, about=about)


def _check_curves(curves: Sequence[object]) -> None:
    """Refuse what is not a falling list of shares."""
    for one in curves:
        curve = np.asarray(one, dtype=float)
        is_share = (curve >= 0) & (curve <= 1)
        if curve.ndim != 1 or not is_share.all() or not (np.diff(curve) <= 0).all():
            raise ValueError("a curve is not valid")
