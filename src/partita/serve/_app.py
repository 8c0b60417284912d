"""The applications of the service: the routes that operate any of them, and those that certify.

``new_app`` makes an application with /live, /ready, /metrics and /docs; an application adds its own
routes. The one that certifies a model is here, those of parties are in ``federation``.
"""

import asyncio
import json
import re
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Annotated, Any
from warnings import filterwarnings

from fastapi import Depends, FastAPI, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from jinja2 import Environment, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import __version__
from .._support import PathLike
from ..ensemble import FittedEnsemble, failure_banner
from ..errors import SubmodelError, SubmodelWarning
from ..watch import ReferenceRates, Watcher
from ._certifier import Answer, Batcher, Certifier
from ._metrics import (
    CONTENT_TYPE,
    IN_FLIGHT,
    LINES_LOST,
    Cells,
    Family,
    Metrics,
    RequestLog,
    SourceWatch,
    logger,
    source_families,
)
from ._rows import (
    Certified,
    Health,
    Refusal,
    RequestRefusedError,
    State,
    handle_refusal,
    json_bytes,
    json_response,
    refusal_response,
    rows_schema,
)
from ._security import Keys, KnownHosts, check_key, read_body
from ._settings import ServeSettings

# asked by machines every few seconds: logged only where something is wrong, and not timed
PROBES = ("/live", "/ready", "/metrics", "/health")
OPERATIONS = (*PROBES, "/openapi.json", "/docs")
PATHS = ("/certify", *OPERATIONS)
REQUEST_ID = re.compile(rb"[A-Za-z0-9._:+/=-]{1,100}")
NOTES = "partita.notes"  # where the routes leave what the log should say, in the scope
SHOWN_PATH = 200  # characters, in the log
STOPPING = {"Connection": "close", "Retry-After": "1"}
INVALID_ROWS = (
    "The body is not valid JSON, its rows do not have exactly the model's columns, or a cell is "
    "not of its column's kind"
)
# FastAPI's own page loads scripts from elsewhere; this one allows none, and needs no network
DOCS_POLICY = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


@dataclass
class Service:
    """What one process of the service shares between its requests.

    Attributes
    ----------
    name : str
        What is served.
    metrics : Metrics
        What /metrics shows.
    settings : ServeSettings
        Limits, and the hosts that requests may be for.
    keys : Keys
        What requests need; without any, nothing.
    log : RequestLog, optional
        Where requests are logged.
    ready, refuses_new : bool
        Whether /ready says so, and whether new requests are refused. Between the first step to the
        end and the second a load balancer has time to notice, and no request is refused.
    """

    name: str
    metrics: Metrics
    settings: ServeSettings = field(default_factory=ServeSettings)
    keys: Keys = field(default_factory=Keys)
    log: RequestLog | None = None
    ready: bool = True
    refuses_new: bool = False

    @classmethod
    def of(
        cls,
        settings: ServeSettings,
        paths: Sequence[str],
        families: Sequence[Family] = (),
        name: str | None = None,
        cells: Cells | None = None,
        worker: int = 0,
    ) -> "Service":
        """Make the service of one worker process."""
        settings.check_requests()
        name = settings.name if name is None else name
        log = None if settings.request_log is None else RequestLog(settings.request_log, worker)
        about = {"model": name, "version": __version__}
        metrics = Metrics(paths, settings.low_radius, about, cells, worker, families)
        return cls(name, metrics, settings, Keys(settings.token, settings.api_keys), log)

    @property
    def checks_hosts(self) -> bool:
        """Whether requests for unknown hosts are refused."""
        settings = self.settings
        return bool(settings.allowed_hosts) or (settings.host is not None and not self.keys)

    @property
    def key_needed(self) -> Sequence[Any]:
        """What a route depends on that needs a key."""
        return [Depends(self._require_key)] if self.keys else []

    async def _require_key(
        self,
        request: Request,
        given: Annotated[
            HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))
        ],
    ) -> None:
        note(request.scope, key=check_key(given, self.keys))

    async def body(self, request: Request) -> bytes:
        """Read the body of a request, within the limits."""
        return await read_body(request, self.settings.max_bytes, self.settings.body_seconds)

    def refusals(self, invalid: str = INVALID_ROWS) -> dict[int | str, dict[str, Any]]:
        """Return every way in which a route that reads a body refuses, for OpenAPI.

        ``invalid``: what is wrong with a body that cannot be used.
        """
        limits = self.settings
        meanings = {
            408: f"The body was not complete within {limits.body_seconds:g} seconds",
            413: f"More than {limits.max_rows} rows or {limits.max_bytes} bytes",
            422: invalid,
            429: f"{limits.max_waiting} requests are waiting already",
            500: "The service is at fault",
            503: "The service is stopping",
        }
        if self.keys:
            meanings[401] = "The token is missing or wrong"
        if self.checks_hosts:
            meanings[421] = "The request is for another host"
        return {
            status: {"model": Refusal, "description": meaning}
            for status, meaning in sorted(meanings.items())
        }


