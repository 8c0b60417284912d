"""The application that certifies: POST /certify and GET /health beside the operating routes."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from warnings import filterwarnings

from .. import __version__
from ..ensemble import FittedEnsemble, failure_banner
from ..errors import SubmodelError, SubmodelWarning
from ..watch import ReferenceRates, Watcher
from ._batching import Batcher
from ._certifier import Answer, Certifier
from ._keys import Keys
from ._metrics import Metrics
from ._observer import note
from ._request_log import RequestLog
from ._responses import Certified, Health, RequestRefusedError, json_bytes
from ._rows import request_schema
from ._security import read_body
from ._service import OPERATIONS, Limits, Service, new_app
from ._source_watch import SourceWatch, source_families
from ._web import FastAPI, Request, Response

PATHS = ("/certify", *OPERATIONS)


def make_app(
    model: FittedEnsemble,
    *,
    name: str = "model",
    tolerance: float | None = None,
    relative: float | None = None,
    token: str | None = None,
    host: str | None = None,
    warnings: Sequence[str] = (),
    max_rows: int = Limits.max_rows,
    max_bytes: int = Limits.max_bytes,
    max_waiting: int = Limits.max_waiting,
    body_seconds: float = Limits.body_seconds,
    api_keys: Any = None,
    allowed_hosts: Sequence[str] = (),
    low_radius: int = 1,
    request_log: Any = None,
    silent: Any = None,
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
    constants = {"model": name, "version": __version__}
    service = Service(
        name,
        Metrics(
            PATHS, low_radius, constants, further=source_families(usual.sources if usual else ())
        ),
        Limits(max_rows, max_bytes, max_waiting, body_seconds),
        Keys(token, api_keys),
        host,
        allowed_hosts,
        None if request_log is None else RequestLog(request_log),
    )
    return certifying_app(model, service, tolerance, relative, warnings, silent, usual)


def certifying_app(
    model: FittedEnsemble,
    service: Service,
    tolerance: float | None,
    relative: float | None,
    warnings: Sequence[str],
    silent: Any = None,
    usual: ReferenceRates | None = None,
) -> FastAPI:
    """The application that certifies, for a service with these limits, keys and metrics."""
    limits, metrics = service.limits, service.metrics
    watch = None if usual is None else SourceWatch(Watcher(model, usual), metrics)
    certifier = Certifier(model, tolerance, relative, limits.max_rows, silent, watch)
    # For the whole process: Python has one list of filters for all threads, and one set for a
    # request would leak into another.
    filterwarnings("ignore", category=SubmodelWarning)
    batcher: Batcher[bytes, Answer] = Batcher(certifier.answers, limits.max_waiting, metrics.batch)
    app = new_app(service)
    failed = failure_banner(len(model.failures_), len(model.estimators_))
    app.state.warnings = _one_line_each([*warnings, *getattr(model, "warnings_", ()), *failed])
    app.description = "\n".join(f"Warning: {text}." for text in app.state.warnings)
    about = {
        "status": "ok",
        "model": service.name,
        "partita": __version__,
        "submodels": len(model.estimators_),
    }
    health_content = json_bytes(about | certifier.proven | {"warnings": app.state.warnings})

    @app.post(
        "/certify",
        summary="Predict rows and prove the predictions",
        response_model=Certified,
        responses=service.refusals(),
        dependencies=service.key_needed,
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": request_schema(
                            certifier.kinds, limits.max_rows, certifier.may_lack
                        )
                    }
                },
            }
        },
    )
    async def certify(request: Request) -> Response:
        try:
            batcher.check_room()
            body = await read_body(request, limits.max_bytes, limits.body_seconds)
            answer = await batcher.run(body)
        except asyncio.CancelledError as exc:
            raise RequestRefusedError(503, "the service is stopping: ask again later") from exc
        metrics.rows(answer.n_rows, answer.radii)
        note(request.scope, rows=answer.n_rows, lowest_radius=min(answer.radii, default=None))
        return Response(answer.content, media_type="application/json")

    @app.get(
        "/health",
        summary="Whether the service is up, and what it serves",
        response_model=Health,
    )
    async def health() -> Response:
        return Response(health_content, media_type="application/json")

    with suppress(SubmodelError):
        certifier.warm_up()
    return app


def _one_line_each(texts: Sequence[str]) -> list[str]:
    """Texts on one line each, once, without what a terminal would take for a command."""
    printable = ("".join(char if char.isprintable() else " " for char in text) for text in texts)
    return list(dict.fromkeys(" ".join(text.split()) for text in printable))
