"""The table that ``partita fit`` and ``partita choose`` learn from: columns, target, units.

``TrainingTable.ensemble`` describes what is to be fitted. The rows of every submodel may depend on
columns that no attacker reaches, and on nothing else. Trusted reference rows come from a file of
their own: a partition is learnt from them, and a search learns and judges its settings on them
alone. They must not be rows of the training table: an attacker could change those, and with them
what is learnt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._support import Array, JsonObject, PathLike
from ..ensemble import Ensemble, FittedEnsemble
from ..errors import InputError
from ..partition import Informed, UnitsFile, read_units
from ..rules import Rule
from ..tables import (
    CsvOptions,
    File,
    FileTable,
    Split,
    changes_of,
    check_unchanged,
    open_file,
    sha256_of,
)
from ._estimators import named_estimator
from ._schema import Schema, Task, choose_task


@dataclass(frozen=True)
class Reference:
    """Trusted rows from a file, and how a partition is learnt from them."""

    table: FileTable
    y: Array
    exchanges: int
    name: str
    sha256: str

    def partition(self, names: Sequence[str]) -> Informed:
        """Return the partition of a table with these columns."""
        return Informed(self.table.take_all()[list(names)], self.y, self.exchanges)

    def with_rows(self, rows: Array) -> "Reference":
        """Return some of the rows."""
        return replace(self, table=self.table.with_rows(rows), y=self.y[rows])

    def about(self) -> JsonObject:
        """Return what the stored model remembers of it."""
        return {
            "name": self.name,
            "rows": len(self.y),
            "sha256": self.sha256,
            "exchanges": self.exchanges,
        }

    def __str__(self) -> str:
        more = f", {self.exchanges:,} exchanges" if self.exchanges else ""
        return f"informed by {len(self.y):,} trusted reference rows ({self.name}{more})"


@dataclass(frozen=True)
class TrainingTable:
    """A table to learn from: its columns, the target, and what an attacker could own.

    Attributes
    ----------
    file : File
        All columns.
    table : FileTable
        The features.
    target : str
        The column to predict.
    y : array
        The target, as it is learnt.
    task : Task
        Labels or numbers.
    units_file : UnitsFile
        Units, trusted and ignored columns.
    changes : str
        Of the file (``changes_of``), before anything was read of it.
    split : (column, value), optional
        Only the rows with this value are learnt from.
    csv : CsvOptions, optional
        How the file is written, if it is CSV.
    reference : Reference, optional
        Trusted rows that the partition is learnt from, and a sweep's settings are chosen on.
    chosen : {"beforehand", "on-reference", "on-training"}, optional
        How the user chose the settings; None if that is not recorded.
    """

    file: File
    table: FileTable
    target: str
    y: Array
    task: Task
    units_file: UnitsFile
    changes: str
    split: Split | None = None
    csv: CsvOptions | None = None
    reference: Reference | None = None
    chosen: str | None = None

    @property
    def schema(self) -> Schema:
        """Return what other tables must look like to go with this one."""
        kind = self.file.kind(self.target)
        ignore = self.units_file.ignore
        return Schema(self.table.kinds, ignore, self.target, kind, self.task, self.csv)

    def check_unchanged(self) -> None:
        """Refuse to go on where the file has changed since it was opened."""
        check_unchanged(self.file.path, self.changes)

    def with_reference(self, path: PathLike, exchanges: int = 0) -> "TrainingTable":
        """Return the table with trusted reference rows from another file."""
        reference = read_reference(self.schema, self.file.path, self.y, path, exchanges)
        return replace(self, reference=reference)

    def ensemble(
        self,
        estimator: str,
        rule: Rule,
        n_submodels: int | str,
        seed: int,
        verbose: int = 1,
        **more: Any,
    ) -> Ensemble:
        """Make the ensemble to fit on this table; ``more``: further settings of it.

        A submodel that fails on its columns casts a fixed vote, so that proofs cover crashes.
        """
        settings = self._settings(estimator, seed, verbose)
        return self.task.ensemble(n_submodels=n_submodels, rule=rule, **settings, **more)

    def leave_out_ensemble(
        self, estimator: str, radius: int, seed: int, verbose: int = 1, **more: Any
    ) -> Ensemble:
        """Make the ensemble that leaves units out, for a proof against ``radius`` of them."""
        settings = self._settings(estimator, seed, verbose)
        return self.task.leave_out_ensemble(radius=radius, **settings, **more)

    def _settings(self, estimator: str, seed: int, verbose: int) -> JsonObject:
        """Return what ensembles of both methods have in common."""
        return {
            "estimator": named_estimator(estimator, self.task),
            "partition": self.reference.partition(self.table.names)
            if self.reference is not None
            else "random",
            "units": self.units_file.units,
            "trusted": self.units_file.trusted,
            "on_failure": "vote",
            "random_state": seed,
            "verbose": verbose,
        }

    def about(
        self,
        estimator: str,
        hashes: dict[str, str] | None = None,
        model: FittedEnsemble | None = None,
        fallback: str | None = None,
    ) -> JsonObject:
        """Return what the stored model remembers of its data.

        ``hashes``: what tells the table from others; by default the hash of its content.
        ``model``: the fitted model, for warnings that go with it. ``fallback``: the
        name of the estimator that answers where the vote proves little.
        """
        hashes = {"sha256": sha256_of(self.file.path)} if hashes is None else hashes
        quality = (
            None
            if model is None
            else {"warnings": list(model.warnings_), "failed": len(model.failures_)}
        )
        return {
            "target": self.target,
            "target_kind": self.file.kind(self.target),
            "ignore": self.units_file.ignore,
            "split": None if self.split is None else list(self.split),
            "csv": None if self.csv is None else self.csv.to_dict(),
            "task": self.task.name,
            "estimator": estimator,
            "fallback": fallback,
            "reference": None if self.reference is None else self.reference.about(),
            "quality": quality,
            "chosen": self.chosen,
            "data": {"name": self.file.path.name, "rows": self.file.n_rows, **hashes},
        }


def open_training(
    data: PathLike,
    target: str,
    units: PathLike | UnitsFile | None = None,
    task: str = "auto",
    split: Split | None = None,
    csv: CsvOptions | None = None,
) -> TrainingTable:
    """Open a table to learn from.

    Parameters
    ----------
    data : str or path
        A .csv or .parquet file, or a folder of Parquet files.
    target : str
        The column to predict.
    units : str, path or UnitsFile, optional
        A units.toml, or what it says.
    task : {"auto", "classification", "regression"}, default="auto"
        With "auto", what the target looks like.
    split : (column, value), optional
        Learn from the rows with this value only.
    csv : CsvOptions, optional
        How a CSV file is written.

    Returns
    -------
    TrainingTable
        Of a Parquet file only the target is read.
    """
    changes = changes_of(data) if Path(data).exists() else ""  # which open_file refuses
    file = open_file(data, split=split, csv=csv)
    file.check_column(target, "target")
    names = [name for name in file.names if name != target]
    if not isinstance(units, UnitsFile):
        units = UnitsFile() if units is None else read_units(units, names)
    check_split(split, units, target)
    kinds = {name: file.kind(name) for name in names if name not in units.ignore}
    table = file.table(kinds)
    kind, raw = file.kind(target), file.target(target)
    chosen = choose_task(task, kind, raw, target)
    y = chosen.as_learnt(raw, kind)
    chosen.check_target(target, kind, y)
    return TrainingTable(file, table, target, y, chosen, units, changes, split, csv)


def check_split(split: Split | None, units_file: UnitsFile, target: str) -> None:
    """Refuse to choose rows by a column that an attacker could write.

    An attacker who writes the split column would choose the rows of every submodel.
    """
    if split is None:
        return
    column = split[0]
    if column == target:
        raise InputError(f"split names the target {target!r}: choose rows by another column")
    if column not in units_file.trusted and column not in units_file.ignore:
        raise InputError(
            f"split names the column {column!r}, and its owner would choose the rows of "
            "every submodel: if no attacker reaches it, list it under ignore (not a feature) or "
            "trusted (a feature that all submodels see)"
        )


def read_reference(
    schema: Schema, training_path: Path, y_train: Array, path: PathLike, exchanges: int = 0
) -> Reference:
    """Read trusted reference rows, by the kinds of the training table's columns.

    Parameters
    ----------
    schema : Schema
        The columns of the training table.
    training_path : Path
        Where the training table is; the reference must be another one.
    y_train : array
        The training target.
    path : str or path
        A .csv or .parquet file with the same columns, the target among them.
    exchanges : int, default=0
        How many exchanges of units between submodels to try (:class:`partita.Informed`).

    Returns
    -------
    Reference
        ``partition(names)`` is for the ensemble, ``about()`` for the stored model.
    """
    place = Path(path)
    file = schema.open(place, "reference", needs_target=True)
    if _is_same_file(training_path, place):
        raise InputError(
            f"reference {str(place)!r} is the training table itself, where an attacker could "
            "change its rows and with them what is learnt from it: give other rows, which no "
            "attacker could touch"
        )
    table = file.table(schema.kinds)
    y = schema.read_finite_target(file, "reference")
    labels = schema.task.label_counts(y_train)
    if labels and len(labels.keys() & schema.task.label_counts(y).keys()) < 2:
        raise InputError(
            f"the target {schema.target!r} of the reference {str(place)!r} holds fewer than two "
            "of the training table's labels, so its rows tell nothing about them: give rows of "
            "several labels"
        )
    table.take_all()  # refuses cells of other kinds
    return Reference(table, y, exchanges, place.name, sha256_of(place))


def _is_same_file(one: Path, other: Path) -> bool:
    """Compare two tables by place and content; a large one is read only if it could be a copy."""
    if one.is_file() and other.is_file() and one.stat().st_size != other.stat().st_size:
        return False
    return one.resolve() == other.resolve() or sha256_of(one) == sha256_of(other)
