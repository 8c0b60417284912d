"""Progress of long work, and short messages, on standard error.

On a terminal with rich installed, progress is a bar with the time left; otherwise a line every two
seconds, so that logs stay readable. Nothing here writes to standard output.
"""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, Self

SECONDS_BETWEEN_LINES = 2.0


def log(message: str) -> None:
    """Print one line for people on standard error."""
    print(f"partita: {message}", file=sys.stderr, flush=True)


class Progress:
    """How far a piece of work is, and how long the rest will take.

    Parameters
    ----------
    doing : str
        What has been done to the units of work, such as ``"fitted"``.
    total : int
        How many units of work there are.
    what : str
        What they are, such as ``"submodels"``.
    before : int, default=0
        How many were finished by an earlier, interrupted run; they do not count for the estimate.
    enabled : bool, default=True
        False: print nothing.
    """

    def __init__(
        self, doing: str, total: int, what: str, before: int = 0, enabled: bool = True
    ) -> None:
        self.doing, self.total, self.what, self.before = doing, total, what, before
        self._started = self._printed_at = time.monotonic()
        self._enabled = enabled
        self._bar: Any = None
        self._task: Any = None
        if enabled:
            self._bar, self._task = _start_bar(doing, total, what, before)

    def update(self, done: int, note: str = "") -> None:
        """Tell that ``done`` units are finished; ``note`` is printed beside it."""
        if not self._enabled:
            return
        if self._bar is not None:
            self._bar.update(self._task, completed=done, note=note)
            if done >= self.total:
                self.close()
            return
        now = time.monotonic()
        if now - self._printed_at < SECONDS_BETWEEN_LINES and done != self.total:
            return
        self._printed_at = now
        spent = now - self._started
        left = spent / max(1, done - self.before) * (self.total - done)
        log(
            f"{self.doing} {done:,} of {self.total:,} {self.what}{', ' if note else ''}{note}, "
            f"{spent:.0f} s so far, about {left:.0f} s left"
        )

    def over(self, results: Iterable[Any]) -> Iterator[Any]:
        """Pass results on and count them."""
        with self:
            for done, result in enumerate(results, start=self.before + 1):
                yield result
                self.update(done)

    def close(self) -> None:
        """Leave the terminal as it was; harmless if called twice."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
            self._enabled = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _start_bar(doing: str, total: int, what: str, before: int) -> tuple[Any, Any]:
    """A running rich bar and its task, or two Nones where a bar makes no sense."""
    if not sys.stderr.isatty():
        return None, None
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar
    except ImportError:
        return None, None
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(what),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", style="dim"),
        console=Console(stderr=True),
    )
    bar.start()
    return bar, bar.add_task(doing, total=total, completed=before, note="")
