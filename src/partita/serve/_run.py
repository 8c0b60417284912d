"""Running the service: a stored model, an application, and the processes that serve it."""

# What uvicorn has and why it is not used: its supervisor restarts a worker that cannot start for
# ever, has no delay, does not say why one failed, and leaves workers behind when it is killed; its
# bind_socket ends the process instead of saying what is wrong, and takes one address of a name;
# its shutdown closes connections while a load balancer still sends requests (here /ready fails
# first), and it waits for a slow client's headers, or the rest of a refused body, without end.

import asyncio
import errno
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType
from typing import Any
from warnings import simplefilter

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from .._support import JsonObject, PathLike, log
from ..ensemble import failure_banner
from ..errors import InputError, PartitaError
from ..store import read_rates
from ..watch import ReferenceRates, stored_rates
from ..workflow import CHOSEN, ON_TRAINING, StoredModel, open_model
from ._app import PATHS, Service, certifying_app
from ._metrics import Cells, Family, n_cells, request_families, source_families
from ._security import is_loopback
from ._settings import ServeSettings
from .federation import (
    COORDINATOR_PATHS,
    PARTY_PATHS,
    PartyBallots,
    coordinator_app,
    party_app,
    party_families,
    read_parties,
)

SECONDS_TO_EXIT = 10.0  # of a worker, after its last request
SECONDS_TO_PROVE = 5.0  # a worker that dies sooner is replaced with a delay
LONGEST_DELAY = 30.0
SECONDS_OF_REFUSALS = 0.5  # at least, between the last request and closed sockets
SECONDS_IDLE = 75  # a connection between two requests; longer than proxies keep theirs
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
BACKLOG = 2048  # connections that wait to be accepted


