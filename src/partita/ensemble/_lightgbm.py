"""LightGBM from batches: all that leans on its internals.

LightGBM reads a table as a sequence of batches: once for a sample from which it makes its bins,
once for the bins of all rows. The trees are the same, to the last bit, as those it grows from the
whole table. It may be the last step of a pipeline whose first step passes numbers on and encodes
texts (``--estimator lightgbm``): a submodel of numbers alone reads batches, one with texts its
whole columns.

Used here and nowhere else: its sequences, the parameters in a model's text, and ``_Booster``.
"""

import re
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.pipeline import Pipeline

from .._support import Array
from ..tables import TEXT, Table

LIGHTGBM = ("LGBMClassifier", "LGBMRegressor")
LIGHTGBM_ROWS = 2**16  # read at once


class Batches(Protocol):
    """Batches of rows that can be read from the start again and again."""

    size: int
    n_rows: int

    def __iter__(self) -> Iterator[Any]: ...


def reads_sequences(estimator: Any) -> bool:
    """Whether this is LightGBM with settings that its booster alone handles.

    Or a pipeline of an encoder for texts and such a LightGBM.
    """
    if isinstance(estimator, Pipeline):
        return (
            len(estimator.steps) == 2
            and _passes_numbers_on(estimator[0])
            and reads_sequences(estimator[1])
        )
    if not (
        type(estimator).__module__ == "lightgbm.sklearn" and type(estimator).__name__ in LIGHTGBM
    ):
        return False
    return estimator.class_weight is None and not callable(estimator.objective)


def _passes_numbers_on(step: Any) -> bool:
    """Whether this encodes the columns that are not numbers, and nothing else."""
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


def needs_all_rows(estimator: Any, table: Table, columns: list[int]) -> bool:
    """Whether an encoder has texts to learn, which takes all rows."""
    if not isinstance(estimator, Pipeline):
        return False
    kinds = list((table.kinds or {}).values())
    return not kinds or any(kinds[column] == TEXT for column in columns)


def fit_sequence(submodel: Any, batches: Batches, labels: Array, classes: Array) -> Any:
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


def _sequence(batches: Batches) -> Any:
    import lightgbm

    class Rows(lightgbm.Sequence):
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

    return Rows()
