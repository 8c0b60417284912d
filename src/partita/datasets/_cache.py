"""The folder where downloaded data are cached: one file per data set, checked when it is read."""

import os
from pathlib import Path
from typing import IO, Protocol, TypeVar

from platformdirs import user_cache_path

from .._support.atomic import write_atomic
from .._support.progress import log
from ..errors import InputError
from ._fetch_limits import FetchError, reason

Content = TypeVar("Content")


class KnownContent(Protocol[Content]):
    """A data set whose every bit is known, and the file it is cached in."""

    @property
    def name(self) -> str: ...

    @property
    def file_name(self) -> str: ...

    def check(self, content: Content, /) -> None:
        """Raise FetchError unless these are the known bits."""

    def decode(self, file: IO[bytes], /) -> Content:
        """Read the content of a cached file."""

    def encode(self, content: Content, /) -> bytes:
        """The bytes of a file to cache."""


def cache_folder(cache: str | os.PathLike[str] | None) -> Path:
    """The argument, or what PARTITA_CACHE names, or partita's folder among the user's caches."""
    chosen = cache if cache is not None else os.environ.get("PARTITA_CACHE") or None
    if chosen is None:
        folder = user_cache_path("partita", appauthor=False)
    else:
        folder = Path(chosen).expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"cache {str(folder)!r} is a file: name a folder, which is made if need be"
        )
    return folder


def shared_file(name: str) -> Path | None:
    """A file in ``shared/data`` beside a folder that the working directory lies in, if any."""
    here = Path.cwd()
    files = (folder / "shared" / "data" / name for folder in (here, *here.parents))
    return next((file for file in files if file.is_file()), None)


def read_cached(folder: Path, known: KnownContent[Content]) -> Content | None:
    """What an earlier call cached, if it is there and undamaged."""
    file = folder / known.file_name
    if not file.exists():
        return None
    try:
        with file.open("rb") as stream:
            content = known.decode(stream)
        known.check(content)
    # a damaged file makes zipfile and numpy raise nearly anything, and the cure is always the same
    except Exception as exc:
        log(f"{file} is damaged ({reason(exc)}): getting {known.name} again")
        return None
    return content


def write_cached(folder: Path, known: KnownContent[Content], content: Content) -> None:
    """Cache content; data that cannot be cached are still good for this call."""
    file = folder / known.file_name
    try:
        write_atomic(file, known.encode(content))
    except OSError as exc:
        log(
            f"{known.name} could not be cached in {folder} ({reason(exc)}) and will be downloaded "
            "again: set PARTITA_CACHE to another folder"
        )
    else:
        log(f"{known.name} is cached in {file}")


def local_file(folder: Path, name: str, most_bytes: int) -> Path:
    """A file that somebody put into the folder; FetchError if it is too large to be right."""
    file = folder / name
    size = file.stat().st_size
    if size > most_bytes:
        raise FetchError(f"{name} has {size:,} bytes, more than the {most_bytes:,} expected")
    return file
