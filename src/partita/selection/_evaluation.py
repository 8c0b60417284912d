"""One setting on the rows it is judged by, what settings are compared by, and which to recommend.

Always giving the same answer is proven at every radius. Whatever does not beat that, by what
settings are compared by, is not recommended: a certified accuracy alone may be a constant's.
"""

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from .._support import Array, Estimator, JsonObject, answer_text, percent
from ..certificates import Certificates
from ..ensemble import is_nearly_constant
from ..errors import InputError
from ..metrics import certified_accuracy_curve, certified_class_curves, median_radius
from ..workflow import Task

PARTITION, LEAVE_OUT, ONE_MODEL = "partition", "leave-out", "one model"
Curves = dict[str, list[float]]  # by label


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One setting on the validation rows, or its means over splits of a trusted sample.

    Attributes
    ----------
    method : {"partition", "leave-out", "one model"}
        How the proof is made; an ordinary model of the whole table proves nothing.
    options : dict
        As ``partita fit`` takes them.
    radius : int
        Where ``certified`` and ``certified_balanced`` are taken.
    curve : list of float
        At r = 0, 1, ... the share of rows that stay right, whatever is written into r units.
    seconds : float
        For fitting all submodels.
    estimator : estimator
        Not fitted; ``fit`` it on all rows to use it. None in a choice that was read from a file.
    balanced_curve : list of float, optional
        The same for the mean of the labels' recalls; None for numbers.
    recall, precision : dict of str to list of float, optional
        The same for each label: its certified recall, and the least precision that is left.
    predicted : dict, optional
        The ``label`` that is predicted most often, and its ``share``.
    median : float, optional
        The median radius; None where it is not finite.
    nearly_constant : bool
        Whether it gives nearly all rows one label, so that its proofs say little.
    warnings : list of str
        What else speaks against it: submodels that failed to fit.
    """

    method: str
    options: dict[str, object]
    radius: int
    curve: list[float]
    seconds: float
    estimator: Estimator = field(repr=False)
    balanced_curve: list[float] | None = None
    recall: Curves | None = None
    precision: Curves | None = None
    predicted: JsonObject | None = None
    median: float | None = None
    nearly_constant: bool = False
    warnings: list[str] = field(default_factory=list)

    @property
    def accuracy(self) -> float:
        """The share of rows that are right."""
        return at(self.curve, 0)

    @property
    def certified(self) -> float:
        """The share that stay right, whatever is written into ``radius`` units."""
        return at(self.curve, self.radius)

    @property
    def balanced(self) -> float | None:
        """The mean of the labels' recalls; None for numbers."""
        return None if self.balanced_curve is None else at(self.balanced_curve, 0)

    @property
    def certified_balanced(self) -> float | None:
        """The mean of the labels' certified recalls; None for numbers."""
        return None if self.balanced_curve is None else at(self.balanced_curve, self.radius)

    @property
    def size(self) -> str:
        """The method and size, such as "5 submodels"."""
        return size_text(self.options)

    @property
    def is_one_model(self) -> bool:
        """Whether it is one model on all columns, which proves nothing."""
        return self.options.get("submodels") == 1

    @property
    def fit_options(self) -> str:
        """The setting as options of ``partita fit``."""
        return " ".join(
            f"--{name} {text}" for name, value in self.options.items() for text in _texts(value)
        )

    @property
    def measured(self) -> JsonObject:
        """All attributes but the estimator."""
        return {name: value for name, value in vars(self).items() if name != "estimator"}

    def as_dict(self) -> JsonObject:
        """Return everything but the estimator, for JSON."""
        shares = ("accuracy", "certified", "balanced", "certified_balanced")
        found = {"fit": self.fit_options} | {name: getattr(self, name) for name in shares}
        return found | self.measured


def size_text(options: Mapping[str, object]) -> str:
    """Name a method and size, such as "5 submodels"."""
    if options.get("method") == LEAVE_OUT:
        return f"leave-out, {options['groups']} groups"
    if options.get("submodels") == 1 and "estimator" in options:
        return "one model on all columns"
    return f"{options['submodels']} submodel{'s' * (options['submodels'] != 1)}"


def _texts(value: object) -> list[str]:
    """An option's value as words of a command; several for head starts by label."""
    if isinstance(value, Mapping):
        return [shlex.quote(f"{label}={_number(votes)}") for label, votes in value.items()]
    return [_number(value) if isinstance(value, float) else str(value)]


