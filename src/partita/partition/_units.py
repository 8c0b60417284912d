"""Units: the smallest things an attacker takes over as a whole, and the columns out of reach.

Knows names and positions of columns, never their values: an attacker could move units otherwise.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ..errors import InputError

Groups = dict[Hashable, list[int]]  # the columns of each unit by its name


@dataclass(frozen=True)
class Units:
    """Which columns of the table belong to which unit.

    A radius counts units: an attacker who controls a unit controls all its columns, in every row.
    Give one as ``units=``, or read the ``units_`` of a fitted model.

    Parameters
    ----------
    columns : tuple of tuples of int
        The columns of each unit, by position.
    names : tuple of str
        The name of each unit.
    kind : str
        What a unit is, in the plural: "columns", "pixels" or "units".
    trusted : tuple of int, default=()
        Columns out of the attacker's reach: they belong to no unit, and every submodel sees them.

    See Also
    --------
    partita.pixels : Units for flattened images.
    partita.families : Units for one-hot encoded columns.

    References
    ----------
    Theory, section 1.

    Examples
    --------
    >>> from partita import Units
    >>> units = Units(((0, 1), (3,)), ("vendor A", "vendor B"), "units", trusted=(2,))
    >>> len(units)
    2
    >>> units.columns_of([1])
    [2, 3]
    """

    columns: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    kind: str
    trusted: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.columns)

    def columns_of(self, units: Sequence[int]) -> list[int]:
        """Return the columns that a submodel with these units sees.

        Parameters
        ----------
        units : sequence of int
            Positions of units.

        Returns
        -------
        list of int
            Their columns and the trusted ones, in the order of the table.
        """
        own = chain.from_iterable(self.columns[unit] for unit in units)
        return sorted(chain(self.trusted, own))


def pixels(image_shape: Sequence[int]) -> Units:
    """Make units for images: each pixel, with all its channels, is a unit.

    Parameters
    ----------
    image_shape : (int, int, int)
        Height, width and channels. A row of the table is a flattened image of this shape: by row,
        then column, then channel.

    Returns
    -------
    Units
        One unit per pixel, for ``units=``.

    Raises
    ------
    InputError
        If the shape is not three positive whole numbers.

    See Also
    --------
    partita.certify_patches : Radii for attackers who control a patch instead of single pixels.

    Examples
    --------
    >>> from partita import pixels
    >>> units = pixels((2, 2, 3))
    >>> units.names[1], units.columns[1]
    ('pixel (0, 1)', (3, 4, 5))
    """
    shape = tuple(image_shape)
    if len(shape) != 3 or not all(
        isinstance(side, int | np.integer) and side > 0 for side in shape
    ):
        raise InputError(f"image_shape is {image_shape!r}: give (height, width, channels)")
    height, width, channels = map(int, shape)
    columns = tuple(tuple(range(p * channels, (p + 1) * channels)) for p in range(height * width))
    names = tuple(f"pixel ({p // width}, {p % width})" for p in range(height * width))
    return Units(columns, names, "pixels")


def families(separator: str = "_", names: Sequence[str] | None = None) -> Callable[[str], str]:
    """Group one-hot columns: all columns made of one raw column belong to one unit.

    An attacker who owns a raw column owns all of its one-hot columns, so ``colour_red`` and
    ``colour_blue`` must be one unit, ``colour``.

    Parameters
    ----------
    separator : str, default="_"
        What stands between the raw column's name and the value.
    names : list of str, optional
        The raw columns. By default a raw name ends at the first separator, so ``job_blue_collar``
        belongs to ``job``, and columns of different raw columns may share a unit (``capital_gain``
        and ``capital_loss``): sound, but units are larger than necessary.

    Returns
    -------
    callable
        The unit of a column, from the column's name; for ``units=``.

    Raises
    ------
    InputError
        If a raw name continues another one, so that a column may come from either.

    See Also
    --------
    partita.Units : Units of any other form.

    References
    ----------
    Theory, section 1, condition 5.

    Examples
    --------
    >>> from partita import families
    >>> [families()(column) for column in ("job_blue_collar", "job_retired", "age")]
    ['job', 'job', 'age']
    >>> unit_of = families(names=["capital_gain", "job"])
    >>> [unit_of(column) for column in ("capital_gain", "job_retired", "age")]
    ['capital_gain', 'job', 'age']
    """
    if names is None:
        return partial(_first_part, separator=separator)
    raw = tuple(map(str, check_listed(names, "names")))
    for name in raw:
        longer = next((other for other in raw if other.startswith(name + separator)), None)
        if longer is not None:
            raise InputError(
                f"names has {name!r} and {longer!r}: a column {longer + separator + '...'!r} may "
                "come from either, so rename one, or give units as a mapping"
            )
    return partial(_raw_name, separator=separator, names=raw)


def _first_part(name: str, separator: str) -> str:
    return name.split(separator, 1)[0] or name


def _raw_name(name: str, separator: str, names: tuple[str, ...]) -> str:
    return next((raw for raw in names if name.startswith(raw + separator)), name)


# ---- columns, as users name them ----


class Columns:
    """Finds columns by name or position; by label, where a frame's labels are not all strings.

    Parameters
    ----------
    names : sequence of str
        The columns' names.
    labels : sequence, optional
        A frame's labels, where not all of them are strings. A whole number then means a label, as
        it does for the frame, and never a position.
    """

    def __init__(self, names: Sequence[str], labels: Sequence[Hashable] | None = None) -> None:
        self.names = list(names)
        self._by_position = labels is None
        self._known: dict[object, int] = {name: position for position, name in enumerate(names)}
        self._known |= {label: position for position, label in enumerate(labels or ())}

    @classmethod
    def of(cls, names: "Sequence[str] | Columns") -> "Columns":
        """Return columns as they are, or made of their names."""
        return names if isinstance(names, Columns) else cls(names)

    def position(self, column: object, argument: str) -> int:
        """Find a column in the table; an InputError names the argument where it is not there."""
        position = -1
        if isinstance(column, int | np.integer) and self._by_position:
            position = -1 if isinstance(column, bool) else int(column)
        elif getattr(column, "__hash__", None) is not None:
            position = self._known.get(column, -1)
        if not 0 <= position < len(self.names):
            raise InputError(
                f"{argument} names the column {column!r}, which the table does not have"
            )
        return position


def check_listed(values: object, argument: str) -> Iterable[Any]:
    """Return the values of an argument that must be a list; refuse a string or a scalar."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{argument} is {values!r}: give a list")
    return values


