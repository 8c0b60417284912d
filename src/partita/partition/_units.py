"""Units: the smallest things an attacker takes over as a whole, and the columns that are out of
reach."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ..errors import InputError


@dataclass(frozen=True)
class Units:
    """Which columns of the table belong to which unit.

    Attributes
    ----------
    columns : tuple of tuples of int
        The columns of each unit, by position.
    names : tuple of str
        What each unit is called.
    kind : str
        What a unit is, in the plural: "columns", "pixels" or "units".
    trusted : tuple of int
        Columns out of the attacker's reach: no unit, and seen by every submodel.
    """

    columns: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    kind: str
    trusted: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.columns)

    def columns_of(self, units: Sequence[int]) -> list[int]:
        """The columns that a submodel with these units sees, in the order of the table; the trusted
        ones among them."""
        return sorted(
            chain(self.trusted, chain.from_iterable(self.columns[unit] for unit in units))
        )


def pixels(image_shape: tuple[int, int, int]) -> Units:
    """Every pixel, with all its channels, is a unit; the columns are a flattened (height, width,
    channels) image."""
    shape = tuple(image_shape)
    if len(shape) != 3 or not all(
        isinstance(side, int | np.integer) and side > 0 for side in shape
    ):
        raise InputError(f"image_shape is {image_shape!r}: give (height, width, channels)")
    height, width, channels = map(int, shape)
    columns = tuple(tuple(range(p * channels, (p + 1) * channels)) for p in range(height * width))
    return Units(
        columns,
        tuple(f"pixel ({p // width}, {p % width})" for p in range(height * width)),
        "pixels",
    )


def families(separator: str = "_", names: Sequence[str] | None = None) -> Callable[[str], str]:
    """For ``units=``: one-hot columns such as ``colour_red`` and ``colour_blue`` belong to the unit
    ``colour``.

    Parameters
    ----------
    separator : str, default="_"
        What stands between the raw column's name and the value.
    names : list of str, default=None
        The raw columns. None: a raw name ends at the first separator, so ``job_blue_collar``
        belongs to ``job``, and columns of different raw columns may share a unit (``capital_gain``
        and ``capital_loss``): sound, but larger units than need be.

    Examples
    --------
    >>> from partita import families
    >>> [families()(column) for column in ("job_blue_collar", "job_retired", "age")]
    ['job', 'job', 'age']
    >>> [families(names=["capital_gain", "job"])(column) for column in ("capital_gain", "job_retired", "age")]
    ['capital_gain', 'job', 'age']
    """
    if names is None:
        return partial(_first_part, separator=separator)
    raw = tuple(map(str, _listed(names, "names")))
    for name in raw:
        longer = next((other for other in raw if other.startswith(name + separator)), None)
        if longer is not None:
            raise InputError(
                f"names has {name!r} and {longer!r}: a column {longer + separator + '...'!r} may "
                "come from either, so rename one, or "
                "give units as a mapping"
            )
    return partial(_raw_name, separator=separator, names=raw)


def _first_part(name: str, separator: str) -> str:
    return name.split(separator, 1)[0] or name


def _raw_name(name: str, separator: str, names: tuple[str, ...]) -> str:
    return next((raw for raw in names if name.startswith(raw + separator)), name)


def choose_units(
    units: Any, names: "Sequence[str] | Columns", trusted: Any, image_shape: Any
) -> Units:
    """The units an estimator asks for: a mapping, an array of ids, a function of the name, Units,
    or None for each column (or pixel)."""
    columns = Columns.of(names)
    names = columns.names
    image = None if image_shape is None else pixels(image_shape)
    out_of_reach = sorted(
        {columns.position(column, "trusted") for column in _listed(trusted, "trusted")}
    )
    if units is None:
        units = image
    if isinstance(units, Units):
        if len(set(units.names)) < len(units.names):
            raise InputError("units has two units of one name: rename one")
        if sorted(chain(units.trusted, *units.columns)) != list(range(len(names))):
            what = "image_shape" if image_shape is not None else "units"
            made = sum(map(len, units.columns)) + len(units.trusted)
            raise InputError(
                f"{what} makes {made} columns, but X has {len(names)}: every column belongs to "
                "one unit"
            )
        groups: dict[Any, list[int]] = dict(zip(units.names, map(list, units.columns), strict=True))
        kind = units.kind
        out_of_reach = sorted({*out_of_reach, *units.trusted})
        for column in out_of_reach:  # a trusted column leaves its unit
            groups = {name: [c for c in group if c != column] for name, group in groups.items()}
        groups = {name: group for name, group in groups.items() if group}
    else:
        groups = _groups(units, columns, set(out_of_reach))
        kind = "columns" if units is None else "units"
    if not groups:
        raise InputError(
            "trusted names every column: leave at least one that an attacker could reach, or "
            "there is nothing to prove"
        )
    ordered = sorted(
        (tuple(sorted(group)), str(name)) for name, group in groups.items()
    )  # by their first columns
    if len({name for _, name in ordered}) < len(ordered):
        raise InputError(
            "units has two units of one name, or one with the name of a column outside of it: "
            "rename the unit"
        )
    chosen = Units(
        tuple(group for group, _ in ordered),
        tuple(name for _, name in ordered),
        kind,
        tuple(out_of_reach),
    )
    if image is not None and len(chosen) == len(image) and chosen.columns != image.columns:
        raise InputError(
            "units has as many units as image_shape has pixels, but others: use "
            "units=pixels(image_shape), or leave one out"
        )
    return chosen


class Columns:
    """Columns by name or position; by label, where a frame's labels are no texts.

    Parameters
    ----------
    names : the columns' names, as texts
    labels : what a frame calls its columns, where that is not (only) texts
        A whole number then means a label, as it does for the frame, and never a position.
    """

    def __init__(self, names: Sequence[str], labels: Sequence[Any] | None = None) -> None:
        self.names = list(names)
        self._by_name = {name: position for position, name in enumerate(names)}
        self._by_label = (
            None if labels is None else {label: position for position, label in enumerate(labels)}
        )

    @classmethod
    def of(cls, names: "Sequence[str] | Columns") -> "Columns":
        return names if isinstance(names, Columns) else cls(names)

    def position(self, column: Any, argument: str) -> int:
        position = -1
        if (
            self._by_label is not None
            and getattr(column, "__hash__", None) is not None
            and column in self._by_label
        ):
            position = self._by_label[column]
        elif isinstance(column, str):
            position = self._by_name.get(column, -1)
        elif (
            self._by_label is None
            and isinstance(column, int | np.integer)
            and not isinstance(column, bool)
        ):
            position = int(column)
        if not 0 <= position < len(self.names):
            raise InputError(
                f"{argument} names the column {column!r}, which the table does not have"
            )
        return position


def _groups(units: Any, columns: Columns, trusted: set[int]) -> dict[Any, list[int]]:
    """The columns of each unit by its name; columns that no unit names are units of their own."""
    groups: dict[Any, list[int]] = {}
    unit_of: dict[int, Any] = {}
    if units is None:
        pass
    elif isinstance(units, Mapping):
        for unit, members in units.items():
            groups[unit] = []
            for column in _listed(members, f"units[{unit!r}]"):
                position = columns.position(column, f"units[{unit!r}]")
                if position in unit_of:
                    raise InputError(
                        f"units has the column {column!r} in {unit_of[position]!r} and in "
                        f"{unit!r}: it belongs to one"
                    )
                if position in trusted:
                    raise InputError(
                        f"units[{unit!r}] names the column {column!r}, which trusted says is out "
                        "of reach: it cannot be both"
                    )
                unit_of[position] = unit
                groups[unit].append(position)
            if not groups[unit]:
                raise InputError(f"units[{unit!r}] has no columns: name some or leave the unit out")
    else:
        ids = (
            [units(name) for name in columns.names]
            if callable(units)
            else list(_listed(units, "units"))
        )
        if any(getattr(unit, "__hash__", None) is None for unit in ids):
            raise InputError("units gives an id that is no text or number: give one id a column")
        if len(ids) != len(columns.names):
            raise InputError(
                f"units has {len(ids)} ids, but X has {len(columns.names)} columns: give one a "
                "column"
            )
        for position, unit in enumerate(ids):
            if position not in trusted and unit is not None:
                unit_of[position] = unit
                groups.setdefault(unit, []).append(position)
    for position, name in enumerate(columns.names):
        if position not in trusted and position not in unit_of:
            if name in groups:
                raise InputError(
                    f"units has a unit {name!r}, and a column of that name outside of it: rename "
                    "the unit"
                )
            groups[name] = [position]
    return groups


def _listed(values: Any, argument: str) -> Iterable[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{argument} is {values!r}: give a list")
    return values
