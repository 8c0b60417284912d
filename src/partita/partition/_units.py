"""Units: the smallest things an attacker takes over as a whole, and the columns out of reach."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from ..errors import InputError
from ._columns import check_listed


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
        """The columns that a submodel with these units sees.

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


def pixels(image_shape: tuple[int, int, int]) -> Units:
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
    return Units(
        columns,
        tuple(f"pixel ({p // width}, {p % width})" for p in range(height * width)),
        "pixels",
    )


def families(separator: str = "_", names: Sequence[str] | None = None) -> Callable[[str], str]:
    """Group one-hot columns: all columns made of one raw column belong to one unit.

    Whoever owns a raw column owns all of its one-hot columns, so ``colour_red`` and ``colour_blue``
    must be one unit, ``colour``.

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
