"""Which submodel owns which units. A partition never depends on feature values, or an attacker
could move it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ._units import Columns, Units

AUTO_SUBMODELS = 21  # chosen on validation rows (docs/defaults.md)


@dataclass(frozen=True, repr=False)
class Partition:
    """Units dealt out to submodels, every unit to exactly one.

    ``len(partition)`` is the number of submodels and ``partition[t]`` the units of submodel t.
    Immutable and hashable.

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
        missing = set(range(len(owners))) - owners.keys()
        if missing:
            raise InputError(
                f"partition leaves out unit {min(missing)}: every unit belongs to one submodel"
            )
        object.__setattr__(self, "sets", ordered)

    @property
    def n_units(self) -> int:
        return sum(map(len, self.sets))

    def incidence(self) -> NDArray[np.bool_]:
        """Which submodels each unit reaches: bool (units, submodels)."""
        reached = np.zeros((self.n_units, len(self)), dtype=bool)
        for t, units in enumerate(self.sets):
            reached[list(units), t] = True
        return reached

    def __len__(self) -> int:
        return len(self.sets)

    def __getitem__(self, t: int) -> tuple[int, ...]:
        return self.sets[t]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return iter(self.sets)

    def __repr__(self) -> str:
        return f"<Partition of {self._summary()}>"

    def __str__(self) -> str:
        return "\n".join(
            [
                self._summary(),
                *(f"  {t}: {' '.join(map(str, units))}" for t, units in enumerate(self.sets)),
            ]
        )

    def _summary(self) -> str:
        sizes = sorted(map(len, self.sets))
        size = str(sizes[0]) if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
        return f"{self.n_units} units in {len(self)} submodels of {size}"


@dataclass(frozen=True)
class Overlap:
    """As many overlapping sets as there are subsets: subset l goes to the submodels ``l + shift``
    (counted round), one for each shift.

    ``len(overlap)`` is the number of submodels and ``overlap[t]`` the units of submodel t.
    """

    subsets: Partition
    shifts: tuple[int, ...]

    @classmethod
    def from_seed(cls, subsets: Partition, spread: int, random_state: int) -> "Overlap":
        if spread > len(subsets):
            raise InputError(
                f"spread is {spread}, but there are only {len(subsets)} subsets to spread: choose "
                f"at most {len(subsets)}"
            )
        rng = np.random.default_rng([random_state, spread])
        return cls(
            subsets, tuple(sorted(rng.choice(len(subsets), size=spread, replace=False).tolist()))
        )

    @property
    def n_units(self) -> int:
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
        """Which submodels each unit reaches: bool (units, submodels)."""
        own = self.subsets.incidence()
        return np.asarray(np.any([np.roll(own, shift, axis=1) for shift in self.shifts], axis=0))


def random_partition(n_units: int, n_submodels: int, random_state: int = 0) -> Partition:
    """Dealt out by a seeded shuffle; sizes differ by at most one."""
    return _deal(np.random.default_rng(random_state).permutation(n_units), n_submodels)


def strided_partition(n_units: int, n_submodels: int) -> Partition:
    """Unit j goes to submodel ``j mod T``."""
    return _deal(np.arange(n_units), n_submodels)


def spiral_partition(image_shape: tuple[int, ...], n_submodels: int) -> Partition:
    """Pixels in order of their Manhattan distance from the image's centre (round the centre within
    one distance), then strided."""
    height, width = image_shape[:2]
    down, right = np.divmod(np.arange(height * width), width)
    down, right = 2 * down - (height - 1), 2 * right - (width - 1)
    return _deal(np.lexsort((np.arctan2(down, right), np.abs(down) + np.abs(right))), n_submodels)


