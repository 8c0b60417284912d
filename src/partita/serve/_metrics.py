"""What /metrics shows: counters, gauges and histograms as Prometheus reads them.

All numbers of a worker stand in one row of cells, which workers may share: each writes its own row,
and /metrics adds the rows up, so that it does not matter which worker is asked. That is why all
labels are known beforehand: nothing a request makes up becomes a label.
"""

# Why not prometheus-client: its numbers of several processes go through files in a folder that an
# environment variable names before the first import, some for each process that ever ran; it counts
# a killed worker's requests in flight until it is told, and has one set of metrics for a process.

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
STATUSES = (200, 400, 401, 404, 405, 408, 413, 421, 422, 429, 500, 503)
OTHER = "other"
SECONDS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
RADII = (-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)


@dataclass(frozen=True)
class Family:
    """One metric: its name, kind, meaning, and the values that its labels can have.

    ``values`` has one tuple per combination of labels; a histogram has ``bounds`` instead. What a
    worker leaves in a gauge ends with it, unless the gauge is ``lasting``; counters always last.
    """

    name: str
    kind: str  # "counter", "gauge" or "histogram"
    meaning: str
    labels: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ((),)
    bounds: tuple[float, ...] = ()
    lasting: bool = False

    @property
    def n_cells(self) -> int:
        """A histogram has a cell per bound, one above all of them, and one for the sum."""
        return len(self.bounds) + 2 if self.kind == "histogram" else len(self.values)


@dataclass(frozen=True)
class Sample:
    """One line of a metric that is computed when /metrics is asked."""

    labels: dict[str, str]
    value: float


Collector = Callable[[], Iterable[tuple[Family, Iterable[Sample]]]]


def request_families(paths: Sequence[str]) -> tuple[Family, ...]:
    """The metrics of any application of this service with these paths."""
    by_status = tuple(
        (path, str(status)) for path in (*paths, OTHER) for status in (*STATUSES, OTHER)
    )
    return (
        Family(
            "partita_requests_total",
            "counter",
            "Requests that were answered, by path and status.",
            ("path", "status"),
            by_status,
        ),
        Family(
            "partita_request_seconds",
            "histogram",
            "Seconds from a request's headers to the end of its response, without probes.",
            bounds=SECONDS,
        ),
        Family("partita_requests_in_flight", "gauge", "Requests that are not answered yet."),
        Family("partita_batch_requests", "histogram", "Requests computed together.", bounds=SIZES),
        Family("partita_rows_total", "counter", "Rows that were certified."),
        Family("partita_radius", "histogram", "Certified radii of rows.", bounds=RADII),
        Family(
            "partita_low_radius_rows_total", "counter", "Rows with a radius below the threshold."
        ),
        Family("partita_log_lines_lost_total", "counter", "Request log lines not written."),
        Family("partita_worker_starts_total", "counter", "Worker processes that were started."),
    )


