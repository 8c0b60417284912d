"""Images in PNG sheets, one image in each row of pixels, and labels in JSON lists."""

import io
import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtraError
from ._progress import SourceError, reason


def pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as exc:
        raise MissingExtraError("pillow", "reading CIFAR10 from PNG sheets", "pillow") from exc
    return Image


def sheet(
    content: bytes, name: str, rows: int, image_shape: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """The images of one sheet, a row each."""
    image_module = pillow()
    height, width, channels = image_shape
    try:
        with image_module.open(io.BytesIO(content), formats=["PNG"]) as image:
            if (
                image.size != (height * width, rows) or image.mode != "RGB"
            ):  # before anything is unpacked
                raise SourceError(f"{name} is no RGB sheet of {height * width} x {rows} pixels")
            return np.array(image, dtype=np.uint8).reshape(rows, height * width * channels)
    except (
        OSError,
        SyntaxError,
        ValueError,
        struct.error,
        image_module.DecompressionBombError,
    ) as exc:
        raise SourceError(f"{name} is no whole PNG file: {reason(exc)}") from exc


def labels(content: bytes, name: str, classes: int) -> NDArray[np.int64]:
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as exc:
        raise SourceError(f"{name} is no JSON: {reason(exc)}") from exc
    if not isinstance(values, list) or not all(
        type(value) is int and 0 <= value < classes for value in values
    ):
        raise SourceError(f"{name} is no list of labels from 0 to {classes - 1}")
    return np.array(values, dtype=np.int64)
