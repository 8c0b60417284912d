"""Units, the smallest things an attacker takes over as a whole, and partitions of them.

Both depend on names, positions and numbers of columns, places in an image and a seed, never on
feature values, or an attacker could move them; of values, :class:`Informed` looks at a trusted
reference alone.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from .._support import Array
from ..errors import InputError

# ---- units ----

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


# ---- which submodel owns which units: disjoint sets or overlapping ones ----

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
