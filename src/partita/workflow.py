"""From files to files: fit a model on a table and store it; certify another table with it."""

import io
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import store
from .answers import Answers
from .atomic import write_whole
from .errors import InputError
from .estimators import FeaturePartitionClassifier, FeaturePartitionRegressor
from .files import File, FileTable, open_file, sha256_of
from .kinds import BOOLEAN, NUMBER, TEXT
from .recipes import named_estimator
from .rules import Median, Rule, TopK, Tournament, named_rule
from .units_file import UnitsFile, read_units

Array = NDArray[Any]

MOST_LABELS = 20  # whole numbers with more different values than this are taken for values, not labels
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

    def about(self, estimator: str) -> dict[str, Any]:
        """What the stored model remembers of its data."""
        return {
            "target": self.target,
            "target_kind": self.file.kind(self.target),
            "ignore": self.said.ignore,
            "task": "regression" if self.of_values else "classification",
            "estimator": estimator,
            "data": {"name": self.file.path.name, "sha256": sha256_of(self.file.path), "rows": self.file.n_rows},
        }

    def ensemble(self, estimator: str, rule: Rule, n_submodels: int | str, seed: int, verbose: int = 1) -> Any:
        """The ensemble that is to be fitted on it; a submodel that fails on its columns votes, so that the proof covers crashes."""
        cls = FeaturePartitionRegressor if self.of_values else FeaturePartitionClassifier
        return cls(
            named_estimator(estimator, self.of_values),
            n_submodels=n_submodels,
            units=self.said.units,
            trusted=self.said.trusted,
            rule=rule,
            on_failure="vote",
            random_state=seed,
            verbose=verbose,
        )


def open_training(data: Any, target: str, units: Any = None, task: str = "auto") -> Training:
    """Look at a table to learn from."""
    if task not in TASKS:
        raise InputError(f"task is {task!r}: give one of {', '.join(TASKS)}")
    file = open_file(data)
    file.check_has(target, "target")
    said = UnitsFile() if units is None else read_units(units, [name for name in file.names if name != target])
    kinds = {name: file.kind(name) for name in file.names if name != target and name not in said.ignore}
    table = file.table(kinds)
    kind, y = file.kind(target), file.target(target)
    of_values = task == "regression" or (task == "auto" and not _are_labels(kind, y))
    if of_values and kind in (TEXT, BOOLEAN):
        raise InputError(f"the target {target!r} holds {kind}s, and regression needs numbers: use --task classification")
    if of_values:
        y = y.astype(np.float64)
        if not np.isfinite(y).all():
            raise InputError(f"the target {target!r} holds an infinity in row {int(np.argmin(np.isfinite(y)))}: leave out that row")
    elif kind == NUMBER and y.dtype.kind == "f":
        if not np.all(np.abs(y) <= LARGEST_WHOLE):
            raise InputError(
                f"the target {target!r} holds numbers too large to be labels: use --task regression, or store them as whole numbers"
            )
        if not np.all(y == np.floor(y)):
            raise InputError(f"the target {target!r} holds fractions, which are no labels: use --task regression")
        y = y.astype(np.int64)
    if not of_values and len(np.unique(y)) == 1:
        raise InputError(f"the target {target!r} holds one label only, {y.tolist()[0]!r}: there is nothing to learn or to prove")
    return Training(file, table, target, y, of_values, said)


def _are_labels(kind: str, y: Array) -> bool:
    if kind in (TEXT, BOOLEAN):
        return True
    return kind == NUMBER and bool(np.all(np.isfinite(y) & (y == np.floor(y)))) and len(np.unique(y)) <= MOST_LABELS


