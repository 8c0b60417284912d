"""What is counted, logged and watched: /metrics, the request log, and the sources of rows.

All numbers of a worker stand in one row of cells, which workers may share: each writes its own row,
and /metrics adds the rows up, so that it does not matter which worker is asked. That is why all
labels are known beforehand: nothing a request makes up becomes a label.
"""

# Why not prometheus-client: its numbers of several processes go through files in a folder that an
# environment variable names before the first import, some for each process that ever ran; it counts
# a killed worker's requests in flight until it is told, and has one set of metrics for a process.

import asyncio
import json
import logging
import math
import re
import secrets
import sys
import time
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ctypes import Array as Shared
from ctypes import c_double
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from threading import Condition, Thread

import numpy as np
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .._support import PathLike
from ..errors import InputError
from ..watch import Watcher
from ..workflow import CertifiedTable
from ._rows import RequestRefusedError, refusal_response

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
STATUSES = (200, 400, 401, 404, 405, 408, 413, 421, 422, 429, 500, 503)
OTHER = "other"
SECONDS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
RADII = (-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)
COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"

MOST_LINES = 10_000  # of the request log, that wait to be written
SECONDS_TO_WRITE = 2.0  # for the last lines, when the service stops
SHOWN_PATH = 200  # characters, in the request log

logger = logging.getLogger("partita.serve")


@dataclass(frozen=True)
class Family:
    """One metric: its name, kind, meaning, and the values that its labels can have.

    ``values`` has one tuple per combination of labels; a histogram has ``bounds`` instead. What a
    worker leaves in a gauge ends with it, unless the gauge is ``lasting``; counters always last.
    """

    name: str
    kind: str
    meaning: str
    labels: tuple[str, ...] = ()
    values: Sequence[tuple[str, ...]] = ((),)
    bounds: tuple[float, ...] = ()
    lasting: bool = False

    @property
    def n_cells(self) -> int:
        """A histogram has a cell per bound, one above all of them, and one for the sum."""
        return len(self.bounds) + 2 if self.bounds else len(self.values)


REQUEST_SECONDS = Family(
    "partita_request_seconds",
    HISTOGRAM,
    "Seconds from a request's headers to the end of its response, without probes.",
    bounds=SECONDS,
)
IN_FLIGHT = Family("partita_requests_in_flight", GAUGE, "Requests that are not answered yet.")
BATCHES = Family("partita_batch_requests", HISTOGRAM, "Requests computed together.", bounds=SIZES)
RADIUS = Family("partita_radius", HISTOGRAM, "Certified radii of rows.", bounds=RADII)
LOW = Family("partita_low_radius_rows_total", COUNTER, "Rows with a radius below the threshold.")


