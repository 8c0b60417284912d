"""Image patches: which submodels a position touches, and the certificate.

An attacker with a patch owns all pixels under it. Where it lies is his choice, so a row survives if
it survives every position."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ._support.types import Array
from .certificates import Certificates, Counts
from .errors import InputError
from .partition._partition import Overlap, Partition
from .rules import certify


def patch_reach(partition: Partition | Overlap, image_shape: Any, patch: Any) -> Array:
    """Which submodels a patch at each position touches: bool (positions, submodels), row by row
    from the upper left."""
    if not isinstance(partition, Partition | Overlap):
        raise InputError(
            f"partition is a {type(partition).__name__}: give a Partition of the image's pixels, "
            "such as clf.partition_"
        )
    height, width = _sides(image_shape, "image_shape")
    tall, wide = _sides(patch, "patch")
    if partition.n_units != height * width:
        raise InputError(
            f"partition is of {partition.n_units} units, but the image has {height} x {width} "
            "pixels"
        )
    if tall > height or wide > width:
        raise InputError(
            f"patch is {tall} x {wide}, larger than the image of {height} x {width}: choose a "
            "smaller one"
        )
    owned = partition.incidence().reshape(height, width, -1)
    rows = np.lib.stride_tricks.sliding_window_view(owned, tall, axis=0).any(axis=-1)
    both = np.lib.stride_tricks.sliding_window_view(rows, wide, axis=1).any(axis=-1)
    return np.asarray(both.reshape(-1, len(partition)))


def certify_patches(
    ballots: Any,
    partition: Partition | Overlap,
    image_shape: Any,
    patch: Any,
    rule: Any = "tournament",
    n_patches: int = 1,
) -> Certificates:
    """Does a prediction survive a patch of this shape at every position?

    Parameters
    ----------
    ballots : array of shape (rows, submodels, classes)
    partition : Partition of the image's pixels in the image's order, as ``clf.partition_`` of a
    classifier with ``image_shape`` image_shape : (height, width, ...) patch : (height, width) of
    the patch rule : str or Rule, default="tournament" n_patches : int, default=1
        How many such patches an attacker lays at once.

    Returns
    -------
    Certificates
        ``radius`` is the number of patches a row survives, wherever they lie: 0 or 1 for one patch,
        up to ``n_patches`` for several. Exact for one patch and plurality; a sound bound for
        several patches and for the other rules.
    """
    if not isinstance(n_patches, int | np.integer) or isinstance(n_patches, bool) or n_patches < 1:
        raise InputError(f"n_patches is {n_patches!r}: it must be a whole number, 1 or above")
    reach = _largest(patch_reach(partition, image_shape, patch))
    proof = certify(ballots, rule, reach=reach)
    tall, wide = _sides(patch, "patch")
    survived = np.where(proof.radius == len(reach), n_patches, np.minimum(proof.radius, n_patches))
    return replace(
        proof, radius=survived, counts=Counts(f"patches of {tall} x {wide} pixels", int(n_patches))
    )


def certify_rectangles(
    ballots: Any,
    partition: Partition | Overlap,
    image_shape: Any,
    area: int,
    rule: Any = "tournament",
    n_patches: int = 1,
) -> dict[tuple[int, int], Certificates]:
    """``certify_patches`` for every rectangle of this area that fits the image."""
    shapes = list(_rectangles(area, *_sides(image_shape, "image_shape")))
    if not shapes:
        raise InputError(f"area is {area!r}: no rectangle of that area fits the image")
    return {
        shape: certify_patches(ballots, partition, image_shape, shape, rule, n_patches)
        for shape in shapes
    }


def _rectangles(area: Any, height: int, width: int) -> Iterator[tuple[int, int]]:
    if isinstance(area, int | np.integer):
        for tall in range(1, int(area) + 1):
            if area % tall == 0 and tall <= height and area // tall <= width:
                yield tall, int(area) // tall


def _largest(reach: Array) -> Array:
    """The positions that no other position covers: whoever may lay a patch there can do all that
    the others can."""
    different = np.unique(reach, axis=0)
    shared = different.astype(np.int64) @ different.T.astype(np.int64)
    inside = shared == shared.diagonal()[:, None]  # row i is within row j
    np.fill_diagonal(inside, False)
    return np.asarray(different[~inside.any(axis=1)])


def _sides(shape: Any, name: str) -> tuple[int, int]:
    sides = tuple(shape)[:2] if isinstance(shape, tuple | list) else ()
    if len(sides) != 2 or not all(
        isinstance(side, int | np.integer) and side > 0 for side in sides
    ):
        raise InputError(f"{name} is {shape!r}: give (height, width)")
    return int(sides[0]), int(sides[1])
