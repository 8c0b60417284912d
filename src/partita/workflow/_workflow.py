"""From files to files: fit a model on a table and store it; certify another table with it."""

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._support.types import Array
from ..ensemble._classifier import FeaturePartitionClassifier
from ..ensemble._full_model import full_predictions
from ..ensemble._regressor import FeaturePartitionRegressor
from ..errors import InputError
from ..partition._units_file import UnitsFile, read_units
from ..rules import Median, Rule, TopK, Tournament, named_rule
from ..store import _store as store
from ..tables._kinds import BOOLEAN, NUMBER, TEXT
from ..tables._open import (
    CsvOptions,
    File,
    FileTable,
    Split,
    footers_of,
    open_file,
    sha256_of,
)
from ._certified_rows import Answers
from ._recipes import named_estimator
from ._tally import Tally, failures_of

MOST_LABELS = (
    20  # whole numbers with more different values than this are taken for values, not labels
)
LARGEST_WHOLE = 2.0**53  # up to here a float tells whole numbers apart
TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True)
class Training:
    """A table to learn from: its columns, the target, and what an attacker could own."""

    file: File
    table: FileTable
    target: str
    y: Array
    of_values: bool
    said: UnitsFile
    split: Split | None = None
    csv: CsvOptions | None = None
    reference: Any = (
        None  # trusted rows that the partition is learnt from (reference_file.Reference)
    )

    def about(
        self, estimator: str, hashed: dict[str, str] | None = None, model: Any = None
    ) -> dict[str, Any]:
        """What the stored model remembers of its data. ``hashed``: what tells the data from others;
        None: the hash of all of it.

        ``model``: the fitted model, for what must be said wherever it is used.
        """
        told = {"sha256": sha256_of(self.file.path)} if hashed is None else hashed
        return {
            "target": self.target,
            "target_kind": self.file.kind(self.target),
            "ignore": self.said.ignore,
            "split": None if self.split is None else list(self.split),
            "csv": None if self.csv is None else self.csv.to_dict(),
            "task": "regression" if self.of_values else "classification",
            "estimator": estimator,
            "reference": None if self.reference is None else self.reference.about(),
            "quality": None
            if model is None
            else {"warnings": list(model.warnings_), "failed": failures_of(model)},
            "data": {"name": self.file.path.name, "rows": self.file.n_rows, **told},
        }

    def ensemble(
        self, estimator: str, rule: Rule, n_submodels: int | str, seed: int, verbose: int = 1
    ) -> Any:
        """The ensemble that is to be fitted on it; a submodel that fails on its columns votes, so
        that the proof covers crashes."""
        cls = FeaturePartitionRegressor if self.of_values else FeaturePartitionClassifier
        return cls(
            named_estimator(estimator, self.of_values),
            n_submodels=n_submodels,
            partition="random"
            if self.reference is None
            else self.reference.partition(self.table.names),
            units=self.said.units,
            trusted=self.said.trusted,
            rule=rule,
            on_failure="vote",
            random_state=seed,
            verbose=verbose,
        )


def open_training(
    data: Any,
    target: str,
    units: Any = None,
    task: str = "auto",
    split: Split | None = None,
    csv: CsvOptions | None = None,
) -> Training:
    """Look at a table to learn from. ``units``: a units.toml, or what it would say. ``split``:
    learn from the rows with this value.

    ``csv``: how a CSV file is written.
    """
    if task not in TASKS:
        raise InputError(f"task is {task!r}: give one of {', '.join(TASKS)}")
    file = open_file(data, split=split, csv=csv)
    file.check_has(target, "target")
    names = [name for name in file.names if name != target]
    said = (
        units
        if isinstance(units, UnitsFile)
        else UnitsFile()
        if units is None
        else read_units(units, names)
    )
    check_split(split, said, target)
    kinds = {name: file.kind(name) for name in names if name not in said.ignore}
    table = file.table(kinds)
    kind, y = file.kind(target), file.target(target)
    of_values = task == "regression" or (task == "auto" and not _are_labels(kind, y))
    if of_values and kind in (TEXT, BOOLEAN):
        raise InputError(
            f"the target {target!r} holds {kind}s, and regression needs numbers: use --task "
            "classification"
        )
    as_told, y = y, told_target(y, kind, of_values)
    if of_values:
        if not np.isfinite(y).all():
            raise InputError(
                f"the target {target!r} holds an infinity in row "
                f"{int(np.argmin(np.isfinite(y)))}: leave out that row"
            )
    elif kind == NUMBER and as_told.dtype.kind == "f":
        if not np.all(np.abs(as_told) <= LARGEST_WHOLE):
            raise InputError(
                f"the target {target!r} holds numbers too large to be labels: use --task "
                "regression, or store them as whole numbers"
            )
        if not np.all(as_told == np.floor(as_told)):
            raise InputError(
                f"the target {target!r} holds fractions, which are no labels: use --task regression"
            )
    if not of_values and len(np.unique(y)) == 1:
        raise InputError(
            f"the target {target!r} holds one label only, {y.tolist()[0]!r}: there is nothing to "
            "learn or to prove"
        )
    return Training(file, table, target, y, of_values, said, split, csv)