def choose_rule(
    name: str | None, of_values: bool, margin: float | None = None, prior: float | None = None, stretch: float | None = None
) -> Rule:
    """The rule that options describe."""
    if of_values:
        if name not in (None, "median"):
            raise InputError(f"rule {name!r} is for labels, and the target holds numbers: leave it out, or use --task classification")
        if margin is not None or prior is not None:
            raise InputError("margin and prior are for labels, and the target holds numbers: use stretch")
        return Median(stretch=1.0 if stretch is None else stretch)
    if stretch is not None:
        raise InputError("stretch is for numbers, and the target holds labels: use margin or prior")
    if name == "median":
        raise InputError("rule 'median' is for numbers, and the target holds labels: use plurality, runoff or tournament")
    if name in (None, "tournament"):
        return Tournament(margin=0.0 if margin is None else margin, prior=0.0 if prior is None else prior)
    if margin is not None or prior is not None:
        raise InputError(f"margin and prior belong to the tournament, not to {name!r}: leave them out, or use rule tournament")
    return named_rule(name)


@dataclass(frozen=True)
class Certified:
    """A table that a stored model was asked about."""

    model: Any
    manifest: dict[str, Any]
    file: File
    answers: Answers
    truth: Array | None  # what the target column says, if the table has one without gaps

    def columns(self) -> dict[str, Any]:
        """What is written: the ignored columns as they are, the prediction, its radius and rival, the sources it hangs on, intervals."""
        import pyarrow

        out: dict[str, Any] = {}
        ignored = [name for name in self._about.get("ignore", []) if name in self.file.names]
        out |= {name: self.file.arrow([name]).column(name) for name in ignored}
        out["prediction"] = self.answers.prediction
        proof, hangs = self.answers.proof, self.answers.hangs_on
        if proof is not None and hangs is not None:
            out["radius"] = proof.radius
            if proof.runner_up is not None:
                out["rival"] = proof.runner_up
            names = np.asarray(self.model.units_.names, dtype=object)
            out["hangs_on"] = pyarrow.array([names[column].tolist() for column in hangs.T], pyarrow.list_(pyarrow.string()))
        for radius, (low, high) in self.answers.intervals().items():
            out[f"low_{radius}"], out[f"high_{radius}"] = low, high
        return out

    def summary(self, out: Any = None) -> dict[str, Any]:
        """The certified share at every radius, and what it counts."""
        counts = self.model.counts_
        found: dict[str, Any] = {
            "rows": len(self.answers),
            "counts": {"what": counts.what, "total": counts.total, "trusted": list(counts.trusted)},
            "out": None if out is None else str(out),
        }
        if self.answers.proof is not None:
            found["certified"] = share_at_least(self.answers.proof.radius)
            found["median_radius"] = float(np.median(self.answers.proof.radius))
        if self.truth is not None:
            proof = self.answers.proof_of_truth(self.truth)
            if proof is not None:
                found["certified_accuracy"] = share_at_least(np.where(proof.correct(self.truth), proof.radius, -1))
        return found

    def show(self) -> None:
        """The same for people."""
        from .terminal import say, show

        found = self.summary()
        counts = self.model.counts_
        say(f"{len(self.answers):,} rows; a radius counts {counts}.")
        if "certified" not in found:
            say("Give --tolerance or --relative to learn how many sources it takes to move a prediction further than that.")
            rows = [[str(r), f"{np.median(high - low):.6g}"] for r, (low, high) in self.answers.intervals().items()]
            show("Where r sources can push a prediction", ["r", "median width of the interval"], rows)
            return
        lines = {"certified": found["certified"], "certified and right": found.get("certified_accuracy")}
        radii = range(min(12, max(len(line or []) for line in lines.values())))
        rows = [
            [name, *(f"{100 * (line[r] if r < len(line) else 0):.1f}" for r in radii)] for name, line in lines.items() if line is not None
        ]
        show(f"% of rows, whatever is written into r of the {counts.total:,} {counts.what}", ["r =", *map(str, radii)], rows)

    @property
    def _about(self) -> dict[str, Any]:
        return self.manifest.get("about") or {}


def share_at_least(radius: Array) -> list[float]:
    """The share of rows with a radius of at least r, for r = 0 and up, as far as there are any."""
    most = int(max(radius.max(), 0))
    return [float(np.mean(radius >= r)) for r in range(most + 1)]


