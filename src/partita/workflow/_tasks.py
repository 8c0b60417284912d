"""Labels or numbers: everything in the workflow that differs between the two tasks.

A fitted ensemble answers for itself (``model.task``, ``model._statement``, ...). What must be
decided before there is one is decided here: how a target is read, which rules and estimators go
with it, and which constant answer is best. Nothing here reads files.
"""

from abc import ABC, abstractmethod
from collections import Counter
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier, is_regressor

from .._support import Array
from ..ensemble import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from ..errors import InputError
from ..rules import Median, Rule, Tournament, bounds_around, named_rule
from ..tables import BOOLEAN, NUMBER, TEXT

MOST_LABELS = 20  # whole numbers with more distinct values than this are values, not labels
LARGEST_WHOLE = 2.0**53  # up to here a float tells whole numbers apart


class Task(ABC):
    """What a target column asks for."""

    name: ClassVar[str]  # as ``--task`` and JSON have it
    holds: ClassVar[str]  # what the target holds, for messages
    ensemble: ClassVar[Any]  # submodels on disjoint sets of columns
    leave_out_ensemble: ClassVar[Any]  # models that leave units out
    default_score: ClassVar[str]  # what a sweep compares settings by

    @abstractmethod
    def as_learnt(self, y: Array, kind: str) -> Array:
        """A target column of that kind, as submodels learn it."""

    @abstractmethod
    def check_target(self, name: str, kind: str, y: Array) -> None:
        """Refuse a target, already as it is learnt, that cannot be learnt from."""

    @abstractmethod
    def label_counts(self, y: Array) -> "Counter[Any]":
        """How many rows have each label, in the order of the labels; none for numbers."""

    @abstractmethod
    def check_tolerance(
        self, tolerance: float | None, relative: float | None, needed: bool = False
    ) -> None:
        """Refuse a tolerance that does not go with this task, or the lack of one."""

    @abstractmethod
    def rule(
        self,
        name: str | None,
        margin: float | None = None,
        prior: float | None = None,
        stretch: float | None = None,
        offset: Any = None,
    ) -> Rule:
        """The rule that the options of ``partita fit`` describe; fit fills in what they omit."""

    @abstractmethod
    def rule_options(self, grid: Any) -> list[dict[str, Any]]:
        """Every rule of a sweep's grid with its settings, as options of ``partita fit``."""

    @abstractmethod
    def best_constant(
        self, y: Array, truth: Array, tolerance: float | None, relative: float | None
    ) -> dict[str, Any]:
        """The best constant answer to rows with this truth, known from the training target y."""

    @abstractmethod
    def is_estimator(self, estimator: Any) -> bool:
        """Whether scikit-learn calls it an estimator for this task."""


class Classification(Task):
    """The target holds labels."""

    name = "classification"
    holds = "labels"
    ensemble = FeaturePartitionClassifier
    leave_out_ensemble = LeaveOutClassifier
    default_score = "balanced"

    def as_learnt(self, y: Array, kind: str) -> Array:
        """Labels; whole numbers that happen to be stored as floats become integers."""
        if kind == NUMBER and y.dtype.kind == "f" and _are_whole(y):
            return y.astype(np.int64)
        return y

    def check_target(self, name: str, kind: str, y: Array) -> None:
        if kind == NUMBER and y.dtype.kind == "f":
            if not np.all(np.abs(y) <= LARGEST_WHOLE):
                raise InputError(
                    f"the target {name!r} holds numbers too large to be labels: use --task "
                    "regression, or store them as whole numbers"
                )
            raise InputError(
                f"the target {name!r} holds fractions, which are not labels: use --task regression"
            )
        if len(np.unique(y)) == 1:
            raise InputError(
                f"the target {name!r} holds one label only, {y.tolist()[0]!r}: there is nothing to "
                "learn or to prove"
            )

    def label_counts(self, y: Array) -> "Counter[Any]":
        labels, counts = np.unique(y, return_counts=True)
        return Counter(dict(zip(labels.tolist(), counts.tolist(), strict=True)))

    def check_tolerance(
        self, tolerance: float | None, relative: float | None, needed: bool = False
    ) -> None:
        if tolerance is not None or relative is not None:
            raise InputError(
                "tolerance and relative are for numbers, and the model predicts labels: leave "
                "them out"
            )

    def rule(
        self,
        name: str | None,
        margin: float | None = None,
        prior: float | None = None,
        stretch: float | None = None,
        offset: Any = None,
    ) -> Rule:
        if stretch is not None:
            raise InputError(
                "stretch is for numbers, and the target holds labels: use margin or prior"
            )
        if name == "median":
            raise InputError(
                "rule 'median' is for numbers, and the target holds labels: use plurality, runoff "
                "or tournament"
            )
        if name in (None, "tournament"):
            return Tournament(margin=margin, prior=prior, offset=offset)
        if margin is not None or prior is not None or offset is not None:
            raise InputError(
                f"margin, prior and offset belong to the tournament, not to {name!r}: leave them "
                "out, or use rule tournament"
            )
        return named_rule(name)

    def rule_options(self, grid: Any) -> list[dict[str, Any]]:
        return list(grid.label_rules())

    def best_constant(
        self, y: Array, truth: Array, tolerance: float | None, relative: float | None
    ) -> dict[str, Any]:
        answer, count = self.label_counts(truth).most_common(1)[0]
        return {
            "answer": answer,
            "accuracy": count / len(truth),
            "balanced": 1 / len(self.label_counts(truth)),
        }

    def is_estimator(self, estimator: Any) -> bool:
        return bool(is_classifier(estimator))


