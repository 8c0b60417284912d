"""Flattened images: their check, their pixels, and how pixel values enter a network.

Knows arrays and image shapes only. Values are normalised by fixed numbers: a mean or a deviation
computed from the images would let one pixel reach every submodel.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from .._support import Array
from ..errors import InputError

MIDDLE, SCALE = 127.5, 64.0


def normalise(values: Tensor) -> Tensor:
    """Byte values as floats near zero."""
    return (values.float() - MIDDLE) / SCALE


def as_images(X: Any, image_shape: Sequence[int]) -> Array:
    """Flattened images as bytes of shape (images, pixels, channels)."""
    height, width, channels = image_shape
    array = np.asarray(X)
    if array.ndim != 2 or array.shape[1] != height * width * channels:
        raise InputError(
            f"X has shape {array.shape}, but image_shape={tuple(image_shape)} needs (images, "
            f"{height * width * channels}): flatten each image in the order rows, columns, channels"
        )
    if array.dtype != np.uint8:
        if array.dtype.kind not in "uif" or not np.all(
            (array >= 0) & (array <= 255) & (array == np.floor(array))
        ):
            raise InputError(
                f"X holds {array.dtype} values that are not whole numbers from 0 to 255: give "
                "images as uint8"
            )
        array = array.astype(np.uint8)
    return np.ascontiguousarray(array).reshape(len(array), height * width, channels)


def labelled_images(X: Any, y: Any, image_shape: Sequence[int]) -> tuple[Array, Array, Array]:
    """Images, their sorted classes, and the index of each image's class."""
    images, labels = as_images(X, image_shape), np.asarray(y)
    if len(labels) != len(images):
        raise InputError(
            f"y has {len(labels)} labels for {len(images)} images: expected one per image"
        )
    classes, codes = np.unique(labels, return_inverse=True)
    return images, classes, codes


def pixels_of(columns: Sequence[int], image_shape: Sequence[int]) -> list[int]:
    """The pixels that a set of columns makes up; a pixel's channels must stay together."""
    channels = int(image_shape[2])
    pixels = sorted({int(column) // channels for column in columns})
    whole = [pixel * channels + channel for pixel in pixels for channel in range(channels)]
    if sorted(map(int, columns)) != whole:
        raise InputError(
            "a submodel has some channels of a pixel but not the others: use "
            "units=pixels(image_shape), or give image_shape"
        )
    return pixels