def request_families(paths: Sequence[str]) -> tuple[Family, ...]:
    """Return the metrics of any application of this service with these paths."""
    answers = [(path, str(status)) for path in (*paths, OTHER) for status in (*STATUSES, OTHER)]
    return (
        Family(
            "partita_requests_total",
            COUNTER,
            "Requests that were answered, by path and status.",
            ("path", "status"),
            answers,
        ),
        REQUEST_SECONDS,
        IN_FLIGHT,
        BATCHES,
        Family("partita_rows_total", COUNTER, "Rows that were certified."),
        RADIUS,
        LOW,
        Family("partita_log_lines_lost_total", COUNTER, "Request log lines not written."),
        Family("partita_worker_starts_total", COUNTER, "Worker processes that were started."),
    )


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
        cells: "Shared[c_double] | array[float] | None" = None,
        worker: int = 0,
        further: Sequence[Family] = (),
    ) -> None:
        self.families = (*request_families(paths), *further)
        self.low_radius = low_radius
        self._width = n_cells(self.families)
        own = array("d", bytes(8 * self._width)) if cells is None else cells
        self._cells = memoryview(own).cast("B").cast("d")
        self._places: dict[tuple[str, ...], int] = {}
        self._fixed: list[str] = []
        place = worker * self._width
        for family in self.families:
            for k, values in enumerate(family.values):
                self._places[(family.name, *values)] = place + k
                if family.kind == GAUGE and not family.lasting:  # what a killed worker left
                    self._cells[place + k] = 0.0
            place += family.n_cells
        self._paths = {*paths}
        self.add("partita_worker_starts_total")
        meaning = "Radii below this count as low."
        self.show("partita_low_radius_threshold", meaning, [({}, low_radius)])
        self.show("partita_info", "What is served.", [(constants or {}, 1.0)])

    def show(
        self, name: str, meaning: str, samples: Iterable[tuple[Mapping[str, str], float]]
    ) -> None:
        """Show a gauge that does not change: labels and values."""
        self._fixed += _lines(name, GAUGE, meaning, [("", *sample) for sample in samples])

    def add(self, name: str, amount: float = 1.0, labels: tuple[str, ...] = ()) -> None:
        """Add to a counter or a gauge."""
        self._cells[self._places[(name, *labels)]] += amount

    def observe(self, family: Family, value: float) -> None:
        """Count a value in a histogram."""
        start = self._places[(family.name,)]
        self._cells[start + bisect_left(family.bounds, value)] += 1.0
        self._cells[start + len(family.bounds) + 1] += value

    def request(self, path: str, status: int, seconds: float, is_probe: bool) -> None:
        """Count a request that was answered."""
        known = path if path in self._paths else OTHER
        shown = str(status) if status in STATUSES else OTHER
        self.add("partita_requests_total", labels=(known, shown))
        if not is_probe:
            self.observe(REQUEST_SECONDS, seconds)

    def rows(self, n_rows: int, radii: Iterable[int]) -> None:
        """Count certified rows."""
        self.add("partita_rows_total", n_rows)
        for radius in radii:
            self.observe(RADIUS, radius)
            if radius < self.low_radius:
                self.add(LOW.name)

    def batch(self, n_requests: int) -> None:
        """Count requests that were computed together."""
        self.observe(BATCHES, n_requests)

    @property
    def in_flight(self) -> int:
        """Requests of this worker that are not answered yet."""
        return int(self._cells[self._places[(IN_FLIGHT.name,)]])

    def text(self) -> str:
        """Return all metrics of all workers, in Prometheus' text format."""
        lines: list[str] = []
        for family in self.families:
            sums, samples = self._sums(family), _plain
            if family.kind == HISTOGRAM:
                samples = _histogram
            lines += _lines(family.name, family.kind, family.meaning, samples(family, sums))
        n_radii = sum(self._sums(RADIUS)[:-1])
        share = self._sums(LOW)[0] / n_radii if n_radii else 0.0
        meaning = "Share of rows with a low radius, since the start."
        lines += _lines("partita_low_radius_ratio", GAUGE, meaning, [("", {}, share)])
        return "\n".join([*lines, *self._fixed]) + "\n"

    def _sums(self, family: Family) -> list[float]:
        start = self._places[(family.name, *family.values[0])] % self._width
        return [
            math.fsum(self._cells[place :: self._width])
            for place in range(start, start + family.n_cells)
        ]


def n_cells(families: Iterable[Family]) -> int:
    """Return how many cells one worker needs."""
    return sum(family.n_cells for family in families)


Samples = Iterable[tuple[str, Mapping[str, str], float]]  # suffix of the name, labels, value


def _plain(family: Family, sums: list[float]) -> Samples:
    for values, total in zip(family.values, sums, strict=True):
        if total or not family.labels:  # combinations that never occurred are left out
            yield "", dict(zip(family.labels, values, strict=True)), total


def _histogram(family: Family, sums: list[float]) -> Samples:
    count = 0.0
    for bound, own in zip((*family.bounds, math.inf), sums, strict=False):
        count += own
        yield "_bucket", {"le": "+Inf" if bound == math.inf else _number(bound)}, count
    yield "_sum", {}, sums[-1]
    yield "_count", {}, count


def _lines(name: str, kind: str, meaning: str, samples: Samples) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"
    for suffix, labels, value in samples:
        shown = ",".join(
            '{}="{}"'.format(
                label, text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
            )
            for label, text in labels.items()
        )
        yield f"{name}{suffix}{f'{{{shown}}}' if labels else ''} {_number(value)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


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


# ---- around every request ----

REQUEST_ID = re.compile(rb"[A-Za-z0-9._:+/=-]{1,100}")
NOTES = "partita.notes"  # where the routes leave what the log should say, in the scope
STOPPING = {"Connection": "close", "Retry-After": "1"}


def note(scope: Scope, **facts: object) -> None:
    """Leave something for the line in the log."""
    scope.get(NOTES, {}).update(facts)