def patch_partition(image_shape: tuple[int, ...], n_submodels: int) -> Partition:
    """A grid of disjoint rectangles, as square as the divisors of T allow; sides differ by at most
    one pixel."""
    height, width = image_shape[:2]
    grids = [(a, n_submodels // a) for a in range(1, n_submodels + 1) if n_submodels % a == 0]
    grids = [(a, b) for a, b in grids if a <= height and b <= width]
    if not grids:
        raise InputError(
            f"n_submodels is {n_submodels}, but no grid of that many patches fits an image of "
            f"{height} x {width} pixels: "
            "choose a number with smaller divisors"
        )
    # the worst ratio of sides, then (for a stable choice between a x b and b x a) fewer rows of
    # patches
    rows, columns = min(
        grids,
        key=lambda grid: (
            max(height * grid[1], width * grid[0]) / min(height * grid[1], width * grid[0]),
            grid,
        ),
    )
    down, right = np.divmod(np.arange(height * width), width)
    owner = (down * rows // height) * columns + right * columns // width
    return Partition([np.flatnonzero(owner == t).tolist() for t in range(n_submodels)])


def partition_from_columns(
    lists: Sequence[Sequence[Any]], units: Units, names: Sequence[str] | Columns
) -> Partition:
    """The user's own: the columns of each submodel, by name or position. Trusted columns go
    everywhere, listed or not."""
    columns = Columns.of(names)
    unit_of = {column: unit for unit, members in enumerate(units.columns) for column in members}
    seen: dict[int, int] = {}
    for t, listed in enumerate(lists):
        if isinstance(listed, str) or not isinstance(listed, Sequence | np.ndarray):
            raise InputError(
                f"partition[{t}] is {listed!r}: give a list of columns for each submodel"
            )
        for column in listed:
            position = columns.position(column, "partition")
            if position in seen:
                raise InputError(
                    f"partition has the column {column!r} in submodels {seen[position]} and {t}: "
                    "every column belongs to one"
                )
            if position in unit_of:
                seen[position] = t
    missing = sorted(unit_of.keys() - seen.keys())
    if missing:
        raise InputError(
            f"partition leaves out the column {columns.names[missing[0]]!r}: every column belongs "
            "to one submodel"
        )
    owners: dict[int, int] = {}
    for position, t in seen.items():
        unit = unit_of[position]
        if owners.setdefault(unit, t) != t:
            raise InputError(
                f"partition splits the unit {units.names[unit]!r} over submodels {owners[unit]} "
                f"and {t}: keep it together"
            )
    return Partition(
        [[unit for unit, owner in owners.items() if owner == t] for t in range(len(lists))]
    )


def choose_partition(
    partition: Any,
    n_submodels: int | str,
    spread: int,
    units: Units,
    names: Sequence[str] | Columns,
    image_shape: Any,
    random_state: int,
    verbose: int = 0,
) -> "Partition | Overlap":
    """The partition an estimator asks for, by name or as given; with ``spread`` > 1 its sets
    overlap."""
    if isinstance(partition, str):
        odd = len(units) // spread - (len(units) // spread + 1) % 2
        count = max(1, min(AUTO_SUBMODELS, odd)) if n_submodels == "auto" else int(n_submodels)
        if count * spread > len(units):
            times = f" times spread={spread}" if spread > 1 else ""
            most = max(1, len(units) // spread)
            raise InputError(
                f"n_submodels is {count}{times}, but there are only {len(units)} {units.kind}: "
                f"choose at most {most}"
            )
        sets = _named_partition(partition, count * spread, units, image_shape, random_state)
    elif hasattr(partition, "deal"):
        sets = partition.deal(units, names, n_submodels, spread, verbose)
    else:
        sets = (
            partition
            if isinstance(partition, Partition)
            else partition_from_columns(partition, units, names)
        )
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
    return sets if spread == 1 else Overlap.from_seed(sets, spread, random_state)


def _named_partition(
    partition: str, count: int, units: Units, image_shape: Any, random_state: int
) -> Partition:
    if partition == "random":
        return random_partition(len(units), count, random_state)
    if partition == "strided":
        return strided_partition(len(units), count)
    if image_shape is None:
        raise InputError(f"partition={partition!r} needs image_shape=(height, width, channels)")
    if len(units) != image_shape[0] * image_shape[1]:
        raise InputError(
            f"partition={partition!r} deals out pixels, but the units are others: use 'random' or "
            "'strided'"
        )
    return (
        spiral_partition(image_shape, count)
        if partition == "spiral"
        else patch_partition(image_shape, count)
    )


def _deal(order: Any, n_submodels: int) -> Partition:
    return Partition([order[t::n_submodels].tolist() for t in range(n_submodels)])
