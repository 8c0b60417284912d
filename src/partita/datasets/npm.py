"""Packages through the npm client, which often reaches a registry where nothing else is reachable.

The client finds its registry itself. It works in a temporary folder, its own cache included, and runs no script of a package.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .telling import Progress, SourceError

ASK_S = 20.0
WHOLE_S = 900.0
QUIET = ("--ignore-scripts", "--no-update-notifier", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1")


def ask(package: str) -> None:
    """Raise SourceError unless the client is there and its registry answers: pack itself would wait long before it gives up."""
    with _folder() as folder:
        _run(["view", package, "version"], folder, Progress("npm", 2**26, ASK_S))


@contextmanager
def packed(package: str, limit: int) -> Iterator[Path]:
    """A package's .tgz file, for as long as the context lasts."""
    with _folder() as folder:
        _run(["pack", package], folder, Progress(f"npm pack {package}, in its folder", 3 * limit, WHOLE_S))  # it holds a second copy
        files = [file for file in folder.glob("*.tgz") if file.is_file() and file.stat().st_size <= limit]
        if len(files) != 1:
            raise SourceError("npm pack left no .tgz file of a size that can be right")
        yield files[0]


@contextmanager
def _folder() -> Iterator[Path]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="partita-npm-", ignore_cleanup_errors=True)
    except OSError as exc:
        raise SourceError(f"there is no place for a temporary folder: {exc}") from exc
    with folder as place:
        yield Path(place)


def _run(arguments: Sequence[str], folder: Path, progress: Progress) -> None:
    """Run the client to its end, or end it when it takes too long or brings too much."""
    client = shutil.which("npm")
    if client is None:
        raise SourceError("npm is not installed")
    retries = ("--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=1000", f"--fetch-timeout={int(progress.seconds * 1000)}")
    log = folder / "log"
    with log.open("wb") as out:
        try:
            process = subprocess.Popen(
                [client, *arguments, f"--cache={folder / 'cache'}", *QUIET, *retries],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,  # into a file: nobody has to read it while the client runs
                stderr=out,
                start_new_session=True,
            )
        except OSError as exc:
            raise SourceError(f"npm cannot be run: {exc}") from exc
        try:
            while process.poll() is None:
                progress.at(_size(folder))
                time.sleep(0.05)
        finally:
            if process.poll() is None:
                _end(process)
    if process.returncode:
        code = re.search(r"^npm (?:error|ERR!) code (\S+)", log.read_text(errors="replace"), re.MULTILINE)
        raise SourceError(f"npm {arguments[0]} failed ({code[1] if code else f'exit status {process.returncode}'})")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """With its children: what is called npm may be a script that starts the client."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(Path(place) / name).st_size
            except FileNotFoundError:  # the client's temporary files come and go
                continue
    return total
