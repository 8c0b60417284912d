"""What loaders return, and what a known data set must be, bit for bit.

What is hashed are numbers as they lie in memory, least significant byte first, or a CSV file in one
way of writing: equal data have one hash, whatever file they come from.
"""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support import Array, TableLike
from ..errors import InputError

Arrays = Mapping[str, Array]
Content = TypeVar("Content")

IMAGE_ARRAYS = ("X_train", "y_train", "X_test", "y_test")
TABLE_MOST_BYTES = 2**24  # no table that is known as CSV needs more
ARRAYS_MOST_BYTES = 2**26  # of a file or an archive, packed or unpacked


class FetchError(Exception):
    """A source has no usable data: the reason, in a few words. Never leaves this package."""


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


@dataclass(frozen=True, eq=False)
class TableData:
    """A table, split into rows to learn from and rows to certify, and what counts as right.

    Attributes
    ----------
    name : str
        Name of the data set.
    X_train, X_test : pandas.DataFrame
        Columns of numbers and of strings, NaN where a value is missing.
    y_train, y_test : float array of shape (n_rows,)
        The values to predict.
    target : str
        What they are.
    units : mapping of str to tuple of str, or None
        For ``units=``: the columns of each unit; None where every column is a unit.
    trusted : tuple of str
        For ``trusted=``: columns out of an attacker's reach.
    tolerance : float or None
        A prediction is right within this distance of the value; see :meth:`bounds`.
    relative : float or None
        Instead of a tolerance, where ``y`` is log1p of a price: a prediction is right within this
        share of the price.
    sha256 : mapping of str to str
        The hash of each file that was read, by its name.

    See Also
    --------
    partita.datasets.ImageData : Images with labels.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.datasets import TableData
    >>> y = np.array([20.0, 21.5])
    >>> data = TableData("two days", None, y, None, y, "temperature", tolerance=3.0)
    >>> lower, upper = data.bounds(data.y_test)
    >>> lower.tolist(), upper.tolist()
    ([17.0, 18.5], [23.0, 24.5])
    """

    name: str
    X_train: TableLike = field(repr=False)
    y_train: Array = field(repr=False)
    X_test: TableLike = field(repr=False)
    y_test: Array = field(repr=False)
    target: str
    units: Mapping[str, tuple[str, ...]] | None = field(default=None, repr=False)
    trusted: tuple[str, ...] = ()
    tolerance: float | None = None
    relative: float | None = None
    sha256: Mapping[str, str] = field(default_factory=dict, repr=False)

    def bounds(self, y: ArrayLike) -> tuple[Array, Array]:
        """Return the lowest and the highest prediction that is right, for each of these values.

        With ``certify(X, lower=lower, upper=upper)`` a radius of r means: whatever is written into
        r units, the prediction stays right; -1: it is not right now. The share of rows with a
        radius of at least r is the certified accuracy at r.

        With ``relative``, the bounds lie at equal shares of the price, not at equal distances of
        its logarithm: 15 % below and above 100,000 dollars is 85,000 to 115,000, whose log1p are
        0.163 below and 0.140 above. Since log1p keeps the order, and with it the median, this is
        the same question as the paper's, which turns every submodel's value into dollars first.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            True values, such as ``y_test``.

        Returns
        -------
        tuple of float arrays of shape (n_rows,)
            Lower and upper bounds.

        Raises
        ------
        InputError
            If a value is not finite, or the data set says nothing of a tolerance.

        Examples
        --------
        >>> import numpy as np
        >>> from partita.datasets import TableData
        >>> y = np.log1p([100_000.0])
        >>> data = TableData("one house", None, y, None, y, "log1p(price)", relative=0.15)
        >>> [np.expm1(bound).round().tolist() for bound in data.bounds(y)]
        [[85000.0], [115000.0]]
        """
        values = np.asarray(y, dtype=np.float64)
        if not np.all(np.isfinite(values)):
            raise InputError("y must hold finite numbers: leave out the rows without one")
        if self.relative is not None:
            price = np.expm1(values)
            if np.any(price < 0):
                raise InputError(
                    "y holds a number below 0, which is log1p of no price: give values such as "
                    "y_test"
                )
            return np.log1p(price * (1 - self.relative)), np.log1p(price * (1 + self.relative))
        if self.tolerance is None:
            raise InputError(
                f"{self.name} says nothing of a tolerance: give lower and upper of your own to "
                "certify"
            )
        return values - self.tolerance, values + self.tolerance


# ---- known content ----


class KnownContent(Protocol[Content]):
    """A data set whose every bit is known, and the file it is cached in."""

    @property
    def name(self) -> str: ...

    @property
    def file_name(self) -> str: ...

    @property
    def hashes(self) -> Mapping[str, str]:
        """The hash of each file or array, by its name."""

    @property
    def most_bytes(self) -> int:
        """No file, archive or download with this data, packed or unpacked, needs more bytes."""

    def check(self, content: Content, /) -> None:
        """Raise FetchError unless these are the known bits."""

    def decode(self, file: IO[bytes], /) -> Content:
        """Read the content of a cached file."""

    def encode(self, content: Content, /) -> bytes:
        """Return the bytes of a file to cache."""


