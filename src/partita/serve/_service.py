"""What an application of this service has beside its own routes: limits, keys, metrics, a life.

``new_app`` makes an application with the routes that operate it and nothing to ask. An application
adds its own routes, one module per kind (``_app`` is the one that certifies); nothing here knows
models.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from .. import __version__
from ..errors import InputError
from ._docs_page import docs_page
from ._keys import Keys
from ._lifecycle import Lifecycle
from ._metrics import CONTENT_TYPE, Metrics
from ._observer import Observer, note
from ._request_log import RequestLog
from ._responses import Refusal, State, handle_refusal, json_bytes
from ._security import KnownHosts, check_hosts, check_key
from ._web import (
    Depends,
    FastAPI,
    HTTPAuthorizationCredentials,
    HTTPBearer,
    HTTPException,
    Request,
    Response,
)

PROBES = ("/live", "/ready", "/metrics", "/health")
OPERATIONS = (*PROBES, "/openapi.json", "/docs")
INVALID_ROWS = (
    "The body is not valid JSON, its rows do not have exactly the model's columns, or a cell is "
    "not of its column's kind"
)


@dataclass(frozen=True)
class Limits:
    """The most that clients may ask of the service.

    Attributes
    ----------
    max_rows, max_bytes : int
        In one request.
    max_waiting : int
        Requests that wait for the model at once; others are told to come back (429).
    body_seconds : float
        From a request's headers to the end of its body.
    """

    max_rows: int = 1000
    max_bytes: int = 1_000_000
    max_waiting: int = 256
    body_seconds: float = 10.0

    def check(self) -> None:
        """Refuse limits under which every request is refused."""
        if self.max_rows < 1 or self.max_bytes < 1:
            raise InputError(
                f"max_rows is {self.max_rows} and max_bytes is {self.max_bytes}: both must be 1 or "
                "above, or every request is refused"
            )
        if self.max_waiting < 1 or not self.body_seconds > 0:
            raise InputError(
                f"max_waiting is {self.max_waiting} and body_seconds is {self.body_seconds}: both "
                "must be above 0, or every request is refused"
            )


@dataclass
class Service:
    """What one process of the service shares between its requests.

    Attributes
    ----------
    name : str
        What is served.
    metrics : Metrics
        What /metrics shows.
    limits : Limits
        The most that clients may ask for.
    keys : Keys
        Who may ask; without any, everybody may.
    host : str, optional
        The address that is listened on, where the header Host is to be checked.
    allowed_hosts : sequence of str
        Further names by which the service may be asked.
    log : RequestLog, optional
        Where requests are logged.
    lifecycle : Lifecycle
        Whether new requests are welcome.
    """

    name: str
    metrics: Metrics
    limits: Limits = field(default_factory=Limits)
    keys: Keys = field(default_factory=Keys)
    host: str | None = None
    allowed_hosts: Sequence[str] = ()
    log: RequestLog | None = None
    lifecycle: Lifecycle = field(default_factory=Lifecycle)

    def __post_init__(self) -> None:
        self.limits.check()
        check_hosts(self.allowed_hosts)

    @property
    def checks_hosts(self) -> bool:
        """Whether requests for unknown hosts are refused."""
        return bool(self.allowed_hosts) or (self.host is not None and not self.keys)

    @property
    def key_needed(self) -> list[Any]:
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

    def refusals(self, invalid: str = INVALID_ROWS) -> dict[int | str, dict[str, Any]]:
        """Every way in which a route that reads a body refuses, for OpenAPI.

        ``invalid``: what is wrong with a body that cannot be used.
        """
        limits = self.limits
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


def new_app(service: Service) -> FastAPI:
    """An application with the routes that operate it: /live, /ready, /metrics and /docs."""
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
        app.add_middleware(KnownHosts, listening=service.host, allowed=tuple(service.allowed_hosts))
    app.add_middleware(
        Observer,
        metrics=service.metrics,
        lifecycle=service.lifecycle,
        log=service.log,
        operations=frozenset(OPERATIONS),
        probes=frozenset(PROBES),
    )

    @app.get("/live", summary="Whether the process is alive", response_model=State)
    async def live() -> Response:
        return Response(json_bytes({"status": "live"}), media_type="application/json")

    @app.get(
        "/ready",
        summary="Whether to send requests here",
        response_model=State,
        responses={503: {"model": State, "description": "The service is stopping"}},
    )
    async def ready() -> Response:
        is_ready = service.lifecycle.ready
        content = json_bytes({"status": "ready" if is_ready else "stopping"})
        return Response(content, 200 if is_ready else 503, media_type="application/json")

    @app.get("/metrics", summary="Metrics in Prometheus' text format", response_class=Response)
    async def metrics() -> Response:
        if service.log is not None and (lost := service.log.take_lost()):
            service.metrics.add("partita_log_lines_lost_total", lost)
        return Response(service.metrics.text(), media_type=CONTENT_TYPE)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        # no scripts, and nothing from elsewhere
        headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
        return Response(docs_page(app.openapi()), headers=headers, media_type="text/html")

    return app
