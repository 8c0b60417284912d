"""Trusted reference rows in a file: ``--reference`` of ``partita fit`` and ``partita sweep``.

A partition is learnt from them, and a sweep learns and judges its settings on them alone. They must
not be rows of the training table: an attacker could change those, and with them what is learnt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._support import Array
from ..errors import InputError
from ..partition import Informed
from ..tables import FileTable, sha256_of
from ._schema import Schema


@dataclass(frozen=True)
class Reference:
    """Trusted rows from a file, and how a partition is learnt from them."""

    table: FileTable
    y: Array
    exchanges: int
    name: str
    sha256: str

    def partition(self, names: Sequence[str]) -> Informed:
        """The partition of a table with these columns."""
        return Informed(self.table.take_all()[list(names)], self.y, self.exchanges)

    def with_rows(self, rows: Array) -> "Reference":
        """Some of the rows."""
        return replace(self, table=self.table.with_rows(rows), y=self.y[rows])

    def about(self) -> dict[str, Any]:
        """What the stored model remembers of it."""
        return {
            "name": self.name,
            "rows": len(self.y),
            "sha256": self.sha256,
            "exchanges": self.exchanges,
        }

    def __str__(self) -> str:
        more = f", {self.exchanges:,} exchanges" if self.exchanges else ""
        return f"informed by {len(self.y):,} trusted reference rows ({self.name}{more})"


def read_reference(
    schema: Schema, training_path: Path, y_train: Array, path: Any, exchanges: int = 0
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
    """Whether two tables are one file, or copies; a large one is read only if it could be one."""
    if one.is_file() and other.is_file() and one.stat().st_size != other.stat().st_size:
        return False
    return one.resolve() == other.resolve() or sha256_of(one) == sha256_of(other)
