"""What settings are compared by, and which of them to recommend at which radius.

Always giving the same answer is proven at every radius. Whatever does not beat that, by what
settings are compared by, is not recommended: a certified accuracy alone may be a constant's.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .._support import JsonObject, answer_text, percent
from ..errors import InputError
from ._evaluation import Evaluation, at

CERTIFIED, ACCURACY, BALANCED = "certified", "accuracy", "balanced"
AT_LEAST, RECALL = "accuracy=", "recall:"


@dataclass(frozen=True)
class Objective:
    """What settings are compared by, certified at a radius.

    Attributes
    ----------
    name : str
        "certified" or "accuracy" (the share of rows, for numbers of those within the tolerance),
        "accuracy=0.84" (the same, among settings at least that accurate), "balanced" (the mean of
        the labels' recalls), or "recall:LABEL".
    task : {"classification", "regression"}
        Whether predictions are labels or numbers.
    """

    name: str
    task: str = "classification"

    @classmethod
    def parse(cls, name: str, task: str) -> "Objective":
        """Read what an argument or option asks for."""
        found = cls(name, task)
        if (found.least is not None and not 0 <= found.least <= 1) or not (
            name in (CERTIFIED, ACCURACY, BALANCED) or found.label or found.least is not None
        ):
            raise InputError(
                f"want is {name!r}: give certified, balanced, accuracy=0.84 or the like, or "
                "recall:LABEL"
            )
        if task == "regression" and (name == BALANCED or found.label):
            raise InputError(
                f"want is {name!r}, which is for labels, and the target holds numbers: leave it out"
            )
        return found

    @property
    def label(self) -> str | None:
        """The label whose recall is meant, as text."""
        return self.name.removeprefix(RECALL) if self.name.startswith(RECALL) else None

    @property
    def least(self) -> float | None:
        """The accuracy that is asked for; None where none is."""
        try:
            return float(self.name[len(AT_LEAST) :]) if self.name.startswith(AT_LEAST) else None
        except ValueError:
            return -1.0

    @property
    def by_accuracy(self) -> bool:
        """Whether the score is the certified accuracy."""
        return self.name != BALANCED and self.label is None

    @property
    def words(self) -> str:
        """What it measures, for people."""
        if self.label is not None:
            return f"certified recall of {self.label!r}"
        if self.task == "regression":
            return "certified share within the tolerance"
        return "mean certified recall" if self.name == BALANCED else "certified accuracy"

    def check_labels(self, labels: Iterable[object]) -> None:
        """Refuse the recall of a label that no validation row has."""
        known = [str(label) for label in labels]
        if self.label is not None and self.label not in known:
            more = ", ..." if len(known) > 20 else ""
            raise InputError(
                f"want is {self.name!r}, but no held-out row has that label: give one of "
                f"{', '.join(known[:20])}{more}"
            )

    def curve(self, one: Evaluation) -> Sequence[float]:
        """Return the score of a setting at r = 0, 1, ..."""
        if self.label is not None:
            return (one.recall or {})[self.label]
        return (one.balanced_curve or []) if self.name == BALANCED else one.curve

    def level(self, constant: JsonObject) -> float | None:
        """Return what a constant answer scores; None for a recall, where one is perfect."""
        share: float = constant[BALANCED if self.name == BALANCED else ACCURACY]
        return None if self.label is not None else share

    def beats(self, one: Evaluation, constant: JsonObject, radius: int) -> bool:
        """Whether a setting scores more than a constant answer, whose score holds at every radius.

        By recall of one label a setting must beat it by accuracy or by mean recall.
        """
        level = self.level(constant)
        if level is not None:
            return at(self.curve(one), radius) > level
        pairs = (one.curve, constant[ACCURACY]), (one.balanced_curve or [], constant[BALANCED])
        return any(at(curve, radius) > share for curve, share in pairs)

    def best(self, settings: Iterable[Evaluation], radius: int) -> Evaluation | None:
        """Return the first of the best by score, mean recall and accuracy, there and at r = 0.

        None where all scores are 0. Every setting counts here, useful or not.
        """
        certified = [one for one in settings if at(self.curve(one), radius) > 0]
        return max(
            certified,
            key=lambda one: (
                at(self.curve(one), radius),
                at(one.balanced_curve or [], radius),
                at(one.curve, radius),
                one.accuracy,
            ),
            default=None,
        )

    def recommend(
        self, settings: Sequence[Evaluation], constant: JsonObject, radius: int
    ) -> tuple[Evaluation | None, str]:
        """Return the best setting that beats a constant at a radius, and why; None if none does.

        One model on all columns proves nothing and is never recommended, nor is a setting that is
        nearly a constant.
        """
        models = [one for one in settings if not one.is_one_model]
        useful = [
            one for one in models if not one.nearly_constant and self.beats(one, constant, radius)
        ]
        accurate = [one for one in useful if self.least is None or one.accuracy >= self.least]
        if useful and not accurate:
            most = max(useful, key=lambda one: (one.accuracy, at(one.curve, radius)))
            return most, f"none reaches an accuracy of {self.least:g}: this is the most accurate"
        found = self.best(accurate, radius)
        if found is None:
            return None, self._why_none(models, constant, radius)
        if not self.by_accuracy:
            return found, f"the highest {self.words}"
        more = "" if self.least is None else f" with an accuracy of at least {self.least:g}"
        return found, f"the most certified{more}"

    def _why_none(self, models: Sequence[Evaluation], constant: JsonObject, radius: int) -> str:
        certified = [one for one in models if at(self.curve(one), radius) > 0]
        if not certified:
            return "no setting with more than one submodel certifies anything"
        if any(self.beats(one, constant, radius) for one in certified):
            return (
                "all settings that certify anything are nearly constants: they give nearly all "
                "rows one label"
            )
        always, level = f"always answering {answer_text(constant['answer'])}", self.level(constant)
        if level is None:
            return f"no setting beats {always}, by accuracy or by mean recall"
        why = f"{always} scores as much or more ({percent(level)}), whatever an attacker does"
        balanced, useful = Objective(BALANCED), [one for one in models if not one.nearly_constant]
        if (
            self.by_accuracy
            and self.task == "classification"
            and any(balanced.beats(one, constant, radius) for one in useful)
        ):
            why += "; by mean certified recall some settings beat it: ask for balanced"
        return why

    def entry(self, one: Evaluation, radius: int) -> JsonObject:
        """Return what a setting reaches at a radius, for a table; NaN where its model fails."""
        if not one.curve:
            unknown = dict.fromkeys(("balanced", "lowest", "precision"))
            return {"radius": radius, "score": math.nan, "accuracy": math.nan, "fit": ""} | unknown
        recalls = [at(curve, radius) for curve in (one.recall or {}).values()]
        precision = one.precision[self.label] if one.precision and self.label is not None else None
        return {
            "radius": radius,
            "score": at(self.curve(one), radius),
            "accuracy": at(one.curve, radius),
            "balanced": None if one.balanced_curve is None else at(one.balanced_curve, radius),
            "lowest": min(recalls, default=None),
            "precision": None if precision is None else at(precision, radius),
            "fit": one.fit_options,
        }

    def envelope(self, settings: Sequence[Evaluation]) -> list[float]:
        """Return the highest score of any of these settings at r = 0, 1, ..., while above 0."""
        length = max((len(self.curve(one)) for one in settings), default=0)
        highest = (max(at(self.curve(one), r) for one in settings) for r in range(length))
        return [score for score in highest if score > 0]


def one_label_from(settings: Sequence[Evaluation], constant: Mapping[str, object]) -> int | None:
    """Return from which radius on nothing is certified but the most common label; None: from none.

    That is, no setting has a row of another label that is right and stays so, while some setting
    has one of the most common label.
    """
    common = str(constant["answer"])
    recalls = [one.recall for one in settings if not one.is_one_model and one.recall]
    others = [curve for one in recalls for label, curve in one.items() if label != common]
    first = max((sum(share > 0 for share in curve) for curve in others), default=0)
    return first if any(at(one.get(common, []), first) > 0 for one in recalls) else None
