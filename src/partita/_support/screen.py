"""What people see: progress and short messages on standard error, results on standard output.

On a terminal with rich installed, progress is a bar with the time left, removed when the work is
done; otherwise it is a line every two seconds, so that logs stay readable. Nothing redirects
standard output. Names and cells come from users' tables, so nothing is taken for rich's markup.
"""

import atexit
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

SECONDS_BETWEEN_LINES = 2.0
CELL_WIDTH = 7  # of a percentage, with the space after it

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
        self._bar = _DISPLAY.add(verb, total, noun, before) if enabled else None

    def update(self, done: int, note: str = "") -> None:
        """Report that ``done`` units are finished; ``note`` is printed beside the number."""
        if not self._enabled:
            return
        if self._bar is not None:
            _DISPLAY.update(self._bar, done, note)
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
            _DISPLAY.remove(self._bar)
            self._bar, self._enabled = None, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Display:
    """The one live display of the process, with a bar for each piece of work that is under way.

    What others print on standard error meanwhile appears above the bars.
    """

    # rich's own displays may nest, but then they must end in the reverse order, which threads do
    # not; and where there is no terminal they print nothing.

    def __init__(self) -> None:
        self._lock = Lock()
        self._bars: Bars | None = None

    def add(self, verb: str, total: int, noun: str, before: int) -> "TaskID | None":
        """Return a new bar; None where a bar makes no sense, and lines must do."""
        with self._lock:
            if self._bars is None:
                self._bars = _rich_bars()
                if self._bars is None:
                    return None
                self._bars.start()
            return self._bars.add_task(verb, total=total, completed=before, noun=noun, note="")

    def update(self, bar: "TaskID", done: int, note: str) -> None:
        """Move a bar."""
        with self._lock:
            if self._bars is not None:
                self._bars.update(bar, completed=done, note=note)

    def remove(self, bar: "TaskID | None" = None) -> None:
        """Remove a bar; None: all of them. After the last one the cursor is shown again."""
        with self._lock:
            if self._bars is None:
                return
            if bar is not None and len(self._bars.tasks) > 1:
                self._bars.remove_task(bar)
            else:
                self._bars.stop()
                self._bars = None


_DISPLAY = _Display()
atexit.register(_DISPLAY.remove)


def _rich_bars() -> "Bars | None":
    """Return a display of bars; None if standard error is no terminal or rich is missing."""
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


# ---- standard output ----


def print_line(text: str = "") -> None:
    """Print one line as it is."""
    _console().print(text)


def print_warning(text: str) -> None:
    """Print a warning that stands out."""
    console = _console()
    console.print(" WARNING ", style="bold reverse red", end=" ")
    console.print(text, style="bold")


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    first_text: int | None = None,
    width: int | None = None,
) -> None:
    """Print a table under a title.

    Parameters
    ----------
    title : str
        The line above the table.
    columns : sequence of str
        Headings.
    rows : sequence of sequences
        Cells; anything becomes its text.
    first_text : int, optional
        Columns from this one on hold text and are aligned left, as column 0 always is; the columns
        between hold numbers and are aligned right. By default there are none.
    width : int, optional
        Characters per line; by default the terminal's.
    """
    from rich.padding import Padding
    from rich.table import Table

    table = Table(header_style="dim", pad_edge=False, box=None, padding=(0, 2, 0, 0))
    for k, column in enumerate(columns):
        holds_numbers = 0 < k < (len(columns) if first_text is None else first_text)
        table.add_column(
            column,
            justify="right" if holds_numbers else "left",
            overflow="fold",
            no_wrap=k == 0 or holds_numbers,
        )
    for row in rows:
        table.add_row(*map(str, row))
    console = _console(width)
    console.print(title, style="bold")
    console.print(Padding(table, (0, 0, 0, 2)))


def radii_that_fit(n_radii: int, label_width: int) -> list[int]:
    """Return radii below ``n_radii`` that fit beside a label: the first, then evenly spaced."""
    room = max(3, (_console().width - label_width - 4) // CELL_WIDTH)
    if n_radii <= room:
        return list(range(n_radii))
    first = min(4, room - 1)
    spaced = np.linspace(n_radii - 1, first, room - first)
    return sorted({*range(first), *(int(radius) for radius in spaced)})


def _console(width: int | None = None) -> "Console":
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, soft_wrap=True, width=width)
