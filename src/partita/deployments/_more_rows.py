"""One model trained on more rows than there are: with sources missing, or with attacked rows.

Labels of added rows are those of the rows they were made from.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from ..attacks import AttackedTable
from ._evasion import Donors, evade
from ._truth import Scorer
from ._wrapped import Wrapped

ATTACKED_ROWS = 150  # in each round


class SourceDropout(Wrapped):
    """One model trained on copies of the rows in which random sources are missing.

    Parameters
    ----------
    estimator : estimator
        The model; it must accept missing values.
    units : mapping from str to tuple of str
        The columns of each source.
    share : float, default=0.3
        The probability with which a source is missing in a copy.
    copies : int, default=2
        How many copies of each row are added.
    random_state : int, default=0
        Of the missing sources.
    """

    def __init__(
        self,
        estimator: Any,
        units: Mapping[str, tuple[str, ...]],
        share: float = 0.3,
        copies: int = 2,
        random_state: int = 0,
    ) -> None:
        super().__init__(estimator)
        self.units = units
        self.share = share
        self.copies = copies
        self.random_state = random_state

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        rng = np.random.default_rng(self.random_state)
        place = np.tile(np.arange(len(X)), self.copies + 1)
        table = AttackedTable(X.iloc[place])
        changes = {}
        for columns in _positions(X, self.units):
            gone = rng.random(len(place)) < self.share
            gone[: len(X)] = False  # the rows themselves stay whole
            for column in columns:
                own = table.columns[column].copy()
                own[gone] = np.nan if table.is_numeric(column) else None
                changes[column] = own
        return table.table(changes), np.asarray(y)[place]


class AttackedRows(Wrapped):
    """One model trained again and again, each time with rows added that an attack made.

    Adversarial training for models without gradients: in every round the model of that round is
    evaded on some training rows, and the rewritten rows are added with their own labels.

    Parameters
    ----------
    estimator : estimator
        The model.
    units : mapping from str to tuple of str
        The columns of each source.
    radius : int, default=1
        How many sources of a row are rewritten.
    rounds : int, default=4
        How often rows are added. After one round the model has only learnt what the first attack
        looks like, and may be weaker than before.
    tolerance : float, optional
        For values: how far from the truth a prediction counts as right.
    random_state : int, default=0
        Of the attacked rows and of what is written into them.
    """

    def __init__(
        self,
        estimator: Any,
        units: Mapping[str, tuple[str, ...]],
        radius: int = 1,
        rounds: int = 4,
        tolerance: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(estimator)
        self.units = units
        self.radius = radius
        self.rounds = rounds
        self.tolerance = tolerance
        self.random_state = random_state

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        rng, y = np.random.default_rng(self.random_state), np.asarray(y)
        honest, units = AttackedTable(X), _positions(X, self.units)
        table, target = honest, y
        for _ in range(self.rounds):
            model = clone(self.estimator).fit(table.table(), target)
            rows = np.sort(rng.permutation(len(X))[:ATTACKED_ROWS])
            truth, donors = Scorer(y[rows], self.tolerance), Donors(honest, y, self.tolerance)
            found = evade(model, honest.take(rows), truth, donors, units, self.radius, rng)
            table = _below(table, AttackedTable(found.table))
            target = np.concatenate([target, y[rows]])
        return table.table(), target


def _positions(X: Any, units: Mapping[str, tuple[str, ...]]) -> list[tuple[int, ...]]:
    names = list(X.columns)
    return [tuple(names.index(name) for name in own) for own in units.values()]


def _below(table: AttackedTable, other: AttackedTable) -> AttackedTable:
    """Both tables, one below the other."""
    more = np.zeros(other.n_rows, dtype=np.int64)  # any row: all columns are written
    longer = table.take(np.concatenate([np.arange(table.n_rows), more]))
    columns = zip(table.columns, other.columns, strict=True)
    changes = {k: np.concatenate(pair) for k, pair in enumerate(columns)}
    return AttackedTable(longer.table(changes))
