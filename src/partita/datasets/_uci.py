"""Tables of numbers from UCI's repository: one content, in a Parquet file or as it was published.

What a file holds is read by the data set's own module; here is where files are looked for, and that
only the known bits are believed.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..errors import InputError
from . import _http
from ._cache import local_file, shared_file
from ._fetch import Source, fetch
from ._fetch_limits import FetchError, reason
from ._known_arrays import MOST_BYTES, Arrays, KnownArrays

SITES = ("https://archive.ics.uci.edu/static/public",)


@dataclass(frozen=True)
class UciTable:
    """A table, its files, and how each of them is read.

    Attributes
    ----------
    known : KnownArrays
        Its content.
    what : str
        What it is called in errors.
    number : int
        Of the data set in the repository.
    parquet, archive : str
        The names of its files.
    from_parquet, from_archive : callable
        Make arrays of a file's bytes, or raise FetchError.
    """

    known: KnownArrays
    what: str
    number: int
    parquet: str
    archive: str
    from_parquet: Callable[[bytes], Arrays]
    from_archive: Callable[[bytes], Arrays]

    def load(self, path: str | os.PathLike[str] | None) -> Arrays:
        """The content of a user's file; without one, from the cache or wherever it is found."""
        return self.fetch(None) if path is None else self._user_file(Path(path).expanduser())

    def fetch(self, cache: str | os.PathLike[str] | None) -> Arrays:
        """The content as it is cached, fetched first if need be."""
        return fetch(self.known, cache, self._sources, self._cure)

    def _sources(self, folder: Path) -> Iterator[Source[Arrays]]:
        for file in (folder / self.parquet, folder / self.archive, shared_file(self.parquet)):
            if file is not None and file.is_file():
                yield Source(str(file), partial(self._from_file, file))
        for site in SITES:
            url = f"{site}/{self.number}/{self.archive}"
            yield Source(url, partial(self._download, url))

    def _cure(self, folder: Path) -> str:
        return (
            f"go online, or put {self.archive} (from UCI's data set {self.number}) or "
            f"{self.parquet} into {folder}"
        )

    def _user_file(self, file: Path) -> Arrays:
        if not file.is_file():
            raise InputError(
                f"path {str(file)!r} is not a file: give {self.parquet} or {self.archive}, or "
                "leave path out to look into the cache"
            )
        try:
            arrays = self._from_file(file)
            self.known.check(arrays)
        except (FetchError, OSError) as exc:
            raise InputError(
                f"path {str(file)!r} is not {self.what} ({reason(exc)}): give {self.parquet} or "
                f"{self.archive} as it was published"
            ) from exc
        return arrays

    def _download(self, url: str) -> Arrays:
        return self.from_archive(_http.download(url, MOST_BYTES))

    def _from_file(self, file: Path) -> Arrays:
        content = local_file(file.parent, file.name, MOST_BYTES).read_bytes()
        return (self.from_parquet if content.startswith(b"PAR1") else self.from_archive)(content)
