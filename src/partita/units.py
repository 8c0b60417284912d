"""Units: the smallest things an attacker takes over as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain


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
        What a unit is, in the plural: "columns" or "pixels".
    """

    columns: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    kind: str
    n_columns: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_columns", sum(map(len, self.columns)))

    def __len__(self) -> int:
        return len(self.columns)

    def columns_of(self, units: Sequence[int]) -> list[int]:
        """The columns of several units, in the order of the table."""
        return sorted(chain.from_iterable(self.columns[unit] for unit in units))


def column_units(names: Sequence[str]) -> Units:
    """Every column is a unit of its own."""
    return Units(tuple((j,) for j in range(len(names))), tuple(names), "columns")


def pixel_units(image_shape: tuple[int, int, int]) -> Units:
    """Every pixel, with all its channels, is a unit; columns are a flattened (H, W, C) image."""
    height, width, channels = image_shape
    columns = tuple(tuple(range(p * channels, (p + 1) * channels)) for p in range(height * width))
    return Units(columns, tuple(f"pixel ({p // width}, {p % width})" for p in range(height * width)), "pixels")
