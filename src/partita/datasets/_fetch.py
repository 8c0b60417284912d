"""Known content: from the cache folder, else from the first source that has it.

Content is believed only if its hash is the known one, wherever it comes from. pooch downloads
(``_download``), but its cache is not used: it knows a file by the file's hash, while here one
content comes in many files (idx, PNG sheets, Parquet, CSV, a package), all with one hash.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Generic, Protocol, TypeVar

from platformdirs import user_cache_path

from .._support import log, one_line, write_atomic
from ..errors import InputError, MissingExtraError

Content = TypeVar("Content")


class FetchError(Exception):
    """A source has no usable data: the reason, in a few words. Never leaves this package."""


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
        """Return the bytes of a file to cache."""


@dataclass(frozen=True)
class Source(Generic[Content]):
    """Where data may be found: ``read`` returns them or raises FetchError."""

    name: str
    read: Callable[[], Content]


def fetch(
    known: KnownContent[Content],
    cache: str | os.PathLike[str] | None,
    sources: Callable[[Path], Iterable[Source[Content]]],
    cure: Callable[[Path], str],
) -> Content:
    """Return content from the cache, or from the first source that has it.

    Parameters
    ----------
    known : KnownContent
        What the content must be.
    cache : path or None
        The cache folder; None: the default one.
    sources : callable
        The sources to try, given the cache folder.
    cure : callable
        What to do by hand if all of them fail, given the cache folder.
    """
    folder = cache_folder(cache)
    content = read_cached(folder, known)
    if content is None:
        content = _first_usable(known, sources(folder), cure(folder))
        write_cached(folder, known, content)
    return content


def _first_usable(
    known: KnownContent[Content], sources: Iterable[Source[Content]], cure: str
) -> Content:
    failures: list[str] = []
    missing_library: MissingExtraError | None = None
    for source in sources:
        log(f"{known.name}: trying {source.name}")
        try:
            content = source.read()
            known.check(content)
        except MissingExtraError as exc:  # another source may do without the library
            missing_library = exc
            log(f"{known.name}: {exc}")
        except (FetchError, OSError) as exc:
            failures.append(f"{source.name}: {one_line(exc)}")
            log(f"{known.name}: could not use {failures[-1]}")
        else:
            return content
    if missing_library is not None:
        raise missing_library
    raise InputError(
        f"{known.name} is not in the cache and could not be downloaded ({'; '.join(failures)}): "
        f"{cure}"
    )


def cache_folder(cache: str | os.PathLike[str] | None) -> Path:
    """Return the argument, or what PARTITA_CACHE names, or partita's folder in the user's cache."""
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
    """Return a file in ``shared/data`` beside the working directory or above it, if any."""
    here = Path.cwd()
    files = (folder / "shared" / "data" / name for folder in (here, *here.parents))
    return next((file for file in files if file.is_file()), None)


def read_cached(folder: Path, known: KnownContent[Content]) -> Content | None:
    """Return what an earlier call cached, if it is there and undamaged."""
    file = folder / known.file_name
    if not file.exists():
        return None
    try:
        with file.open("rb") as stream:
            content = known.decode(stream)
        known.check(content)
    # a damaged file makes zipfile and numpy raise nearly anything, and the cure is always the same
    except Exception as exc:
        log(f"{file} is damaged ({one_line(exc)}): getting {known.name} again")
        return None
    return content


def write_cached(folder: Path, known: KnownContent[Content], content: Content) -> None:
    """Cache content; data that cannot be cached are still good for this call."""
    file = folder / known.file_name
    try:
        write_atomic(file, known.encode(content))
    except OSError as exc:
        log(
            f"{known.name} could not be cached in {folder} ({one_line(exc)}) and will be "
            "downloaded again: set PARTITA_CACHE to another folder"
        )
    else:
        log(f"{known.name} is cached in {file}")


def read_local(file: Path, most_bytes: int) -> bytes:
    """Return the content of a user's file; FetchError if it is too large to be right."""
    size = file.stat().st_size
    if size > most_bytes:
        raise FetchError(f"{file.name} has {size:,} bytes, more than the {most_bytes:,} expected")
    return file.read_bytes()
