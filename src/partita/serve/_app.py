"""The service as an ASGI application: POST /certify, GET /health, GET /openapi.json."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from typing import Annotated, Any
from warnings import filterwarnings

from .. import __version__
from ..ensemble._silent_sources import columns_that_may_lack
from ..errors import InputError, SubmodelError, SubmodelWarning
from ..rules import TopK
from ..tables._file import pandas_frame
from ..workflow._certified_table import CertifiedTable
from ..workflow._stored_model import known_kinds
from ..workflow._summary import failures_of
from ..workflow._wording import failure_warning
from ._responses import (
    Certified,
    Health,
    Refusal,
    RequestRefusedError,
    handle_refusal,
    json_bytes,
    row_dicts,
    what_is_proven,
)
from ._rows import columns_of, example_columns, parse_rows, request_schema
from ._security import KnownHosts, check_token, check_token_setting, read_body
from ._web import (
    Depends,
    FastAPI,
    HTTPAuthorizationCredentials,
    HTTPBearer,
    HTTPException,
    Request,
    Response,
)

MAX_ROWS, MAX_BYTES = 1000, 1_000_000


def make_app(
    model: Any,
    *,
    name: str = "model",
    tolerance: float | None = None,
    relative: float | None = None,
    token: str | None = None,
    host: str | None = None,
    warnings: Sequence[str] = (),
    max_rows: int = MAX_ROWS,
    max_bytes: int = MAX_BYTES,
    silent: Any = None,
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
    silent : "detect" or list of str, optional
        Silent sources, by the names of their units; "detect": those whose columns are null, or not
        given, in a row. Their submodels abstain.

    Returns
    -------
    fastapi.FastAPI
        With the routes POST /certify, GET /health and GET /openapi.json.

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
    check_token_setting(token)
    if max_rows < 1 or max_bytes < 1:
        raise InputError(
            f"max_rows is {max_rows} and max_bytes is {max_bytes}: both must be 1 or above, or "
            "every request is refused"
        )
    if isinstance(model.rule_, TopK):
        raise InputError(
            "the model's rule is TopK, whose radius is about a given label: certify it in Python, "
            "with labels="
        )
    model, kinds = copy(model), known_kinds(model)
    model.verbose = 0
    may_lack = () if silent is None else columns_that_may_lack(model, silent)
    counts = model.counts_
    proven = {
        "proves": what_is_proven(model, tolerance, relative),
        "counts": {"what": counts.what, "total": counts.total, "trusted": list(counts.trusted)},
    }
    # For the whole process: Python has one list of filters for all threads, and one set for a
    # request would leak into another.
    filterwarnings("ignore", category=SubmodelWarning)
    # One request at a time: BLAS and OpenMP have one number of threads for the process, which two
    # requests would set against each other.
    worker = ThreadPoolExecutor(1, thread_name_prefix="certify")

    def certify_columns(columns: dict[str, Any]) -> list[dict[str, Any]]:
        frame = pandas_frame(columns)
        return row_dicts(CertifiedTable.of(model, frame, tolerance, relative, silent=silent))

    def certified_body(body: bytes) -> bytes:
        try:
            rows = certify_columns(columns_of(parse_rows(body, max_rows), kinds, may_lack))
        except (InputError, SubmodelError) as exc:
            # a CellError has row and column; what a library says may go on for lines
            row, column = getattr(exc, "row", None), getattr(exc, "column", None)
            raise RequestRefusedError(422, str(exc).splitlines()[0], row, column) from exc
        except RecursionError as exc:
            raise RequestRefusedError(
                422,
                "the body is nested too deep: a cell holds a number, a text, true, false or null",
            ) from exc
        return json_bytes(proven | {"rows": rows})

    app = FastAPI(
        title=f"partita: {name}",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_exception_handler(HTTPException, handle_refusal)
    app.add_exception_handler(Exception, handle_refusal)  # the service's own faults are logged, too
    app.state.warnings = _one_line_each(
        [*warnings, *getattr(model, "warnings_", ()), *_failures(model)]
    )
    if token is None and host is not None:
        app.add_middleware(KnownHosts, listening=host)

    async def require_token(
        given: Annotated[
            HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))
        ],
    ) -> None:
        if token is not None:
            check_token(given, token)

    @app.post(
        "/certify",
        summary="Predict rows and prove the predictions",
        response_model=Certified,
        responses={
            status: {"model": Refusal, "description": meaning}
            for status, meaning in _refusals(token, host, max_rows, max_bytes).items()
        },
        dependencies=[] if token is None else [Depends(require_token)],
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {"schema": request_schema(kinds, max_rows, may_lack)}
                },
            }
        },
    )
    async def certify(request: Request) -> Response:
        try:
            body = await read_body(request, max_bytes)
            loop = asyncio.get_running_loop()
            content = await loop.run_in_executor(worker, certified_body, body)
        except asyncio.CancelledError as exc:
            raise RequestRefusedError(503, "the service is stopping: ask again later") from exc
        return Response(content, media_type="application/json")

    @app.get(
        "/health",
        summary="Whether the service is up, and what it serves",
        response_model=Health,
    )
    async def health() -> Response:
        about = {
            "status": "ok",
            "model": name,
            "partita": __version__,
            "submodels": len(model.estimators_),
        }
        content = about | proven | {"warnings": app.state.warnings}
        return Response(json_bytes(content), media_type="application/json")

    # wrong settings are found now, and compiled code is loaded before the first request
    with suppress(SubmodelError):
        certify_columns(example_columns(kinds))
    return app


def _refusals(
    token: str | None, host: str | None, max_rows: int, max_bytes: int
) -> dict[int | str, str]:
    """Every way in which /certify refuses, by status."""
    refusals: dict[int | str, str] = {}
    if token is not None:
        refusals[401] = "The token is missing or wrong"
    elif host is not None:
        refusals[421] = "The request is for another host"
    return refusals | {
        413: f"More than {max_rows} rows or {max_bytes} bytes",
        422: "The body is not valid JSON, its rows do not have exactly the model's columns, or a "
        "cell is not of its column's kind",
        500: "The service is at fault",
        503: "The service is stopping",
    }


def _failures(model: Any) -> list[str]:
    failed = failures_of(model)
    return [failure_warning(failed, len(model.estimators_)).rstrip(".")] if failed else []


def _one_line_each(texts: Sequence[str]) -> list[str]:
    """Texts on one line each, once, without what a terminal would take for a command."""
    printable = ("".join(char if char.isprintable() else " " for char in text) for text in texts)
    return list(dict.fromkeys(" ".join(text.split()) for text in printable))