class Regression(Task):
    """The target holds numbers."""

    name = "regression"
    holds = "numbers"
    ensemble = FeaturePartitionRegressor
    leave_out_ensemble = LeaveOutRegressor
    default_score = "accuracy"

    def as_learnt(self, y: Array, kind: str) -> Array:
        """Floats."""
        return y.astype(np.float64)

    def check_target(self, name: str, kind: str, y: Array) -> None:
        if not np.isfinite(y).all():
            raise InputError(
                f"the target {name!r} holds an infinity in row "
                f"{int(np.argmin(np.isfinite(y)))}: leave out that row"
            )

    def label_counts(self, y: Array) -> "Counter[Any]":
        return Counter()

    def check_tolerance(
        self, tolerance: float | None, relative: float | None, needed: bool = False
    ) -> None:
        if tolerance is not None and relative is not None:
            raise InputError("tolerance and relative are both given: choose one")
        if needed and tolerance is None and relative is None:
            raise InputError(
                "the target holds numbers: say with tolerance or relative what counts as right"
            )
        for name, width in (("tolerance", tolerance), ("relative", relative)):
            if width is not None and not 0 <= width < np.inf:
                raise InputError(f"{name} is {width}: it must be a finite number, 0 or above")

    def rule(
        self,
        name: str | None,
        margin: float | None = None,
        prior: float | None = None,
        stretch: float | None = None,
        offset: Any = None,
    ) -> Rule:
        if name not in (None, "median"):
            raise InputError(
                f"rule {name!r} is for labels, and the target holds numbers: leave it out, or use "
                "--task classification"
            )
        if margin is not None or prior is not None or offset is not None:
            raise InputError(
                "margin, prior and offset are for labels, and the target holds numbers: use stretch"
            )
        return Median(stretch=1.0 if stretch is None else stretch)

    def rule_options(self, grid: Any) -> list[dict[str, Any]]:
        return list(grid.number_rules())

    def best_constant(
        self, y: Array, truth: Array, tolerance: float | None, relative: float | None
    ) -> dict[str, Any]:
        centre = float(np.median(y))
        always = np.full(len(truth), centre)
        low, high, _ = bounds_around(always, tolerance=tolerance, relative=relative, around=truth)
        right = float(np.mean((always >= low) & (always <= high)))
        return {"answer": centre, "accuracy": right, "balanced": None}

    def is_estimator(self, estimator: Any) -> bool:
        return bool(is_regressor(estimator))


TASKS: dict[str, Task] = {task.name: task for task in (Classification(), Regression())}


def choose_task(name: str, kind: str, y: Array, target: str) -> Task:
    """The task that ``--task`` names; with "auto", the one that the target looks like."""
    if name not in (*TASKS, "auto"):
        raise InputError(f"task is {name!r}: give one of {', '.join(['auto', *TASKS])}")
    if name == "auto":
        name = "classification" if _look_like_labels(kind, y) else "regression"
    if name == "regression" and kind in (TEXT, BOOLEAN):
        raise InputError(
            f"the target {target!r} holds {kind}s, and regression needs numbers: use --task "
            "classification"
        )
    return TASKS[name]


def _look_like_labels(kind: str, y: Array) -> bool:
    if kind in (TEXT, BOOLEAN):
        return True
    whole = kind == NUMBER and bool(np.all(np.isfinite(y) & (y == np.floor(y))))
    return whole and len(np.unique(y)) <= MOST_LABELS


def _are_whole(values: Array) -> bool:
    return bool(np.all((values == np.floor(values)) & (np.abs(values) <= LARGEST_WHOLE)))
