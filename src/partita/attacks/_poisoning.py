"""Poisoning and backdoors: units are rewritten in all training rows, and the model fitted again.

With a backdoor, the rows to predict hold a trigger in the same units.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .._support import Array
from ..ensemble import FittedEnsemble
from ._claims import Claims
from ._table import AttackedTable
from ._values import DAMAGES, POISONS, damage, poisoned_column, trigger
from ._vote_options import disjoint_first

CHOICE = "choice of settings"  # the kind of attack after which settings are chosen again


@dataclass(frozen=True)
class Poison:
    """A training table, its labels and the rows to predict after an attack."""

    kind: str
    units: list[int]
    labels: list[int]  # rows of the training table whose labels were flipped
    training: Any
    y: Array
    table: Any  # the rows to predict

    def fit(self, model: FittedEnsemble) -> Any:
        """The model, fitted again on the attacked training table."""
        return clone(model).fit(self.training, self.y)


class Poisoner:
    """An attacker who owns units of the training table and of the rows to predict.

    Parameters
    ----------
    claims : Claims
        What is certified of the rows.
    rows : AttackedTable
        The rows to predict.
    training : AttackedTable
        The training table.
    y : array
        Its labels or values.
    seed : int
        Of random choices.
    """

    def __init__(
        self, claims: Claims, rows: AttackedTable, training: AttackedTable, y: Array, seed: int
    ) -> None:
        self.claims, self.rows, self.training, self.y = claims, rows, training, np.asarray(y)
        self.rng = np.random.default_rng(seed)
        self.codes = claims.goals.codes(self.y)

    def attacks(self, r: int, hostile: bool) -> Iterator[Poison]:
        """Every kind of poison in the units that most predictions depend on.

        ``hostile``: also hostile values in training, with honest rows and with such values in the
        rows too.
        """
        units = self._strongest_units(r)
        honest = self.rows.table()
        for kind in POISONS:
            training = self._poisoned(kind, units)
            yield Poison(f"poisoning: {kind}", units, [], training, self.y, honest)
            if kind == "label":
                yield Poison("backdoor", units, [], training, self.y, self._triggered(units))
        random = self._random_units(r)
        yield Poison(
            "backdoor",
            random,
            [],
            self._poisoned("label", random),
            self.y,
            self._triggered(random),
        )
        if hostile:
            yield from self._hostile_attacks(units)
        if self.claims.model.label_attacks:
            flips = self._rows_to_flip(r)
            y = self.claims.goals.flipped(self.y, flips)
            yield Poison("label flips", [], flips, self.training.table(), y, honest)
            half = units[: r // 2]
            flips = self._rows_to_flip(r - len(half))
            yield Poison(
                "backdoor and label flips",
                half,
                flips,
                self._poisoned("label", half),
                self.claims.goals.flipped(self.y, flips),
                self._triggered(half),
            )

    def attacks_on_choice(self) -> Iterator[Poison]:
        """Every unit in turn, with every kind of poison; the rows to predict stay honest."""
        honest = self.rows.table()
        for unit in range(len(self.claims.model.units_)):
            for kind in POISONS:
                yield Poison(CHOICE, [unit], [], self._poisoned(kind, [unit]), self.y, honest)

    def _hostile_attacks(self, units: list[int]) -> Iterator[Poison]:
        for kind in DAMAGES:
            changes, row_changes = (
                self._damaged(kind, table, units) for table in (self.training, self.rows)
            )
            if changes:
                training, name = self.training.table(changes), f"poisoning: {kind}"
                for rows in (self.rows.table(), self.rows.table(row_changes)):
                    yield Poison(name, units, [], training, self.y, rows)

    def _strongest_units(self, r: int) -> list[int]:
        """Units of different submodels, those first whose submodels support most predictions."""
        certified = self.claims.certified
        if r >= 1:
            worst = certified.collective(r, time_limit=5.0)
            if worst is not None and len(worst.units) == r:
                return [int(unit) for unit in worst.units]
        agreement = np.nan_to_num(certified.agreement())
        return disjoint_first(np.argsort(-(self._reach @ agreement), kind="stable"), self._reach, r)

    def _random_units(self, r: int) -> list[int]:
        return disjoint_first(self.rng.permutation(len(self._reach)), self._reach, r)

    @property
    def _reach(self) -> Array:
        return np.asarray(self.claims.model.partition_.incidence())

    def _columns(self, units: list[int]) -> list[int]:
        return [column for unit in units for column in self.claims.model.units_.columns[unit]]

    def _poisoned(self, kind: str, units: list[int]) -> Any:
        """The training table with a kind of poison in these units."""
        return self.training.table(
            {
                column: poisoned_column(kind, self.training, column, self.codes, self.rng)
                for column in self._columns(units)
            }
        )

    def _damaged(self, kind: str, table: AttackedTable, units: list[int]) -> dict[int, Array]:
        changes: dict[int, Array] = {}
        for unit in units:
            changes |= damage(kind, table, self.claims.model.units_.columns[unit], self.rng)
        return changes

    def _triggered(self, units: list[int]) -> Any:
        """The rows with the trigger of what the attacker wants in these units."""
        goals = self.claims.goals
        codes = goals.trigger_codes(goals.of_rows(self.claims.ballots)[0], self.codes)
        return self.rows.table(
            {column: trigger(self.rows, column, codes) for column in self._columns(units)}
        )

    def _rows_to_flip(self, r: int) -> list[int]:
        """Training rows that belong to r different submodels, if there are so many."""
        model = self.claims.model
        owner = model.row_owners(self.training.n_rows)
        order = self.rng.permutation(self.training.n_rows)
        firsts = {int(owner[row]): int(row) for row in order[::-1]}  # one row of each submodel
        spread = list(firsts.values())
        self.rng.shuffle(spread)
        return (spread + [int(row) for row in order if int(row) not in spread])[:r]
