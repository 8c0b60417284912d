"""Submodels that learn from their columns in batches, without holding all of them in memory.

Estimators with ``partial_fit`` are taught batch after batch, in one pass. LightGBM reads a table as
a sequence of batches: once for a sample from which it makes its bins, once for the bins of all
rows. The trees are the same, to the last bit, as those it grows from the whole table. It may be the
last step of a pipeline whose first step passes numbers on and encodes texts (``--estimator
lightgbm``): a submodel of numbers alone reads batches, one with texts its whole columns.

A table that cannot be read concerns all submodels: no fixed vote may stand in for it.

Used here and nowhere else: LightGBM's sequences, the parameters in a model's text, ``_Booster``.
"""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.pipeline import Pipeline

from .._support import Array, Estimator, TableLike, check_whole
from ..errors import InputError
from ..tables import TEXT, Table
from ._plan import Plan
from ._submodels import UNLABELLED, FixedVote, failed_fit, fit_one

LIGHTGBM = ("LGBMClassifier", "LGBMRegressor")
LIGHTGBM_ROWS = 2**16  # read at once


def check_batches(plan: Plan, batch_rows: int | None) -> None:
    """Refuse ``batch_rows`` for an estimator that cannot learn from batches."""
    if batch_rows is None:
        return
    check_whole("batch_rows", batch_rows, 1)
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
            "leave it out, or use LightGBM or an estimator with partial_fit"
        )


def fit_submodel(
    plan: Plan, table: Table, y: Array, t: int, batch_rows: int | None = None
) -> Estimator:
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
        return failed_fit(exc, submodel, plan.names[t], plan.may_fail)


class _Batches:
    """The batches of a submodel's columns; tells an error in reading from one in learning."""

    def __init__(self, table: Table, columns: list[int], size: int, rows: Array | None) -> None:
        self.size, self.n_rows = size, table.n_rows if rows is None else len(rows)
        self.error: Exception | None = None
        self._table, self._columns, self._rows = table, columns, rows

    def __iter__(self) -> Iterator[TableLike]:
        try:
            yield from self._table.batches(self._columns, self.size, self._rows)
        except Exception as exc:
            self.error = exc
            raise


def _fit_partially(
    submodel: Estimator, batches: _Batches, labels: Array, classes: Array
) -> Estimator:
    """Teach batch after batch."""
    start = 0
    known = {"classes": classes} if len(classes) else {}
    for X in batches:
        submodel.partial_fit(X, labels[start : start + len(X)], **(known if start == 0 else {}))
        start += len(X)
    return submodel


# ---- LightGBM ----


def reads_sequences(estimator: Estimator) -> bool:
    """Return whether this is LightGBM with settings that its booster alone handles.

    Or a pipeline of an encoder for texts and such a LightGBM.
    """
    if isinstance(estimator, Pipeline):
        two = len(estimator.steps) == 2
        return two and _passes_numbers_on(estimator[0]) and reads_sequences(estimator[1])
    kind = type(estimator)
    if kind.__module__ != "lightgbm.sklearn" or kind.__name__ not in LIGHTGBM:
        return False
    return estimator.class_weight is None and not callable(estimator.objective)


def _passes_numbers_on(step: Estimator) -> bool:
    """Return whether this encodes the columns that are not numbers, and nothing else."""
    if not isinstance(step, ColumnTransformer) or step.remainder != "passthrough":
        return False
    return all(
        isinstance(columns, make_column_selector)
        and columns.dtype_exclude == "number"
        and columns.dtype_include is None
        for _, _, columns in step.transformers
    )


def needs_all_rows(estimator: Estimator, table: Table, columns: list[int]) -> bool:
    """Return whether an encoder has texts to learn, which takes all rows."""
    if not isinstance(estimator, Pipeline):
        return False
    kinds = list((table.kinds or {}).values())
    return not kinds or any(kinds[column] == TEXT for column in columns)


def fit_sequence(
    submodel: Estimator, batches: _Batches, labels: Array, classes: Array
) -> Estimator:
    """Fit LightGBM from a sequence of batches.

    Its scikit-learn classes take no sequences. So the class is fitted on one row of every label,
    which settles everything but the trees, and gets the booster that its own settings grow from the
    sequence.
    """
    import lightgbm

    first = next(iter(batches))
    if hasattr(submodel, "predict_proba"):
        seen = np.unique(labels)
        one_of_each = np.array([np.argmax(labels == label) for label in seen])
        target = np.empty(len(labels), dtype=np.float32)
        # piece by piece: positions of all rows would take more memory than the columns
        for start in range(0, len(labels), batches.size):
            target[start : start + batches.size] = np.searchsorted(
                seen, labels[start : start + batches.size]
            )
    else:
        one_of_each, target = np.array([np.argmin(labels), np.argmax(labels)]), labels
    few = np.resize(one_of_each, max(2, len(one_of_each)))
    submodel.fit(first.iloc[np.zeros(len(few), dtype=np.int64)], labels[few])
    wrapper = submodel[1] if isinstance(submodel, Pipeline) else submodel
    settings = dict(wrapper.booster_.params)
    # a sequence's sample is drawn before LightGBM derives this seed from random_state
    drawn = re.search(r"\[data_random_seed: (\d+)\]", wrapper.booster_.model_to_string())
    seed = {} if drawn is None else {"data_random_seed": int(drawn[1])}
    names = wrapper.booster_.feature_name()
    data = lightgbm.Dataset(
        _sequence(batches), label=target, params=settings | seed, feature_name=names
    )
    booster = lightgbm.train(settings, data)
    booster.free_dataset()
    wrapper._Booster = booster
    return submodel


def _sequence(batches: _Batches) -> Any:
    import lightgbm

    class RowSequence(lightgbm.Sequence):
        """Rows from batches that are read in order; for an earlier row, reading starts again."""

        batch_size = batches.size

        def __init__(self) -> None:
            self._restart()

        def _restart(self) -> None:
            self._batches, self._batch = iter(batches), np.empty((0, 0))
            self._start = self._end = 0

        def __len__(self) -> int:
            return batches.n_rows

        def __getitem__(self, which: Any) -> Any:
            if isinstance(which, slice):  # LightGBM reads whole batches
                self._go_to(which.start)
                return self._batch[which.start - self._start : which.stop - self._start]
            # called 200,000 times for the sample: no more work than this for most of them
            if not self._start <= which < self._end:
                self._go_to(which)
            return self._batch[which - self._start]

        def _go_to(self, row: int) -> None:
            if row < self._start:
                self._restart()
            while row >= self._end:
                self._batch = np.ascontiguousarray(next(self._batches), dtype=np.float64)
                self._start, self._end = self._end, self._end + len(self._batch)

    return RowSequence()
