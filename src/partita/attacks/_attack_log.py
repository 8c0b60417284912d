"""Counting, attack by attack, and keeping what it takes to repeat a break."""

from typing import Any

import numpy as np

from .._support import Array
from ._claims import Claims
from ._findings import BrokenCertificate, Check, Line
from ._poisoning import Poison
from ._table import AttackedTable


class RowTally:
    """Which rows some attack of one kind has changed so far, and which are still right."""

    def __init__(self, claims: Claims) -> None:
        self.changed = np.zeros(len(claims), dtype=bool)
        self.right = None if claims.truth is None else claims.correct(claims.prediction)


class AttackLog:
    """The findings of an audit while it runs.

    Parameters
    ----------
    claims : Claims
        What is certified of the rows.
    positions : int array
        The rows' positions in the user's table.
    """

    def __init__(self, claims: Claims, positions: Array) -> None:
        self.claims, self.positions = claims, positions
        self.lines: list[Line] = []
        self.checks: list[Check] = []
        self.broken: list[BrokenCertificate] = []

    def record(
        self,
        attack: str,
        r: int,
        prediction: Array,
        tally: RowTally,
        radius: Array,
        table: Any,
        units: list[list[int]],
        poison: Poison | None = None,
    ) -> None:
        """Count what one attack changed, and keep every certified prediction that changed."""
        now = self.claims.broken(prediction)
        tally.changed |= now
        if tally.right is not None:
            tally.right &= self.claims.correct(prediction)
        rows = np.flatnonzero(now & (radius >= r))
        if not len(rows):
            return
        attacked = AttackedTable(table)
        training = None if poison is None else AttackedTable(poison.training)
        for row in rows.tolist():
            columns = self._columns(units[row])
            training_values: dict[str, Any] = {}
            if poison is not None and training is not None:
                training_values = {
                    training.names[column]: training.columns[column] for column in columns
                }
                if poison.labels:
                    training_values["y"] = poison.y
            self.broken.append(
                BrokenCertificate(
                    attack,
                    r,
                    int(self.positions[row]),
                    int(radius[row]),
                    tuple(self.claims.model.units_.names[unit] for unit in units[row]),
                    () if poison is None else tuple(poison.labels),
                    self.claims.prediction[row],
                    prediction[row],
                    {attacked.names[column]: attacked.columns[column][row] for column in columns},
                    training_values,
                )
            )

    def _columns(self, units: list[int]) -> list[int]:
        return [column for unit in units for column in self.claims.model.units_.columns[unit]]

    def add_line(
        self,
        attack: str,
        r: int,
        n_attacks: int,
        tally: RowTally,
        radius: Array,
        certified_accuracy: float | None,
    ) -> None:
        """Sum up all attacks of one kind with at most r units."""
        certified = radius >= r
        fell = {one.row for one in self.broken if one.attack == attack and one.r <= r}
        self.lines.append(
            Line(
                attack,
                r,
                n_attacks,
                len(tally.changed),
                int(tally.changed.sum()),
                int(certified.sum()),
                len(fell & set(self.positions[certified].tolist())),
                None if tally.right is None else float(tally.right.mean()),
                certified_accuracy,
            )
        )

    def certified_accuracy(self, r: int) -> float | None:
        """The share of rows that are certified to stay right; None without the truth."""
        radius = self.claims.correct_radius
        return None if radius is None else float(np.mean(radius >= r))
