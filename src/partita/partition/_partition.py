"""Which submodel owns which units: disjoint sets or overlapping ones, and how they are assigned.

A partition depends on numbers, names, places in an image and a seed, never on feature values, or an
attacker could move it; of values, :class:`Informed` looks at a trusted reference alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support import Array
from ..errors import InputError
from ._units import Columns, Units

AUTO_SUBMODELS = 21  # chosen on validation rows (docs/results/defaults.md)


@dataclass(frozen=True, repr=False)
class Partition:
    """Units assigned to submodels, each unit to exactly one.

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
    partita.partition.random_partition : Units assigned by a seeded shuffle.
    partita.Informed : Units assigned so that submodels are about equally good.

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

    def incidence(self) -> Array:
        """Return which submodels each unit reaches.

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

    def incidence(self) -> Array:
        """Return which submodels each unit reaches.

        Returns
        -------
        bool array of shape (n_units, n_submodels)
            The ``reach`` of :func:`partita.certify`.
        """
        own = self.subsets.incidence()
        return np.asarray(np.any([np.roll(own, shift, axis=1) for shift in self.shifts], axis=0))


# ---- strategies ----


def random_partition(n_units: int, n_submodels: int, random_state: int = 0) -> Partition:
    """Deal units out by a seeded shuffle; sizes differ by at most one.

    Parameters
    ----------
    n_units : int
        Number of units.
    n_submodels : int
        Number of submodels, at most ``n_units``.
    random_state : int, default=0
        Seed.

    Returns
    -------
    Partition
        The units of each submodel.

    See Also
    --------
    strided_partition : Without a seed.

    Examples
    --------
    >>> from partita.partition import random_partition
    >>> random_partition(10, 3)
    <Partition of 10 units in 3 submodels of 3 to 4>
    """
    return _deal(np.random.default_rng(random_state).permutation(n_units), n_submodels)


def strided_partition(n_units: int, n_submodels: int) -> Partition:
    """Deal units out in turn: unit j goes to submodel ``j mod T``.

    Neighbouring columns, which often tell the same, come to different submodels.

    Parameters
    ----------
    n_units : int
        Number of units.
    n_submodels : int
        Number of submodels, at most ``n_units``.

    Returns
    -------
    Partition
        The units of each submodel.

    See Also
    --------
    spiral_partition : The same for pixels, from the centre outwards.

    Examples
    --------
    >>> from partita.partition import strided_partition
    >>> strided_partition(5, 2).sets
    ((0, 2, 4), (1, 3))
    """
    return _deal(np.arange(n_units), n_submodels)


def spiral_partition(image_shape: Sequence[int], n_submodels: int) -> Partition:
    """Deal pixels out in turn, in a spiral from the image's centre.

    Pixels are ordered by their Manhattan distance from the centre, and by angle within a distance:
    every submodel gets its share of the centre, where most of the content is.

    Parameters
    ----------
    image_shape : tuple of int
        Height, width and channels.
    n_submodels : int
        Number of submodels, at most the number of pixels.

    Returns
    -------
    Partition
        The pixels of each submodel.

    See Also
    --------
    patch_partition : Neighbouring pixels stay together.

    Examples
    --------
    >>> from partita.partition import spiral_partition
    >>> spiral_partition((3, 3, 1), 3).sets
    ((2, 4, 7), (1, 3, 8), (0, 5, 6))
    """
    height, width = image_shape[:2]
    down, right = np.divmod(np.arange(height * width), width)
    down, right = 2 * down - (height - 1), 2 * right - (width - 1)
    return _deal(np.lexsort((np.arctan2(down, right), np.abs(down) + np.abs(right))), n_submodels)


def patch_partition(image_shape: Sequence[int], n_submodels: int) -> Partition:
    """Cut an image into a grid of rectangles, one per submodel.

    The rectangles are as square as the divisors of T allow, and their sides differ by at most one
    pixel. An attacker who owns a patch of the image then reaches few submodels.

    Parameters
    ----------
    image_shape : tuple of int
        Height, width and channels.
    n_submodels : int
        Number of submodels.

    Returns
    -------
    Partition
        The pixels of each submodel.

    Raises
    ------
    InputError
        If no grid of that many patches fits the image.

    See Also
    --------
    partita.certify_patches : Radii for attackers who control a patch.

    Examples
    --------
    >>> from partita.partition import patch_partition
    >>> patch_partition((2, 4, 1), 2).sets
    ((0, 1, 4, 5), (2, 3, 6, 7))
    """
    height, width = image_shape[:2]
    grids = [(a, n_submodels // a) for a in range(1, n_submodels + 1) if n_submodels % a == 0]
    grids = [(a, b) for a, b in grids if a <= height and b <= width]
    if not grids:
        raise InputError(
            f"n_submodels is {n_submodels}, but no grid of that many patches fits an image of "
            f"{height} x {width} pixels: choose a number with smaller divisors"
        )

    def badness(grid: tuple[int, int]) -> tuple[float, tuple[int, int]]:
        """Return the ratio of a patch's sides; between a x b and b x a, fewer rows of patches."""
        sides = height * grid[1], width * grid[0]
        return max(sides) / min(sides), grid

    rows, columns = min(grids, key=badness)
    down, right = np.divmod(np.arange(height * width), width)
    owner = (down * rows // height) * columns + right * columns // width
    return Partition([np.flatnonzero(owner == t).tolist() for t in range(n_submodels)])


def _deal(order: Array, n_submodels: int) -> Partition:
    return Partition([order[t::n_submodels].tolist() for t in range(n_submodels)])


# ---- the partition that an estimator's arguments ask for ----


def choose_partition(
    partition: Any,
    n_submodels: int | str,
    spread: int,
    units: Units,
    names: Sequence[str] | Columns,
    image_shape: Sequence[int] | None,
    random_state: int,
    verbose: int = 0,
) -> Partition | Overlap:
    """Return the partition of these units, by name or as given; ``spread`` > 1: they overlap."""
    if isinstance(partition, str):
        n_sets = count_sets(n_submodels, units, spread)
        sets = _named_partition(partition, n_sets, units, image_shape, random_state)
    elif hasattr(partition, "deal"):
        sets = partition.deal(units, names, n_submodels, spread, verbose)
    else:
        sets = _given_partition(partition, n_submodels, spread, units, names)
    return sets if spread == 1 else Overlap.from_seed(sets, spread, random_state)


def count_sets(n_submodels: int | str, units: Units, spread: int) -> int:
    """Return how many sets to deal units into: ``spread`` times the number of submodels.

    "auto" is odd, to avoid ties of votes, and at most AUTO_SUBMODELS.
    """
    most = len(units) // spread
    if n_submodels == "auto":
        count = max(1, min(AUTO_SUBMODELS, most - (most + 1) % 2))
    else:
        count = int(n_submodels)
    if count * spread > len(units):
        times = f" times spread={spread}" if spread > 1 else ""
        raise InputError(
            f"n_submodels is {count}{times}, but there are only {len(units)} {units.kind}: choose "
            f"at most {max(1, most)}"
        )
    return count * spread


def _named_partition(
    partition: str, n_sets: int, units: Units, image_shape: Sequence[int] | None, random_state: int
) -> Partition:
    if partition == "random":
        return random_partition(len(units), n_sets, random_state)
    if partition == "strided":
        return strided_partition(len(units), n_sets)
    if image_shape is None:
        raise InputError(f"partition={partition!r} needs image_shape=(height, width, channels)")
    if len(units) != image_shape[0] * image_shape[1]:
        raise InputError(
            f"partition={partition!r} assigns pixels, but the units are not pixels: use 'random' "
            "or 'strided'"
        )
    if partition == "spiral":
        return spiral_partition(image_shape, n_sets)
    return patch_partition(image_shape, n_sets)


def _given_partition(
    partition: Any,
    n_submodels: int | str,
    spread: int,
    units: Units,
    names: Sequence[str] | Columns,
) -> Partition:
    given = isinstance(partition, Partition)
    sets = partition if given else partition_from_columns(partition, units, names)
    if sets.n_units != len(units):
        raise InputError(
            f"partition is made for {sets.n_units} units, but the table has {len(units)} "
            f"{units.kind}"
        )
    if n_submodels not in ("auto", len(sets) / spread):
        raise InputError(
            f"n_submodels is {n_submodels}, but partition has {len(sets)} submodels: leave "
            "n_submodels out"
        )
    return sets


def partition_from_columns(
    lists: Sequence[Sequence[object]], units: Units, names: Sequence[str] | Columns
) -> Partition:
    """Make a partition from the columns of each submodel, by name or position.

    Trusted columns go to every submodel, listed or not.
    """
    columns = Columns.of(names)
    unit_of = {column: unit for unit, members in enumerate(units.columns) for column in members}
    owner_of: dict[int, int] = {}
    for t, members in enumerate(lists):
        if isinstance(members, str) or not isinstance(members, Sequence | np.ndarray):
            raise InputError(
                f"partition[{t}] is {members!r}: give a list of columns for each submodel"
            )
        for column in members:
            position = columns.position(column, "partition")
            if position in owner_of:
                raise InputError(
                    f"partition has the column {column!r} in submodels {owner_of[position]} and "
                    f"{t}: every column belongs to one"
                )
            if position in unit_of:
                owner_of[position] = t
    omitted = sorted(unit_of.keys() - owner_of.keys())
    if omitted:
        raise InputError(
            f"partition leaves out the column {columns.names[omitted[0]]!r}: every column belongs "
            "to one submodel"
        )
    owners: dict[int, int] = {}
    for position, t in owner_of.items():
        unit = unit_of[position]
        if owners.setdefault(unit, t) != t:
            raise InputError(
                f"partition splits the unit {units.names[unit]!r} over submodels {owners[unit]} "
                f"and {t}: keep it together"
            )
    return Partition(
        [[unit for unit, owner in owners.items() if owner == t] for t in range(len(lists))]
    )