def run(
    model_path: PathLike | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = ServeSettings.port,
    token: str | None = None,
    tolerance: float | None = None,
    relative: float | None = None,
    trusted: Sequence[str] = (),
    max_rows: int = ServeSettings.max_rows,
    max_bytes: int = ServeSettings.max_bytes,
    max_waiting: int = ServeSettings.max_waiting,
    body_seconds: float = ServeSettings.body_seconds,
    header_seconds: float = ServeSettings.header_seconds,
    drain_seconds: float = ServeSettings.drain_seconds,
    finish_seconds: float = ServeSettings.finish_seconds,
    api_keys: PathLike | None = None,
    allowed_hosts: Sequence[str] = (),
    low_radius: int = ServeSettings.low_radius,
    request_log: PathLike | None = None,
    workers: int = ServeSettings.workers,
    tls_cert: PathLike | None = None,
    tls_key: PathLike | None = None,
    silent: str | Sequence[str] | None = None,
    label_sets: int = ServeSettings.label_sets,
    submodel: str | int | None = None,
    table: PathLike | None = None,
    key: str | None = None,
    parties: PathLike | None = None,
) -> None:
    """Load a stored model and serve it until SIGINT or SIGTERM.

    Parameters
    ----------
    model_path : str or path, optional
        The folder or zip that ``partita fit`` or :func:`partita.store.save` wrote; not with
        ``parties``.
    host : str, default="127.0.0.1"
        The address to listen on; "0.0.0.0" is all of this machine's.
    port : int, default=8000
        The port to listen on; 0: any free one, which standard error names.
    token : str, optional
        What /certify expects in the header "Authorization: Bearer <token>".
    tolerance : float, optional
        For a regressor: how far a prediction may move and still count as unchanged.
    relative : float, optional
        The same as a share of the prediction. Without one of the two, a regressor's rows have
        intervals and no radius.
    trusted : sequence of str, default=()
        Further types that may be loaded, by their full names (:func:`partita.store.load`).
    max_rows : int, default=1000
        The most rows in one request.
    max_bytes : int, default=1_000_000
        The largest body.
    max_waiting : int, default=256
        The most requests that wait for the model at once, for each worker; others are refused
        (429).
    body_seconds : float, default=10.0
        The longest that a request's body may take to arrive (408).
    header_seconds : float, default=10.0
        The longest that a request's headers may take to arrive.
    drain_seconds : float, default=1.0
        After SIGTERM: how long requests are still accepted while /ready fails already.
    finish_seconds : float, default=10.0
        How long requests under way may take after that.
    api_keys : str or path, optional
        A file of keys that are accepted like the token, one per line: a name, a space, and the key
        or ``sha256:`` and its hash. It is read again when it changes.
    allowed_hosts : sequence of str, default=()
        Further hosts that requests may be for. With any, the header Host is checked with a token,
        too.
    low_radius : int, default=1
        Radii below this count as low in /metrics.
    request_log : str or path, optional
        A file to which each request is logged as a line of JSON; "-" is standard error.
    workers : int, default=1
        How many processes answer. Each loads the model; one that dies is replaced. With more than
        one, call this under ``if __name__ == "__main__"``, as they import the main module.
    tls_cert, tls_key : str or path, optional
        A certificate and its private key as PEM files, for HTTPS.
    silent : "detect" or list of str, optional
        Silent sources, as :func:`make_app` takes them.
    label_sets : int, default=0
        Up to how many bad units label sets are listed for, as :func:`make_app` takes it.
    submodel : str or int, optional
        As a party of a federation: which submodel answers, by its number or by the name of one of
        its units. A model with one submodel needs none.
    table : str or path, optional
        As a party: its own rows, a .csv or .parquet file with the submodel's columns.
    key : str, optional
        As a party: the column of the table that names its rows.
    parties : str or path, optional
        As the coordinator of a federation: a parties.toml that says whom to ask and how their
        ballots decide.

    Raises
    ------
    InputError
        If the address cannot be listened on, or the model cannot be served.

    See Also
    --------
    make_app : The service as an ASGI application, for a server of your own.
    Federation : A coordinator in Python.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, store
    >>> from partita.serve import run
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    >>> path = store.save(clf, tempfile.mkdtemp() + "/model")
    >>> run(path, port=8000)  # doctest: +SKIP
    """
    settings = ServeSettings.of(locals())
    settings.check()
    with ExitStack() as opened:
        # before the model is loaded: a port in use is reported at once
        sockets = [opened.enter_context(bound) for bound in bind_sockets(host, port)]
        worker = Worker.of(settings, sockets)
        if token is None and api_keys is None and not is_loopback(host):
            log(f"warning: other machines can reach {host}, and there is no token: all may ask")
        if workers == 1:
            worker(0, None, worker.say_running)
            return
        seconds = drain_seconds + finish_seconds + SECONDS_TO_EXIT
        width = n_cells((*request_families(worker.paths), *worker.families))
        Workers(worker, workers, width).run(worker.say_running, seconds)


