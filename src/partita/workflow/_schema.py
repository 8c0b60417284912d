"""What a target column asks for, and how a table is read so that it goes with a model.

A fitted ensemble knows its own task. What must be decided before there is one is decided here: how
a target is read, which rules and estimators go with it, and which constant answer is best.

Every table that goes with a model (to certify, held out, trusted reference, the training table
again) is opened here: by the kinds that were settled when the model was fitted, never by what its
own cells look like. The target is read in the one form that submodels learn.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import is_classifier, is_regressor

from .._support import Array, Estimator, JsonObject, PathLike, log
from ..ensemble import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from ..errors import InputError
from ..rules import Median, Rule, Tournament, bounds_around, named_rule
from ..tables import BOOLEAN, NUMBER, TEXT, CompletedFile, CsvOptions, File, Split, open_file

MOST_LABELS = 20  # whole numbers with more distinct values than this are values, not labels
LARGEST_WHOLE = 2.0**53  # up to here a float tells whole numbers apart
SILENT_ADVICE = (
    "add it; if its source is silent, certify, report and serve take --silent detect (in Python: "
    "silent='detect')"
)


class Classification:
    """The target holds labels."""

    name = "classification"  # as ``--task`` and JSON have it
    holds = "labels"  # for messages
    ensemble = FeaturePartitionClassifier  # submodels on disjoint sets of columns
    leave_out_ensemble = LeaveOutClassifier  # models that leave units out

    def as_learnt(self, y: Array, kind: str) -> Array:
        """Return a target column of that kind as submodels learn it.

        Whole numbers that happen to be stored as floats become integers.
        """
        if kind == NUMBER and y.dtype.kind == "f" and _are_whole(y):
            return y.astype(np.int64)
        return y

    def check_target(self, name: str, kind: str, y: Array) -> None:
        """Refuse a target, already as it is learnt, that cannot be learnt from."""
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

    def label_counts(self, y: Array) -> Counter[Any]:
        """Count the rows of each label, in the order of the labels; none for numbers."""
        labels, counts = np.unique(y, return_counts=True)
        return Counter(dict(zip(labels.tolist(), counts.tolist(), strict=True)))

    def check_tolerance(
        self, tolerance: float | None, relative: float | None, needed: bool = False
    ) -> None:
        """Refuse a tolerance that does not go with this task, or the lack of one."""
        if tolerance is not None or relative is not None:
            raise InputError(
                "tolerance and relative are for numbers, and the model predicts labels: leave "
                "them out"
            )

    def rule(self, name: str | None, **settings: Any) -> Rule:
        """Make the rule that the options of ``partita fit`` describe; None: not given."""
        given = {key: value for key, value in settings.items() if value is not None}
        if "stretch" in given:
            raise InputError(
                "stretch is for numbers, and the target holds labels: use margin or prior"
            )
        if name == "median":
            raise InputError(
                "rule 'median' is for numbers, and the target holds labels: use plurality, runoff "
                "or tournament"
            )
        if name in (None, "tournament"):
            return Tournament(**given)
        if given:
            raise InputError(
                f"margin, prior and offset belong to the tournament, not to {name!r}: leave them "
                "out, or use rule tournament"
            )
        return named_rule(name)

    def best_constant(
        self, y: Array, truth: Array, tolerance: float | None, relative: float | None
    ) -> JsonObject:
        """Find the best constant answer to rows with this truth, knowing the training target y."""
        answer, count = self.label_counts(truth).most_common(1)[0]
        return {
            "answer": answer,
            "accuracy": count / len(truth),
            "balanced": 1 / len(self.label_counts(truth)),
        }

    def is_estimator(self, estimator: Estimator) -> bool:
        """Return whether scikit-learn calls it an estimator for this task."""
        return bool(is_classifier(estimator))


class Regression:
    """The target holds numbers; the methods are those of Classification."""

    name = "regression"
    holds = "numbers"
    ensemble = FeaturePartitionRegressor
    leave_out_ensemble = LeaveOutRegressor

    def as_learnt(self, y: Array, kind: str) -> Array:
        """Return floats."""
        return y.astype(np.float64)

    def check_target(self, name: str, kind: str, y: Array) -> None:
        """Refuse infinities."""
        if not np.isfinite(y).all():
            raise InputError(
                f"the target {name!r} holds an infinity in row "
                f"{int(np.argmin(np.isfinite(y)))}: leave out that row"
            )

    def label_counts(self, y: Array) -> Counter[Any]:
        """Count nothing: numbers are not labels."""
        return Counter()

    def check_tolerance(
        self, tolerance: float | None, relative: float | None, needed: bool = False
    ) -> None:
        """Refuse two tolerances, one that is no finite number, or the lack of a needed one."""
        if tolerance is not None and relative is not None:
            raise InputError("tolerance and relative are both given: choose one")
        if needed and tolerance is None and relative is None:
            raise InputError(
                "the target holds numbers: say with tolerance or relative what counts as right"
            )
        for name, width in (("tolerance", tolerance), ("relative", relative)):
            if width is not None and not 0 <= width < np.inf:
                raise InputError(f"{name} is {width}: it must be a finite number, 0 or above")

    def rule(self, name: str | None, **settings: Any) -> Rule:
        """Make the median with its stretch, the one rule for numbers."""
        if name not in (None, "median"):
            raise InputError(
                f"rule {name!r} is for labels, and the target holds numbers: leave it out, or use "
                "--task classification"
            )
        given = {key: value for key, value in settings.items() if value is not None}
        if given.keys() - {"stretch"}:
            raise InputError(
                "margin, prior and offset are for labels, and the target holds numbers: use stretch"
            )
        return Median(**given)

    def best_constant(
        self, y: Array, truth: Array, tolerance: float | None, relative: float | None
    ) -> JsonObject:
        """Return the training median and how often it is right."""
        centre = float(np.median(y))
        always = np.full(len(truth), centre)
        low, high, _ = bounds_around(always, tolerance=tolerance, relative=relative, around=truth)
        right = float(np.mean((always >= low) & (always <= high)))
        return {"answer": centre, "accuracy": right, "balanced": None}

    def is_estimator(self, estimator: Estimator) -> bool:
        """Return whether scikit-learn calls it a regressor."""
        return bool(is_regressor(estimator))


Task: TypeAlias = Classification | Regression
TASKS: dict[str, Task] = {task.name: task for task in (Classification(), Regression())}


def choose_task(name: str, kind: str, y: Array, target: str) -> Task:
    """Return the task that ``--task`` names; with "auto", the one that the target looks like."""
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


@dataclass(frozen=True)
class Schema:
    """What a table must look like to go with a model.

    Attributes
    ----------
    kinds : dict of str to str
        The features and the kind of each.
    ignore : sequence of str
        Columns that are not features; a table may have them or not.
    target, target_kind : str or None
        The column to predict, and its kind; None if the model does not know them.
    task : Task
        Labels or numbers.
    csv : CsvOptions or None
        How the training table was written, if it was CSV.
    """

    kinds: Mapping[str, str]
    ignore: Sequence[str]
    target: str | None
    target_kind: str | None
    task: Task
    csv: CsvOptions | None = None

    def open(
        self,
        path: PathLike,
        argument: str = "data",
        split: Split | None = None,
        csv: CsvOptions | None = None,
        needs_target: bool = False,
        may_lack: Collection[str] | None = None,
        unread: Collection[str] = (),
    ) -> File:
        """Open a table with these columns; refuse one that has others.

        ``csv``: how it is written, where that is not how the training table was; ``may_lack``:
        columns of silent sources, which are missing values where the table does not have them, or
        None where it is not about predicting; ``unread``: columns that are missing values whatever
        the table holds there.
        """
        as_text = [self.target] if self.target and self.target_kind == TEXT else []
        # a target that is not text is read as it looks, and its kind is compared later
        kinds = dict(self.kinds) | dict.fromkeys([*self.ignore, *as_text, *unread], TEXT)
        if csv is not None and self.csv is not None:
            csv = csv.with_fallback(self.csv.to_dict())
        file = open_file(path, argument, kinds=kinds, split=split, csv=csv or self.csv)
        absent = {
            name: kind
            for name, kind in self.kinds.items()
            if name in unread or (name in (may_lack or ()) and name not in file.names)
        }
        if absent:
            file = CompletedFile(file, absent)
        self._check_names(file, argument, needs_target, may_lack is not None)
        return file

    def _check_names(self, file: File, argument: str, needs_target: bool, predicts: bool) -> None:
        """Refuse a table that lacks a column, or has others where it is not about predicting."""
        advice = SILENT_ADVICE if predicts else "add it"
        needed = [*self.kinds, *([self.target] if needs_target and self.target else [])]
        missing = next((name for name in needed if name not in file.names), None)
        if missing is not None:
            raise InputError(
                f"{argument} {str(file.path)!r} lacks the column {missing!r}, which the training "
                f"table has: {file.advice or advice}"
            )
        known = {*self.kinds, *self.ignore, self.target}
        extra = [name for name in file.names if name not in known]
        if extra and predicts:
            log(f"ignored in {str(file.path)!r}, since the model does not know it: {extra}")
        elif extra:
            raise InputError(
                f"{argument} {str(file.path)!r} has the column {extra[0]!r}, which the training "
                "table does not have: leave it out"
            )

    def read_target(self, file: File, argument: str = "data") -> Array:
        """Return the target of a table, as submodels learn it; refuse one of another kind."""
        assert self.target is not None
        found = file.kind(self.target)
        if found != self.target_kind and {found, self.target_kind} != {NUMBER, BOOLEAN}:
            raise InputError(
                f"the target {self.target!r} of {argument} {str(file.path)!r} holds {found}s, but "
                f"that of the training table {self.target_kind}s: give a table with the same "
                "target, or leave it out"
            )
        return self.task.as_learnt(file.target(self.target), found)

    def read_finite_target(self, file: File, argument: str) -> Array:
        """Return the target; refuse an infinity, which would make every measurement meaningless."""
        y = self.read_target(file, argument)
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise InputError(
                f"the target {self.target!r} of {argument} {str(file.path)!r} holds an infinity: "
                "leave out that row"
            )
        return y