# ---- the units that an estimator's arguments ask for ----


def choose_units(
    units: Any,
    names: Sequence[str] | Columns,
    trusted: Iterable[object],
    image_shape: Sequence[int] | None,
) -> Units:
    """Return a table's units by an estimator's ``units``, ``trusted`` and ``image_shape``.

    ``units`` is a mapping, an array of ids, a function of the name, Units, or None: each column is
    a unit, or each pixel if there is an ``image_shape``. Columns that no unit names are units of
    their own.
    """
    columns = Columns.of(names)
    image = None if image_shape is None else pixels(image_shape)
    listed = check_listed(trusted, "trusted")
    out_of_reach = {columns.position(column, "trusted") for column in listed}
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
    members, unit_names = zip(*ordered, strict=True)
    if len(set(unit_names)) < len(unit_names):
        raise InputError(
            "units has two units of one name, or one with the name of a column outside of it: "
            "rename the unit"
        )
    chosen = Units(members, unit_names, kind, tuple(sorted(out_of_reach)))
    if image is not None and len(chosen) == len(image) and chosen.columns != image.columns:
        raise InputError(
            "units has as many units as image_shape has pixels, but they are not the pixels: use "
            "units=pixels(image_shape), or leave one out"
        )
    return chosen


def _groups_of_units(units: Units, n_columns: int, out_of_reach: set[int], argument: str) -> Groups:
    """Return the columns of given Units; a trusted column leaves its unit."""
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
    """Return the columns of units given as a mapping, as ids, or by a function of the name."""
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


def _groups_of_mapping(
    units: Mapping[Hashable, object], columns: Columns, trusted: set[int]
) -> Groups:
    groups: Groups = {}
    unit_of: dict[int, Hashable] = {}
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
