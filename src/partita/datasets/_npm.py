"""Packages through the npm client, which often reaches a registry where nothing else is reachable.

The client finds its registry itself. It works in a temporary folder, its own cache included, and
runs no script of a package."""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ._package_client import run, temporary_folder
from ._progress import Progress, SourceError

ASK_S = 20.0
WHOLE_S = 900.0
QUIET = (
    "--ignore-scripts",
    "--no-update-notifier",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    "--fetch-retries=1",
)


def ask(package: str) -> None:
    """Raise SourceError unless the client is there and its registry answers: pack itself would wait
    long before it gives up."""
    with temporary_folder("npm") as folder:
        _run(["view", package, "version"], folder, Progress("npm", 2**26, ASK_S))


@contextmanager
def packed(package: str, limit: int) -> Iterator[Path]:
    """A package's .tgz file, for as long as the context lasts."""
    with temporary_folder("npm") as folder:
        _run(
            ["pack", package],
            folder,
            Progress(f"npm pack {package}, in its folder", 3 * limit, WHOLE_S),
        )  # it holds a second copy
        files = [
            file for file in folder.glob("*.tgz") if file.is_file() and file.stat().st_size <= limit
        ]
        if len(files) != 1:
            raise SourceError("npm pack left no .tgz file of a size that can be right")
        yield files[0]


def _run(arguments: Sequence[str], folder: Path, progress: Progress) -> None:
    client = shutil.which("npm")
    if client is None:
        raise SourceError("npm is not installed")
    retries = (
        "--fetch-retry-mintimeout=1000",
        "--fetch-retry-maxtimeout=1000",
        f"--fetch-timeout={int(progress.seconds * 1000)}",
    )
    status, said = run(
        "npm",
        [client, *arguments, f"--cache={folder / 'cache'}", *QUIET, *retries],
        folder,
        progress,
    )
    if status:
        code = re.search(r"^npm (?:error|ERR!) code (\S+)", said, re.MULTILINE)
        raise SourceError(
            f"npm {arguments[0]} failed ({code[1] if code else f'exit status {status}'})"
        )