@dataclass(frozen=True)
class Worker:
    """One process of the service: loads what it serves, and serves it; called with its number.

    What workers share is settled once: the paths and the further metrics, and whose sources are
    watched.
    """

    settings: ServeSettings
    sockets: list[socket.socket]
    paths: Sequence[str] = PATHS
    families: Sequence[Family] = ()
    sources: Sequence[str] = ()

    @classmethod
    def of(cls, settings: ServeSettings, sockets: list[socket.socket]) -> "Worker":
        """Make the worker of a model, a party or a coordinator."""
        if settings.parties is not None:
            names = read_parties(settings.parties).federation.vote.names
            return cls(settings, sockets, COORDINATOR_PATHS, party_families(names))
        if settings.table is not None:
            return cls(settings, sockets, PARTY_PATHS)
        sources = _watched_sources(settings.model_path)
        return cls(settings, sockets, PATHS, source_families(sources), sources)

    def make_app(self, service: Service) -> FastAPI:
        """Load the model, or read whom to ask, and make the application."""
        settings = self.settings
        if settings.parties is not None:
            return coordinator_app(read_parties(settings.parties), service)
        assert settings.model_path is not None
        stored = open_model(settings.model_path, settings.trusted)
        warnings = _stored_warnings(stored.about)
        if settings.table is None or settings.key is None:
            return certifying_app(stored.model, service, warnings, self._usual(stored))
        ballots = PartyBallots.of(stored, settings.table, settings.key, settings.submodel)
        failed = failure_banner(len(stored.model.failures_), len(stored.model.estimators_))
        return party_app(ballots, service, [*dict.fromkeys([*warnings, *failed])], settings.secret)

    def _usual(self, stored: StoredModel) -> ReferenceRates | None:
        """Return what is usual, if it still is what the metrics have room for."""
        if not self.sources:
            return None
        with suppress(PartitaError):
            usual = stored_rates(stored)
            if usual is not None and usual.sources == tuple(self.sources):
                return usual
        return None

    def __call__(self, number: int, cells: Cells | None, when_ready: Callable[[], None]) -> None:
        settings = self.settings
        service = Service.of(settings, self.paths, self.families, cells=cells, worker=number)
        app = self.make_app(service)
        if number == 0:
            for warning in app.state.warnings:
                log(f"warning: {warning}")
        simplefilter("ignore")  # what libraries think of strangers' rows would fill the log
        try:
            for bound in self.sockets:
                bound.listen(BACKLOG)
        except OSError as exc:
            raise _cannot_listen(settings.host or "", settings.port, exc) from exc
        server = Server(app, service)
        when_ready()
        try:
            with suppress(KeyboardInterrupt):  # uvicorn raises it after it has stopped
                server.run(sockets=self.sockets)
        finally:
            if service.log is not None:
                service.log.close()

    def say_running(self) -> None:
        """Say where the service can be asked."""
        host, scheme = self.settings.host, "http" if self.settings.tls_cert is None else "https"
        address = f"[{host}]" if host and ":" in host else host
        port = self.sockets[0].getsockname()[1]
        log(f"{self.settings.name} is running on {scheme}://{address}:{port} (Ctrl+C stops it)")


def _watched_sources(path: PathLike | None) -> tuple[str, ...]:
    """Return the sources that are watched: those in a valid reference_rates.json of the model."""
    if path is None or not Path(path).exists():
        return ()  # loading says so
    try:
        found = read_rates(path)
        return () if found is None else ReferenceRates.from_dict(found["usual"]).sources
    except PartitaError as exc:
        log(f"warning: sources are not watched: {exc}")
        return ()


