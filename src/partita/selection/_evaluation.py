"""One setting on the rows it is judged by: curves over the radius, and their means over splits."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .._support import Array, Estimator, JsonObject
from ..certificates import Certificates
from ..ensemble import is_nearly_constant
from ..metrics import certified_accuracy_curve, certified_class_curves, median_radius
from ..workflow import Task

PARTITION, LEAVE_OUT = "partition", "leave-out"
Curves = dict[str, list[float]]  # by label


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One setting on the validation rows, or its means over splits of a trusted sample.

    Attributes
    ----------
    method : {"partition", "leave-out"}
        How the proof is made.
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
