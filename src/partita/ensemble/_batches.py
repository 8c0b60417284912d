"""Submodels that learn from their columns piece by piece, without holding all of them.

LightGBM reads a table as a sequence of batches: once for a sample from which it makes its bins,
once for the bins of all rows. The trees are the same, to the last bit, as those it grows from the
whole table. It may be the last step of a pipeline whose first step passes numbers on and encodes
texts (``--estimator lightgbm``): a submodel of numbers alone reads batches, one with texts its
whole columns. Estimators with ``partial_fit`` are taught batch after batch, in one pass."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.pipeline import Pipeline

from .._support.types import Array
from ..errors import InputError, SubmodelError
from ..tables._kinds import TEXT
from ..tables._table import Table
from ._failures import FixedVote, fit_one, raise_shortage
from ._plan import Plan

LIGHTGBM = ("LGBMClassifier", "LGBMRegressor")
LIGHTGBM_ROWS = 2**16  # read at once


def check_batches(plan: Plan, batch_rows: int | None) -> None:
    """Refuse to teach in batches what cannot be taught so."""
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
    if _reads_sequences(plan.estimator):
        return
    if plan.label_attacks == "labels":
        raise InputError(
            "batch_rows cannot be had with label_attacks='labels', which needs all rows at once: "
            "use 'rows', or leave it out"
        )
    if not hasattr(plan.estimator, "partial_fit"):
        raise InputError(
            f"batch_rows is given, but {type(plan.estimator).__name__} cannot learn from batches: "
            "leave it out, or use LightGBM or an "
            "estimator with partial_fit"
        )


def fit_submodel(plan: Plan, table: Table, y: Array, t: int, batch_rows: int | None = None) -> Any:
    """Submodel t, fitted on its columns of the table, in batches where it can be; a FixedVote where
    it fails and may.

    ``y`` is the target as ``plan.learnt`` gives it. A table that cannot be read is an error in any
    case."""
    owner = plan.owner(table.n_rows)
    submodel = plan.submodel(t)
    in_sequence = _reads_sequences(submodel) and not _needs_all_rows(
        submodel, table, plan.columns[t]
    )
    if not in_sequence and (batch_rows is None or _reads_sequences(submodel)):
        return fit_one(*plan.job(table, y, owner, t))
    rows, labels, _ = plan.lesson(y, owner, t)
    if len(labels) == 0:
        return FixedVote(f"{plan.names[t]} has no labelled training rows")
    if in_sequence:
        taught = _Taught(table, plan.columns[t], LIGHTGBM_ROWS, rows)
        fit: Any = _fit_sequence
    else:
        taught, fit = _Taught(table, plan.columns[t], int(batch_rows or 0), rows), _fit_partially
    try:
        return fit(submodel, taught, labels, plan.classes)
    except Exception as exc:
        if taught.error is not None:
            raise taught.error from exc
        cause = f"{plan.names[t]}, {type(submodel).__name__}, could not be fitted: {exc}"
        raise_shortage(exc, cause)
        if plan.may_fail:
            return FixedVote(cause)
        raise SubmodelError(cause) from exc


class _Taught:
    """The batches of a submodel's columns; what goes wrong in reading them is told apart from what
    goes wrong in learning."""

    def __init__(self, table: Table, columns: list[int], most: int, rows: Array | None) -> None:
        self.most, self.n_rows = most, table.n_rows if rows is None else len(rows)
        self.error: Exception | None = None
        self._table, self._columns, self._rows = table, columns, rows

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._table.batches(self._columns, self.most, self._rows)
        except Exception as exc:
            self.error = exc
            raise


def _fit_partially(submodel: Any, taught: _Taught, labels: Array, classes: Array) -> Any:
    start = 0
    known = {"classes": classes} if len(classes) else {}
    for X in taught:
        submodel.partial_fit(X, labels[start : start + len(X)], **(known if start == 0 else {}))
        start += len(X)
    return submodel


def _reads_sequences(estimator: Any) -> bool:
    """Whether this is LightGBM, with settings that its booster alone sees to, or a pipeline of the
    recipe for texts and LightGBM."""
    if isinstance(estimator, Pipeline):
        return (
            len(estimator.steps) == 2
            and _passes_numbers_on(estimator[0])
            and _reads_sequences(estimator[1])
        )
    if not (
        type(estimator).__module__ == "lightgbm.sklearn" and type(estimator).__name__ in LIGHTGBM
    ):
        return False
    return estimator.class_weight is None and not callable(estimator.objective)


def _passes_numbers_on(step: Any) -> bool:
    """Whether this encodes the columns that are no numbers, and nothing else."""
    return (
        isinstance(step, ColumnTransformer)
        and step.remainder == "passthrough"
        and all(_selects_no_numbers(columns) for _, _, columns in step.transformers)
    )


def _selects_no_numbers(columns: Any) -> bool:
    return (
        isinstance(columns, make_column_selector)
        and columns.dtype_exclude == "number"
        and columns.dtype_include is None
    )


def _needs_all_rows(estimator: Any, table: Table, columns: list[int]) -> bool:
    """Whether an encoder has texts to learn from: those of all rows."""
    if not isinstance(estimator, Pipeline):
        return False
    kinds = list((table.kinds or {}).values())
    return not kinds or any(kinds[column] == TEXT for column in columns)


def _fit_sequence(submodel: Any, taught: _Taught, labels: Array, classes: Array) -> Any:
    """LightGBM's scikit-learn classes take no sequences. So the class is fitted on a row of every
    label, which settles everything but the trees, and gets the booster that its own settings grow
    from the sequence."""
    import lightgbm

    first = next(iter(taught))
    if hasattr(submodel, "predict_proba"):
        seen = np.unique(labels)
        one_of_each = np.array([np.argmax(labels == label) for label in seen])
        target = np.empty(len(labels), dtype=np.float32)
        for start in range(
            0, len(labels), taught.most
        ):  # piece by piece: positions of all rows would take more memory than the columns
            target[start : start + taught.most] = np.searchsorted(
                seen, labels[start : start + taught.most]
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
        _sequence(taught), label=target, params=settings | seed, feature_name=names
    )
    booster = lightgbm.train(settings, data)
    booster.free_dataset()
    wrapper._Booster = booster
    return submodel


def _sequence(taught: _Taught) -> Any:
    import lightgbm

    class Rows(lightgbm.Sequence):  # type: ignore[misc]
        """Rows of batches that are read in their order; asked for an earlier row, it begins
        again."""

        batch_size = taught.most

        def __init__(self) -> None:
            self._begin()

        def _begin(self) -> None:
            self._batches, self._start, self._end, self._held = iter(taught), 0, 0, np.empty((0, 0))

        def __len__(self) -> int:
            return taught.n_rows

        def __getitem__(self, which: Any) -> Any:
            if isinstance(which, slice):  # LightGBM asks for whole batches
                self._go_to(which.start)
                return self._held[which.start - self._start : which.stop - self._start]
            if (
                not self._start <= which < self._end
            ):  # called 200,000 times for the sample: no more work than this for most of them
                self._go_to(which)
            return self._held[which - self._start]

        def _go_to(self, row: int) -> None:
            if row < self._start:
                self._begin()
            while row >= self._end:
                self._held = np.ascontiguousarray(next(self._batches), dtype=np.float64)
                self._start, self._end = self._end, self._end + len(self._held)

    return Rows()
