"""Reading the files of a stored model from a folder or a zip, within limits.

A stored model may come from anybody. So no file is read that lies outside the model's folder, none
that is larger than the manifest says, and no archive that unpacks to far more than its own size.
"""

import hashlib
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import InputError, StoreError
from ._layout import MANIFEST, UNFINISHED

Read = Callable[[str, int], bytes]  # a file's name, and the most bytes it may have

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


@contextmanager
def open_archive(path: Any) -> Iterator[Read]:
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
        yield lambda name, most: _read_file(target, name, most)
    elif zipfile.is_zipfile(target):
        try:
            archive = zipfile.ZipFile(target)
        except ZIP_ERRORS as exc:
            raise StoreError(
                f"{str(target)!r} cannot be read as a zip ({exc}): the model was changed or damaged"
            ) from exc
        with archive:
            _check_unpacked_size(target, archive)
            yield lambda name, most: _read_member(archive, name, most)
    else:
        raise StoreError(f"{str(target)!r} is neither a folder nor a zip: not a stored model")


def read_checked(read: Read, name: str, facts: Mapping[str, Any]) -> bytes:
    """A file's content, if it is the one that the manifest describes."""
    content = read(name, int(facts["bytes"]))
    if hashlib.sha256(content).hexdigest() != facts["sha256"]:
        raise StoreError(
            f"{name} is not the file that was saved (its sha256 differs): the model was changed "
            "or damaged"
        )
    return content


def check_inside(name: str) -> None:
    """Refuse a name that leads out of the stored model."""
    if name != Path(name).name:
        raise StoreError(f"{name!r} leads out of the stored model: it is not loaded")


def is_stored_model(target: Path) -> bool:
    """Whether a path holds a stored model, an unfinished one or, as a folder, nothing at all."""
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


def _read_file(folder: Path, name: str, most: int) -> bytes:
    file = folder / name
    check_inside(name)
    if not file.resolve().is_relative_to(folder.resolve()):  # a symbolic link
        raise StoreError(f"{name!r} leads out of the stored model: it is not loaded")
    if not file.is_file():
        raise StoreError(f"{name} is missing: the stored model is incomplete")
    if file.stat().st_size > most:
        raise StoreError(_larger(name))
    return file.read_bytes()


def _read_member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    check_inside(name)
    try:
        size = archive.getinfo(name).file_size
        if size > most:
            raise StoreError(_larger(name))
        with archive.open(name) as member:
            return member.read(size)
    except KeyError as exc:
        raise StoreError(f"{name} is missing: the stored model is incomplete") from exc
    except ZIP_ERRORS as exc:
        if isinstance(exc, StoreError):
            raise
        raise StoreError(
            f"{name} cannot be read ({exc}): the model was changed or damaged"
        ) from exc


def _larger(name: str) -> str:
    return f"{name} is larger than {MANIFEST} says: the model was changed or damaged"


def _check_unpacked_size(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse an archive of a few bytes that unpacks to very many."""
    size, unpacked = path.stat().st_size, sum(member.file_size for member in archive.infolist())
    if unpacked > max(ALWAYS_UNPACKED, MOST_TIMES_LARGER * size):
        raise StoreError(
            f"{str(path)!r} has {size} bytes and unpacks to {unpacked}: the model was changed or "
            "damaged"
        )