def told_target(y: Array, kind: str, of_values: bool) -> Array:
    """A target column as it is learnt: values are floats, labels that happen to be stored as floats
    are whole numbers."""
    if of_values:
        return y.astype(np.float64)
    with np.errstate(
        invalid="ignore"
    ):  # what is too large is refused by whoever looks at the whole column
        return y.astype(np.int64) if kind == NUMBER and y.dtype.kind == "f" else y


def check_split(split: Split | None, said: UnitsFile, target: str) -> None:
    """Whoever writes the split column chooses the rows of every submodel, so nobody must be able
    to."""
    if split is None:
        return
    if split[0] == target:
        raise InputError(f"split names the target {target!r}: choose rows by another column")
    if split[0] not in said.trusted and split[0] not in said.ignore:
        raise InputError(
            f"split names the column {split[0]!r}, and whoever writes it would choose the rows of "
            "every submodel: if no attacker "
            "reaches it, list it under ignore (no feature) or trusted (a feature that all "
            "submodels see)"
        )


def _are_labels(kind: str, y: Array) -> bool:
    if kind in (TEXT, BOOLEAN):
        return True
    return (
        kind == NUMBER
        and bool(np.all(np.isfinite(y) & (y == np.floor(y))))
        and len(np.unique(y)) <= MOST_LABELS
    )


def choose_rule(
    name: str | None,
    of_values: bool,
    margin: float | None = None,
    prior: float | None = None,
    stretch: float | None = None,
    offset: Any = None,
) -> Rule:
    """The rule that options describe; what they leave open is filled in by fit."""
    of_tournament = margin is not None or prior is not None or offset is not None
    if of_values:
        if name not in (None, "median"):
            raise InputError(
                f"rule {name!r} is for labels, and the target holds numbers: leave it out, or use "
                "--task classification"
            )
        if of_tournament:
            raise InputError(
                "margin, prior and offset are for labels, and the target holds numbers: use stretch"
            )
        return Median(stretch=1.0 if stretch is None else stretch)
    if stretch is not None:
        raise InputError("stretch is for numbers, and the target holds labels: use margin or prior")
    if name == "median":
        raise InputError(
            "rule 'median' is for numbers, and the target holds labels: use plurality, runoff or "
            "tournament"
        )
    if name in (None, "tournament"):
        return Tournament(margin=margin, prior=prior, offset=offset)
    if of_tournament:
        raise InputError(
            f"margin, prior and offset belong to the tournament, not to {name!r}: leave them out, "
            "or use rule tournament"
        )
    return named_rule(name)


def read_offset(given: Sequence[str] | None) -> dict[str, float] | float | None:
    """Head starts as the command line writes them: LABEL=VOTES, or one number, a multiple of the
    labels' log shares."""
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        try:
            return float(given[0])
        except ValueError:
            pass
    found: dict[str, float] = {}
    for one in given:
        label, equals, votes = one.rpartition("=")
        try:
            found[label] = float(votes)
        except ValueError:
            equals = ""
        if not (label and equals):
            raise InputError(f"offset is {one!r}: give LABEL=VOTES, such as fraud=2, or one number")
    return found


