"""Images in PNG sheets, one image in each row of pixels, and labels in JSON lists."""

import io
import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.optional import require
from ._fetch_limits import FetchError, reason


def pillow() -> Any:
    """Pillow's module for images, or an error that says how to install it."""
    return require("PIL.Image", "reading CIFAR10 from PNG sheets", "pillow")


def read_sheet(
    content: bytes, name: str, n_rows: int, image_shape: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """The images of one sheet, one per row."""
    image_module = pillow()
    height, width, channels = image_shape
    try:
        with image_module.open(io.BytesIO(content), formats=["PNG"]) as image:
            # before anything is unpacked
            if image.size != (height * width, n_rows) or image.mode != "RGB":
                raise FetchError(
                    f"{name} is not an RGB sheet of {height * width} x {n_rows} pixels"
                )
            return np.array(image, dtype=np.uint8).reshape(n_rows, height * width * channels)
    except (
        OSError,
        SyntaxError,
        ValueError,
        struct.error,
        image_module.DecompressionBombError,
    ) as exc:
        raise FetchError(f"{name} is not a valid PNG file: {reason(exc)}") from exc


def read_labels(content: bytes, name: str, n_classes: int) -> NDArray[np.int64]:
    """Labels from a JSON list."""
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as exc:
        raise FetchError(f"{name} is not valid JSON: {reason(exc)}") from exc
    if not isinstance(values, list) or not all(
        type(value) is int and 0 <= value < n_classes for value in values
    ):
        raise FetchError(f"{name} is not a list of labels from 0 to {n_classes - 1}")
    return np.array(values, dtype=np.int64)
