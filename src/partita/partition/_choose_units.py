"""The units that an estimator's arguments ask for.

Knows names and positions of columns, never their values: an attacker could move units otherwise.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from ..errors import InputError
from ._columns import Columns, check_listed
from ._units import Units, pixels

Groups = dict[Any, list[int]]  # the columns of each unit by its name


def choose_units(
    units: Any, names: Sequence[str] | Columns, trusted: Any, image_shape: Any
) -> Units:
    """The units of a table, from an estimator's ``units``, ``trusted`` and ``image_shape``.

    ``units`` is a mapping, an array of ids, a function of the name, Units, or None: each column is
    a unit, or each pixel if there is an ``image_shape``. Columns that no unit names are units of
    their own.
    """
    columns = Columns.of(names)
    image = None if image_shape is None else pixels(image_shape)
    out_of_reach = {
        columns.position(column, "trusted") for column in check_listed(trusted, "trusted")
    }
    if units is None:
        units = image
    if isinstance(units, Units):
        out_of_reach |= set(units.trusted)
        argument = "units" if image_shape is None else "image_shape"
        groups = _groups_of_units(units, len(columns.names), out_of_reach, argument)
        kind = units.kind
    else:
        groups = _groups(units, columns, out_of_reach)
        kind = "columns" if units is None else "units"
    if not groups:
        raise InputError(
            "trusted names every column: leave at least one that an attacker could reach, or "
            "there is nothing to prove"
        )
    # by their first columns
    ordered = sorted((tuple(sorted(group)), str(name)) for name, group in groups.items())
    if len({name for _, name in ordered}) < len(ordered):
        raise InputError(
            "units has two units of one name, or one with the name of a column outside of it: "
            "rename the unit"
        )
    chosen = Units(
        tuple(group for group, _ in ordered),
        tuple(name for _, name in ordered),
        kind,
        tuple(sorted(out_of_reach)),
    )
    if image is not None and len(chosen) == len(image) and chosen.columns != image.columns:
        raise InputError(
            "units has as many units as image_shape has pixels, but they are not the pixels: use "
            "units=pixels(image_shape), or leave one out"
        )
    return chosen


def _groups_of_units(units: Units, n_columns: int, out_of_reach: set[int], argument: str) -> Groups:
    """The columns of given Units; a trusted column leaves its unit."""
    if len(set(units.names)) < len(units.names):
        raise InputError("units has two units of one name: rename one")
    if sorted(chain(units.trusted, *units.columns)) != list(range(n_columns)):
        expected = sum(map(len, units.columns)) + len(units.trusted)
        raise InputError(
            f"{argument} makes {expected} columns, but X has {n_columns}: every column belongs to "
            "one unit"
        )
    groups = {
        name: [column for column in group if column not in out_of_reach]
        for name, group in zip(units.names, units.columns, strict=True)
    }
    return {name: group for name, group in groups.items() if group}


def _groups(units: Any, columns: Columns, trusted: set[int]) -> Groups:
    """The columns of units given as a mapping, as ids, or by a function of the name."""
    if units is None:
        groups: Groups = {}
    elif isinstance(units, Mapping):
        groups = _groups_of_mapping(units, columns, trusted)
    else:
        groups = _groups_of_ids(units, columns, trusted)
    named = set(chain.from_iterable(groups.values()))
    for position, name in enumerate(columns.names):
        if position not in trusted and position not in named:
            if name in groups:
                raise InputError(
                    f"units has a unit {name!r}, and a column of that name outside of it: rename "
                    "the unit"
                )
            groups[name] = [position]
    return groups


def _groups_of_mapping(units: Mapping[Any, Any], columns: Columns, trusted: set[int]) -> Groups:
    groups: Groups = {}
    unit_of: dict[int, Any] = {}
    for unit, members in units.items():
        argument = f"units[{unit!r}]"
        groups[unit] = []
        for column in check_listed(members, argument):
            position = columns.position(column, argument)
            if position in unit_of:
                raise InputError(
                    f"units has the column {column!r} in {unit_of[position]!r} and in {unit!r}: it "
                    "belongs to one"
                )
            if position in trusted:
                raise InputError(
                    f"{argument} names the column {column!r}, which trusted says is out of reach: "
                    "it cannot be both"
                )
            unit_of[position] = unit
            groups[unit].append(position)
        if not groups[unit]:
            raise InputError(f"{argument} has no columns: name some or leave the unit out")
    return groups


def _groups_of_ids(units: Any, columns: Columns, trusted: set[int]) -> Groups:
    if callable(units):
        ids = [units(name) for name in columns.names]
    else:
        ids = list(check_listed(units, "units"))
    if any(getattr(unit, "__hash__", None) is None for unit in ids):
        raise InputError(
            "units has an id that is neither a string nor a number: give one id per column"
        )
    if len(ids) != len(columns.names):
        raise InputError(
            f"units has {len(ids)} ids, but X has {len(columns.names)} columns: give one per column"
        )
    groups: Groups = {}
    for position, unit in enumerate(ids):
        if position not in trusted and unit is not None:
            groups.setdefault(unit, []).append(position)
    return groups
