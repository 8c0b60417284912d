"""One source after the other, until one has the known bits.

What a source brings is believed only if its hash is the known one, wherever it comes from.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from .._support.progress import log
from ..errors import InputError, MissingExtraError
from ._cache import KnownContent, cache_folder, read_cached, write_cached
from ._fetch_limits import FetchError, reason

Content = TypeVar("Content")


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
    """Content from the cache, or from the first source that has it.

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
            failures.append(f"{source.name}: {reason(exc)}")
            log(f"{known.name}: could not use {failures[-1]}")
        else:
            return content
    if missing_library is not None:
        raise missing_library
    raise InputError(
        f"{known.name} is not in the cache and could not be downloaded ({'; '.join(failures)}): "
        f"{cure}"
    )
