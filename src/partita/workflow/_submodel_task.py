"""One task of a fit that stores submodels one by one: read its columns, fit, write its file.

This is what runs on a Dask worker. A task opens the table itself, reads its own columns and the
target and no others, and writes its submodel into the model's folder.
"""

import socket
from dataclasses import dataclass
from pathlib import Path

from .._support import Array, exclusive
from ..ensemble import Plan, fit_submodel
from ..errors import InputError
from ..store import StoredSubmodel, UnfinishedModel, stored_estimator, submodel_name
from ..tables import FileTable, Split, check_unchanged, open_file
from ._schema import Schema
from ._training_table import TrainingTable


@dataclass(frozen=True)
class TrainingData:
    """Where a task finds the training table, and how it reads it.

    Attributes
    ----------
    path : str
        The same on all workers.
    schema : Schema
        The columns.
    split : (column, value) or None
        Which rows are meant.
    n_rows : int
        How many rows there were when the fit began.
    changes : str
        When its files were last written before the fit began (``changes_of``).
    """

    path: str
    schema: Schema
    split: Split | None
    n_rows: int
    changes: str

    @classmethod
    def of(cls, training: TrainingTable) -> "TrainingData":
        """Where the tasks of a fit find this table."""
        path = str(training.file.path.absolute())
        split, n_rows = training.split, training.file.n_rows
        return cls(path, training.schema, split, n_rows, training.changes)

    def open(self) -> tuple[FileTable, Array]:
        """The table, of which nothing is read yet, and the target."""
        if not Path(self.path).exists():
            raise InputError(
                f"data {self.path!r} does not exist on {socket.gethostname()!r}: all workers must "
                "see it under the same path"
            )
        file = open_file(self.path, split=self.split)
        for name in [*self.schema.kinds, str(self.schema.target)]:
            file.check_column(name, "data")
        table = file.table(self.schema.kinds)
        if table.n_rows != self.n_rows:
            raise InputError(
                f"data {self.path!r} has {table.n_rows} rows, and had {self.n_rows} when the fit "
                "began: it must not change"
            )
        y = self.schema.read_target(file)
        self.check_unchanged()
        return table, y

    def check_unchanged(self) -> None:
        """Refuse a table that has changed since the fit began."""
        check_unchanged(self.path, self.changes)


def fit_and_store(
    plan: Plan, data: TrainingData, place: UnfinishedModel, t: int, batch_rows: int | None
) -> StoredSubmodel:
    """Fit submodel t on its own columns and write it to the store."""
    stored = place.find(t)  # by a worker that died before it could report it
    if stored is not None:
        return stored
    return place.add(t, _fit(plan, data, t, batch_rows))


def refit_hash(plan: Plan, data: TrainingData, t: int, batch_rows: int | None) -> tuple[int, str]:
    """Fit submodel t again; t, and the hash of its file, which must be the same."""
    return t, stored_estimator(submodel_name(t), _fit(plan, data, t, batch_rows)).sha256


def _fit(plan: Plan, data: TrainingData, t: int, batch_rows: int | None) -> object:
    table, y = data.open()
    with exclusive(plan.serial):
        fitted: object = fit_submodel(plan, table, plan.encode_target(y), t, batch_rows)
    data.check_unchanged()  # before the submodel counts as one of this table
    return fitted
