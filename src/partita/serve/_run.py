"""Running the service: a stored model, an application, and the processes that serve it."""

import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from warnings import simplefilter

from .._support import log
from ..ensemble import failure_banner
from ..errors import PartitaError
from ..store import read_rates
from ..watch import ReferenceRates, stored_rates
from ..workflow import CHOSEN, ON_TRAINING, StoredModel, open_model
from ._app import PATHS, certifying_app
from ._federation_app import FEDERATION_PATHS, federation_app, party_families
from ._metrics import Family, n_cells, request_families
from ._parties_file import read_parties
from ._party_app import PARTY_PATHS, party_app
from ._party_ballots import PartyBallots
from ._security import is_loopback
from ._server import make_server
from ._service import Limits, Service
from ._settings import RunSettings
from ._sockets import bind_sockets, listen
from ._source_watch import source_families
from ._web import FastAPI
from ._workers import Workers

SECONDS_TO_EXIT = 10.0  # of a worker, after its last request


def run(
    model_path: Any = None,
    *,
    host: str = RunSettings.host,
    port: int = RunSettings.port,
    token: str | None = None,
    tolerance: float | None = None,
    relative: float | None = None,
    trusted: Sequence[str] = (),
    max_rows: int = Limits.max_rows,
    max_bytes: int = Limits.max_bytes,
    max_waiting: int = Limits.max_waiting,
    body_seconds: float = Limits.body_seconds,
    header_seconds: float = RunSettings.header_seconds,
    drain_seconds: float = RunSettings.drain_seconds,
    finish_seconds: float = RunSettings.finish_seconds,
    api_keys: Any = None,
    allowed_hosts: Sequence[str] = (),
    low_radius: int = RunSettings.low_radius,
    request_log: Any = None,
    workers: int = RunSettings.workers,
    tls_cert: Any = None,
    tls_key: Any = None,
    silent: Any = None,
    submodel: str | int | None = None,
    table: Any = None,
    key: str | None = None,
    parties: Any = None,
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
    settings = RunSettings(
        model_path,
        host=host,
        port=port,
        token=token,
        tolerance=tolerance,
        relative=relative,
        trusted=tuple(trusted),
        limits=Limits(max_rows, max_bytes, max_waiting, body_seconds),
        api_keys=api_keys,
        allowed_hosts=tuple(allowed_hosts),
        low_radius=low_radius,
        request_log=request_log,
        workers=workers,
        tls_cert=tls_cert,
        tls_key=tls_key,
        header_seconds=header_seconds,
        drain_seconds=drain_seconds,
        finish_seconds=finish_seconds,
        silent=silent,
        submodel=submodel,
        table=table,
        key=key,
        parties=parties,
    )
    settings.check()
    with ExitStack() as opened:
        # before the model is loaded: a port in use is reported at once
        sockets = [opened.enter_context(bound) for bound in bind_sockets(host, port)]
        worker = _worker(settings, sockets)
        if not worker.has_key and not is_loopback(host):
            log(f"warning: other machines can reach {host}, and there is no token: anybody may ask")
        if workers == 1:
            worker(0, None, worker.say_running)
            return
        seconds = drain_seconds + finish_seconds + SECONDS_TO_EXIT
        Workers(worker, workers, worker.n_cells).run(worker.say_running, seconds)


@dataclass(frozen=True)
class Worker:
    """One process of the service: loads the model and serves it; called with its number.

    An application of another kind has another :meth:`make_app` and other paths.
    """

    settings: RunSettings
    sockets: list[socket.socket]
    paths: Sequence[str] = PATHS
    further: Sequence[Family] = ()
    sources: Sequence[str] = ()  # that are watched; settled once, since workers share their cells

    @property
    def has_key(self) -> bool:
        """Whether requests need a token or a key."""
        return self.settings.token is not None or self.settings.api_keys is not None

    @property
    def n_cells(self) -> int:
        """How many numbers each worker shares with the others."""
        return n_cells((*request_families(self.paths), *self.further))

    def make_app(self, service: Service) -> FastAPI:
        """Load the model and make the application."""
        settings = self.settings
        stored = open_model(settings.model_path, settings.trusted)
        return certifying_app(
            stored.model,
            service,
            settings.tolerance,
            settings.relative,
            _stored_warnings(stored.about),
            settings.silent,
            self._usual(stored),
        )

    def _usual(self, stored: StoredModel) -> ReferenceRates | None:
        """What is usual, if it still is what the metrics have room for."""
        if not self.sources:
            return None
        with suppress(PartitaError):
            usual = stored_rates(stored)
            if usual is not None and usual.sources == tuple(self.sources):
                return usual
        return None

    def __call__(self, number: int, cells: Any, when_ready: Callable[[], None]) -> None:
        settings = self.settings
        service = settings.service(self.paths, cells, number, self.further)
        app = self.make_app(service)
        if number == 0:
            for warning in app.state.warnings:
                log(f"warning: {warning}")
        simplefilter("ignore")  # what libraries think of strangers' rows would fill the log
        listen(self.sockets, settings.host, settings.port)
        server = make_server(
            app,
            service,
            header_seconds=settings.header_seconds,
            drain_seconds=settings.drain_seconds,
            finish_seconds=settings.finish_seconds,
            tls_cert=settings.tls_cert,
            tls_key=settings.tls_key,
        )
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
        address = f"[{host}]" if ":" in host else host
        port = self.sockets[0].getsockname()[1]
        log(f"{self.settings.name} is running on {scheme}://{address}:{port} (Ctrl+C stops it)")


def _watched_sources(path: Any) -> tuple[str, ...]:
    """The sources that are watched; none without a valid reference_rates.json beside the model."""
    if not Path(path).exists():
        return ()  # loading says so
    try:
        found = read_rates(path)
        return () if found is None else ReferenceRates.from_dict(found["usual"]).sources
    except PartitaError as exc:
        log(f"warning: sources are not watched: {exc}")
        return ()


class PartyWorker(Worker):
    """One process of a party."""

    def make_app(self, service: Service) -> FastAPI:
        """Load the model, score the party's table and make the application."""
        settings = self.settings
        assert settings.key is not None
        stored = open_model(settings.model_path, settings.trusted)
        ballots = PartyBallots.of(stored, settings.table, settings.key, settings.submodel)
        failed = failure_banner(len(stored.model.failures_), len(stored.model.estimators_))
        warnings = dict.fromkeys([*_stored_warnings(stored.about), *failed])
        return party_app(ballots, service, list(warnings), settings.secret)


class CoordinatorWorker(Worker):
    """One process of a federation's coordinator."""

    def make_app(self, service: Service) -> FastAPI:
        """Read whom to ask and make the application."""
        return federation_app(read_parties(self.settings.parties), service)


def _worker(settings: RunSettings, sockets: list[socket.socket]) -> Worker:
    """What serves a model, a party or a coordinator."""
    if settings.parties is not None:
        names = read_parties(settings.parties).federation.vote.names
        return CoordinatorWorker(settings, sockets, FEDERATION_PATHS, party_families(names))
    if settings.table is not None:
        return PartyWorker(settings, sockets, PARTY_PATHS)
    sources = _watched_sources(settings.model_path)
    return Worker(settings, sockets, PATHS, source_families(sources), sources)


def _stored_warnings(about: dict[str, Any]) -> list[str]:
    """What the stored model says against itself."""
    quality = about.get("quality")
    found = quality.get("warnings") if isinstance(quality, dict) else None
    warnings = [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
    if about.get("chosen") == ON_TRAINING:
        warnings.append(CHOSEN[ON_TRAINING].removesuffix("."))
    return warnings
