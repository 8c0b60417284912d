"""Strategies that deal out units by number, seed or place in an image, never by what they hold."""

from typing import Any

import numpy as np

from ..errors import InputError
from ._partition import Partition


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


def spiral_partition(image_shape: tuple[int, ...], n_submodels: int) -> Partition:
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


def patch_partition(image_shape: tuple[int, ...], n_submodels: int) -> Partition:
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
        """The ratio of a patch's sides; between a x b and b x a, fewer rows of patches."""
        sides = height * grid[1], width * grid[0]
        return max(sides) / min(sides), grid

    rows, columns = min(grids, key=badness)
    down, right = np.divmod(np.arange(height * width), width)
    owner = (down * rows // height) * columns + right * columns // width
    return Partition([np.flatnonzero(owner == t).tolist() for t in range(n_submodels)])


def _deal(order: Any, n_submodels: int) -> Partition:
    return Partition([order[t::n_submodels].tolist() for t in range(n_submodels)])
