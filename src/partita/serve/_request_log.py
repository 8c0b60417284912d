"""The request log: one JSON object per line, written by a thread of its own.

A request never waits for its line, and never fails with it: lines that cannot be written, because
the disk is full or nobody reads, are dropped and counted. No line holds a cell, a key or a token.
"""

import json
import sys
from collections import deque
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from threading import Condition, Thread
from typing import Any

from ..errors import InputError

MOST_LINES = 10_000  # that wait to be written
SECONDS_TO_WRITE = 2.0  # for the last lines, when the service stops


class RequestLog:
    """Writes lines to a file, or to standard error.

    Parameters
    ----------
    path : str or path
        A file to append to; "-" is standard error.
    worker : int, default=0
        Which worker writes, for every line.
    """

    def __init__(self, path: Any, worker: int = 0) -> None:
        self._worker, self._file, self._broken = worker, _open(path), ""
        self._waiting: deque[str] = deque()
        self._changed = Condition()
        self._lost, self._closing = 0, False
        self._thread = Thread(target=self._write_all, name="request-log", daemon=True)
        self._thread.start()

    def write(self, **facts: Any) -> None:
        """Add a line; None is left out."""
        line: dict[str, Any] = {"time": datetime.now(UTC).isoformat(timespec="milliseconds")}
        line |= {name: value for name, value in facts.items() if value is not None}
        line |= {"worker": self._worker}
        with self._changed:
            if len(self._waiting) >= MOST_LINES:
                self._lost += 1
            else:
                self._waiting.append(json.dumps(line) + "\n")
                self._changed.notify()

    def take_lost(self) -> int:
        """How many lines were dropped since this was last asked."""
        with self._changed:
            lost, self._lost = self._lost, 0
        return lost

    def close(self) -> None:
        """Write what is waiting, within a moment."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(SECONDS_TO_WRITE)
        if self._file is not None and not self._thread.is_alive():
            self._file.close()

    def _write_all(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait()
                lines = [*self._waiting]
                self._waiting.clear()
                if not lines:
                    return
            try:
                n_lost = self._write(lines)
            except (OSError, ValueError):
                n_lost = len(lines)
            if n_lost:
                with self._changed:
                    self._lost += n_lost

    def _write(self, lines: list[str]) -> int:
        """Write lines with one call, so that workers do not mix theirs; return how many failed."""
        if self._file is None:
            sys.stderr.write("".join(lines))
            sys.stderr.flush()
            return 0
        content = (self._broken + "".join(lines)).encode()
        written = self._file.write(content) or 0
        if written == len(content):
            self._broken = ""
            return 0
        self._broken = "\n"  # ends the line that the disk had no room for
        return len(lines) - content[:written].count(b"\n")


def _open(path: Any) -> FileIO | None:
    if str(path) == "-":
        return None
    try:
        return Path(path).open("ab", buffering=0)
    except OSError as exc:
        raise InputError(
            f"the request log {str(path)!r} cannot be written ({exc.strerror or exc}): give a file "
            "in a folder that this user may write to, or - for standard error"
        ) from exc