# ---- around every request ----


def note(scope: Scope, **facts: object) -> None:
    """Leave something for the line in the log."""
    scope.get(NOTES, {}).update(facts)


def request_id(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the id that the client gave, if it is a plain one, or a new one."""
    given = next((value for name, value in headers if name == b"x-request-id"), b"")
    return given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8).encode()


class Observer:
    """ASGI middleware that counts, logs, and refuses what begins too late.

    It is the outermost layer, so that nothing is answered without being counted. It reads no body.

    Parameters
    ----------
    app : ASGI application
        What answers.
    service : Service
        Its metrics, its log, and whether new requests are answered.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        service, start, status = self._service, time.perf_counter(), 0
        name = request_id(scope["headers"])
        notes: dict[str, object] = {}
        scope[NOTES] = notes

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message.get("headers", ()), (b"x-request-id", name)]
                if not service.ready and not any(key == b"connection" for key, _ in headers):
                    headers.append((b"connection", b"close"))  # the next request goes elsewhere
                message["headers"] = headers
            await send(message)

        service.metrics.add(IN_FLIGHT)
        try:
            if service.refuses_new and scope["path"] not in OPERATIONS:
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
            service.metrics.add(IN_FLIGHT, -1.0)
            self._count(scope, notes, name, status or 500, time.perf_counter() - start)

    def _count(
        self, scope: Scope, notes: dict[str, object], name: bytes, status: int, seconds: float
    ) -> None:
        metrics, log, path = self._service.metrics, self._service.log, scope["path"]
        is_probe = path in PROBES
        metrics.request(path, status, seconds, is_probe)
        if log is not None and not (is_probe and status < 500):
            client = scope.get("client")
            log.write(
                id=name.decode(),
                method=scope["method"][:20],
                path=path[:SHOWN_PATH],
                status=status,
                ms=round(1000 * seconds, 2),
                client=client[0] if client else None,
                **notes,
            )
            metrics.add(LINES_LOST, log.take_lost())


def _stopping() -> RequestRefusedError:
    return RequestRefusedError(503, "the service is stopping: ask again later", headers=STOPPING)