@dataclass(frozen=True)
class KnownArrays:
    """The one content that some arrays can have, cached as an .npz file.

    Attributes
    ----------
    name : str
        Of the data set.
    sha256 : mapping of str to str
        The hash of each array, by its name.
    forms : mapping of str to (str, tuple of int)
        The type and the shape of each array: a hash alone does not tell what bytes mean.
    """

    name: str
    sha256: Mapping[str, str]
    forms: Mapping[str, tuple[str, tuple[int, ...]]]

    @property
    def file_name(self) -> str:
        return f"{self.name}.npz"

    @property
    def hashes(self) -> Mapping[str, str]:
        return dict(self.sha256)

    @property
    def most_bytes(self) -> int:
        return ARRAYS_MOST_BYTES

    def check(self, arrays: Arrays) -> None:
        """Raise FetchError unless these are the known bits."""
        for name, (kind, shape) in self.forms.items():
            if name not in arrays:
                raise FetchError(f"{name} is not in it")
            array = arrays[name]
            if array.shape != shape or array.dtype != np.dtype(kind):
                raise FetchError(
                    f"{name} is {array.dtype} of shape {array.shape}, not {kind} of shape {shape}"
                )
            if array_sha256(array) != self.sha256[name]:
                raise FetchError(f"the sha256 of {name} differs from that of the original")

    def decode(self, file: IO[bytes]) -> Arrays:
        """Read the content of a cached file."""
        with np.load(file, allow_pickle=False) as content:
            return {name: content[name] for name in self.sha256}

    def encode(self, arrays: Arrays) -> bytes:
        """Return the bytes of a file to cache."""
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, **{name: arrays[name] for name in self.sha256})
        return content.getvalue()


@dataclass(frozen=True)
class KnownImages(KnownArrays):
    """The one content that an image data set can have; its forms follow from the other settings."""

    rows: tuple[int, int]
    image_shape: tuple[int, int, int]
    classes: tuple[str, ...]
    forms: Mapping[str, tuple[str, tuple[int, ...]]] = field(init=False)

    def __post_init__(self) -> None:
        train, test = self.rows
        forms = {
            "X_train": ("uint8", (train, self.n_values)),
            "y_train": ("int64", (train,)),
            "X_test": ("uint8", (test, self.n_values)),
            "y_test": ("int64", (test,)),
        }
        object.__setattr__(self, "forms", forms)

    @property
    def n_values(self) -> int:
        """Values per image."""
        height, width, channels = self.image_shape
        return height * width * channels

    @property
    def most_bytes(self) -> int:
        return 2 * sum(self.rows) * (self.n_values + 8) + 2**20

    def to_data(self, arrays: Arrays) -> ImageData:
        """Return the content as a loader returns it."""
        X_train, y_train, X_test, y_test = (arrays[name] for name in IMAGE_ARRAYS)
        return ImageData(
            self.name, X_train, y_train, X_test, y_test, self.image_shape, self.classes
        )


@dataclass(frozen=True)
class KnownTable:
    """The one content that a table can have: a CSV file in one way of writing."""

    name: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.name}.csv"

    @property
    def hashes(self) -> Mapping[str, str]:
        return {self.file_name: self.sha256}

    @property
    def most_bytes(self) -> int:
        return TABLE_MOST_BYTES

    def check(self, content: bytes) -> None:
        """Raise FetchError unless these are the known bits."""
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise FetchError("the sha256 of its content differs from that of the original")

    def decode(self, file: IO[bytes]) -> bytes:
        """Read the content of a cached file."""
        return file.read(TABLE_MOST_BYTES)

    def encode(self, content: bytes) -> bytes:
        """Return the bytes of a file to cache."""
        return content


def array_sha256(array: Array) -> str:
    """Return the hash of the values in C order, least significant byte first on any machine."""
    little_endian = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return hashlib.sha256(little_endian.data).hexdigest()


def canonical(values: Array) -> Array:
    """Return numbers as float32 in one way of writing: one NaN, no negative zero."""
    numbers = np.ascontiguousarray(values, dtype=np.float32) + np.float32(0)
    numbers[np.isnan(numbers)] = np.nan
    return numbers


def random_rows(n_rows: int, n_chosen: int) -> Array:
    """Return which rows are to be certified: always the same random ones."""
    chosen = np.zeros(n_rows, dtype=bool)
    # RandomState: numpy promises that its numbers never change
    chosen[np.random.RandomState(0).permutation(n_rows)[:n_chosen]] = True
    return chosen
