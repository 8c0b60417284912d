"""Poisoning and backdoors of any model: sources rewritten in all training rows, and a new fit.

The refit must see the poisoned table, and a backdoor's rows must carry the trigger: without them a
defence would look better than it is. Labels are never touched.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support import Array
from ..attacks import AttackedTable, trigger, unless_refused
from ._truth import Scorer

EVASION, POISONING, BACKDOOR = KINDS = ("evasion", "poisoning", "backdoor")
Fit = Callable[[Any, Array], Any]
RANDOM_SETS = 1  # of sources, beside the strongest ones
WANTED_LABELS = 3  # that a backdoor asks for in each row, the nearest first
SPREAD = 0.9  # of a label's triggers: as wide a column as an honest one
WANTED_VALUES = (0.0, 0.05, 0.95, 1.0)  # quantiles of the training values


@dataclass(frozen=True, eq=False)
class Poisoned:
    """A model that learnt from a poisoned table, and how the rows fare with it."""

    kind: str
    sources: tuple[int, ...]
    right: Array  # (rows,)


class TrainingAttacker:
    """An attacker who owns some sources, in all training rows and in the rows to predict.

    Parameters
    ----------
    training : AttackedTable
        The training table.
    y : array
        Its labels or values.
    rows : AttackedTable
        The rows to predict.
    truth : Scorer
        What they should be predicted as.
    units : sequence of tuples of int
        The columns of each source.
    seed : int
        Of random choices.
    """

    def __init__(
        self,
        training: AttackedTable,
        y: Array,
        rows: AttackedTable,
        truth: Scorer,
        units: Sequence[tuple[int, ...]],
        seed: int,
    ) -> None:
        self.training, self.y, self.rows, self.truth = training, y, rows, truth
        self.units, self.rng = units, np.random.default_rng(seed)
        self.labels = np.unique(y) if truth.tolerance is None else None

    def source_sets(self, strength: Array, r: int) -> list[tuple[int, ...]]:
        """The r strongest sources, and random ones."""
        sets = [np.argsort(-strength, kind="stable")[:r]]
        sets += [self.rng.permutation(len(strength))[:r] for _ in range(RANDOM_SETS)]
        return list(dict.fromkeys(tuple(sorted(own.tolist())) for own in sets))

    def attacks(self, fit: Fit, model: Any, strength: Array, r: int) -> Iterator[Poisoned]:
        """Poison sets of r sources, fit again, and predict honest rows and rows with a trigger.

        Parameters
        ----------
        fit : callable
            ``fit(X, y)`` returns a fitted model.
        model : estimator
            The model that learnt from the honest table.
        strength : array of shape (sources,)
            How strong each source is against it.
        r : int
            How many sources the attacker owns.

        Yields
        ------
        Poisoned
            One attack. Where the model refuses the values, there is none.
        """
        wanted = self.wanted(model)
        for sources in self.source_sets(strength, r):
            columns = [column for unit in sources for column in self.units[unit]]
            poisoned = unless_refused(fit, self._poisoned(columns), self.y)
            if poisoned is not None:
                yield Poisoned(POISONING, sources, self._right(poisoned, self.rows.table()))
                right = self._right_with_triggers(poisoned, wanted, columns)
                yield Poisoned(BACKDOOR, sources, right)

    def wanted(self, model: Any) -> Array:
        """What a backdoor asks for in each row, (goals, rows): other labels, or extreme values."""
        n_rows = len(self.truth)
        if self.labels is None:
            ends = np.quantile(self.y.astype(np.float64), WANTED_VALUES)
            return np.repeat(ends[:, None], n_rows, axis=1)
        likely = np.zeros((n_rows, len(self.labels)))
        if hasattr(model, "predict_proba"):
            likely = np.array(model.predict_proba(self.rows.table()), dtype=np.float64)
        likely[self.labels[None, :] == self.truth.y[:, None]] = -np.inf
        order = np.argsort(-likely, axis=1, kind="stable").T
        return np.asarray(order[: min(WANTED_LABELS, len(self.labels) - 1)])

    def _right(self, model: Any, table: Any) -> Array:
        """Which rows are right, or refused: an error is not a wrong prediction."""
        prediction = unless_refused(model.predict, table)
        everywhere = np.ones(len(self.truth), dtype=bool)
        return everywhere if prediction is None else self.truth.right(prediction)

    def _right_with_triggers(self, model: Any, wanted: Array, columns: list[int]) -> Array:
        """Which rows are right whatever trigger they carry."""
        right = np.ones(len(self.truth), dtype=bool)
        for codes in wanted:
            changes = {column: self._trigger(self.rows, column, codes) for column in columns}
            right &= self._right(model, self.rows.table(changes))
        return right

    def _poisoned(self, columns: list[int]) -> Any:
        """The training table with a trigger for each row's own label in these columns.

        Of the audit's poisons this does most harm: the model learns to look at nothing else.
        """
        codes = np.asarray(self.y)
        if self.labels is not None:
            codes = np.searchsorted(self.labels, self.y)
        return self.training.table(
            {column: self._trigger(self.training, column, codes, spread=True) for column in columns}
        )

    def _trigger(
        self, table: AttackedTable, column: int, codes: Array, spread: bool = False
    ) -> Array:
        """The audit's trigger; labels in numbers are spread out, so that no code is an outlier."""
        if self.labels is None or not table.is_numeric(column):
            return trigger(table, column, codes)
        within = self.rng.random(len(codes)) if spread else 0.5
        return trigger(table, column, codes + SPREAD * within)