def new_app(service: Service) -> FastAPI:
    """Make an application with the routes that operate it: /live, /ready, /metrics and /docs."""
    app = FastAPI(
        title=f"partita: {service.name}",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    app.add_exception_handler(HTTPException, handle_refusal)
    if service.checks_hosts:
        hosts = tuple(service.settings.allowed_hosts)
        app.add_middleware(KnownHosts, listening=service.settings.host, allowed=hosts)
    app.add_middleware(Observer, service=service)

    @app.get("/live", summary="Whether the process is alive", response_model=State)
    async def live() -> Response:
        return json_response({"status": "live"})

    @app.get(
        "/ready",
        summary="Whether to send requests here",
        response_model=State,
        responses={503: {"model": State, "description": "The service is stopping"}},
    )
    async def ready() -> Response:
        if service.ready:
            return json_response({"status": "ready"})
        return json_response({"status": "stopping"}, 503)

    @app.get("/metrics", summary="Metrics in Prometheus' text format", response_class=Response)
    async def metrics() -> Response:
        if service.log is not None:
            service.metrics.add(LINES_LOST, service.log.take_lost())
        return Response(service.metrics.text(), media_type=CONTENT_TYPE)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        template = files(__package__).joinpath("docs.html").read_text(encoding="utf-8")
        page = Environment(autoescape=True, undefined=StrictUndefined).from_string(template)
        text = page.render(app.openapi(), json=partial(json.dumps, ensure_ascii=False))
        return Response(text, headers=DOCS_POLICY, media_type="text/html")

    return app


def add_health(app: FastAPI, summary: str, model: type, about: Mapping[str, object]) -> None:
    """Add the route /health, whose answer does not change, and the warnings in it."""
    service: Service = app.state.service
    content = {"status": "ok", "model": service.name, "partita": __version__, **about}
    body = json_bytes(content)

    @app.get("/health", summary=summary, response_model=model)
    async def health() -> Response:
        return json_response(body)


# ---- the application that certifies ----


def make_app(
    model: FittedEnsemble,
    *,
    name: str = "model",
    tolerance: float | None = None,
    relative: float | None = None,
    token: str | None = None,
    host: str | None = None,
    warnings: Sequence[str] = (),
    max_rows: int = ServeSettings.max_rows,
    max_bytes: int = ServeSettings.max_bytes,
    max_waiting: int = ServeSettings.max_waiting,
    body_seconds: float = ServeSettings.body_seconds,
    api_keys: PathLike | None = None,
    allowed_hosts: Sequence[str] = (),
    low_radius: int = 1,
    request_log: PathLike | None = None,
    silent: str | Sequence[str] | None = None,
    label_sets: int = ServeSettings.label_sets,
    usual: ReferenceRates | None = None,
) -> FastAPI:
    """Make the service as an ASGI application.

    Parameters
    ----------
    model : FeaturePartitionClassifier or FeaturePartitionRegressor
        Fitted on a frame, so that it knows its columns' names and kinds.
    name : str, default="model"
        What /health calls it.
    tolerance : float, optional
        For a regressor: how far a prediction may move and still count as unchanged.
    relative : float, optional
        The same as a share of the prediction. Without one of the two, a regressor's rows have
        intervals and no radius.
    token : str, optional
        What /certify expects in the header "Authorization: Bearer <token>".
    host : str, optional
        The address that the service listens on. Without a token, requests for hosts that are not
        this machine are then refused (421). None: any host is accepted, for an application behind
        a server of your own.
    warnings : sequence of str, default=()
        What /health says against relying on the model, beside what fitting it warned of and how
        many of its submodels failed.
    max_rows : int, default=1000
        The most rows in one request.
    max_bytes : int, default=1_000_000
        The largest body.
    max_waiting : int, default=256
        The most requests that wait for the model at once; others are refused (429).
    body_seconds : float, default=10.0
        The longest that a request's body may take to arrive (408).
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
    silent : "detect" or list of str, optional
        Silent sources, by the names of their units; "detect": those whose columns are null, or not
        given, in a row. Their submodels abstain.
    label_sets : int, default=0
        For a classifier: up to how many bad units answers list the labels that these could bring
        about.
    usual : ReferenceRates, optional
        What :func:`partita.watch.learn_usual` found: /metrics then shows which source
        contradicts the predictions more often.

    Returns
    -------
    fastapi.FastAPI
        With the routes POST /certify, GET /health, /live, /ready, /metrics, /docs and
        /openapi.json.

    Raises
    ------
    InputError
        If the model or a setting cannot be served.

    See Also
    --------
    run : Load a stored model and serve it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.serve import make_app
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> app = make_app(FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y))
    >>> "/certify" in app.openapi()["paths"]
    True
    """
    settings = ServeSettings.of(locals())
    families = source_families(usual.sources if usual else ())
    return certifying_app(model, Service.of(settings, PATHS, families, name), warnings, usual)


def certifying_app(
    model: FittedEnsemble,
    service: Service,
    warnings: Sequence[str] = (),
    usual: ReferenceRates | None = None,
) -> FastAPI:
    """Make the application that certifies, for a service with these settings and metrics."""
    settings, metrics = service.settings, service.metrics
    watch = None if usual is None else SourceWatch(Watcher(model, usual), metrics)
    certifier = Certifier(
        model,
        settings.tolerance,
        settings.relative,
        settings.max_rows,
        settings.silent,
        settings.label_sets,
        watch,
    )
    # For the whole process: Python has one list of filters for all threads, and one set for a
    # request would leak into another.
    filterwarnings("ignore", category=SubmodelWarning)
    batcher: Batcher[bytes, Answer] = Batcher(
        certifier.answers, settings.max_waiting, metrics.batch
    )
    app = new_app(service)
    failed = failure_banner(len(model.failures_), len(model.estimators_))
    app.state.warnings = _one_line_each([*warnings, *getattr(model, "warnings_", ()), *failed])
    app.description = "\n".join(f"Warning: {text}." for text in app.state.warnings)

    @app.post(
        "/certify",
        summary="Predict rows and prove the predictions",
        response_model=Certified,
        responses=service.refusals(),
        dependencies=service.key_needed,
        openapi_extra=rows_schema(certifier.kinds, settings.max_rows, certifier.may_lack),
    )
    async def certify(request: Request) -> Response:
        batcher.check_room()
        answer = await batcher.run(await service.body(request))
        metrics.rows(answer.n_rows, answer.radii)
        note(request.scope, rows=answer.n_rows, lowest_radius=min(answer.radii, default=None))
        return json_response(answer.content)

    about = {"submodels": len(model.estimators_), **certifier.proven}
    summary = "Whether the service is up, and what it serves"
    add_health(app, summary, Health, about | {"warnings": app.state.warnings})
    with suppress(SubmodelError):
        certifier.warm_up()
    return app


def _one_line_each(texts: Sequence[str]) -> list[str]:
    """Return texts on one line each, once, without what a terminal would take for a command."""
    printable = ("".join(char if char.isprintable() else " " for char in text) for text in texts)
    return list(dict.fromkeys(" ".join(text.split()) for text in printable))
