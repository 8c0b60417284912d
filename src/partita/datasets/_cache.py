"""The folder where fetched data are kept: one file for each data set."""

import os
from pathlib import Path
from typing import IO, Protocol, TypeVar

from .._support.atomic import write_whole
from ..errors import InputError
from ._progress import SourceError, reason, say

Content = TypeVar("Content")


class Known(Protocol[Content]):
    """A data set whose every bit is known, and the file it is kept in."""

    @property
    def name(self) -> str: ...

    @property
    def kept_as(self) -> str: ...

    def check(self, content: Content, /) -> None:
        """Raise SourceError unless these are the known bits."""

    def read(self, file: IO[bytes], /) -> Content: ...

    def written(self, content: Content, /) -> bytes: ...


def cache_folder(cache: str | os.PathLike[str] | None) -> Path:
    """The argument, or PARTITA_CACHE, or partita's folder among the user's caches."""
    chosen = cache if cache is not None else os.environ.get("PARTITA_CACHE") or None
    if chosen is None:
        common = Path(
            os.environ.get("XDG_CACHE_HOME", "")
        )  # the specification says to ignore a relative one
        folder = (common if common.is_absolute() else Path("~/.cache").expanduser()) / "partita"
    else:
        folder = Path(chosen).expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"cache {str(folder)!r} is a file: name a folder, which is made if need be"
        )
    return folder


def kept(folder: Path, known: Known[Content]) -> Content | None:
    """What an earlier call kept, if it is there and whole."""
    file = folder / known.kept_as
    if not file.exists():
        return None
    try:
        with file.open("rb") as opened:
            content = known.read(opened)
        known.check(content)
    # a damaged file makes zipfile and numpy raise nearly anything, and the cure is always the same
    except Exception as exc:
        say(f"{file} is damaged ({reason(exc)}): {known.name} is fetched again")
        return None
    return content


def keep(folder: Path, known: Known[Content], content: Content) -> None:
    """Not being able to keep the data is no reason to refuse them."""
    file = folder / known.kept_as
    try:
        write_whole(file, known.written(content))
    except OSError as exc:
        say(
            f"{known.name} cannot be kept in {folder} ({reason(exc)}) and will be fetched again: "
            "set PARTITA_CACHE to another folder"
        )
    else:
        say(f"{known.name} is kept in {file}")


def placed(folder: Path, name: str, limit: int) -> Path:
    """A file that somebody put into the folder."""
    file = folder / name
    size = file.stat().st_size
    if size > limit:
        raise SourceError(f"{name} has {size:,} bytes, which cannot be right")
    return file
