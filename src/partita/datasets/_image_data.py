"""Image data: what a loader returns, and what a known data set must be bit for bit."""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ._fetch_limits import FetchError

Arrays = dict[str, NDArray[Any]]
NAMES = ("X_train", "y_train", "X_test", "y_test")


@dataclass(frozen=True, eq=False)
class ImageData:
    """Images as rows of a table, split into rows to learn from and rows to certify.

    A row holds an image's values by row, then column, then channel, so
    ``X.reshape(-1, *image_shape)`` gives the images.

    Attributes
    ----------
    name : str
        Name of the data set.
    X_train, X_test : uint8 array of shape (n_rows, height * width * channels)
        The images, flattened.
    y_train, y_test : int64 array of shape (n_rows,)
        Their labels: positions in ``classes``.
    image_shape : (int, int, int)
        Height, width and channels, for ``image_shape=`` or ``units=partita.pixels(image_shape)``.
    classes : tuple of str
        The name of each label.

    See Also
    --------
    partita.datasets.TableData : Tables with a value to predict.

    Examples
    --------
    >>> from partita.datasets import load_digits
    >>> data = load_digits()
    >>> data.X_train.shape, data.image_shape
    ((1437, 64), (8, 8, 1))
    """

    name: str
    X_train: NDArray[np.uint8] = field(repr=False)
    y_train: NDArray[np.int64] = field(repr=False)
    X_test: NDArray[np.uint8] = field(repr=False)
    y_test: NDArray[np.int64] = field(repr=False)
    image_shape: tuple[int, int, int]
    classes: tuple[str, ...]


@dataclass(frozen=True)
class KnownImages:
    """The one content that an image data set can have, cached as an .npz file."""

    name: str
    rows: tuple[int, int]
    image_shape: tuple[int, int, int]
    classes: tuple[str, ...]
    sha256: Mapping[str, str]

    @property
    def n_values(self) -> int:
        """Values per image."""
        height, width, channels = self.image_shape
        return height * width * channels

    @property
    def most_bytes(self) -> int:
        """No file, archive or download with this data, packed or unpacked, needs more bytes."""
        return 2 * sum(self.rows) * (self.n_values + 8) + 2**20

    @property
    def file_name(self) -> str:
        return f"{self.name}.npz"

    def decode(self, file: IO[bytes]) -> Arrays:
        """Read the content of a cached file."""
        with np.load(file, allow_pickle=False) as content:
            return {name: content[name] for name in NAMES}

    def encode(self, arrays: Arrays) -> bytes:
        """The bytes of a file to cache."""
        content = io.BytesIO()
        X_train, y_train, X_test, y_test = (arrays[name] for name in NAMES)
        np.savez(content, X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test)
        return content.getvalue()

    def to_data(self, arrays: Arrays) -> ImageData:
        """The content as a loader returns it."""
        X_train, y_train, X_test, y_test = (arrays[name] for name in NAMES)
        return ImageData(
            self.name, X_train, y_train, X_test, y_test, self.image_shape, self.classes
        )

    def check(self, arrays: Arrays) -> None:
        """Raise FetchError unless these are the known bits."""
        for name in NAMES:
            if name not in arrays:
                raise FetchError(f"{name} is not in it")
            array = arrays[name]
            n_rows = self.rows[NAMES.index(name) // 2]
            of_images = name.startswith("X")
            shape = (n_rows, self.n_values) if of_images else (n_rows,)
            dtype = np.dtype(np.uint8 if of_images else np.int64)
            if array.shape != shape or array.dtype != dtype:
                raise FetchError(
                    f"{name} is {array.dtype} of shape {array.shape}, not {dtype} of shape {shape}"
                )
            if array_sha256(array) != self.sha256[name]:
                raise FetchError(f"the sha256 of {name} differs from that of the original")


def array_sha256(array: NDArray[Any]) -> str:
    """The hash of the values in C order, least significant byte first whatever the machine."""
    little_endian = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return hashlib.sha256(little_endian.data).hexdigest()
