"""Windows of an image: every position of a patch lies inside one of them, on a regular grid.

Knows sides and positions only. Soundness: a patch at any position must lie wholly inside the window
of its position; a window that is a pixel too small would void every proof that rests on it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from numbers import Integral

import numpy as np

from .._support import Array, check_whole
from ..errors import InputError

MOST_MODELS = 2**20


@dataclass(frozen=True)
class Axis:
    """The windows along one side of an image.

    Window ``a`` is for patches that start at ``a * step`` up to ``a * step + step - 1``.
    """

    side: int
    patch: int
    step: int

    @property
    def positions(self) -> int:
        """How many places a patch may start at."""
        return self.side - self.patch + 1

    def __len__(self) -> int:
        return -(-self.positions // self.step)

    @property
    def longest(self) -> int:
        """How many pixels a window covers, at most."""
        return min(self.step, self.positions) + self.patch - 1

    def pixels(self) -> Array:
        """Return which pixels each window covers, bool (windows, side)."""
        first = self.step * np.arange(len(self))[:, None]
        pixel = np.arange(self.side)
        return (pixel >= first) & (pixel < first + self.step + self.patch - 1)

    def window_of(self, position: int) -> int:
        """Return the window of a patch that starts here; a smaller patch may start at any pixel."""
        return min(position, self.positions - 1) // self.step


@dataclass(frozen=True)
class WindowGrid:
    """Windows of an image, numbered row by row from the upper left."""

    rows: Axis
    columns: Axis

    def __len__(self) -> int:
        return len(self.rows) * len(self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """How many windows there are down and across."""
        return len(self.rows), len(self.columns)

    @property
    def window(self) -> tuple[int, int]:
        """Height and width of the largest window."""
        return self.rows.longest, self.columns.longest

    def masks(self) -> Array:
        """Return which pixels each window covers, bool (windows, height * width)."""
        both = self.rows.pixels()[:, None, :, None] & self.columns.pixels()[None, :, None, :]
        return both.reshape(len(self), -1)

    def window_of(self, top: int, left: int) -> int:
        """Return the window that contains a patch whose upper left corner is here."""
        down, across = self.rows.window_of(top), self.columns.window_of(left)
        return down * len(self.columns) + across


def choose_grid(
    image_shape: Sequence[int], patches: Sequence[tuple[int, int]], windows: int, n_patches: int
) -> WindowGrid:
    """Return the grid of at most ``windows`` windows whose sides are shortest.

    Patches of several shapes are inside a patch of the greatest height and the greatest width.
    """
    check_whole("windows", windows, 1)
    height, width = int(image_shape[0]), int(image_shape[1])
    tall, wide = (max(sides) for sides in zip(*patches, strict=True))
    grids = [
        grid
        for down in _axes(height, tall)
        for across in _axes(width, wide)
        if len(grid := WindowGrid(down, across)) <= int(windows)
    ]
    grid = min(grids, key=_size)
    if len(grid) <= 2 * n_patches:
        raise InputError(
            f"windows is {windows!r}, which gives a grid of {grid.shape[0]} x {grid.shape[1]} for "
            f"patches of {tall} x {wide} on images of {height} x {width}, but n_patches="
            f"{n_patches} needs at least {2 * n_patches + 1} windows: give more"
        )
    if comb(len(grid), 2 * n_patches) > MOST_MODELS:
        raise InputError(
            f"windows is {windows!r}: {len(grid)} windows of which {2 * n_patches} are left out "
            f"give {comb(len(grid), 2 * n_patches):,} models: give fewer windows"
        )
    return grid


def left_out_sets(n_windows: int, size: int) -> Array:
    """Return every set of so many windows to leave out, bool (sets, n_windows)."""
    sets = np.array(list(combinations(range(n_windows), size)), dtype=np.int64)
    left_out = np.zeros((len(sets), n_windows), dtype=bool)
    np.put_along_axis(left_out, sets, True, axis=1)
    return left_out


def check_patches(patches: object, image_shape: Sequence[int]) -> list[tuple[int, int]]:
    """Return the shapes of patches, one or several, as (height, width)."""
    one = (
        isinstance(patches, Sequence)
        and len(patches) > 0
        and all(isinstance(side, Integral) for side in patches)
    )
    shapes = [patches] if one else patches
    if not isinstance(shapes, Sequence) or isinstance(shapes, str) or not shapes:
        raise InputError(f"patches is {patches!r}: give (height, width), or a list of such shapes")
    for shape in shapes:
        if (
            not isinstance(shape, Sequence)
            or len(shape) != 2
            or not all(isinstance(side, Integral) and int(side) >= 1 for side in shape)
        ):
            raise InputError(
                f"patches holds {shape!r}: give (height, width), or a list of such shapes"
            )
        if shape[0] > image_shape[0] or shape[1] > image_shape[1]:
            raise InputError(
                f"patches holds {shape[0]} x {shape[1]}, larger than the image of "
                f"{image_shape[0]} x {image_shape[1]}: choose a smaller one"
            )
    return [(int(shape[0]), int(shape[1])) for shape in shapes]


def _axes(side: int, patch: int) -> Iterator[Axis]:
    """Yield every way to put windows along a side."""
    for step in range(1, side - patch + 2):
        yield Axis(side, patch, step)


def _size(grid: WindowGrid) -> tuple[int, int, int, int]:
    """Compare grids: small windows, then square ones, then few, then wide ones."""
    tall, wide = grid.window
    return tall + wide, abs(tall - wide), len(grid), tall
