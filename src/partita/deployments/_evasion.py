"""Evasion of any model: some sources of a row are rewritten, those that bring it nearest to wrong.

Only predictions and probabilities are seen. No row ever has more sources rewritten than it is
attacked with, and a row has fallen only where the model's own prediction of it is wrong.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support import Array
from ..attacks import MISSING, AttackedTable, end_of_range, hostile_columns, unless_refused
from ._truth import Scorer

DONATIONS = 4  # times that a source takes its values from training rows with another answer
ENDS = 4  # the ends of the column's range in training, and far beyond
LATER_SOURCES = 8  # tried as the second, third, ... source of a row: the strongest ones


@dataclass(frozen=True, eq=False)
class Donors:
    """The training rows that an attacker copies values from."""

    table: AttackedTable
    y: Array
    tolerance: float | None = None

    def draw(self, truth: Scorer, rng: np.random.Generator) -> Array:
        """For each row, a training row with another label, or a value at the far end."""
        drawn = rng.integers(len(self.y), size=len(truth))
        if self.tolerance is None:
            for label in np.unique(truth.y):
                others, own = np.flatnonzero(self.y != label), truth.y == label
                if len(others):
                    drawn[own] = rng.choice(others, size=int(own.sum()))
            return drawn
        order, third = np.argsort(self.y, kind="stable"), max(1, len(self.y) // 3)
        low, high = order[:third], order[-third:]
        up = truth.y < np.median(self.y)
        drawn[up] = rng.choice(high, size=int(up.sum()))
        drawn[~up] = rng.choice(low, size=int((~up).sum()))
        return drawn


@dataclass(frozen=True, eq=False)
class Evasion:
    """What came of an attack on all rows.

    Attributes
    ----------
    right : bool array of shape (radius + 1, rows)
        Which rows are right, and stay right after at most r of their sources are rewritten.
    strength : array of shape (sources,)
        How much of the rows' leads each source takes alone, at its best.
    table : table
        The rows as they were rewritten last.
    sources : bool array of shape (rows, sources)
        Which sources of each row were rewritten.
    """

    right: Array
    strength: Array
    table: Any
    sources: Array


def evade(
    model: Any,
    rows: AttackedTable,
    truth: Scorer,
    donors: Donors,
    units: Sequence[tuple[int, ...]],
    radius: int,
    rng: np.random.Generator,
) -> Evasion:
    """Rewrite up to ``radius`` sources of every row, one after another, the most harmful first.

    Parameters
    ----------
    model : estimator
        Fitted, with ``predict`` and, better, ``predict_proba``.
    rows : AttackedTable
        The rows to attack.
    truth : Scorer
        What they should be predicted as.
    donors : Donors
        Training rows, for values.
    units : sequence of tuples of int
        The columns of each source.
    radius : int
        The most sources of a row that are rewritten.
    rng : Generator
        Of the values.

    Returns
    -------
    Evasion
        Rows right after each number of sources.
    """
    n_rows, n_units = len(truth), len(units)
    current, leads = rows, truth.leads(model, rows.table())
    right = [truth.right(model.predict(rows.table()))]
    used, strength = np.zeros((n_rows, n_units), dtype=bool), np.zeros(n_units)
    order = np.arange(n_units)
    for step in range(radius):
        active = np.flatnonzero(right[-1])
        if not len(active):
            right.append(right[-1])
            continue
        best, choice = leads[active], np.full(len(active), -1)
        values: list[dict[int, Array]] = [{} for _ in units]
        standing = current.take(active)
        for unit in order.tolist():
            own, values[unit] = _best_values(
                model, standing, truth.take(active), donors, units[unit], rng
            )
            own[used[active, unit]] = np.inf
            if step == 0:
                strength[unit] = _strength(leads[active], own)
            better = own < best
            best, choice = np.where(better, own, best), np.where(better, unit, choice)
        current = _written(current, active, choice, values)
        leads[active] = best
        used[active[choice >= 0], choice[choice >= 0]] = True
        right.append(right[-1] & truth.right(model.predict(current.table())))
        order = np.argsort(-strength, kind="stable")[:LATER_SOURCES]
    return Evasion(np.stack(right), strength, current.table(), used)


def _strength(before: Array, after: Array) -> float:
    """How many rows fall to a source alone; among equals, how much of their leads it takes."""
    taken = np.maximum(before - np.minimum(before, after), 0)
    return float(np.sum(after < 0) + np.mean(np.tanh(taken)))


def _best_values(
    model: Any,
    rows: AttackedTable,
    truth: Scorer,
    donors: Donors,
    columns: tuple[int, ...],
    rng: np.random.Generator,
) -> tuple[Array, dict[int, Array]]:
    """The values of one source that bring each row nearest to wrong, and the leads after them."""
    tried = list(_candidates(rows, truth, donors, columns, rng))
    leads = _leads_of_all(model, rows, truth, tried)
    if leads is None:  # some values are refused: one kind of them after another
        each = [_leads_of_all(model, rows, truth, [changes]) for changes in tried]
        refused = np.full((1, len(truth)), np.inf)
        leads = np.concatenate([refused if own is None else own for own in each])
    best, place = leads.argmin(axis=0), np.arange(len(truth))
    values = {
        column: np.stack([changes.get(column, rows.columns[column]) for changes in tried])
        for column in columns
    }
    return leads[best, place], {column: own[best, place] for column, own in values.items()}


def _candidates(
    rows: AttackedTable,
    truth: Scorer,
    donors: Donors,
    columns: tuple[int, ...],
    rng: np.random.Generator,
) -> Iterator[dict[int, Array]]:
    """Values for a source in all rows: of other training rows, ends of the range, none at all."""
    for _ in range(DONATIONS):
        drawn = donors.draw(truth, rng)
        yield {column: donors.table.columns[column][drawn] for column in columns}
    first = np.zeros(len(truth), dtype=np.int64)
    for end in range(ENDS):
        yield {column: end_of_range(donors.table, column, end)[first] for column in columns}
    if missing := hostile_columns(MISSING, 0, rows, columns):
        yield missing


def _leads_of_all(
    model: Any, rows: AttackedTable, truth: Scorer, tried: list[dict[int, Array]]
) -> Array | None:
    """The leads after each of the changes, (changes, rows); None where some value is refused."""
    place = np.tile(np.arange(len(truth)), len(tried))
    below = rows.take(place)
    columns = {column for changes in tried for column in changes}
    table = below.table(
        {
            column: np.concatenate([changes.get(column, rows.columns[column]) for changes in tried])
            for column in columns
        }
    )
    leads = unless_refused(truth.take(place).leads, model, table)
    return None if leads is None else np.asarray(leads).reshape(len(tried), len(truth))


def _written(
    table: AttackedTable, rows: Array, choice: Array, values: list[dict[int, Array]]
) -> AttackedTable:
    """The table after each of these rows has the values of its chosen source; -1: none."""
    changes: dict[int, Array] = {}
    for unit in np.unique(choice[choice >= 0]):
        hit = choice == unit
        for column, new in values[unit].items():
            own = changes.setdefault(column, table.columns[column].copy())
            own[rows[hit]] = new[hit]
    return AttackedTable(table.table(changes)) if changes else table
