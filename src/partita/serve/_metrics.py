"""What is counted, logged and watched: /metrics, the request log, and the sources of rows.

All numbers of a worker stand in one row of cells, which workers may share: each writes its own row,
and /metrics adds the rows up, so that it does not matter which worker is asked. That is why all
labels are known beforehand: nothing a request makes up becomes a label.
"""

# Why not prometheus-client: its numbers of several processes go through files in a folder that an
# environment variable names before the first import, some for each process that ever ran; it counts
# a killed worker's requests in flight until it is told, and has one set of metrics for a process.

import json
import logging
import math
import sys
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from ctypes import Array as Shared
from ctypes import c_double
from dataclasses import replace
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from threading import Condition, Thread
from typing import NamedTuple

import numpy as np

from .._support import PathLike
from ..errors import InputError
from ..watch import Watcher
from ..workflow import CertifiedTable

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
STATUSES = (200, 400, 401, 404, 405, 408, 413, 421, 422, 429, 500, 503)
OTHER = "other"
SECONDS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
RADII = (-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)
IN_FLIGHT = "partita_requests_in_flight"
LOW_ROWS = "partita_low_radius_rows_total"
LINES_LOST = "partita_log_lines_lost_total"

Cells = Shared[c_double]  # the numbers that workers share

MOST_LINES = 10_000  # of the request log, that wait to be written
SECONDS_TO_WRITE = 2.0  # for the last lines, when the service stops

logger = logging.getLogger("partita.serve")


class Family(NamedTuple):
    """One metric: name, kind, meaning, and its samples as they are shown, with their labels.

    Samples with labels are shown when they are not zero. What a worker leaves in a gauge ends with
    it, unless the gauge is ``lasting``; counters always last.
    """

    name: str
    kind: str
    meaning: str
    samples: Sequence[str]
    lasting: bool = True


def counter(name: str, meaning: str, labels: Iterable[Mapping[str, str]] = ({},)) -> Family:
    """Return a counter with these combinations of labels."""
    return Family(name, "counter", meaning, [sample(name, one) for one in labels])


def gauge(
    name: str, meaning: str, labels: Iterable[Mapping[str, str]] = ({},), lasting: bool = False
) -> Family:
    """Return a gauge with these combinations of labels."""
    return Family(name, "gauge", meaning, [sample(name, one) for one in labels], lasting)


def histogram(name: str, meaning: str, bounds: Sequence[float]) -> Family:
    """Return a histogram: the buckets, which are cumulative, and the sum of all values."""
    buckets = [f'{name}_bucket{{le="{bound}"}}' for bound in (*map(_number, bounds), "+Inf")]
    return Family(name, "histogram", meaning, [*buckets, f"{name}_sum", f"{name}_count"])


