"""What a loaded data set is, and what it must be bit for bit."""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ._progress import SourceError

Arrays = dict[str, NDArray[Any]]
NAMES = ("X_train", "y_train", "X_test", "y_test")


@dataclass(frozen=True, eq=False)
class ImageData:
    """Images as rows: a row holds an image's values by row, then column, then channel, so
    ``X.reshape(-1, *image_shape)`` shows them."""

    name: str
    X_train: NDArray[np.uint8] = field(repr=False)
    y_train: NDArray[np.int64] = field(repr=False)
    X_test: NDArray[np.uint8] = field(repr=False)
    y_test: NDArray[np.int64] = field(repr=False)
    image_shape: tuple[int, int, int]
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Exact:
    """The one content a data set can have."""

    name: str
    rows: tuple[int, int]
    image_shape: tuple[int, int, int]
    classes: tuple[str, ...]
    sha256: Mapping[str, str]

    @property
    def values(self) -> int:
        """In one image."""
        height, width, channels = self.image_shape
        return height * width * channels

    @property
    def limit(self) -> int:
        """No file, archive or download that holds this data, packed or unpacked, needs more bytes:
        where more come, something is wrong."""
        return 2 * sum(self.rows) * (self.values + 8) + 2**20

    @property
    def kept_as(self) -> str:
        return f"{self.name}.npz"

    def read(self, file: IO[bytes]) -> Arrays:
        with np.load(file, allow_pickle=False) as content:
            return {name: content[name] for name in NAMES}

    def written(self, arrays: Arrays) -> bytes:
        content = io.BytesIO()
        np.savez(
            content,
            X_train=arrays["X_train"],
            y_train=arrays["y_train"],
            X_test=arrays["X_test"],
            y_test=arrays["y_test"],
        )
        return content.getvalue()

    def data(self, arrays: Arrays) -> ImageData:
        X_train, y_train, X_test, y_test = (arrays[name] for name in NAMES)
        return ImageData(
            self.name, X_train, y_train, X_test, y_test, self.image_shape, self.classes
        )

    def check(self, arrays: Arrays) -> None:
        """Raise SourceError unless these are the known bits."""
        for name in NAMES:
            if name not in arrays:
                raise SourceError(f"it holds no {name}")
            array = arrays[name]
            rows = self.rows[NAMES.index(name) // 2]
            shape, kind = (
                ((rows, self.values), np.uint8) if name.startswith("X") else ((rows,), np.int64)
            )
            if array.shape != shape or array.dtype != kind:
                raise SourceError(
                    f"{name} is {array.dtype} of shape {array.shape}, not {np.dtype(kind)} of "
                    f"shape {shape}"
                )
            if sha256_of(array) != self.sha256[name]:
                raise SourceError(f"the sha256 of {name} differs from that of the original")


def sha256_of(array: NDArray[Any]) -> str:
    """Of the values in C order, least significant byte first whatever the machine."""
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return hashlib.sha256(plain.data).hexdigest()