@dataclass(frozen=True)
class Certified:
    """A table that a stored model was asked about."""

    model: Any
    manifest: dict[str, Any]
    file: File
    answers: Answers
    truth: Array | None  # what the target column says, if the table has one without gaps
    on_training: bool = False  # whether these are the rows that the model was fitted on

    def columns(self) -> dict[str, Any]:
        """What is written: the ignored columns as they are, the prediction, its radius and rival,
        the sources it hangs on, intervals."""
        import pyarrow

        out: dict[str, Any] = {}
        ignored = [name for name in self.about.get("ignore", []) if name in self.file.names]
        out |= {name: self.file.arrow([name]).column(name) for name in ignored}
        out["prediction"] = self.answers.prediction
        proof, hangs = self.answers.proof, self.answers.hangs_on
        if proof is not None and hangs is not None:
            out["radius"] = proof.radius
            if proof.runner_up is not None:
                out["rival"] = proof.runner_up
            names = pyarrow.array(self.model.units_.names, pyarrow.string())
            ends = np.concatenate([[0], np.cumsum(hangs.sum(axis=0))]).astype(np.int32)
            out["hangs_on"] = pyarrow.ListArray.from_arrays(
                ends, names.take(np.nonzero(hangs.T)[1])
            )
        for radius, (low, high) in self.answers.intervals().items():
            out[f"low_{radius}"], out[f"high_{radius}"] = low, high
        return out

    def tally(self) -> Tally:
        """How many rows are proven, and how many of them right."""
        proof, truth = self.answers.proof, self.truth
        right = None if truth is None else self.answers.proof_of_truth(truth)
        tally = Tally(
            len(self.answers),
            Counter() if proof is None else Counter(proof.radius.tolist()),
            widths={
                r: float(np.sum(high - low))
                for r, (low, high) in (
                    {} if proof is not None else self.answers.intervals()
                ).items()
            },
            on_training=self.on_training,
        )
        if not self.answers.of_values:
            tally.predicted = Counter(self.answers.prediction.tolist())
        if truth is None or right is None:
            return tally
        radii = np.where(right.correct(truth), right.radius, -1)
        tally.right = Counter(radii.tolist())
        full = full_predictions(self.model, self.answers.table)
        if not self.answers.of_values:
            tally.by_label = {
                label: Counter(radii[truth == label].tolist())
                for label in np.unique(truth).tolist()
            }
            tally.full_right = None if full is None else int(np.count_nonzero(full == truth))
        else:
            centre = self.model.rule_.centre
            tally.constant_right = (
                None
                if centre is None
                else self.answers.count_right(np.full(len(truth), centre), truth)
            )
            tally.full_right = None if full is None else self.answers.count_right(full, truth)
        return tally

    def quality(self) -> dict[str, Any]:
        """What must stand beside a certified accuracy."""
        return self.tally().quality(self.model) | {"tuned": self.about.get("tuned")}

    @property
    def about(self) -> dict[str, Any]:
        return self.manifest.get("about") or {}

    def summary(self, out: Any = None) -> dict[str, Any]:
        """The certified share at every radius, and what it counts."""
        return self.tally().summary(self.model, out)

    def show(self) -> None:
        """The same for people."""
        self.tally().show(self.model)


def certify_file(
    model: Any,
    data: Any,
    tolerance: float | None = None,
    relative: float | None = None,
    trusted: tuple[str, ...] = (),
    verbose: int = 2,
    csv: CsvOptions | None = None,
    jobs: int | None = None,
) -> Certified:
    """Ask a stored model about a table in a file. ``csv``: how it is written, if that is not how
    the training table was."""
    asked = ask(model, data, trusted, verbose=verbose, csv=csv, jobs=jobs)
    return asked.about_piece(asked.file, tolerance, relative)


