"""Progress of long work, and short messages, on standard error.

On a terminal with rich installed, progress is a bar with the time left, removed when the work is
done; otherwise it is a line every two seconds, so that logs stay readable. Nothing here writes to
standard output, and nothing redirects it.
"""

import atexit
import sys
import time
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Any, Self, TypeVar

SECONDS_BETWEEN_LINES = 2.0

Result = TypeVar("Result")


def log(message: str) -> None:
    """Print one line for people on standard error."""
    if sys.stderr is not None:  # pythonw has none; print() would then take standard output
        print(f"partita: {message}", file=sys.stderr, flush=True)


class Progress:
    """How far a piece of work is, and how long the rest will take.

    Several may be open at once, in one thread or in many: they share one display.

    Parameters
    ----------
    verb : str
        What happens to the units of work, as a participle: ``"fitted"``.
    total : int
        How many units of work there are.
    noun : str
        What they are, such as ``"submodels"``.
    before : int, default=0
        How many were finished by an earlier, interrupted run; they do not count for the estimate.
    enabled : bool, default=True
        False: print nothing.
    """

    def __init__(
        self, verb: str, total: int, noun: str, before: int = 0, enabled: bool = True
    ) -> None:
        self.verb, self.total, self.noun, self.before = verb, total, noun, before
        self._enabled = enabled
        self._started = self._logged_at = time.monotonic()
        self._bar = _DISPLAY.add_bar(verb, total, noun, before) if enabled else None

    def update(self, done: int, note: str = "") -> None:
        """Report that ``done`` units are finished; ``note`` is printed beside the number."""
        if not self._enabled:
            return
        if self._bar is not None:
            _DISPLAY.update_bar(self._bar, done, note)
            if done >= self.total:
                self.close()
            return
        now = time.monotonic()
        if now - self._logged_at < SECONDS_BETWEEN_LINES and done != self.total:
            return
        self._logged_at = now
        spent = now - self._started
        left = spent / max(1, done - self.before) * (self.total - done)
        log(
            f"{self.verb} {done:,} of {self.total:,} {self.noun}{', ' if note else ''}{note}, "
            f"{spent:.0f} s so far, about {left:.0f} s left"
        )

    def over(self, results: Iterable[Result]) -> Iterator[Result]:
        """Pass results on and count them, up to the total."""
        with self:
            for done, result in enumerate(results, start=self.before + 1):
                yield result
                if done <= self.total:
                    self.update(done)

    def close(self) -> None:
        """Remove the bar from the terminal; harmless if called twice."""
        if self._bar is not None:
            _DISPLAY.remove_bar(self._bar)
            self._bar, self._enabled = None, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Display:
    """The one live display of the process, with a bar for each piece of work that is under way.

    Two displays at once would each redraw over the other, so a second bar joins the first. What
    others print on standard error meanwhile appears above the bars.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._rich: Any = None
        self._n_bars = 0

    def add_bar(self, verb: str, total: int, noun: str, before: int) -> Any:
        """A new bar; None where a bar makes no sense, and lines must do."""
        with self._lock:
            if self._rich is None:
                self._rich = _rich_progress()
                if self._rich is None:
                    return None
                self._rich.start()
            self._n_bars += 1
            return self._rich.add_task(verb, total=total, completed=before, noun=noun, note="")

    def update_bar(self, bar: Any, done: int, note: str) -> None:
        with self._lock:
            if self._rich is not None:
                self._rich.update(bar, completed=done, note=note)

    def remove_bar(self, bar: Any) -> None:
        with self._lock:
            if self._rich is None:
                return
            self._n_bars -= 1
            if self._n_bars:
                self._rich.remove_task(bar)
            else:
                self._stop()

    def close(self) -> None:
        """Remove all bars and show the cursor again, whoever forgot to."""
        with self._lock:
            if self._rich is not None:
                self._stop()

    def _stop(self) -> None:
        self._rich.stop()
        self._rich, self._n_bars = None, 0


_DISPLAY = _Display()
atexit.register(_DISPLAY.close)


def _rich_progress() -> Any:
    """A display of bars, or None if standard error is no terminal or rich is not installed."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from rich import progress as rich
        from rich.console import Console
    except ImportError:
        return None
    console = Console(stderr=True)
    if console.is_dumb_terminal:  # it cannot move the cursor back to redraw a bar
        return None
    return rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[noun]}"),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
        rich.TextColumn("{task.fields[note]}", style="dim"),
        console=console,
        transient=True,
        redirect_stdout=False,  # what a program prints for others must stay on standard output
    )