def certify_file(
    model: Any, data: Any, tolerance: float | None = None, relative: float | None = None, trusted: tuple[str, ...] = (), verbose: int = 2
) -> Certified:
    """Ask a stored model about a table in a file."""
    manifest, ensemble = store.manifest(model), store.load(model, trusted)
    kinds = known_kinds(ensemble)
    about = manifest.get("about") or {}
    target, ignore = about.get("target"), about.get("ignore", [])
    if isinstance(ensemble.rule_, TopK):
        raise InputError("the model's rule is TopK, whose radius is about staying among the top k: certify it in Python, with labels=")
    as_text = [target] if target is not None and about["target_kind"] == TEXT else []
    file = open_file(data, kinds=kinds | dict.fromkeys([*ignore, *as_text], TEXT))  # other targets are read as they look
    for name in ignore:
        if name in file.names and re.fullmatch(r"prediction|radius|rival|hangs_on|(low|high)_\d+", name):
            raise InputError(f"the ignored column {name!r} has the name of a column that certify writes: rename it")
    for name in kinds:
        if name not in file.names:
            raise InputError(f"data {str(file.path)!r} lacks the column {name!r}, which the model was fitted with: add it")
    for name in file.names:
        if name not in kinds and name != target and name not in ignore:
            raise InputError(f"data {str(file.path)!r} has the column {name!r}, which the model was not fitted with: leave it out")
    ensemble.verbose = verbose
    answers = Answers(ensemble, file.table(kinds), tolerance, relative)
    return Certified(ensemble, manifest, file, answers, _truth(file, target, about.get("target_kind"), ensemble))


def known_kinds(model: Any) -> dict[str, str]:
    """The kinds of a stored model's columns; an error where rows from outside cannot be read for it."""
    if model.kinds_ is None:
        raise InputError("the model was fitted on an array without column names: fit it on a frame, or with partita fit")
    for name, kind in model.kinds_.items():
        if kind is None:
            raise InputError(
                f"the model's column {name!r} held something that no file gives back (a category or a date): certify it in Python, or "
                "fit it with partita fit"
            )
    return dict(model.kinds_)


def _truth(file: File, target: str | None, kind: str | None, model: Any) -> Array | None:
    if target is None or target not in file.names:
        return None
    if file.has_gaps(target):
        warnings.warn(f"the target {target!r} has gaps, so nothing is said about being right: leave out the rows without one", stacklevel=3)
        return None
    found = file.kind(target)
    if found != kind and {found, kind} != {NUMBER, BOOLEAN}:
        raise InputError(f"the target {target!r} of {str(file.path)!r} holds {found}s, but the model learnt {kind}s: leave it out")
    y = file.target(target)
    return y if hasattr(model, "classes_") else y.astype(np.float64)


def write_table(columns: dict[str, Any], out: Any) -> Path:
    """Write columns to a .parquet or .csv file, whole or not at all."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    path = Path(out)
    check_writable(path)
    buffer = io.BytesIO()
    try:
        table = pyarrow.table(columns)
        if path.suffix.lower() == ".csv":
            if "hangs_on" in table.column_names:
                joined = pyarrow.array(["; ".join(cell) for cell in table.column("hangs_on").to_pylist()])
                table = table.set_column(table.column_names.index("hangs_on"), "hangs_on", joined)
            pyarrow.csv.write_csv(table, buffer)
        else:
            pyarrow.parquet.write_table(table, buffer)
    except (TypeError, pyarrow.ArrowException) as exc:
        raise InputError(
            f"out {str(path)!r} cannot hold these columns ({str(exc).splitlines()[0]}): write .parquet, or leave columns out"
        ) from exc
    write_whole(path, buffer.getvalue())
    return path


def check_writable(out: Any, suffixes: tuple[str, ...] = (".parquet", ".csv")) -> None:
    """Refuse, before any work is done, a place that cannot be written to."""
    path = Path(out)
    if path.suffix.lower() not in suffixes:
        raise InputError(f"out {str(path)!r} must end in {' or '.join(suffixes)}")
    if path.is_dir():
        raise InputError(f"out {str(path)!r} is a folder: give a file")
    above = next(parent for parent in path.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"out {str(path)!r} cannot be written: {str(above)!r} is no folder")
