"""The partition that an estimator's arguments ask for.

Knows numbers, names and positions; of the table's values only what a trusted reference holds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ._columns import Columns
from ._partition import Overlap, Partition
from ._strategies import patch_partition, random_partition, spiral_partition, strided_partition
from ._units import Units

AUTO_SUBMODELS = 21  # chosen on validation rows (docs/results/defaults.md)


def choose_partition(
    partition: Any,
    n_submodels: int | str,
    spread: int,
    units: Units,
    names: Sequence[str] | Columns,
    image_shape: Any,
    random_state: int,
    verbose: int = 0,
) -> Partition | Overlap:
    """The partition of these units, by name or as given; with ``spread`` > 1 its sets overlap."""
    if isinstance(partition, str):
        n_sets = count_sets(n_submodels, units, spread)
        sets = _named_partition(partition, n_sets, units, image_shape, random_state)
    elif hasattr(partition, "deal"):
        sets = partition.deal(units, names, n_submodels, spread, verbose)
    else:
        sets = _given_partition(partition, n_submodels, spread, units, names)
    return sets if spread == 1 else Overlap.from_seed(sets, spread, random_state)


def count_sets(n_submodels: int | str, units: Units, spread: int) -> int:
    """How many sets to deal units into: ``spread`` times the number of submodels.

    "auto" is odd, since a tie of votes helps nobody, and at most AUTO_SUBMODELS.
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
    partition: str, n_sets: int, units: Units, image_shape: Any, random_state: int
) -> Partition:
    if partition == "random":
        return random_partition(len(units), n_sets, random_state)
    if partition == "strided":
        return strided_partition(len(units), n_sets)
    if image_shape is None:
        raise InputError(f"partition={partition!r} needs image_shape=(height, width, channels)")
    if len(units) != image_shape[0] * image_shape[1]:
        raise InputError(
            f"partition={partition!r} deals out pixels, but the units are not pixels: use 'random' "
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
    if isinstance(partition, Partition):
        sets = partition
    else:
        sets = partition_from_columns(partition, units, names)
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
    lists: Sequence[Sequence[Any]], units: Units, names: Sequence[str] | Columns
) -> Partition:
    """A partition from the columns of each submodel, by name or position.

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
