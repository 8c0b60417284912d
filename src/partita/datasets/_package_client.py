"""Programs of others (npm, pip) that fetch packages: run in a temporary folder, watched, and ended
when they take too long."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ._progress import Progress, SourceError


@contextmanager
def temporary_folder(client: str) -> Iterator[Path]:
    try:
        folder = tempfile.TemporaryDirectory(
            prefix=f"partita-{client}-", ignore_cleanup_errors=True
        )
    except OSError as exc:
        raise SourceError(f"there is no place for a temporary folder: {exc}") from exc
    with folder as place:
        yield Path(place)


def run(
    client: str,
    command: Sequence[str],
    folder: Path,
    progress: Progress,
    env: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run a command to its end, or end it when it takes too long or brings too much: its exit
    status, and what it printed."""
    log = folder / "log"
    with log.open("wb") as out:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=None if env is None else {**os.environ, **env},
                stdin=subprocess.DEVNULL,
                stdout=out,  # into a file: nobody has to read it while the client runs
                stderr=out,
                start_new_session=True,
            )
        except OSError as exc:
            raise SourceError(f"{client} cannot be run: {exc}") from exc
        try:
            while process.poll() is None:
                progress.at(_size(folder))
                time.sleep(0.05)
        finally:
            if process.poll() is None:
                _end(process)
    return process.returncode, log.read_text(errors="replace")


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
