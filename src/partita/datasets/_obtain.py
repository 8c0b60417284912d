"""One source after the other, until one has the known bits."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from ..errors import InputError, MissingExtraError
from ._cache import Known, cache_folder, keep, kept
from ._progress import SourceError, reason, say

Content = TypeVar("Content")


@dataclass(frozen=True)
class Source(Generic[Content]):
    """Where data may be found: ``read`` gives them or raises SourceError."""

    name: str
    read: Callable[[], Content]


def obtain(
    known: Known[Content],
    cache: str | os.PathLike[str] | None,
    sources: Callable[[Path], Iterable[Source[Content]]],
    cure: Callable[[Path], str],
) -> Content:
    """From the cache, or from the first source that has it; ``cure`` says what to put by hand into
    the folder when none has."""
    folder = cache_folder(cache)
    content = kept(folder, known)
    if content is None:
        content = _first(known, sources(folder), cure(folder))
        keep(folder, known, content)
    return content


def _first(known: Known[Content], sources: Iterable[Source[Content]], cure: str) -> Content:
    failures: list[str] = []
    missing: MissingExtraError | None = None
    for source in sources:
        say(f"{known.name}: trying {source.name}")
        try:
            content = source.read()
            known.check(content)
        except MissingExtraError as exc:  # another source may do without the library
            missing = exc
            say(f"{known.name}: {exc}")
        except (SourceError, OSError) as exc:
            failures.append(f"{source.name}: {reason(exc)}")
            say(f"{known.name}: no luck with {failures[-1]}")
        else:
            return content
    if missing is not None:
        raise missing
    raise InputError(
        f"{known.name} is neither kept on this machine nor to be fetched ({'; '.join(failures)}): "
        f"{cure}"
    )
