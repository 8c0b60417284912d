"""Which submodels each unit reaches, and what that means for a radius."""

from typing import Any

import numpy as np

from .._support import Array
from ..ballots import Ballots
from ..errors import InputError


class Reach:
    """The incidence of units and submodels, units of equal reach merged into groups.

    Owning two units of equal reach is owning one, so only groups are counted.

    Parameters
    ----------
    incidence : array-like of bool, shape (n_units, n_submodels)
        Whether an attacker who owns the unit can change the submodel.
    n_submodels : int
        How many submodels there are; checked against ``incidence``.

    Attributes
    ----------
    n_units, n_submodels : int
        The shape of the incidence.
    groups : array of bool, shape (n_groups, n_submodels)
        The distinct reaches, without the empty one.
    unit_group : array of int, shape (n_units,)
        The group of each unit, -1 for a unit that reaches nothing.
    sizes : array of int, shape (n_groups,)
        How many submodels each group reaches.
    starts, members : array of int
        The submodels of group g are ``members[starts[g]:starts[g + 1]]``.
    """

    def __init__(self, incidence: Any, n_submodels: int) -> None:
        try:
            array = np.asarray(incidence)
        except ValueError as exc:
            raise InputError(
                "reach is ragged: give every unit a truth value for every submodel"
            ) from exc
        if array.ndim != 2 or array.shape[1] != n_submodels or not len(array):
            raise InputError(
                f"reach has shape {array.shape}: it must be (units, {n_submodels}), a row of "
                "truth values for every unit"
            )
        if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
            raise InputError(
                "reach holds other values than True and False: say whether a unit reaches a "
                "submodel"
            )
        array = array.astype(bool)
        self.n_units, self.n_submodels = array.shape
        groups, of_unit = np.unique(array, axis=0, return_inverse=True)
        empty = ~groups.any(axis=1)
        position = np.where(empty, -1, np.cumsum(~empty) - 1)
        self.groups = groups[~empty]
        self.unit_group = position[of_unit.reshape(-1)]
        self.sizes = self.groups.sum(axis=1)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        self.members = np.nonzero(self.groups)[1].astype(np.int64)

    @classmethod
    def of(cls, ballots: Ballots) -> "Reach":
        """Return the reach of the ballots' units; without one each unit is one submodel."""
        n_submodels = ballots.shape[1]
        own = np.eye(n_submodels, dtype=bool) if ballots.reach is None else ballots.reach
        return cls(own, n_submodels)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def largest(self) -> int:
        """The most submodels that one unit reaches."""
        return int(self.sizes.max(initial=0))

    @property
    def overlaps(self) -> bool:
        """Whether two units may reach the same submodel."""
        return bool((self.groups.sum(axis=0) > 1).any())

    def most_reached(self, n_units: int) -> int:
        """Bound the submodels that so many units can reach: the largest reaches added up."""
        total = int(np.sort(self.sizes)[::-1][:n_units].sum())
        return min(total, int(self.groups.any(axis=0).sum()))

    def in_units(self, radius: Array) -> Array:
        """Convert a radius in groups: where all groups cannot break a row, all units cannot."""
        return np.where(radius >= len(self), self.n_units, radius)

    def from_submodels(self, radius: Array) -> Array:
        """Return how many units, whichever they are, reach at most ``radius`` submodels."""
        reached = np.array([self.most_reached(r) for r in range(1, len(self) + 1)], dtype=np.int64)
        units = np.searchsorted(reached, radius, side="right")
        return np.where(radius < 0, radius, self.in_units(units))
