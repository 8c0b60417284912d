"""How many groups may be attacked while others fall silent, for models that leave groups out.

With m silent groups only the models that leave these out are asked: sets of ``2 r - m`` further
groups. Their agreement needs sets of ``r - ceil(m / 2)``, so that together with the silent groups a
set of ``r + floor(m / 2)`` groups must be unanimous (theory, section 11). Nothing here knows
estimators or tables.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import kernels
from .._support import Array
from ..errors import InputError
from ._left_out import Design, supersets


@dataclass(frozen=True, eq=False)
class LabelFrontier:
    """Votes of models that leave groups out, and the label of each row."""

    votes: Array
    design: Design
    prediction: Array

    def radii(self) -> Array:
        """Return how many groups may lie while m others are silent: (rows, m); -1: none proven."""
        r = self.design.radius
        radii = np.full((len(self.votes), 2 * r + 1), -1)
        for m in range(2 * r + 1):
            left = r - (m + 1) // 2
            for q in range(left + 1):
                try:
                    holds = self._holds(r + m // 2, q + m)
                except InputError:  # too many sets to enumerate
                    break
                radii[holds & (radii[:, m] == q - 1), m] = q
        return radii

    def _holds(self, size: int, attacked: int) -> Array:
        """Return whether each set of ``attacked`` groups is inside a unanimous one of ``size``."""
        models_of = self.design.models(size)
        sets_with = supersets(self.design.n_groups, attacked, size)
        holds = np.empty(len(self.votes), dtype=bool)
        for rows in blocks(len(self.votes), models_of.size + sets_with.size):
            own = self.votes[rows] == self.prediction[rows, None]
            unanimous = own[:, models_of].all(axis=2)
            holds[rows] = unanimous[:, sets_with].any(axis=2).all(axis=1)
        return holds


@dataclass(frozen=True, eq=False)
class ValueFrontier:
    """Values of models that leave groups out, and where each row's value must stay."""

    values: Array
    design: Design
    side: int
    lower: Array
    upper: Array

    def radii(self) -> Array:
        """Return how many groups may lie while m others are silent: (rows, m); -1: none proven."""
        r = self.design.radius
        radii = np.full((len(self.values), 2 * r + 1), -1)
        for m in range(2 * r + 1):
            left = r - (m + 1) // 2
            for q in range(left + 1):
                try:
                    tables = self.design.bounds_by(r + m // 2, q + m, q + m + left)
                except InputError:  # too many sets to enumerate
                    break
                low, high = kernels.agreement_bounds(self.values, tables, self.side)
                holds = (low >= self.lower) & (high <= self.upper)
                radii[holds & (radii[:, m] == q - 1), m] = q
        return radii


def blocks(n_rows: int, per_row: int) -> Iterator[slice]:
    """Yield slices of rows whose tables fit into a core's cache."""
    step = max(1, kernels.BLOCK // max(1, per_row))
    for start in range(0, n_rows, step):
        yield slice(start, start + step)
