"""Which of many settings to recommend at which radius, from what a sweep measured.

Always giving the same answer is proven at every radius. Whatever does not beat that is not
recommended: a certified accuracy alone may be a constant's. Nothing here knows models or tables.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..workflow import answer_text, percent

Setting = Mapping[str, Any]

RECALL = "recall:"


@dataclass(frozen=True)
class Score:
    """What settings are compared by.

    Attributes
    ----------
    name : str
        "accuracy", "balanced" (the mean of the classes' recalls), or "recall:LABEL"; each
        certified, at a radius.
    task : str
        "classification", or "regression": accuracy is then the share of rows within the tolerance.
    """

    name: str
    task: str = "classification"

    @classmethod
    def parse(cls, name: str | None, task: str, default: str) -> "Score":
        """The score that an option names; None: the default."""
        if name is None:
            return cls(default, task)
        if name not in ("accuracy", "balanced") and not (
            name.startswith(RECALL) and len(name) > len(RECALL)
        ):
            raise InputError(f"score is {name!r}: give accuracy, balanced or recall:LABEL")
        if task == "regression" and name != "accuracy":
            raise InputError(
                f"score is {name!r}, which is for labels, and the target holds numbers: leave it "
                "out"
            )
        return cls(name, task)

    @property
    def label(self) -> str | None:
        """The label whose recall it is."""
        return self.name[len(RECALL) :] if self.name.startswith(RECALL) else None

    def check(self, labels: Iterable[Any]) -> None:
        """Refuse the recall of a label that no held-out row has."""
        known = [str(label) for label in labels]
        if self.label is not None and self.label not in known:
            more = ", ..." if len(known) > 20 else ""
            raise InputError(
                f"score is {self.name!r}, but no held-out row has that label: give one of "
                f"{', '.join(known[:20])}{more}"
            )

    def curve(self, setting: Setting) -> Sequence[float]:
        """The score of a setting at r = 0, 1, ..."""
        if self.label is not None:
            shares: Sequence[float] = setting["recall"][self.label]
            return shares
        return list(setting["curve" if self.name == "accuracy" else "balanced"])

    @property
    def words(self) -> str:
        """What it measures, for people."""
        if self.label is not None:
            return f"certified recall of {self.label!r}"
        if self.task == "regression":
            return "certified share within the tolerance"
        return "certified accuracy" if self.name == "accuracy" else "mean certified recall"


ACCURACY = Score("accuracy")


def at(curve: Sequence[float], radius: int) -> float:
    """The value at a radius; 0 beyond the end."""
    return float(curve[radius]) if radius < len(curve) else 0.0


def best(settings: Sequence[Setting], score: Score = ACCURACY) -> list[dict[str, Any]]:
    """For every radius the setting with the highest score (the first of equals).

    Ends where nothing is certified. Every setting counts here, useful or not: these are curves to
    draw. :func:`recommended` leaves out what a constant beats.
    """
    return [
        _entry(one, score, radius)
        for radius in range(_length(settings, score))
        if (one := _highest(settings, score, radius))
    ]


def recommended(
    settings: Sequence[Setting], score: Score, constant: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """For r = 0, 1, ... the best setting that beats a constant there, as far as there is one.

    One model on all columns proves nothing and is not among them, nor is a setting that is nearly a
    constant.
    """
    found = []
    for radius in range(_length(settings, score)):
        useful = [one for one in settings if _is_model(one) and beats(one, score, constant, radius)]
        one = _highest(useful, score, radius)
        if one is None:
            break
        found.append(_entry(one, score, radius))
    return found


def full_model_entry(settings: Sequence[Setting], score: Score) -> dict[str, Any] | None:
    """One model on all columns, under the rule that scores best; None if it was not tried."""
    return next(iter(best([one for one in settings if one["submodels"] == 1], score)), None)


def beats(setting: Setting, score: Score, constant: Mapping[str, Any] | None, radius: int) -> bool:
    """Whether a setting scores higher than a constant answer, whose score holds at every radius.

    By recall of one label a constant is perfect. So there a setting must beat it by accuracy or by
    mean recall.
    """
    if constant is None:
        return True
    by_accuracy: bool = at(setting["curve"], radius) > constant["accuracy"]
    if score.name == "accuracy":
        return by_accuracy
    by_recall: bool = at(setting["balanced"], radius) > constant["balanced"]
    return by_recall if score.name == "balanced" else by_accuracy or by_recall


def why_no_more(
    settings: Sequence[Setting], score: Score, constant: Mapping[str, Any] | None, listed: int
) -> str | None:
    """Why no setting is recommended from this radius on; None where nothing is certified there."""
    models = [one for one in settings if one["submodels"] > 1]
    certified = [one for one in models if at(score.curve(one), listed) > 0]
    if not certified:
        return None if listed else "no setting with more than one submodel certifies anything."
    if constant is None or any(beats(one, score, constant, listed) for one in certified):
        return (
            "all settings that certify anything are nearly constants: they give nearly all rows "
            "one label."
        )
    always = f"always answering {answer_text(constant['answer'])}"
    if score.label is not None:
        return f"no setting beats {always}, by accuracy or by mean recall."
    share = constant[score.name if score.name == "balanced" else "accuracy"]
    return f"{always} scores as much or more ({percent(share)}), whatever an attacker does."


def one_label_from(settings: Sequence[Setting], constant: Mapping[str, Any]) -> int | None:
    """From which radius on nothing is certified but the most common label; None: from none.

    That is, no setting has a row of another label that is right and stays so, while some setting
    has one of the most common label.
    """
    models = [one for one in settings if one["submodels"] > 1 and one.get("recall")]
    common = str(constant["answer"])
    others = [curve for one in models for label, curve in one["recall"].items() if label != common]
    first = max((sum(share > 0 for share in curve) for curve in others), default=0)
    anything = any(at(one["recall"].get(common, ()), first) > 0 for one in models)
    return first if anything else None


def fit_options(one: Setting) -> str:
    """A setting as options of ``partita fit``; margin and prior always, or fit chooses its own."""
    options = [f"--submodels {one['submodels']}"]
    for name, value in one["options"].items():
        if isinstance(value, Mapping):  # head starts by label
            options += [
                f"--{name} {shlex.quote(f'{label}={_number(votes)}')}"
                for label, votes in value.items()
            ]
        else:
            options.append(f"--{name} {_number(value) if isinstance(value, float) else value}")
    default = ("--stretch 1", "--rule median", "--rule tournament")
    return " ".join(option for option in options if option not in default)


def _number(value: float) -> str:
    """Short, and the same number when it is read again."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _is_model(setting: Setting) -> bool:
    return bool(setting["submodels"] > 1 and not setting.get("nearly_constant", False))


def _length(settings: Sequence[Setting], score: Score) -> int:
    return max((len(score.curve(one)) for one in settings), default=0)


def _highest(settings: Sequence[Setting], score: Score, radius: int) -> Setting | None:
    """The first of the best by score, then mean recall, then accuracy; None if all are 0."""
    certified = [one for one in settings if at(score.curve(one), radius) > 0]
    return max(certified, key=lambda one: _key(one, score, radius), default=None)


def _key(setting: Setting, score: Score, radius: int) -> tuple[float, float, float]:
    return (
        at(score.curve(setting), radius),
        at(setting.get("balanced") or (), radius),
        at(setting["curve"], radius),
    )


def _entry(setting: Setting, score: Score, radius: int) -> dict[str, Any]:
    return {
        "radius": radius,
        "score": at(score.curve(setting), radius),
        "accuracy": at(setting["curve"], radius),
        "balanced": at(setting["balanced"], radius) if setting.get("balanced") else None,
        "lowest": _lowest_recall(setting, radius),
        "precision": _precision(setting, score, radius),
        "submodels": setting["submodels"],
        "fit": fit_options(setting),
    }


def _lowest_recall(setting: Setting, radius: int) -> float | None:
    """The certified recall of the label that has the least; None for numbers."""
    curves = (setting.get("recall") or {}).values()
    return min((at(curve, radius) for curve in curves), default=None)


def _precision(setting: Setting, score: Score, radius: int) -> float | None:
    """The least precision of the label that is compared by its recall; None for other scores."""
    curves = setting.get("precision")
    return at(curves[score.label], radius) if curves and score.label is not None else None
