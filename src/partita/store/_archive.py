"""The files of a stored model: their names, and how they are read within limits.

A stored model is a folder, or a zip, that holds ``manifest.json`` (everything but the submodels, in
plain JSON, with the sha256 of every other file) and one skops file per submodel. Networks that were
trained jointly are one safetensors file.

A stored model may come from a stranger. So no file is read that lies outside the model's folder,
none that is larger than the manifest says, and no archive that unpacks to far more than its own
size.
"""

import hashlib
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypedDict

from .._support import PathLike
from ..errors import InputError, StoreError

MANIFEST = "manifest.json"
ESTIMATOR = "estimator"  # what the submodels are clones of, for fitting again
FULL_MODEL = "full-model"  # one model on all columns, for comparison
FALLBACK = "fallback-estimator"  # what answers where the vote proves little, for fitting again
FALLBACK_MODEL = "fallback-model"  # the same, fitted
NETWORKS = "networks"  # all submodels that were trained jointly
UNFINISHED = "unfinished"  # a folder of notes, while submodels are stored one by one
OTHER_ESTIMATORS = (ESTIMATOR, FULL_MODEL, FALLBACK, FALLBACK_MODEL)  # beside the submodels
SUBMODEL_FILE = re.compile(r"submodel-(\d{4,9})-[0-9a-f]{16}\.skops")

LARGEST_MANIFEST = 256 * 2**20  # bytes
ALWAYS_UNPACKED = 256 * 2**20  # bytes that any archive may unpack to
MOST_TIMES_LARGER = 100  # larger archives may unpack to this many times their own size
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)

Read = Callable[[str, int], bytes]  # a file's name, and the most bytes it may have


class FileFacts(TypedDict):
    """What the manifest says about a file."""

    sha256: str
    bytes: int


@dataclass(frozen=True)
class StoredFile:
    """A file of a stored model, in memory: its name holds the beginning of its sha256."""

    name: str
    sha256: str
    content: bytes

    @classmethod
    def of(cls, part: str, suffix: str, content: bytes) -> "StoredFile":
        """Make the file for a part of a model, such as ``submodel-0003``."""
        digest = sha256(content)
        return cls(f"{part}-{digest[:16]}{suffix}", digest, content)

    @property
    def facts(self) -> FileFacts:
        """What the manifest says about the file."""
        return {"sha256": self.sha256, "bytes": len(self.content)}


def sha256(content: bytes) -> str:
    """Return the hash of a file's content."""
    return hashlib.sha256(content).hexdigest()


def submodel_name(t: int) -> str:
    """Name the part of a stored model that is submodel t."""
    return f"submodel-{t:04d}"


def is_part(file_name: str) -> bool:
    """Return whether a file in a model's folder belongs to a model, this one or an earlier one."""
    parts = ("submodel-", *OTHER_ESTIMATORS, NETWORKS)
    return file_name.startswith(parts) and file_name.endswith((".skops", ".safetensors"))


def is_stored_model(target: Path) -> bool:
    """Return whether a path holds a stored or unfinished model or, as a folder, nothing at all."""
    if target.is_dir():
        return (
            (target / MANIFEST).is_file()
            or (target / UNFINISHED).is_dir()
            or not any(target.iterdir())
        )
    if not zipfile.is_zipfile(target):
        return False
    with zipfile.ZipFile(target) as archive:
        return MANIFEST in archive.namelist()


# ---- reading within limits ----


class MissingFileError(StoreError):
    """Raised for a file that a stored model does not have."""


@contextmanager
def open_archive(path: PathLike) -> Iterator[Read]:
    """Open a stored model for reading: ``read(name, most)`` returns a file of at most that size."""
    target = Path(path)
    if not target.exists():
        raise InputError(
            f"path {str(target)!r} does not exist: give the folder or zip that partita fit or "
            "save() wrote"
        )
    if target.is_dir():
        if (target / UNFINISHED).is_dir() and not (target / MANIFEST).is_file():
            raise StoreError(
                f"the fit that writes {str(target)!r} is not finished: run it again to resume it"
            )
        yield partial(_read, target)
    elif zipfile.is_zipfile(target):
        try:
            archive = zipfile.ZipFile(target)
        except ZIP_ERRORS as exc:
            raise StoreError(
                f"{str(target)!r} cannot be read as a zip ({exc}): the model was changed or damaged"
            ) from exc
        with archive:
            size = target.stat().st_size
            unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > max(ALWAYS_UNPACKED, MOST_TIMES_LARGER * size):
                raise StoreError(
                    f"{str(target)!r} has {size} bytes and unpacks to {unpacked}: the model was "
                    "changed or damaged"
                )
            yield partial(_read, archive)
    else:
        raise StoreError(f"{str(target)!r} is neither a folder nor a zip: not a stored model")


def read_checked(read: Read, name: str, facts: FileFacts) -> bytes:
    """Return a file's content, if it is the one that the manifest describes."""
    content = read(name, facts["bytes"])
    if sha256(content) != facts["sha256"]:
        raise StoreError(
            f"{name} is not the file that was saved (its sha256 differs): the model was changed "
            "or damaged"
        )
    return content


def check_inside(name: str, inside: bool = True) -> None:
    """Refuse a name that leads out of the stored model."""
    if not inside or name != Path(name).name:
        raise StoreError(f"{name!r} leads out of the stored model: it is not loaded")


def _read(place: Path | zipfile.ZipFile, name: str, most: int) -> bytes:
    check_inside(name)
    try:
        if isinstance(place, Path):
            file = place / name
            check_inside(name, file.resolve().is_relative_to(place.resolve()))  # a symbolic link
            if not file.is_file():
                raise FileNotFoundError
            size = file.stat().st_size
        else:
            size = place.getinfo(name).file_size
        with file.open("rb") if isinstance(place, Path) else place.open(name) as stream:
            if size > most:
                raise StoreError(
                    f"{name} is larger than {MANIFEST} says: the model was changed or damaged"
                )
            return stream.read(size)  # no more than it says it has
    except StoreError:
        raise
    except (KeyError, FileNotFoundError) as exc:
        raise MissingFileError(f"{name} is missing: the stored model is incomplete") from exc
    except ZIP_ERRORS as exc:
        raise StoreError(
            f"{name} cannot be read ({exc}): the model was changed or damaged"
        ) from exc
