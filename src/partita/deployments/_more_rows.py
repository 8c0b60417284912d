"""One model trained on more rows than there are: with sources missing, or with attacked rows.

Labels of added rows are those of the rows they were made from.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from ..audit._attacked_table import AttackedTable
from ._evasion import Donors, evade
from ._truth import Truth
from ._wrapped import Wrapped

MOST_ATTACKED = 300  # training rows


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
        for columns in self.units.values():
            gone = rng.random(len(place)) < self.share
            gone[: len(X)] = False
            for name in columns:
                column = X.columns.get_loc(name)
                own = table.columns[column].copy()
                own[gone] = np.nan if table.is_numeric(column) else None
                changes[column] = own
        return table.table(changes), np.asarray(y)[place]


class AttackedRows(Wrapped):
    """One model trained a second time, with rows added that an attack made of training rows.

    One round of adversarial training: a first model is evaded on training rows, and the rewritten
    rows are added with their own labels.

    Parameters
    ----------
    estimator : estimator
        The model.
    units : mapping from str to tuple of str
        The columns of each source.
    radius : int, default=1
        How many sources of a row are rewritten.
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
        tolerance: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(estimator)
        self.units = units
        self.radius = radius
        self.tolerance = tolerance
        self.random_state = random_state

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        rng, y = np.random.default_rng(self.random_state), np.asarray(y)
        first = clone(self.estimator).fit(X, y)
        table = AttackedTable(X)
        rows = np.sort(rng.permutation(len(X))[:MOST_ATTACKED])
        found = evade(
            first,
            table.take(rows),
            Truth(y[rows], self.tolerance),
            Donors(table, y, self.tolerance),
            [tuple(X.columns.get_loc(name) for name in own) for own in self.units.values()],
            self.radius,
            rng,
        )
        attacked = AttackedTable(found.table)
        both = table.take(np.concatenate([np.arange(len(X)), rows]))
        changes = {
            column: np.concatenate([table.columns[column], attacked.columns[column]])
            for column in range(len(table.columns))
        }
        return both.table(changes), np.concatenate([y, y[rows]])
