"""Which submodel owns which units: disjoint sets, or overlapping ones.

A partition never depends on feature values, or an attacker could move it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError


@dataclass(frozen=True, repr=False)
class Partition:
    """Units dealt out to submodels, each unit to exactly one.

    ``len(partition)`` is the number of submodels and ``partition[t]`` the units of submodel t.
    Immutable and hashable.

    Parameters
    ----------
    sets : sequence of sequences of int
        The units of each submodel; together 0, 1, 2, ... without omissions.

    Attributes
    ----------
    sets : tuple of tuples of int
        The units of each submodel, ascending.

    Raises
    ------
    InputError
        If a submodel has no units, or a unit has no submodel or two.

    See Also
    --------
    partita.partition.random_partition : Units dealt out by a seeded shuffle.
    partita.Informed : Units dealt out so that submodels are about equally good.

    References
    ----------
    Theory, section 1, condition 2.

    Examples
    --------
    >>> from partita import Partition
    >>> print(Partition([[0, 2], [1, 3, 4]]))
    5 units in 2 submodels of 2 to 3
      0: 0 2
      1: 1 3 4
    """

    sets: tuple[tuple[int, ...], ...]

    def __init__(self, sets: Sequence[Sequence[int]]) -> None:
        ordered = tuple(tuple(sorted(int(unit) for unit in units)) for units in sets)
        if not ordered:
            raise InputError("partition has no submodels: give at least one set of units")
        owners: dict[int, int] = {}
        for t, units in enumerate(ordered):
            if not units:
                raise InputError(
                    f"partition leaves submodel {t} without units: give it some or leave it out"
                )
            for unit in units:
                if unit in owners:
                    raise InputError(
                        f"partition has unit {unit} in submodels {owners[unit]} and {t}: every "
                        "unit belongs to one"
                    )
                owners[unit] = t
        omitted = set(range(len(owners))) - owners.keys()
        if omitted:
            raise InputError(
                f"partition leaves out unit {min(omitted)}: every unit belongs to one submodel"
            )
        object.__setattr__(self, "sets", ordered)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return sum(map(len, self.sets))

    def incidence(self) -> NDArray[np.bool_]:
        """Which submodels each unit reaches.

        Returns
        -------
        bool array of shape (n_units, n_submodels)
            The ``reach`` of :func:`partita.certify`.
        """
        reach = np.zeros((self.n_units, len(self)), dtype=bool)
        for t, units in enumerate(self.sets):
            reach[list(units), t] = True
        return reach

    def __len__(self) -> int:
        return len(self.sets)

    def __getitem__(self, t: int) -> tuple[int, ...]:
        return self.sets[t]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return iter(self.sets)

    def __repr__(self) -> str:
        return f"<Partition of {self._summary()}>"

    def __str__(self) -> str:
        lines = [f"  {t}: {' '.join(map(str, units))}" for t, units in enumerate(self.sets)]
        return "\n".join([self._summary(), *lines])

    def _summary(self) -> str:
        sizes = sorted(map(len, self.sets))
        size = str(sizes[0]) if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
        return f"{self.n_units} units in {len(self)} submodels of {size}"


@dataclass(frozen=True)
class Overlap:
    """Overlapping sets of units: each subset of units goes to several submodels.

    There are as many submodels as subsets. Subset l goes to the submodels ``(l + shift) mod T``,
    one for each shift. ``len(overlap)`` is the number of submodels and ``overlap[t]`` the units of
    submodel t. A fitted model with ``spread > 1`` has one as its ``partition_``.

    Parameters
    ----------
    subsets : Partition
        Disjoint subsets of the units.
    shifts : tuple of int
        Where each subset goes, relative to its own position.

    See Also
    --------
    partita.partition.Partition : Sets that do not overlap.

    References
    ----------
    Theory, section 2.

    Examples
    --------
    >>> from partita.partition import Overlap, Partition
    >>> overlap = Overlap(Partition([[0], [1], [2]]), shifts=(0, 1))
    >>> [overlap[t] for t in range(len(overlap))]
    [(0, 2), (0, 1), (1, 2)]
    """

    subsets: Partition
    shifts: tuple[int, ...]

    @classmethod
    def from_seed(cls, subsets: Partition, spread: int, random_state: int) -> "Overlap":
        """Draw the shifts from a seed.

        Parameters
        ----------
        subsets : Partition
            Disjoint subsets of the units.
        spread : int
            In how many submodels each unit appears.
        random_state : int
            Seed.

        Returns
        -------
        Overlap
            With ``spread`` different shifts.
        """
        if spread > len(subsets):
            raise InputError(
                f"spread is {spread}, but there are only {len(subsets)} subsets to spread: choose "
                f"at most {len(subsets)}"
            )
        rng = np.random.default_rng([random_state, spread])
        shifts = rng.choice(len(subsets), size=spread, replace=False)
        return cls(subsets, tuple(sorted(shifts.tolist())))

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.subsets.n_units

    def __len__(self) -> int:
        return len(self.subsets)

    def __getitem__(self, t: int) -> tuple[int, ...]:
        if not 0 <= t < len(self):
            raise IndexError(t)
        return tuple(
            sorted(unit for shift in self.shifts for unit in self.subsets[(t - shift) % len(self)])
        )

    def incidence(self) -> NDArray[np.bool_]:
        """Which submodels each unit reaches.

        Returns
        -------
        bool array of shape (n_units, n_submodels)
            The ``reach`` of :func:`partita.certify`.
        """
        own = self.subsets.incidence()
        return np.asarray(np.any([np.roll(own, shift, axis=1) for shift in self.shifts], axis=0))
