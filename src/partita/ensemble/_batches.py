"""Submodels that learn from their columns in batches, without holding all of them in memory.

LightGBM reads a sequence of batches; estimators with ``partial_fit`` are taught batch after batch,
in one pass. A table that cannot be read concerns all submodels: no fixed vote may stand in for it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._support import Array
from ..errors import InputError, SubmodelError
from ..tables import Table
from ._failures import UNLABELLED, FixedVote, fit_one, raise_shortage
from ._lightgbm import LIGHTGBM_ROWS, fit_sequence, needs_all_rows, reads_sequences
from ._plan import Plan


def check_batches(plan: Plan, batch_rows: int | None) -> None:
    """Refuse ``batch_rows`` for an estimator that cannot learn from batches."""
    if batch_rows is None:
        return
    if (
        isinstance(batch_rows, bool)
        or not isinstance(batch_rows, int | np.integer)
        or batch_rows < 1
    ):
        raise InputError(
            f"batch_rows is {batch_rows!r}: give a number of rows, 1 or above, or leave it out"
        )
    if reads_sequences(plan.estimator):
        return
    if plan.label_attacks == "labels":
        raise InputError(
            "batch_rows is not supported with label_attacks='labels', which needs all rows at "
            "once: use 'rows', or leave it out"
        )
    if not hasattr(plan.estimator, "partial_fit"):
        raise InputError(
            f"batch_rows is given, but {type(plan.estimator).__name__} cannot learn from batches: "
            "leave it out, or use LightGBM or an "
            "estimator with partial_fit"
        )


def fit_submodel(plan: Plan, table: Table, y: Array, t: int, batch_rows: int | None = None) -> Any:
    """Fit submodel t on its columns, in batches where possible; a FixedVote where it may fail.

    ``y`` is the target as ``plan.encode_target`` gives it. A table that cannot be read is an error
    in any case.
    """
    owner = plan.owner(table.n_rows)
    submodel = plan.submodel(t)
    in_sequence = reads_sequences(submodel) and not needs_all_rows(submodel, table, plan.columns[t])
    if not in_sequence and (batch_rows is None or reads_sequences(submodel)):
        return fit_one(*plan.fit_arguments(table, y, owner, t))
    rows, labels, _ = plan.training_rows(y, owner, t)
    if len(labels) == 0:
        return FixedVote(f"{plan.names[t]}{UNLABELLED}")
    batch_size = LIGHTGBM_ROWS if in_sequence else int(batch_rows or 0)
    batches = _Batches(table, plan.columns[t], batch_size, rows)
    fit = fit_sequence if in_sequence else _fit_partially
    try:
        return fit(submodel, batches, labels, plan.classes)
    except Exception as exc:
        if batches.error is not None:
            raise batches.error from exc
        cause = f"{plan.names[t]}, {type(submodel).__name__}, could not be fitted: {exc}"
        raise_shortage(exc, cause)
        if plan.may_fail:
            return FixedVote(cause)
        raise SubmodelError(cause) from exc


class _Batches:
    """The batches of a submodel's columns; tells an error in reading from one in learning."""

    def __init__(self, table: Table, columns: list[int], size: int, rows: Array | None) -> None:
        self.size, self.n_rows = size, table.n_rows if rows is None else len(rows)
        self.error: Exception | None = None
        self._table, self._columns, self._rows = table, columns, rows

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._table.batches(self._columns, self.size, self._rows)
        except Exception as exc:
            self.error = exc
            raise


def _fit_partially(submodel: Any, batches: _Batches, labels: Array, classes: Array) -> Any:
    """Teach batch after batch."""
    start = 0
    known = {"classes": classes} if len(classes) else {}
    for X in batches:
        submodel.partial_fit(X, labels[start : start + len(X)], **(known if start == 0 else {}))
        start += len(X)
    return submodel
