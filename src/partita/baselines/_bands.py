"""Which bands of an image a patch touches, and whether a vote of bands survives every patch.

De-randomized smoothing (Levine and Feizi, 2020) asks a classifier about each band of an image
alone: each column (or row) of some width, or each square block, wrapping around at the edges. Each
band may vote for any number of labels. A patch changes what the bands see that it touches, and no
others: the touched bands may then vote as the attacker likes. So the label y survives a patch if,
with the touched bands' votes for y taken away and each touched band's vote given to z, y is still
ahead of every z. Here that is counted for every position of the patch, which is exact for votes
that an attacker may set freely, and never worse than the usual bound of twice the number of touched
bands.
"""

from typing import Any

import numpy as np

from .._support import Array
from ..certificates import TRAINING_IMAGES, Certificates, Counts
from ..errors import InputError

KINDS = ("column", "row", "block")


def band_pixels(kind: str, size: int, shape: tuple[int, int]) -> Array:
    """What each band sees: bool (bands, height, width)."""
    check_bands(kind, size, shape)
    height, width = shape
    down = (np.arange(height) - np.arange(height)[:, None]) % height < size  # (start, row)
    across = (np.arange(width) - np.arange(width)[:, None]) % width < size
    if kind == "column":
        return np.broadcast_to(across[:, None, :], (width, height, width))
    if kind == "row":
        return np.broadcast_to(down[:, :, None], (height, height, width))
    return (down[:, None, :, None] & across[None, :, None, :]).reshape(
        height * width, height, width
    )


def certify_bands(
    votes: Any, kind: str, size: int, shape: tuple[int, int], patch: tuple[int, int]
) -> Certificates:
    """Predict by the votes of the bands, and certify against a patch at every position.

    Parameters
    ----------
    votes : bool array of shape (images, bands, labels)
        In the order of ``band_pixels``; a band may vote for several labels or for none.
    kind : {"column", "row", "block"}
        What a band is.
    size : int
        How many pixels wide (and high) a band is.
    shape : tuple of (height, width)
        Of the images.
    patch : tuple of (height, width)
        The rectangle that an attacker lays over the image, wherever they like, not rotated.

    Returns
    -------
    Certificates
        ``radius`` is 1 where the prediction survives every position of the patch, else 0.
    """
    check_bands(kind, size, shape)
    check_patch(patch, shape)
    array = np.asarray(votes)
    bands = {"column": shape[1], "row": shape[0], "block": shape[0] * shape[1]}[kind]
    if array.ndim != 3 or array.dtype != bool or array.shape[1] != bands or not array.shape[2]:
        raise InputError(
            f"votes is {array.dtype} of shape {array.shape}: give booleans of shape (images, "
            f"{bands} bands, labels)"
        )
    counts = array.sum(axis=1, dtype=np.int64)
    prediction = counts.argmax(axis=1)  # the smallest label among equals
    touched = touched_bands(kind, size, shape, patch)
    reachable = _reachable_votes(array, touched)  # (images, positions, labels)
    rows = np.arange(len(array))
    # (images, positions): the votes that y keeps, and the most that each z can get
    own = counts[rows, prediction][:, None] - reachable[rows, :, prediction]
    most = counts[:, None, :] - reachable + touched.sum(axis=1)[None, :, None]
    tie = np.arange(array.shape[2]) < prediction[:, None]  # a smaller label wins a tie
    lead = own[:, :, None] - most - tie[:, None, :]
    lead[rows, :, prediction] = np.iinfo(np.int64).max
    worst = lead.min(axis=1)
    radius = (worst.min(axis=1) >= 0).astype(np.int64)
    runner_up = None if array.shape[2] == 1 else worst.argmin(axis=1)
    counts = Counts(f"patches of {patch[0]} x {patch[1]} pixels", 1, (TRAINING_IMAGES,))
    return Certificates(prediction, radius, runner_up, counts)


def touched_bands(kind: str, size: int, shape: tuple[int, int], patch: tuple[int, int]) -> Array:
    """Which bands each position of the patch touches: bool (positions, bands).

    Positions that touch the same bands are listed once.
    """
    seen = band_pixels(kind, size, shape)
    height, width = shape
    corners = [
        (row, column)
        for row in range(height - patch[0] + 1)
        for column in range(width - patch[1] + 1)
    ]
    touched = [
        seen[:, row : row + patch[0], column : column + patch[1]].any(axis=(1, 2))
        for row, column in corners
    ]
    return np.unique(np.stack(touched), axis=0)


def _reachable_votes(votes: Array, touched: Array) -> Array:
    """How many touched bands vote for each label: int (images, positions, labels)."""
    counts = np.empty((len(votes), len(touched), votes.shape[2]), dtype=np.int64)
    reach = touched.astype(np.float32)
    for label in range(votes.shape[2]):  # sums of ones: exact in floats
        counts[:, :, label] = np.rint(votes[:, :, label].astype(np.float32) @ reach.T)
    return counts


def check_bands(kind: str, size: int, shape: tuple[int, int]) -> None:
    """Refuse bands that such images do not have."""
    if kind not in KINDS:
        raise InputError(f"kind is {kind!r}: give one of {', '.join(map(repr, KINDS))}")
    if len(shape) != 2 or not all(
        isinstance(side, int | np.integer) and side > 0 for side in shape
    ):
        raise InputError(f"shape is {shape!r}: give (height, width)")
    most = min(shape) if kind == "block" else shape[kind == "column"]
    if not isinstance(size, int | np.integer) or isinstance(size, bool) or not 1 <= size <= most:
        raise InputError(f"size is {size!r}: a {kind} of these images has 1 to {most} pixels")


def check_patch(patch: tuple[int, int], shape: tuple[int, int]) -> None:
    """Refuse a patch that does not fit into the image."""
    whole = (
        isinstance(patch, tuple | list)
        and len(patch) == 2
        and all(isinstance(side, int | np.integer) for side in patch)
    )
    if not whole or not all(1 <= side <= most for side, most in zip(patch, shape, strict=True)):
        raise InputError(
            f"patch is {patch!r}: give (height, width), each at least 1 and no larger than the "
            f"image, {tuple(shape)}"
        )
