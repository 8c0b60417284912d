"""Which submodel owns which units. A partition never depends on feature values, or an attacker could move it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import InputError
from .units import Units

AUTO_SUBMODELS = 21


@dataclass(frozen=True, repr=False)
class Partition:
    """Units dealt out to submodels, every unit to exactly one.

    ``len(partition)`` is the number of submodels and ``partition[t]`` the units of submodel t. Immutable and hashable.

    Parameters
    ----------
    sets : sequence of sequences of int
        The units of each submodel; together 0, 1, 2, ... without a gap.

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
                raise InputError(f"partition leaves submodel {t} without units: give it some or leave it out")
            for unit in units:
                if unit in owners:
                    raise InputError(f"partition has unit {unit} in submodels {owners[unit]} and {t}: every unit belongs to one")
                owners[unit] = t
        missing = set(range(len(owners))) - owners.keys()
        if missing:
            raise InputError(f"partition leaves out unit {min(missing)}: every unit belongs to one submodel")
        object.__setattr__(self, "sets", ordered)

    @property
    def n_units(self) -> int:
        return sum(map(len, self.sets))

    def __len__(self) -> int:
        return len(self.sets)

    def __getitem__(self, t: int) -> tuple[int, ...]:
        return self.sets[t]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return iter(self.sets)

    def __repr__(self) -> str:
        return f"<Partition of {self._summary()}>"

    def __str__(self) -> str:
        return "\n".join([self._summary(), *(f"  {t}: {' '.join(map(str, units))}" for t, units in enumerate(self.sets))])

    def _summary(self) -> str:
        sizes = sorted(map(len, self.sets))
        size = str(sizes[0]) if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
        return f"{self.n_units} units in {len(self)} submodels of {size}"


def random_partition(n_units: int, n_submodels: int, random_state: int = 0) -> Partition:
    """Dealt out by a seeded shuffle; sizes differ by at most one."""
    return _deal(np.random.default_rng(random_state).permutation(n_units), n_submodels)


def strided_partition(n_units: int, n_submodels: int) -> Partition:
    """Unit j goes to submodel ``j mod T``."""
    return _deal(np.arange(n_units), n_submodels)


def spiral_partition(image_shape: tuple[int, ...], n_submodels: int) -> Partition:
    """Pixels in order of their Manhattan distance from the image's centre (round the centre within one distance), then strided."""
    height, width = image_shape[:2]
    down, right = np.divmod(np.arange(height * width), width)
    down, right = 2 * down - (height - 1), 2 * right - (width - 1)
    return _deal(np.lexsort((np.arctan2(down, right), np.abs(down) + np.abs(right))), n_submodels)


def patch_partition(image_shape: tuple[int, ...], n_submodels: int) -> Partition:
    """A grid of disjoint rectangles, as square as the divisors of T allow; sides differ by at most one pixel."""
    height, width = image_shape[:2]
    grids = [(a, n_submodels // a) for a in range(1, n_submodels + 1) if n_submodels % a == 0]
    grids = [(a, b) for a, b in grids if a <= height and b <= width]
    if not grids:
        raise InputError(
            f"n_submodels is {n_submodels}, but no grid of that many patches fits an image of {height} x {width} pixels: "
            "choose a number with smaller divisors"
        )
    # the worst ratio of sides, then (for a stable choice between a x b and b x a) fewer rows of patches
    rows, columns = min(grids, key=lambda grid: (max(height * grid[1], width * grid[0]) / min(height * grid[1], width * grid[0]), grid))
    down, right = np.divmod(np.arange(height * width), width)
    owner = (down * rows // height) * columns + right * columns // width
    return Partition([np.flatnonzero(owner == t).tolist() for t in range(n_submodels)])


def partition_from_columns(lists: Sequence[Sequence[Any]], units: Units, names: Sequence[str]) -> Partition:
    """The user's own: the columns of each submodel, by name or position."""
    by_name = {name: j for j, name in enumerate(names)}
    unit_of = {column: unit for unit, columns in enumerate(units.columns) for column in columns}
    sets: list[list[int]] = []
    seen: dict[int, int] = {}
    for t, columns in enumerate(lists):
        if isinstance(columns, str) or not isinstance(columns, Sequence | np.ndarray):
            raise InputError(f"partition[{t}] is {columns!r}: give a list of columns for each submodel")
        for column in columns:
            position = by_name.get(column, -1) if isinstance(column, str) else int(column)
            if position not in unit_of:
                raise InputError(f"partition names the column {column!r}, which the table does not have")
            if position in seen:
                raise InputError(f"partition has the column {column!r} in submodels {seen[position]} and {t}: every column belongs to one")
            seen[position] = t
        sets.append(sorted({unit_of[position] for position in seen if seen[position] == t}))
    missing = sorted(unit_of.keys() - seen.keys())
    if missing:
        raise InputError(f"partition leaves out the column {names[missing[0]]!r}: every column belongs to one submodel")
    return Partition(sets)


def choose_partition(
    partition: Any, n_submodels: int | str, units: Units, names: Sequence[str], image_shape: Any, random_state: int
) -> Partition:
    """The partition an estimator asks for, by name or as given."""
    if not isinstance(partition, str):
        given = partition if isinstance(partition, Partition) else partition_from_columns(partition, units, names)
        if given.n_units != len(units):
            raise InputError(f"partition is made for {given.n_units} units, but the table has {len(units)} {units.kind}")
        if n_submodels not in ("auto", len(given)):
            raise InputError(f"n_submodels is {n_submodels}, but partition has {len(given)} submodels: leave n_submodels out")
        return given
    odd = len(units) - (len(units) + 1) % 2
    count = min(AUTO_SUBMODELS, odd) if n_submodels == "auto" else int(n_submodels)
    if count > len(units):
        raise InputError(f"n_submodels is {count}, but there are only {len(units)} {units.kind}: choose at most {len(units)}")
    if partition == "random":
        return random_partition(len(units), count, random_state)
    if partition == "strided":
        return strided_partition(len(units), count)
    if image_shape is None:
        raise InputError(f"partition={partition!r} needs image_shape=(height, width, channels)")
    return spiral_partition(image_shape, count) if partition == "spiral" else patch_partition(image_shape, count)


def _deal(order: Any, n_submodels: int) -> Partition:
    return Partition([order[t::n_submodels].tolist() for t in range(n_submodels)])
