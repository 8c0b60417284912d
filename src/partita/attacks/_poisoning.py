"""Poisoning and backdoors of a certified model: units rewritten in all training rows, a new fit.

With a backdoor, the rows to predict hold a trigger in the same units.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .._support import Array
from ._attacked_table import AttackedTable, Changes
from ._claims import Attack, Claims
from ._evasion import disjoint_first
from ._values import DAMAGES, POISONS, damage, poison, trigger

CHOICE = "choice of settings"  # the kind of attack after which settings are chosen again


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

    def attacks(self, r: int, hostile: bool) -> Iterator[Attack]:
        """Yield every kind of poison in the units that most predictions depend on.

        ``hostile``: also hostile values in training, with honest rows and with such values in the
        rows too.
        """
        units = self._strongest_units(r)
        for kind in POISONS:
            attack = self._attack(f"poisoning: {kind}", units, kind)
            yield attack
            if kind == "label":
                yield self._with_trigger(attack, "backdoor")
        random = disjoint_first(self.rng.permutation(len(self.claims.reach)), self.claims.reach, r)
        yield self._with_trigger(self._attack("backdoor", random, "label"), "backdoor")
        for kind in DAMAGES if hostile else ():
            yield from self._hostile_attacks(kind, units)
        if self.claims.model.label_attacks:
            flips = self._rows_to_flip(r)
            yield replace(
                self._attack("label flips", [], "label"), y=self._flipped(flips), labels=flips
            )
            half = units[: r // 2]
            flips = self._rows_to_flip(r - len(half))
            attack = self._attack("backdoor and label flips", half, "label")
            attack = replace(attack, y=self._flipped(flips), labels=flips)
            yield self._with_trigger(attack, attack.kind)

    def attacks_on_choice(self) -> Iterator[Attack]:
        """Yield every unit in turn, with every kind of poison; the rows stay honest."""
        for unit in range(len(self.claims.model.units_)):
            for kind in POISONS:
                yield self._attack(CHOICE, [unit], kind)

    def _attack(self, name: str, units: list[int], kind: str) -> Attack:
        """Write a kind of poison into these units of the training table."""
        columns = self.claims.columns_of(units)
        training = self.training.table(poison(kind, self.training, columns, self.codes, self.rng))
        return Attack(name, [units] * len(self.claims), self.rows.table(), training, self.y)

    def _with_trigger(self, attack: Attack, kind: str) -> Attack:
        """Write the trigger of what the attacker wants into the rows."""
        goals = self.claims.goals
        codes = goals.trigger_codes(goals.of_rows(self.claims.ballots)[0], self.codes)
        columns = self.claims.columns_of(attack.units[0])
        table = self.rows.table({column: trigger(self.rows, column, codes) for column in columns})
        return replace(attack, kind=kind, table=table)

    def _hostile_attacks(self, kind: str, units: list[int]) -> Iterator[Attack]:
        """Yield hostile values in training, with honest rows and with such values in the rows."""
        changes, row_changes = (
            self._damaged(kind, table, units) for table in (self.training, self.rows)
        )
        if changes:
            own, training = [units] * len(self.claims), self.training.table(changes)
            for rows in (self.rows.table(), self.rows.table(row_changes)):
                yield Attack(f"poisoning: {kind}", own, rows, training, self.y)

    def _damaged(self, kind: str, table: AttackedTable, units: list[int]) -> Changes:
        changes: Changes = {}
        for unit in units:
            changes |= damage(kind, table, self.claims.model.units_.columns[unit], self.rng)
        return changes

    def _strongest_units(self, r: int) -> list[int]:
        """Return units of different submodels, the first those that most predictions depend on."""
        certified, reach = self.claims.certified, self.claims.reach
        worst = certified.collective(r, time_limit=5.0)
        if worst is not None and len(worst.units) == r:
            return [int(unit) for unit in worst.units]
        agreement = np.nan_to_num(certified.agreement())
        return disjoint_first(np.argsort(-(reach @ agreement), kind="stable"), reach, r)

    def _flipped(self, rows: list[int]) -> Array:
        return self.claims.goals.flipped(self.y, rows)

    def _rows_to_flip(self, r: int) -> list[int]:
        """Return training rows that belong to r different submodels, if there are so many."""
        owner = self.claims.model.row_owners(self.training.n_rows)
        order = self.rng.permutation(self.training.n_rows)
        firsts = {int(owner[row]): int(row) for row in order[::-1]}  # one row of each submodel
        spread = list(firsts.values())
        self.rng.shuffle(spread)
        return (spread + [int(row) for row in order if int(row) not in spread])[:r]