@dataclass(frozen=True)
class Asked:
    """A model and a table in a file that it is to be asked about; the two fit together."""

    model: Any
    manifest: dict[str, Any]
    file: File
    kinds: dict[str, str]
    on_training: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns that are read: the model's, the ignored ones, which are handed through, and
        the target."""
        about = self.manifest.get("about") or {}
        wanted = {*self.kinds, *about.get("ignore", []), about.get("target")}
        return [name for name in self.file.names if name in wanted]

    def about_piece(self, file: File, tolerance: float | None, relative: float | None) -> Certified:
        """What the model says about the table, or about a piece of it."""
        answers = Answers(self.model, file.table(self.kinds), tolerance, relative)
        return Certified(
            self.model, self.manifest, file, answers, self.truth(file), self.on_training
        )

    def truth(self, file: File) -> Array | None:
        """The target of the table, or of a piece of it, if it has one."""
        about = self.manifest.get("about") or {}
        return _truth(file, about.get("target"), about.get("target_kind"), self.model)


def ask(
    model: Any,
    data: Any,
    trusted: tuple[str, ...] = (),
    split: Split | None = None,
    verbose: int = 2,
    csv: CsvOptions | None = None,
    jobs: int | None = None,
) -> Asked:
    """Load a stored model and look at a table for it; an error where the two do not fit.

    ``csv``: how a CSV file is written; what it does not say is as the model's training table was.
    """
    manifest, ensemble = store.manifest(model), store.load(model, trusted)
    kinds = known_kinds(ensemble)
    about = manifest.get("about") or {}
    target, ignore = about.get("target"), about.get("ignore", [])
    if isinstance(ensemble.rule_, TopK):
        raise InputError(
            "the model's rule is TopK, whose radius is about staying among the top k: certify it "
            "in Python, with labels="
        )
    as_text = [target] if target is not None and about["target_kind"] == TEXT else []
    how = kinds | dict.fromkeys([*ignore, *as_text], TEXT)  # other targets are read as they look
    file = open_file(data, kinds=how, split=split, csv=(csv or CsvOptions()).over(about.get("csv")))
    for name in ignore:
        if name in file.names and re.fullmatch(
            r"prediction|radius|rival|hangs_on|(low|high)_\d+", name
        ):
            raise InputError(
                f"the ignored column {name!r} has the name of a column that certify writes: "
                "rename it"
            )
    for name in kinds:
        if name not in file.names:
            cure = file.advice or "add it"
            raise InputError(
                f"data {str(file.path)!r} lacks the column {name!r}, which the model was fitted "
                f"with: {cure}"
            )
    for name in file.names:
        if name not in kinds and name != target and name not in ignore:
            raise InputError(
                f"data {str(file.path)!r} has the column {name!r}, which the model was not fitted "
                "with: leave it out"
            )
    ensemble.verbose = verbose
    ensemble.n_jobs = jobs if jobs is not None else ensemble.n_jobs
    return Asked(ensemble, manifest, file, kinds, _holds_training_rows(about, file.path, split))


def is_the_table(known: Mapping[str, Any], path: Any) -> bool:
    """Whether a table is the one that a model remembers: by its content, or, fitted piece by piece,
    by its footers."""
    if "footers" in known:
        is_parquet = Path(path).is_dir() or Path(path).suffix.lower() in (".parquet", ".pq")
        return is_parquet and footers_of(path) == known["footers"]
    return "sha256" in known and known["sha256"] == sha256_of(path)


def _holds_training_rows(about: Mapping[str, Any], path: Any, split: Split | None) -> bool:
    """Whether rows to certify are rows that the model was fitted on: the same table, and not
    another part of it."""
    learnt = about.get("split")
    other_part = (
        learnt is not None and split is not None and learnt[0] == split[0] and learnt[1] != split[1]
    )
    return bool(about.get("data")) and not other_part and is_the_table(about["data"], path)


def known_kinds(model: Any) -> dict[str, str]:
    """The kinds of a stored model's columns; an error where rows from outside cannot be read for
    it."""
    if model.kinds_ is None:
        raise InputError(
            "the model was fitted on an array without column names: fit it on a frame, or with "
            "partita fit"
        )
    for name, kind in model.kinds_.items():
        if kind is None:
            raise InputError(
                f"the model's column {name!r} held something that no file gives back (a category "
                "or a date): certify it in Python, or "
                "fit it with partita fit"
            )
    return dict(model.kinds_)


def _truth(file: File, target: str | None, kind: str | None, model: Any) -> Array | None:
    if target is None or target not in file.names:
        return None
    if file.has_gaps(target):
        warnings.warn(
            f"the target {target!r} has gaps, so nothing is said about being right: leave out the "
            "rows without one",
            stacklevel=3,
        )
        return None
    found = file.kind(target)
    if found != kind and {found, kind} != {NUMBER, BOOLEAN}:
        raise InputError(
            f"the target {target!r} of {str(file.path)!r} holds {found}s, but the model learnt "
            f"{kind}s: leave it out"
        )
    y = file.target(target)
    return y if hasattr(model, "classes_") else y.astype(np.float64)