def _stored_warnings(about: JsonObject) -> list[str]:
    """Return what the stored model says against itself."""
    quality = about.get("quality")
    found = quality.get("warnings") if isinstance(quality, dict) else None
    warnings = [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
    if about.get("chosen") == ON_TRAINING:
        warnings.append(CHOSEN[ON_TRAINING].removesuffix("."))
    return warnings


# ---- one process ----


class PatientProtocol(H11Protocol):
    """HTTP/1.1 for clients that are slow, but not for ever.

    uvicorn waits for a request's headers, and for the rest of a body that was refused, as long as
    a client likes. Here a connection is closed after ``header_seconds`` of either.
    """

    header_seconds = 10.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._wait(True)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait(self.conn.their_state is h11.IDLE or self._is_unread)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait(self._is_unread)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait(False)
        super().connection_lost(exc)

    @property
    def _is_unread(self) -> bool:
        """Whether a request was answered and its body is still coming in."""
        answered = self.cycle is None or self.cycle.response_complete
        return answered and self.conn.their_state is h11.SEND_BODY

    def _wait(self, waiting: bool) -> None:
        """Start the clock, or stop it; bytes that drop in do not set it back."""
        if not waiting and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif waiting and self._timer is None:
            self._timer = self.loop.call_later(self.header_seconds, self._time_out)

    def _time_out(self) -> None:
        if self.transport.is_closing():
            return
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(TIMED_OUT)
        self.transport.close()


class Server(uvicorn.Server):
    """uvicorn's server, with three steps to the end.

    Told to stop, /ready fails; after ``drain_seconds`` (not after Ctrl+C) new requests are refused;
    when those under way are answered, or ``finish_seconds`` have passed, connections are closed.
    """

    def __init__(self, app: FastAPI, service: Service) -> None:
        settings = service.settings
        protocol = type("Protocol", (PatientProtocol,), {"header_seconds": settings.header_seconds})
        super().__init__(
            uvicorn.Config(
                app,
                access_log=False,
                log_level="warning",
                server_header=False,
                http=protocol,
                ws="none",
                timeout_keep_alive=SECONDS_IDLE,
                ssl_certfile=settings.tls_cert,
                ssl_keyfile=settings.tls_key,
            )
        )
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what is under way, then close."""
        service, settings = self._service, self._service.settings
        service.ready = False
        is_hurried = signal.SIGINT in self._captured_signals
        if not is_hurried:
            await self._sleep(settings.drain_seconds)
        service.refuses_new = True
        if not is_hurried:  # clients that ask on are told, not cut off
            await self._sleep(SECONDS_OF_REFUSALS)
        finish_by = time.monotonic() + settings.finish_seconds
        await self._sleep(settings.finish_seconds, lambda: service.metrics.in_flight > 0)
        left = finish_by - time.monotonic()
        self.config.timeout_graceful_shutdown = (
            1 if service.metrics.in_flight == 0 else max(0, int(left))
        )
        await super().shutdown(sockets)
        with suppress(ValueError):  # a service that was asked to stop, and did, has not failed
            self._captured_signals.remove(signal.SIGTERM)

    async def _sleep(self, seconds: float, condition: Callable[[], bool] = lambda: True) -> None:
        end = time.monotonic() + seconds
        while condition() and time.monotonic() < end and not self.force_exit:
            await asyncio.sleep(0.02)


# ---- sockets ----


def bind_sockets(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address that the host stands for, bound and not listening yet."""
    if not host:
        raise InputError(
            "host is empty: give an address of this machine, such as 127.0.0.1, or 0.0.0.0 for "
            "all of them"
        )
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as exc:
        raise InputError(
            f"host is {host!r}, which is not an address that can be found ({exc}): give an address "
            "of this machine"
        ) from exc
    bound: list[socket.socket] = []
    failure: InputError | None = None
    with ExitStack() as opened:
        for family, kind, protocol, _, place in dict.fromkeys(places):
            one = opened.enter_context(socket.socket(family, kind, protocol))
            try:
                if os.name == "posix":  # elsewhere it would let two services share a port
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                # port 0: the same free one for all addresses
                chosen = bound[0].getsockname()[1] if bound and not port else port
                one.bind((place[0], chosen, *place[2:]))
                bound.append(one)
            except OSError as exc:
                one.close()
                failure = _cannot_listen(host, port, exc)
                # others may do where one is missing, such as ::1 of localhost without IPv6
                if exc.errno != errno.EADDRNOTAVAIL:
                    raise failure from exc
        if failure is not None and not bound:
            raise failure
        opened.pop_all()
    return bound


def _cannot_listen(host: str, port: int, exc: OSError) -> InputError:
    """Say why a service cannot listen there."""
    not_open = f"port {port} of {host} is not open to this user: choose a port of 1024 or above"
    known = {
        errno.EADDRINUSE: f"port {port} of {host} is in use: stop the program that listens there, "
        "or choose another port",
        errno.EACCES: not_open,
        errno.EPERM: not_open,
        errno.EADDRNOTAVAIL: f"host is {host!r}, which is not an address of this machine: give "
        "127.0.0.1, or 0.0.0.0 for all of its addresses",
    }
    other = (
        f"the service cannot listen on port {port} of {host!r} ({exc.strerror or exc}): choose "
        "another host or port"
    )
    return InputError(known.get(exc.errno or 0, other))


# ---- several processes ----


@dataclass
class _Process:
    process: SpawnProcess
    pipe: "Connection[str | None, str | None]"
    started: float


class Workers:
    """Worker processes behind the same sockets: started, watched, replaced, stopped.

    Every worker loads the model itself: libraries that have started threads do not survive a fork.
    This process serves nothing, so that no request can hurt it. A worker whose parent has died
    stops, too.

    Parameters
    ----------
    work : callable
        What a worker runs; it must be picklable, as must its sockets.
    n_workers : int
        How many.
    n_cells : int
        How many numbers each shares with the others.
    """

    def __init__(self, work: Worker, n_workers: int, n_cells: int) -> None:
        self._work, self._n_workers = work, n_workers
        self._context = multiprocessing.get_context("spawn")
        self._cells = self._context.RawArray("d", n_workers * n_cells)
        self._workers: dict[int, _Process] = {}
        self._failures = [0] * n_workers
        self._due: dict[int, float] = {}
        self._stopping = False

    def run(self, when_ready: Callable[[], None], finish_seconds: float) -> None:
        """Run the workers until SIGINT or SIGTERM; ``when_ready`` is called when all listen."""
        handled = {
            number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            for k in range(self._n_workers):
                self._start(k)
            if self._all_ready():
                when_ready()
                self._watch()
        finally:
            self._end(finish_seconds)
            for number, handler in handled.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True

    def _start(self, k: int) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_run_worker, args=(self._work, k, self._cells, theirs), name=f"worker {k}"
        )
        process.start()
        theirs.close()
        self._workers[k] = _Process(process, ours, time.monotonic())

    def _all_ready(self) -> bool:
        """Wait until every worker listens; an error if one cannot."""
        waiting = dict(self._workers)
        while waiting and not self._stopping:
            for k, worker in [*waiting.items()]:
                if not worker.pipe.poll(0.05):
                    continue
                try:
                    failure = worker.pipe.recv()
                except EOFError:
                    failure = f"worker {k} died while it started"
                if failure is not None:
                    raise InputError(failure)
                del waiting[k]
        return not self._stopping

    def _watch(self) -> None:
        """Replace workers that die, until the service is told to stop."""
        while not self._stopping:
            wait([worker.process.sentinel for worker in self._workers.values()], 0.2)
            for k, worker in [*self._workers.items()]:
                if not worker.process.is_alive():
                    self._bury(k)
            for k, due in [*self._due.items()]:
                if time.monotonic() >= due:
                    del self._due[k]
                    self._start(k)

    def _bury(self, k: int) -> None:
        worker = self._workers.pop(k)
        worker.process.join()
        worker.pipe.close()
        is_young = time.monotonic() - worker.started < SECONDS_TO_PROVE
        self._failures[k] = self._failures[k] + 1 if is_young else 0
        delay = min(LONGEST_DELAY, 2.0 ** (self._failures[k] - 1)) if is_young else 0.0
        log(f"warning: worker {k} ended with code {worker.process.exitcode}; it is replaced")
        self._due[k] = time.monotonic() + delay

    def _end(self, finish_seconds: float) -> None:
        """Tell the workers to stop, and wait for them as long as they may take."""
        for worker in self._workers.values():
            # SIGTERM and not SIGINT: after Ctrl+C they have that from the terminal, and a second
            # one would cut off what is under way
            worker.process.terminate()
        end = time.monotonic() + finish_seconds
        for worker in self._workers.values():
            worker.process.join(max(0.0, end - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.pipe.close()


def _run_worker(
    work: Worker, k: int, cells: Cells, pipe: "Connection[str | None, str | None]"
) -> None:
    """Run a worker process; errors in settings go to the parent as a sentence."""
    ready = threading.Event()

    def is_ready() -> None:
        ready.set()
        pipe.send(None)

    def end_with_parent() -> None:
        with suppress(EOFError, OSError):
            pipe.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        work(k, cells, is_ready)
    except (PartitaError, OSError, MemoryError) as exc:
        if ready.is_set():
            raise
        pipe.send(f"{exc}")