def _number(value: float) -> str:
    """Short, and the same number when it is read again."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def at(curve: Sequence[float], radius: int) -> float:
    """Return the value at a radius; 0 beyond the end."""
    return float(curve[radius]) if radius < len(curve) else 0.0


def evaluate(one: Evaluation, task: Task, proof: Certificates, truth: Array) -> Evaluation:
    """Fill in what certificates of the validation rows say about a setting."""
    middle = median_radius(truth, proof)
    found = replace(
        one,
        curve=certified_accuracy_curve(truth, proof).accuracy.tolist(),
        median=middle if np.isfinite(middle) else None,
    )
    counts = task.label_counts(proof.prediction)
    if not counts:
        return found
    classes = certified_class_curves(truth, proof)
    return replace(
        found,
        balanced_curve=np.mean([one.recall for one in classes.values()], axis=0).tolist(),
        recall={str(label): one.recall.tolist() for label, one in classes.items()},
        precision={str(label): one.precision.tolist() for label, one in classes.items()},
        predicted=_commonest(counts),
        nearly_constant=is_constant(counts, task.label_counts(truth)),
    )


def is_constant(predicted: "Counter[object]", true: "Counter[object]") -> bool:
    """Whether nearly all rows get one label, from how many rows have and get each."""
    return is_nearly_constant(_commonest(predicted)["share"], max(true.values()) / true.total())


def _commonest(counts: "Counter[object]") -> JsonObject:
    label, count = counts.most_common(1)[0]
    return {"label": label, "share": count / counts.total()}


def mean_evaluation(same: Sequence[Evaluation]) -> Evaluation:
    """One setting's results over several splits: shares are means, warnings are of all."""
    first = same[0]
    if len(same) == 1:
        return first
    found = replace(
        first,
        curve=_mean_curve([one.curve for one in same]),
        seconds=float(np.mean([one.seconds for one in same])),
        median=mean([one.median for one in same]),
        nearly_constant=2 * sum(one.nearly_constant for one in same) >= len(same),
        warnings=list(dict.fromkeys(text for one in same for text in one.warnings)),
    )
    if first.predicted is None:
        return found
    share = mean([one.predicted["share"] for one in same if one.predicted])
    return replace(
        found,
        balanced_curve=_mean_curve([one.balanced_curve or [] for one in same]),
        recall=_mean_curves([one.recall or {} for one in same]),
        precision=_mean_curves([one.precision or {} for one in same]),
        predicted=first.predicted | {"share": share},
    )


def _mean_curves(same: Sequence[Curves]) -> Curves:
    return {label: _mean_curve([one[label] for one in same]) for label in same[0]}


def _mean_curve(curves: Sequence[Sequence[float]]) -> list[float]:
    """The mean at every radius; a curve is 0 beyond its end."""
    length = max(map(len, curves))
    padded = [[*curve, *[0.0] * (length - len(curve))] for curve in curves]
    return [float(value) for value in np.mean(padded, axis=0)]


def mean(values: Sequence[float | None]) -> float | None:
    """The mean over splits; None where a value has none."""
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else float(np.mean(known))


CERTIFIED, ACCURACY, BALANCED = "certified", "accuracy", "balanced"
AT_LEAST, RECALL = "accuracy=", "recall:"
UNEVEN = 0.5  # labels are where the rarest has less than this share of the most common one's rows


# ---- what settings are compared by, and which one to recommend ----


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
    why : str
        Why these are compared so, where the user did not say; "" otherwise.
    """

    name: str
    task: str = "classification"
    why: str = ""

    @classmethod
    def parse(cls, name: str | None, task: str, counts: "Counter[object] | None" = None) -> Self:
        """Read what an argument or option asks for; None: what suits labels with these counts."""
        if name is None:
            return cls._default(task, counts or Counter())
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

    @classmethod
    def _default(cls, task: str, counts: "Counter[object]") -> Self:
        """Compare by the mean recall where the rarest label has few rows, else by rows."""
        if not counts:
            return cls(CERTIFIED, task, "the target holds numbers")
        (common, most), (rare, least) = (counts.most_common()[k] for k in (0, -1))
        shares = (
            f"{answer_text(common)} has {percent(most / counts.total())} of the rows and "
            f"{answer_text(rare)} {percent(least / counts.total())}"
        )
        if least < UNEVEN * most:
            return cls(BALANCED, task, f"labels are uneven ({shares}), so each counts the same")
        return cls(
            CERTIFIED, task, f"labels are about even ({shares}), so each row counts the same"
        )

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

    @property
    def score_name(self) -> str:
        """What it measures without an attack."""
        return "accuracy" if self.by_accuracy else self.words.replace("certified ", "")

    def columns(self, radius: int | None) -> list[tuple[str, str]]:
        """Return headings and keys for a table; what settings are compared by comes first."""
        if radius is not None:
            now, then = ("right", "accuracy"), f"r={radius}"
            right, recall = [now, (then, "certified")], [("mean recall", "balanced")]
            recall.append((then, "certified_balanced"))
            if self.task == "regression":
                return right
            if self.label is not None:
                return [("recall", "score"), (then, "certified_score"), *right]
            return [*right, *recall] if self.by_accuracy else [*recall, *right]
        accuracy, mean_recall = ("accuracy", "accuracy"), ("mean recall", "balanced")
        if self.task == "regression":
            return [("right", "accuracy")]
        if self.label is not None:  # what is bought, and what it costs
            return [("recall", "score"), ("precision", "precision"), accuracy, mean_recall]
        recalls = [mean_recall, ("lowest", "lowest")]
        return [accuracy, *recalls] if self.by_accuracy else [*recalls, accuracy]

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

    def standard_error(
        self, one: Evaluation, rows: int, counts: Mapping[str, int], radius: int = 0
    ) -> float:
        """Return the standard error of a setting's score at a radius, on so many rows."""
        if self.by_accuracy:
            share = at(one.curve, radius)
            return math.sqrt(share * (1 - share) / rows)
        recall = {label: at(curve, radius) for label, curve in (one.recall or {}).items()}
        recall = recall if self.label is None else {self.label: recall[self.label]}
        spread = sum(share * (1 - share) / counts[label] for label, share in recall.items())
        return math.sqrt(spread) / len(recall)

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