def sample(name: str, labels: Mapping[str, str]) -> str:
    """Return a metric's name with its labels."""
    if not labels:
        return name
    escaped = (
        (label, text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n"))
        for label, text in labels.items()
    )
    return name + "{" + ",".join(f'{label}="{text}"' for label, text in escaped) + "}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def request_families(paths: Sequence[str]) -> tuple[Family, ...]:
    """Return the metrics of any application of this service with these paths."""
    answers = [
        {"path": path, "status": str(status)}
        for path in (*paths, OTHER)
        for status in (*STATUSES, OTHER)
    ]
    return (
        counter(
            "partita_requests_total", "Requests that were answered, by path and status.", answers
        ),
        histogram(
            "partita_request_seconds",
            "Seconds from a request's headers to the end of its response, without probes.",
            SECONDS,
        ),
        gauge(IN_FLIGHT, "Requests that are not answered yet."),
        histogram("partita_batch_requests", "Requests computed together.", SIZES),
        counter("partita_rows_total", "Rows that were certified."),
        histogram("partita_radius", "Certified radii of rows.", RADII),
        counter(LOW_ROWS, "Rows with a radius below the threshold."),
        counter(LINES_LOST, "Request log lines not written."),
        counter("partita_worker_starts_total", "Worker processes that were started."),
    )


def n_cells(families: Iterable[Family]) -> int:
    """Return how many cells one worker needs."""
    return sum(len(family.samples) for family in families)


class Metrics:
    """The cells of one worker, beside those of the others.

    Parameters
    ----------
    paths : sequence of str
        The paths that get a label of their own.
    low_radius : int, default=1
        Radii below this count as low.
    constants : dict of str to str, optional
        Labels of ``partita_info``, such as the version.
    cells : array of float, optional
        Room for all workers, one row each (:func:`n_cells`); by default for this one only.
    worker : int, default=0
        Which row belongs to this worker.
    further : sequence of Family, default=()
        Metrics beside those of requests; their room must be in ``cells``.
    """

    def __init__(
        self,
        paths: Sequence[str],
        low_radius: int = 1,
        constants: Mapping[str, str] | None = None,
        cells: "Cells | array[float] | None" = None,
        worker: int = 0,
        further: Sequence[Family] = (),
    ) -> None:
        self._families = (*request_families(paths), *further)
        self._paths, self._low_radius = {*paths}, low_radius
        self._width = n_cells(self._families)
        own = array("d", bytes(8 * self._width)) if cells is None else cells
        self._cells = memoryview(own).cast("B").cast("d")
        self._row = worker * self._width
        self._places: dict[str, int] = {}
        for family in self._families:
            for one in family.samples:
                self._places[one] = len(self._places)
                if not family.lasting:  # what a worker left that was killed
                    self._cells[self._row + self._places[one]] = 0.0
        self.add("partita_worker_starts_total")
        self._constants: list[tuple[Family, Sequence[float]]] = []
        threshold = gauge("partita_low_radius_threshold", "Radii below this count as low.")
        self.show(threshold, [low_radius])
        self.show(gauge("partita_info", "What is served.", [constants or {}]), [1.0])

    def show(self, family: Family, values: Sequence[float]) -> None:
        """Show a gauge whose samples do not change."""
        self._constants.append((family, values))

    def add(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Add to a counter or a gauge."""
        self._cells[self._row + self._places[sample(name, labels)]] += amount

    def observe(self, name: str, bounds: Sequence[float], value: float) -> None:
        """Count a value in a histogram."""
        start = self._row + self._places[f'{name}_bucket{{le="{_number(bounds[0])}"}}']
        for place in range(start + bisect_left(bounds, value), start + len(bounds) + 1):
            self._cells[place] += 1.0
        self.add(f"{name}_sum", value)
        self.add(f"{name}_count")

    def request(self, path: str, status: int, seconds: float, is_probe: bool) -> None:
        """Count a request that was answered."""
        known = path if path in self._paths else OTHER
        shown = str(status) if status in STATUSES else OTHER
        self.add("partita_requests_total", path=known, status=shown)
        if not is_probe:
            self.observe("partita_request_seconds", SECONDS, seconds)

    def rows(self, n_rows: int, radii: Iterable[int]) -> None:
        """Count certified rows."""
        self.add("partita_rows_total", n_rows)
        for radius in radii:
            self.observe("partita_radius", RADII, radius)
            self.add(LOW_ROWS, radius < self._low_radius)

    def batch(self, n_requests: int) -> None:
        """Count requests that were computed together."""
        self.observe("partita_batch_requests", SIZES, n_requests)

    @property
    def in_flight(self) -> int:
        """Requests of this worker that are not answered yet."""
        return int(self._cells[self._row + self._places[IN_FLIGHT]])

    def text(self) -> str:
        """Return all metrics of all workers, in Prometheus' text format."""
        shown = [(family, [*map(self._sum, family.samples)]) for family in self._families]
        n_radii = self._sum("partita_radius_count")
        share = self._sum(LOW_ROWS) / n_radii if n_radii else 0.0
        meaning = "Share of rows with a low radius, since the start."
        lines = []
        for family, values in (
            *shown,
            (gauge("partita_low_radius_ratio", meaning), [share]),
            *self._constants,
        ):
            lines += [f"# HELP {family.name} {family.meaning}"]
            lines += [f"# TYPE {family.name} {family.kind}"]
            lines += [
                f"{one} {_number(value)}"
                for one, value in zip(family.samples, values, strict=True)
                if value or "{" not in one or family.kind == "histogram"
            ]
        return "\n".join(lines) + "\n"

    def _sum(self, one: str) -> float:
        return math.fsum(self._cells[self._places[one] :: self._width])


# ---- the request log ----


class RequestLog:
    """One JSON object per line in a file or on standard error, written by a thread of its own.

    A request never waits for its line, and never fails with it: lines that cannot be written,
    because the disk is full or nothing reads, are dropped and counted. No line holds a cell, a key
    or a token.

    Parameters
    ----------
    path : str or path
        A file to append to; "-" is standard error.
    worker : int, default=0
        Which worker writes, for every line.
    """

    def __init__(self, path: PathLike, worker: int = 0) -> None:
        self._worker, self._file, self._broken = worker, _open(path), ""
        self._waiting: deque[str] = deque()
        self._changed = Condition()
        self._lost, self._closing = 0, False
        self._thread = Thread(target=self._write_all, name="request-log", daemon=True)
        self._thread.start()

    def write(self, **facts: object) -> None:
        """Add a line; None is left out."""
        line: dict[str, object] = {"time": datetime.now(UTC).isoformat(timespec="milliseconds")}
        line |= {name: value for name, value in facts.items() if value is not None}
        line |= {"worker": self._worker}
        with self._changed:
            if len(self._waiting) >= MOST_LINES:
                self._lost += 1
            else:
                self._waiting.append(json.dumps(line) + "\n")
                self._changed.notify()

    def take_lost(self) -> int:
        """Return how many lines were dropped since the last call."""
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
                self._changed.wait_for(lambda: self._waiting or self._closing)
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


def _open(path: PathLike) -> FileIO | None:
    if str(path) == "-":
        return None
    try:
        return Path(path).open("ab", buffering=0)
    except OSError as exc:
        raise InputError(
            f"the request log {str(path)!r} cannot be written ({exc.strerror or exc}): give a file "
            "in a folder that this user may write to, or - for standard error"
        ) from exc


# ---- sources that changed ----

ROWS = "partita_source_rows_total"
CONTRADICTIONS = "partita_source_contradictions_total"
WEALTH = "partita_source_log10_wealth"
ALARM = gauge(
    "partita_source_alarm_log10_wealth", "A source whose wealth is above this raises an alarm."
)


def source_families(sources: Sequence[str]) -> tuple[Family, ...]:
    """Return the metrics of these sources; none where nothing is watched.

    They add up and last. Each worker bets on the rows that it certified itself; the product of
    their wealths is the wealth of a player who makes all these bets, so logarithms are added up
    like everything else, and the stated probability of a false alarm holds for the sum, from the
    start of the service to its end. A worker that died leaves what it had won or lost: without its
    losses the sum would be too high, and each death would begin a new budget of false alarms.
    """
    if not sources:
        return ()
    each = [{"source": source} for source in sources]
    bets = "Bets on a change of a source since the start, power of ten."
    return (
        counter(ROWS, "Rows that say something about a source.", each),
        counter(CONTRADICTIONS, "Rows in which a source contradicts the prediction.", each),
        gauge(WEALTH, bets, each, lasting=True),
    )


class SourceWatch:
    """Which source contradicts the predictions more often than is usual, in /metrics.

    It must never stand in the way of an answer: it is called with rows after they are certified.

    Parameters
    ----------
    watcher : Watcher
        For the model that is served.
    metrics : Metrics
        With the families of the watcher's sources.
    """

    def __init__(self, watcher: Watcher, metrics: Metrics) -> None:
        self._watcher, self._metrics = watcher, metrics
        rates = dict(zip(watcher.usual.sources, watcher.usual.rates.tolist(), strict=True))
        known = {source: rate for source, rate in rates.items() if rate == rate}
        self._shown = np.zeros((3, len(rates)))
        metrics.show(ALARM, [float(watcher.log_limit / np.log(10))])
        meaning = "Share of clean rows in which a source contradicts."
        labels = [{"source": source} for source in known]
        metrics.show(gauge("partita_source_usual_ratio", meaning, labels), [*known.values()])

    def __call__(self, certified: CertifiedTable) -> None:
        """Watch rows; those in which a source is silent say nothing that can be compared."""
        try:
            silent, ballots = certified.silent_units, certified.ballots
            if silent is not None:
                ballots = replace(ballots[~silent.any(axis=1)], abstentions=None)
            self._watcher.update(ballots)
            self._show()
        except Exception:
            logger.exception("the sources of some rows could not be watched")

    def _show(self) -> None:
        found = self._watcher.result.sources
        now = np.array(
            [(one.counted, one.contradictions, one.log_wealth / np.log(10)) for one in found]
        ).T
        for name, changes in zip((ROWS, CONTRADICTIONS, WEALTH), now - self._shown, strict=True):
            for one, change in zip(found, changes.tolist(), strict=True):
                self._metrics.add(name, change, source=one.source)
        self._shown = now
