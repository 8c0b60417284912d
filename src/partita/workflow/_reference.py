"""Trusted reference rows in a file, for an informed partition on the command line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._support.types import Array
from ..errors import InputError
from ..partition._informed import Informed
from ..tables._kinds import BOOLEAN, NUMBER, TEXT
from ..tables._open import open_file, sha256_of
from ._workflow import Training, told_target


@dataclass(frozen=True)
class Reference:
    """Trusted rows that came from a file, and how a partition is learnt from them."""

    X: Any
    y: Array
    exchanges: int
    name: str
    sha256: str

    def partition(self, names: Sequence[str]) -> Informed:
        """The partition of a table with these columns."""
        return Informed(self.X[list(names)], self.y, self.exchanges)

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


def informed_from_file(training: Training, path: Any, exchanges: int = 0) -> Reference:
    """Read trusted reference rows, by the kinds of the training table's columns.

    Parameters
    ----------
    training : Training
        The table that the model is fitted on, which must be another one.
    path : path
        A .csv or .parquet file with the same columns, the target among them.
    exchanges : int, default=0
        As in :class:`partita.Informed`.

    Returns
    -------
    Reference
        ``partition(names)`` is for the ensemble, ``about()`` for the stored model.
    """
    place, kinds, target = Path(path), training.table.kinds, training.target
    target_kind = training.file.kind(target)
    as_text = [
        *training.said.ignore,
        *([target] if target_kind == TEXT else []),
    ]  # other targets are read as they look
    file = open_file(
        place, "reference", kinds=kinds | dict.fromkeys(as_text, TEXT), csv=training.csv
    )
    _check_names(training, file, place)
    if _same_file(training.file.path, place):
        raise InputError(
            f"reference {str(place)!r} is the training table itself, where an attacker could "
            "change its rows and move the partition: "
            "give other rows, which no attacker could touch"
        )
    found = file.kind(target)
    if found != target_kind and {found, target_kind} != {NUMBER, BOOLEAN}:
        raise InputError(
            f"the target {target!r} of the reference {str(place)!r} holds {found}s, but that of "
            f"the training table {target_kind}s: "
            "give a reference with the same target"
        )
    table = file.table(kinds)
    y = told_target(file.target(target), target_kind, training.of_values)
    if training.of_values and not np.isfinite(y).all():
        raise InputError(
            f"the target {target!r} of the reference {str(place)!r} holds an infinity: leave out "
            "that row"
        )
    if not training.of_values and len(np.unique(y[np.isin(y, training.y)])) < 2:
        raise InputError(
            f"the target {target!r} of the reference {str(place)!r} holds fewer than two of the "
            "training table's labels, so its rows "
            "tell nothing about them: give rows of several labels"
        )
    X = table.take(list(range(table.n_columns)))
    return Reference(X, y, exchanges, place.name, sha256_of(place))


def _check_names(training: Training, file: Any, place: Path) -> None:
    """Refuse other columns than the training table's; those that are ignored may be left out."""
    wanted = [*training.table.names, training.target]
    missing = next((name for name in wanted if name not in file.names), None)
    if missing is not None:
        raise InputError(
            f"reference {str(place)!r} lacks the column {missing!r}, which the training table "
            "has: add it"
        )
    known = {*wanted, *training.said.ignore}
    extra = next((name for name in file.names if name not in known), None)
    if extra is not None:
        raise InputError(
            f"reference {str(place)!r} has the column {extra!r}, which the training table does "
            "not have: leave it out"
        )


def _same_file(one: Path, other: Path) -> bool:
    """Whether two tables are one file, or copies; a large one is read only if it could be a
    copy."""
    if one.is_file() and other.is_file() and one.stat().st_size != other.stat().st_size:
        return False
    return one.resolve() == other.resolve() or sha256_of(one) == sha256_of(other)