def n_cells(families: Iterable[Family]) -> int:
    """How many cells one worker needs."""
    return sum(family.n_cells for family in families)


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
    cells : writable buffer of float, optional
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
        constants: dict[str, str] | None = None,
        cells: Any = None,
        worker: int = 0,
        further: Sequence[Family] = (),
    ) -> None:
        self.families = (*request_families(paths), *further)
        self.low_radius, self._constants = low_radius, constants or {}
        self._width = n_cells(self.families)
        own = array("d", bytes(8 * self._width)) if cells is None else cells
        self._cells = memoryview(own).cast("B").cast("d")
        self._row = worker * self._width
        self._places: dict[tuple[str, ...], int] = {}
        self._starts: dict[str, int] = {}
        self._collectors: list[Collector] = []
        place = 0
        for family in self.families:
            self._starts[family.name] = place
            for k, values in enumerate(family.values):
                self._places[(family.name, *values)] = place + k
            if family.kind == "gauge" and not family.lasting:  # what a worker left that was killed
                for k in range(family.n_cells):
                    self._cells[self._row + place + k] = 0.0
            place += family.n_cells
        self._paths = {*paths}
        self.add("partita_worker_starts_total")

    def collect(self, collector: Collector) -> None:
        """Show further metrics, computed whenever /metrics is asked."""
        self._collectors.append(collector)

    def add(self, name: str, amount: float = 1.0, labels: tuple[str, ...] = ()) -> None:
        """Add to a counter or a gauge."""
        self._cells[self._row + self._places[(name, *labels)]] += amount

    def observe(self, name: str, bounds: tuple[float, ...], value: float) -> None:
        """Count a value in a histogram."""
        start = self._row + self._starts[name]
        self._cells[start + bisect_left(bounds, value)] += 1.0
        self._cells[start + len(bounds) + 1] += value

    def request(self, path: str, status: int, seconds: float, is_probe: bool) -> None:
        """Count a request that was answered."""
        known = path if path in self._paths else OTHER
        shown = str(status) if status in STATUSES else OTHER
        self.add("partita_requests_total", labels=(known, shown))
        if not is_probe:
            self.observe("partita_request_seconds", SECONDS, seconds)

    def rows(self, n_rows: int, radii: Iterable[int]) -> None:
        """Count certified rows."""
        self.add("partita_rows_total", n_rows)
        for radius in radii:
            self.observe("partita_radius", RADII, radius)
            if radius < self.low_radius:
                self.add("partita_low_radius_rows_total")

    def batch(self, n_requests: int) -> None:
        """Count requests that were computed together."""
        self.observe("partita_batch_requests", SIZES, n_requests)

    @property
    def in_flight(self) -> int:
        """Requests of this worker that are not answered yet."""
        return int(self._cells[self._row + self._starts["partita_requests_in_flight"]])

    def text(self) -> str:
        """All metrics of all workers, in Prometheus' text format."""
        lines: list[str] = []
        for family in self.families:
            lines += _head(family)
            lines += (
                _histogram(family, self._sums(family)) if family.bounds else self._plain(family)
            )
        rows, low = (
            self._sums(family)
            for name in ("partita_radius", "partita_low_radius_rows_total")
            for family in self.families
            if family.name == name
        )
        n_radii = sum(rows[:-1])
        threshold = Family(
            "partita_low_radius_threshold", "gauge", "Radii below this count as low."
        )
        share = Family(
            "partita_low_radius_ratio", "gauge", "Share of rows with a low radius, since the start."
        )
        info = Family("partita_info", "gauge", "What is served.")
        computed: list[tuple[Family, Iterable[Sample]]] = [
            (threshold, [Sample({}, self.low_radius)]),
            (share, [Sample({}, low[0] / n_radii if n_radii else 0.0)]),
            (info, [Sample(self._constants, 1.0)]),
        ]
        for collector in self._collectors:
            computed += collector()
        for family, samples in computed:
            lines += _head(family)
            lines += [f"{family.name}{_labels(one.labels)} {_number(one.value)}" for one in samples]
        return "\n".join(lines) + "\n"

    def _sums(self, family: Family) -> list[float]:
        start, cells = self._starts[family.name], self._cells
        return [
            math.fsum(cells[place :: self._width]) for place in range(start, start + family.n_cells)
        ]

    def _plain(self, family: Family) -> Iterator[str]:
        for values, total in zip(family.values, self._sums(family), strict=True):
            if total or not family.labels:  # combinations that never occurred are left out
                labels = dict(zip(family.labels, values, strict=True))
                yield f"{family.name}{_labels(labels)} {_number(total)}"


def _histogram(family: Family, cells: list[float]) -> Iterator[str]:
    count = 0.0
    for bound, own in zip((*family.bounds, math.inf), cells, strict=False):
        count += own
        shown = "+Inf" if bound == math.inf else _number(bound)
        yield f'{family.name}_bucket{{le="{shown}"}} {_number(count)}'
    yield f"{family.name}_sum {_number(cells[-1])}"
    yield f"{family.name}_count {_number(count)}"


def _head(family: Family) -> list[str]:
    return [f"# HELP {family.name} {family.meaning}", f"# TYPE {family.name} {family.kind}"]


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    escaped = (
        value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
        for value in labels.values()
    )
    pairs = (f'{name}="{value}"' for name, value in zip(labels, escaped, strict=True))
    return "{" + ",".join(pairs) + "}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
