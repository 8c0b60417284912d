"""Poisoning and backdoors: units are rewritten in all training rows, the model is fitted again, and
(with a trigger) the row too."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .._support.types import Array
from ..ensemble._label_attacks import assign_rows
from ._attacked_table import Cells
from ._candidates import POISONS, poisoned, trigger
from ._claims import Question
from ._hostile_values import DAMAGES, damaged
from ._vote_options import apart_first


@dataclass(frozen=True)
class Poison:
    """A training table, its labels and the rows to predict after an attack, and what was
    written."""

    kind: str
    units: list[int]
    labels: list[int]  # rows of the training table whose labels were flipped
    training: Any
    y: Array
    table: Any

    def fitted(self, model: Any) -> Any:
        """The model, fitted again on what is left of the training table."""
        return clone(model).fit(self.training, self.y)


class Poisoner:
    """An attacker who owns units of the training table and of the rows to be predicted."""

    def __init__(
        self, question: Question, cells: Cells, training: Cells, y: Array, seed: int
    ) -> None:
        self.question, self.cells, self.training, self.y = question, cells, training, np.asarray(y)
        self.rng = np.random.default_rng(seed)
        self.codes = (
            np.asarray(y, dtype=np.float64)
            if question.of_values
            else np.searchsorted(question.model.classes_, self.y)
        )

    def attacks(self, r: int, hostile: bool) -> Iterator[Poison]:
        """Each kind of poison in the units that most predictions hang on; one of them with a
        trigger in the rows.

        ``hostile``: also extremes, infinities, gaps and strange texts in training, with honest rows
        and with such values in the rows too."""
        chosen = self._strongest(r)
        for kind in POISONS:
            written = self._written(kind, chosen)
            yield Poison(f"poisoning: {kind}", chosen, [], written, self.y, self.cells.table())
            if kind == "label":
                yield Poison("backdoor", chosen, [], written, self.y, self._triggered(chosen))
        others = self._random(r)
        yield Poison(
            "backdoor", others, [], self._written("label", others), self.y, self._triggered(others)
        )
        if hostile:
            for kind in DAMAGES:
                training, rows = (
                    self._damaged(kind, table, chosen) for table in (self.training, self.cells)
                )
                if training:
                    written = self.training.table(training)
                    yield Poison(
                        f"poisoning: {kind}", chosen, [], written, self.y, self.cells.table()
                    )
                    yield Poison(
                        f"poisoning: {kind}", chosen, [], written, self.y, self.cells.table(rows)
                    )
        if self.question.model.label_attacks:
            flipped = self._flips(r)
            yield Poison(
                "label flips",
                [],
                flipped,
                self.training.table(),
                self._with_flips(flipped),
                self.cells.table(),
            )
            half = chosen[: r // 2]
            some = self._flips(r - len(half))
            yield Poison(
                "backdoor and label flips",
                half,
                some,
                self._written("label", half),
                self._with_flips(some),
                self._triggered(half),
            )

    def _strongest(self, r: int) -> list[int]:
        """Units of different submodels, those whose submodels side most with the predictions
        first."""
        model = self.question.model
        if (
            r >= 1
            and (worst := self.question.answers.collective(r, time_limit=5.0)) is not None
            and len(worst.units) == r
        ):
            return [int(unit) for unit in worst.units]
        agreement = np.nan_to_num(self.question.answers.agreement())
        reach = np.asarray(model.partition_.incidence())
        return apart_first(np.argsort(-(reach @ agreement), kind="stable"), reach, r)

    def _random(self, r: int) -> list[int]:
        reach = np.asarray(self.question.model.partition_.incidence())
        return apart_first(self.rng.permutation(len(reach)), reach, r)

    def _columns(self, units: list[int]) -> list[int]:
        return [column for unit in units for column in self.question.model.units_.columns[unit]]

    def _written(self, kind: str, units: list[int]) -> Any:
        return self.training.table(
            {
                column: poisoned(kind, self.training, column, self.codes, self.rng)
                for column in self._columns(units)
            }
        )

    def _damaged(self, kind: str, cells: Cells, units: list[int]) -> dict[int, Array]:
        found: dict[int, Array] = {}
        for unit in units:
            found |= damaged(kind, cells, self.question.model.units_.columns[unit], self.rng)
        return found

    def _triggered(self, units: list[int]) -> Any:
        """The rows with the trigger of what the attacker wants: the nearest rival, or a value
        beyond the bounds."""
        goal = self.question.goals()[0]
        if self.question.of_values:
            goal = np.where(
                self.question.prediction < np.median(self.codes), self.codes.max(), self.codes.min()
            )
        return self.cells.table(
            {column: trigger(self.cells, column, goal) for column in self._columns(units)}
        )

    def _flips(self, r: int) -> list[int]:
        """Training rows that belong to r different submodels, as far as there are so many."""
        model = self.question.model
        owner = assign_rows(self.training.n_rows, len(model.partition_), model._seed())
        order = self.rng.permutation(self.training.n_rows)
        firsts = {int(owner[row]): int(row) for row in order[::-1]}  # one row of each submodel
        spread = list(firsts.values())
        self.rng.shuffle(spread)
        return (spread + [int(row) for row in order if int(row) not in spread])[:r]

    def _with_flips(self, rows: list[int]) -> Array:
        y = self.y.copy()
        if self.question.of_values:
            y[rows] = np.where(y[rows] < np.median(y), y.max(), y.min())
        else:
            labels = self.question.model.classes_
            y[rows] = labels[(np.searchsorted(labels, y[rows]) + 1) % len(labels)]
        return y
