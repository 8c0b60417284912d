"""One source after the other, until one has the known bits."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, MissingExtraError
from .cache import cache_folder, keep, kept
from .images import Arrays, Exact, ImageData
from .telling import SourceError, reason, say


@dataclass(frozen=True)
class Source:
    """Where data may be found: ``read`` gives the arrays or raises SourceError."""

    name: str
    read: Callable[[], Arrays]


def obtain(
    exact: Exact, cache: str | os.PathLike[str] | None, sources: Callable[[Path], Iterable[Source]], cure: Callable[[Path], str]
) -> ImageData:
    """From the cache, or from the first source that has it; ``cure`` says what to put by hand into the folder when none has."""
    folder = cache_folder(cache)
    arrays = kept(folder, exact)
    if arrays is None:
        arrays = _first(exact, sources(folder), cure(folder))
        keep(folder, exact, arrays)
    return exact.data(arrays)


def _first(exact: Exact, sources: Iterable[Source], cure: str) -> Arrays:
    failures: list[str] = []
    missing: MissingExtraError | None = None
    for source in sources:
        say(f"{exact.name}: trying {source.name}")
        try:
            arrays = source.read()
            exact.check(arrays)
        except MissingExtraError as exc:  # another source may do without the library
            missing = exc
            say(f"{exact.name}: {exc}")
        except (SourceError, OSError) as exc:
            failures.append(f"{source.name}: {reason(exc)}")
            say(f"{exact.name}: no luck with {failures[-1]}")
        else:
            return arrays
    if missing is not None:
        raise missing
    raise InputError(f"{exact.name} is neither kept on this machine nor to be fetched ({'; '.join(failures)}): {cure}")