def request_id(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the id that the client gave, if it is a plain one, or a new one."""
    given = next((value for name, value in headers if name == b"x-request-id"), b"")
    return given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8).encode()


@dataclass
class Lifecycle:
    """Whether /ready says so, and whether new requests are refused.

    Between the first step to the end and the second a load balancer has time to notice, and no
    request is refused.
    """

    ready: bool = True
    refuses_new: bool = False


class Observer:
    """ASGI middleware that counts, logs, and refuses what begins too late.

    It is the outermost layer, so that nothing is answered without being counted. It reads no body.

    Parameters
    ----------
    app : ASGI application
        What answers.
    metrics : Metrics
        Where requests are counted.
    lifecycle : Lifecycle
        Whether new requests are answered.
    log : RequestLog or None
        Where they are logged.
    operations : set of str
        Paths that are answered to the end.
    probes : set of str
        Paths that are asked by machines every few seconds: not logged unless something is wrong,
        and left out of the histogram of seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        lifecycle: Lifecycle,
        log: RequestLog | None,
        operations: frozenset[str],
        probes: frozenset[str],
    ) -> None:
        self.app, self._metrics, self._lifecycle, self._log = app, metrics, lifecycle, log
        self._operations, self._probes = operations, probes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0
        name = request_id(scope["headers"])
        notes: dict[str, object] = {}
        scope[NOTES] = notes

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message.get("headers", ()), (b"x-request-id", name)]
                if not self._lifecycle.ready and not any(
                    key == b"connection" for key, _ in headers
                ):
                    headers.append((b"connection", b"close"))  # the next request goes elsewhere
                message["headers"] = headers
            await send(message)

        self._metrics.add(IN_FLIGHT.name)
        try:
            if self._lifecycle.refuses_new and scope["path"] not in self._operations:
                await refusal_response(_stopping())(scope, receive, send_with_id)
            else:
                await self.app(scope, receive, send_with_id)
        except (Exception, asyncio.CancelledError) as exc:
            if isinstance(exc, asyncio.CancelledError):  # the time to finish is over
                exc = _stopping()
            else:  # with the request's id in the log, and not shown
                logger.exception("request %s failed", name.decode())
            if status:  # half an answer is none: the connection is closed
                raise
            await refusal_response(exc)(scope, receive, send_with_id)
        finally:
            self._metrics.add(IN_FLIGHT.name, -1.0)
            self._count(scope, notes, name, status or 500, time.perf_counter() - start)

    def _count(
        self, scope: Scope, notes: dict[str, object], name: bytes, status: int, seconds: float
    ) -> None:
        path, is_probe = scope["path"], scope["path"] in self._probes
        self._metrics.request(path, status, seconds, is_probe)
        if self._log is not None and not (is_probe and status < 500):
            client = scope.get("client")
            self._log.write(
                id=name.decode(),
                method=scope["method"][:20],
                path=path[:SHOWN_PATH],
                status=status,
                ms=round(1000 * seconds, 2),
                client=client[0] if client else None,
                **notes,
            )
            if lost := self._log.take_lost():
                self._metrics.add("partita_log_lines_lost_total", lost)


def _stopping() -> RequestRefusedError:
    return RequestRefusedError(503, "the service is stopping: ask again later", headers=STOPPING)


# ---- sources that changed ----

SOURCES = (
    ("partita_source_rows_total", COUNTER, "Rows that say something about a source."),
    (
        "partita_source_contradictions_total",
        COUNTER,
        "Rows in which a source contradicts the prediction.",
    ),
    (
        "partita_source_log10_wealth",
        GAUGE,
        "Bets on a change of a source since the start, power of ten.",
    ),
)
ALARM_LIMIT = "partita_source_alarm_log10_wealth"


def source_families(sources: Sequence[str]) -> tuple[Family, ...]:
    """Return the metrics of these sources; none where nothing is watched.

    They add up and last. Each worker bets on the rows that it certified itself; the product of
    their wealths is the wealth of a player who makes all these bets, so logarithms are added up
    like everything else, and the stated probability of a false alarm holds for the sum, from the
    start of the service to its end. A worker that died leaves what it had won or lost: without its
    losses the sum would be too high, and each death would begin a new budget of false alarms.
    """
    values = [(source,) for source in sources]
    return tuple(
        Family(name, kind, meaning, ("source",), values, lasting=True)
        for name, kind, meaning in SOURCES
        if sources
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
        self._shown = np.zeros((len(SOURCES), len(watcher.usual.sources)))
        limit, rates = float(watcher.log_limit / np.log(10)), watcher.usual.rates.tolist()
        metrics.show(
            ALARM_LIMIT, "A source whose wealth is above this raises an alarm.", [({}, limit)]
        )
        metrics.show(
            "partita_source_usual_ratio",
            "Share of clean rows in which a source contradicts.",
            [
                ({"source": name}, rate)
                for name, rate in zip(watcher.usual.sources, rates, strict=True)
                if rate == rate
            ],
        )

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
        for (name, *_), changes in zip(SOURCES, now - self._shown, strict=True):
            for one, change in zip(found, changes.tolist(), strict=True):
                if change:
                    self._metrics.add(name, change, (one.source,))
        self._shown = now
