"""Tables of numbers too large for one CSV text: arrays whose every bit is known.

What is hashed are the numbers as they lie in memory, least significant byte first. A missing value
is one NaN, and there is no negative zero, so equal tables have equal bytes.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from .._support.types import Array
from ._fetch_limits import FetchError
from ._image_data import array_sha256

Arrays = Mapping[str, Array]
MOST_BYTES = 2**26  # of a file or an archive, packed or unpacked


@dataclass(frozen=True)
class KnownArrays:
    """The one content that a table of numbers can have, cached as an .npz file.

    Attributes
    ----------
    name : str
        Of the data set.
    sha256 : mapping of str to str
        The hash of each array, by its name.
    """

    name: str
    sha256: Mapping[str, str]

    @property
    def file_name(self) -> str:
        return f"{self.name}.npz"

    def check(self, arrays: Arrays) -> None:
        """Raise FetchError unless these are the known bits."""
        for name, expected in self.sha256.items():
            if array_sha256(arrays[name]) != expected:
                raise FetchError(f"the sha256 of {name} differs from that of the original")

    def decode(self, file: IO[bytes]) -> Arrays:
        """Read the content of a cached file."""
        with np.load(file, allow_pickle=False) as content:
            return {name: content[name] for name in self.sha256}

    def encode(self, arrays: Arrays) -> bytes:
        """The bytes of a file to cache."""
        content = io.BytesIO()
        by_name: Any = {name: arrays[name] for name in self.sha256}
        np.savez_compressed(content, **by_name)
        return content.getvalue()


def canonical(values: Array) -> Array:
    """Numbers as float32 in one way of writing: one NaN, no negative zero."""
    numbers = np.ascontiguousarray(values, dtype=np.float32) + np.float32(0)
    numbers[np.isnan(numbers)] = np.nan
    return numbers
