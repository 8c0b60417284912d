"""Image patches: which submodels a patch touches, and the certificate against it.

An attacker with a patch owns all pixels under it, in every training image and in the image to
predict. Where it lies is their choice, so a row survives only if it survives every position; but it
is one position for all images: a patch that moves between training images owns more pixels than it
covers. Inputs are ballots and a partition of the pixels.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ._support import Array, check_whole
from .certificates import Certificates, Counts, recounted
from .errors import InputError
from .partition import Overlap, Partition
from .rules import Rule, certify

__all__ = ["certify_patches", "certify_rectangles", "patch_reach"]

# what a patch that lies at one place in all images does not reach
OTHER_PLACES = "other places of the training images"


def patch_reach(
    partition: Partition | Overlap, image_shape: Sequence[int], patch: Sequence[int]
) -> Array:
    """Compute which submodels a patch touches at each position.

    Parameters
    ----------
    partition : Partition or Overlap
        The image's pixels, in the image's order, split among submodels; such as
        ``clf.partition_`` of a classifier with ``image_shape``.
    image_shape : sequence of int
        Height and width of the image; further numbers (channels) are ignored.
    patch : sequence of int
        Height and width of the patch.

    Returns
    -------
    array of bool, shape (n_positions, n_submodels)
        Positions row by row from the upper left.

    See Also
    --------
    certify_patches : Certificates against patches.

    Examples
    --------
    >>> from partita import Partition
    >>> from partita.patches import patch_reach
    >>> patch_reach(Partition([[0, 2], [1, 3]]), (2, 2), (2, 1)).astype(int)
    array([[1, 0],
           [0, 1]])
    """
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
    image_shape: Sequence[int],
    patch: Sequence[int],
    rule: str | Rule | None = None,
    n_patches: int = 1,
) -> Certificates:
    """Certify that predictions survive a patch of a given shape at every position.

    The patch may lie on the image to predict and on any training images, each time with other
    content, but always at the same position. A patch that moves from one training image to the next
    is not covered.

    Parameters
    ----------
    ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
        Every submodel's score for every class.
    partition : Partition or Overlap
        The image's pixels, in the image's order, split among submodels; such as
        ``clf.partition_`` of a classifier with ``image_shape``.
    image_shape : sequence of int
        Height and width of the image; further numbers (channels) are ignored.
    patch : sequence of int
        Height and width of the patch.
    rule : {"plurality", "runoff", "tournament"} or Rule, optional
        How the ballots decide. Required for an array; ballots of a fitted model bring its rule, and
        a certificate by another rule says so.
    n_patches : int, default=1
        How many such patches an attacker places at once.

    Returns
    -------
    Certificates
        ``radius`` is the number of patches a row survives, wherever they lie: 0 or 1 for one patch,
        up to ``n_patches`` for several. Exact for one patch and plurality; a sound bound for
        several patches and for the other rules. Nothing is said about silent submodels.

    See Also
    --------
    certify_rectangles : All rectangles of an area.
    patch_reach : Which submodels a patch touches.

    References
    ----------
    Theory, section 2 ("Patches").

    Examples
    --------
    >>> import numpy as np
    >>> from partita import Partition, certify_patches
    >>> pixels = Partition([[0, 1, 2], [3, 4, 5], [6, 7, 8]])  # a 3 x 3 image, one row per submodel
    >>> ballots = np.eye(2)[[[0, 0, 0]]]
    >>> certify_patches(ballots, pixels, (3, 3), patch=(1, 3), rule="plurality").radius.tolist()
    [1]
    >>> certify_patches(ballots, pixels, (3, 3), patch=(2, 1), rule="plurality").radius.tolist()
    [0]
    """
    check_whole("n_patches", n_patches, 1)
    reach = _largest(patch_reach(partition, image_shape, patch))
    proof = certify(ballots, rule, reach=reach)
    tall, wide = _sides(patch, "patch")
    survived = np.where(proof.radius == len(reach), n_patches, np.minimum(proof.radius, n_patches))
    counts = Counts(f"patches of {tall} x {wide} pixels", int(n_patches), (OTHER_PLACES,))
    return recounted(proof, survived, counts, None)


def certify_rectangles(
    ballots: Any,
    partition: Partition | Overlap,
    image_shape: Sequence[int],
    area: int,
    rule: str | Rule | None = None,
    n_patches: int = 1,
) -> dict[tuple[int, int], Certificates]:
    """Certify predictions against every rectangle of an area that fits the image.

    As in :func:`certify_patches`, it lies at the same position in all images.

    Parameters
    ----------
    ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
        Every submodel's score for every class.
    partition : Partition or Overlap
        The image's pixels, in the image's order, split among submodels; such as
        ``clf.partition_`` of a classifier with ``image_shape``.
    image_shape : sequence of int
        Height and width of the image; further numbers (channels) are ignored.
    area : int
        How many pixels the patch covers.
    rule : {"plurality", "runoff", "tournament"} or Rule, optional
        How the ballots decide. Required for an array; ballots of a fitted model bring its rule, and
        a certificate by another rule says so.
    n_patches : int, default=1
        How many such patches an attacker places at once.

    Returns
    -------
    dict
        Certificates by (height, width) of the rectangle.

    See Also
    --------
    certify_patches : One shape.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import Partition, certify_rectangles
    >>> pixels = Partition([[0, 1, 2], [3, 4, 5], [6, 7, 8]])
    >>> proofs = certify_rectangles(np.eye(2)[[[0, 0, 0]]], pixels, (3, 3), 3, "plurality")
    >>> {shape: proof.radius.tolist() for shape, proof in proofs.items()}
    {(1, 3): [1], (3, 1): [0]}
    """
    shapes = list(_rectangles(area, *_sides(image_shape, "image_shape")))
    if not shapes:
        raise InputError(f"area is {area!r}: no rectangle of that area fits the image")
    return {
        shape: certify_patches(ballots, partition, image_shape, shape, rule, n_patches)
        for shape in shapes
    }


def _rectangles(area: Any, height: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield the rectangles of this area that fit, the flattest first."""
    if isinstance(area, int | np.integer):
        for tall in range(1, int(area) + 1):
            if area % tall == 0 and tall <= height and area // tall <= width:
                yield tall, int(area) // tall


def _largest(reach: Array) -> Array:
    """Keep the positions that no other covers: patches there can do all that others can."""
    distinct = np.unique(reach, axis=0)
    shared = distinct.astype(np.int64) @ distinct.T.astype(np.int64)
    inside = shared == shared.diagonal()[:, None]  # row i is within row j
    np.fill_diagonal(inside, False)
    return np.asarray(distinct[~inside.any(axis=1)])


def _sides(shape: Any, name: str) -> tuple[int, int]:
    """Return height and width of a shape, checked."""
    sides = tuple(shape)[:2] if isinstance(shape, tuple | list) else ()
    if len(sides) != 2 or not all(
        isinstance(side, int | np.integer) and side > 0 for side in sides
    ):
        raise InputError(f"{name} is {shape!r}: give (height, width)")
    return int(sides[0]), int(sides[1])
