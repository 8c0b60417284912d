"""The HTTP service: rows as JSON in, predictions with their proofs out."""

import asyncio
import errno
import hmac
import ipaddress
import json
import math
import os
import re
import socket
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from copy import copy
from pathlib import Path
from typing import Annotated, Any
from warnings import filterwarnings, simplefilter

import numpy as np

from .. import __version__
from ..ensemble._failures import FixedVote
from ..errors import InputError, MissingExtraError, SubmodelError, SubmodelWarning
from ..rules import Median, TopK
from ..store import _store as store
from ..tables._kinds import BOOLEAN, NUMBER, TEXT, TIME, cells
from ..tables._open import frame_of
from ..workflow._certified_rows import Answers
from ..workflow._workflow import known_kinds

try:
    import uvicorn
    from fastapi import Depends, FastAPI, Request, Response
    from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
    from pydantic import BaseModel
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect
except ImportError as exc:
    raise MissingExtraError("fastapi", "serving a model", "partita[serve]") from exc

MAX_ROWS, MAX_BYTES = 1000, 1_000_000
BACKLOG = 2048  # connections that wait to be taken
SECONDS_TO_FINISH = 10  # what requests under way have left when the service is told to stop
CELLS = {
    NUMBER: {"type": ["number", "null"]},
    BOOLEAN: {"enum": [True, False, 0, 1, None]},
    TIME: {
        "type": ["string", "null"],
        "description": "such as 2026-01-31 or 2026-01-31T12:00:00; without a zone it is UTC",
    },
    TEXT: {"type": ["string", "null"]},
}
Label = str | int | float | bool


class Counted(BaseModel):
    """What a radius counts, how many there are in all, and which columns are out of the attacker's
    reach."""

    what: str
    total: int
    trusted: list[str]


class Row(BaseModel):
    """What is said of one row.

    radius: how many of the things counted an attacker may own without breaking what is proven.
    hangs_on: what breaks it alone. Both are null for a model of numbers without a tolerance. rival:
    the label nearest to taking over, if there is one. intervals: for a model of numbers, how low
    and how high r of the things counted can bring the prediction; null: no end. For a model of
    labels it is null."""

    prediction: Label
    radius: int | None
    rival: Label | None
    hangs_on: list[str] | None
    intervals: dict[str, tuple[float | None, float | None]] | None


class Certified(BaseModel):
    """What is proven, up to the radius; what the radius counts; and the rows, in the order of the
    request."""

    proves: str | None
    counts: Counted
    rows: list[Row]


class Health(BaseModel):
    """The service is up, and this is what it serves.

    warnings: what speaks against relying on this model.
    """

    status: str
    model: str
    partita: str
    submodels: int
    proves: str | None
    counts: Counted
    warnings: list[str]


class Refusal(BaseModel):
    """What is wrong, in one sentence; the row (counted from 0) and the column, where it is about
    one."""

    error: str
    row: int | None
    column: str | None


class _Refused(HTTPException):
    def __init__(
        self, status: int, error: str, row: int | None = None, column: str | None = None
    ) -> None:
        super().__init__(status, error, {"WWW-Authenticate": "Bearer"} if status == 401 else None)
        self.row, self.column = row, column


class _KnownHosts:
    """Refuses requests for other hosts before anything else is done with them.

    A web page that a user of this machine looks at may let its own name lead to this machine (DNS
    rebinding), and then ask here as if the service were its own. The browser still says in the
    header Host which name it believes it is asking."""

    def __init__(self, app: Any, listening: str) -> None:
        self.app, self.listening = app, listening

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        host = next(
            (
                value.decode("latin-1")
                for name, value in scope.get("headers", ())
                if name == b"host"
            ),
            None,
        )
        if scope["type"] == "http" and host and not is_known_host(host, self.listening):
            error = f"the host {host[:80]!r} is not known to this service: ask by its address, or start it with a token"
            await _refusal(_Refused(421, error))(scope, receive, send)
            return
        await self.app(scope, receive, send)


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
) -> FastAPI:
    """The service as an ASGI application: POST /certify, GET /health, GET /openapi.json.

    Parameters
    ----------
    model : a FeaturePartitionClassifier or FeaturePartitionRegressor, fitted on a frame
    name : str, default="model"
        What /health calls it.
    tolerance, relative : float, default=None
        As in FeaturePartitionRegressor.certify; without one of them a regressor's answers have
        intervals and no radius.
    token : str, default=None
        What /certify wants to see in the header "Authorization: Bearer <token>".
    host : str, default=None
        The address that the service listens on. Without a token, requests for hosts that are not
        this machine are then refused (421). None: any host is taken, for an application behind a
        server of your own.
    warnings : sequence of str, default=()
        What /health says against relying on the model, beside what fitting it warned of and how
        many of its submodels failed.
    max_rows, max_bytes : int
        The largest request that is taken.
    """
    if token is not None and (
        not token or any(char.isspace() or not char.isprintable() for char in token)
    ):
        raise InputError(
            "token is empty or holds a space or a line break, which no header can carry: give "
            "another, or none"
        )
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
    counts = {
        "what": model.counts_.what,
        "total": model.counts_.total,
        "trusted": list(model.counts_.trusted),
    }
    proven = {"proves": _proves(model.rule_, tolerance, relative), "counts": counts}
    told = list(
        dict.fromkeys(map(_line, [*warnings, *getattr(model, "warnings_", ()), *_failed(model)]))
    )
    # For the whole process: Python has one list of filters for all threads, and one set for a
    # request would leak into another.
    filterwarnings("ignore", category=SubmodelWarning)
    # One request at a time: BLAS and OpenMP have one number of threads for the process, which two
    # requests would set against each other.
    worker = ThreadPoolExecutor(1, thread_name_prefix="certify")

    def certified(body: bytes) -> bytes:
        try:
            columns = _columns(_rows(body, max_rows), kinds)
            return _json(
                proven | {"rows": _answers(Answers(model, frame_of(columns), tolerance, relative))}
            )
        except (
            InputError,
            SubmodelError,
        ) as exc:  # a CellError has row and column; what a library says may go on for lines
            raise _Refused(
                422,
                str(exc).splitlines()[0],
                getattr(exc, "row", None),
                getattr(exc, "column", None),
            ) from exc
        except RecursionError as exc:
            raise _Refused(
                422,
                "the body is nested too deep: a cell holds a number, a text, true, false or null",
            ) from exc

    async def check_token(
        given: Annotated[
            HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))
        ],
    ) -> None:
        if token is not None and not (
            given and hmac.compare_digest(given.credentials.encode("latin-1"), token.encode())
        ):
            raise _Refused(
                401,
                "the token is missing or wrong: send the header Authorization: Bearer with this "
                "service's token",
            )

    refusals: dict[int | str, str] = {} if token is None else {401: "The token is missing or wrong"}
    refusals |= (
        {421: "The request is for another host"} if token is None and host is not None else {}
    )
    refusals |= {
        413: f"More than {max_rows} rows or {max_bytes} bytes",
        422: "The body is no JSON, its rows do not have exactly the model's columns, or a cell is "
        "not of its column's kind",
        500: "The service is at fault",
        503: "The service is stopping",
    }
    app = FastAPI(
        title=f"partita: {name}",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_exception_handler(HTTPException, _refuse)
    app.add_exception_handler(Exception, _refuse)  # which is logged, too
    app.state.warnings = told
    if token is None and host is not None:
        app.add_middleware(_KnownHosts, listening=host)

    @app.post(
        "/certify",
        summary="Predict rows and prove the predictions",
        response_model=Certified,
        responses={
            status: {"model": Refusal, "description": meaning}
            for status, meaning in refusals.items()
        },
        dependencies=[] if token is None else [Depends(check_token)],
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": _schema(kinds, max_rows)}},
            }
        },
    )
    async def certify(request: Request) -> Response:
        try:
            body = await _body(request, max_bytes)
            content = await asyncio.get_running_loop().run_in_executor(worker, certified, body)
        except asyncio.CancelledError as exc:
            raise _Refused(503, "the service is stopping: ask again later") from exc
        return Response(content, media_type="application/json")

    @app.get(
        "/health", summary="Whether the service is up, and what it serves", response_model=Health
    )
    async def health() -> Response:
        about = {
            "status": "ok",
            "model": name,
            "partita": __version__,
            "submodels": len(model.estimators_),
        }
        return Response(_json(about | proven | {"warnings": told}), media_type="application/json")

    made_up = {
        column: cells(["" if kind == TEXT else None if kind == TIME else 0], kind, column)
        for column, kind in kinds.items()
    }
    with suppress(
        SubmodelError
    ):  # wrong settings are found now, and compiled code is loaded before the first request
        _answers(Answers(model, frame_of(made_up), tolerance, relative))
    return app


def run(
    model_path: Any,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    tolerance: float | None = None,
    relative: float | None = None,
    trusted: Sequence[str] = (),
    max_rows: int = MAX_ROWS,
    max_bytes: int = MAX_BYTES,
) -> None:
    """Load a stored model and serve it until SIGINT or SIGTERM. ``trusted`` as in ``store.load``,
    the rest as in ``make_app``."""
    if not 0 <= port <= 65535:
        raise InputError(f"port is {port}: it must be a number from 0 to 65535")
    settings: dict[str, Any] = {
        "tolerance": tolerance,
        "relative": relative,
        "max_rows": max_rows,
        "max_bytes": max_bytes,
    }
    with ExitStack() as opened:
        # before the model is loaded: a port in use is told at once
        sockets = [opened.enter_context(bound) for bound in _bound(host, port)]
        about, model = (
            store.manifest(model_path).get("about") or {},
            store.load(model_path, trusted),
        )
        name = Path(model_path).resolve().name
        app = make_app(
            model, name=name, token=token, host=host, warnings=_quality_warnings(about), **settings
        )
        for told in app.state.warnings:
            print(f"partita: warning: {told}", file=sys.stderr)
        if token is None and not _is_loopback(host):
            print(
                f"partita: warning: other machines can reach {host}, and there is no token: "
                "anybody may ask",
                file=sys.stderr,
            )
        simplefilter("ignore")  # what libraries think of strangers' rows would fill the log
        try:
            for bound in sockets:
                bound.listen(BACKLOG)
        except OSError as exc:
            raise _cannot_listen(host, port, exc) from exc
        address = f"[{host}]" if ":" in host else host
        print(
            f"partita: {name} is running on http://{address}:{sockets[0].getsockname()[1]} "
            "(Ctrl+C stops it)",
            file=sys.stderr,
        )
        config = uvicorn.Config(
            app,
            access_log=False,
            server_header=False,
            http="h11",
            ws="none",
            timeout_graceful_shutdown=SECONDS_TO_FINISH,
        )
        with suppress(KeyboardInterrupt):  # which uvicorn lets out when it has stopped
            uvicorn.Server(config).run(sockets=sockets)


def _bound(host: str, port: int) -> list[socket.socket]:
    """A socket for each address that the host stands for, bound and not listening yet."""
    if not host:
        raise InputError(
            "host is empty: give an address of this machine, such as 127.0.0.1, or 0.0.0.0 for "
            "all of them"
        )
    bound: list[socket.socket] = []
    failure: OSError | None = None
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as exc:
        raise InputError(
            f"host is {host!r}, which is no address that can be found ({exc}): give an address of "
            "this machine"
        ) from exc
    for family, kind, protocol, _, place in dict.fromkeys(places):
        one = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":  # elsewhere it would let two services share a port
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            # port 0: the same free one for all addresses
            chosen = bound[0].getsockname()[1] if bound and not port else port
            one.bind((place[0], chosen, *place[2:]))
        except OSError as exc:
            one.close()
            failure = exc
            if exc.errno == errno.EADDRNOTAVAIL:  # such as ::1 of localhost, where there is no IPv6
                continue
            break
        bound.append(one)
    else:
        if bound:
            return bound
    for one in bound:
        one.close()
    assert failure is not None
    raise _cannot_listen(host, port, failure) from failure


def _cannot_listen(host: str, port: int, exc: OSError) -> InputError:
    """Why a service cannot listen there, in a sentence."""
    if exc.errno == errno.EADDRINUSE:
        return InputError(
            f"port {port} of {host} is in use: stop the program that listens there, or choose "
            "another port"
        )
    if exc.errno in (errno.EACCES, errno.EPERM):
        return InputError(
            f"port {port} of {host} is not open to this user: choose a port of 1024 or above"
        )
    if exc.errno == errno.EADDRNOTAVAIL:
        return InputError(
            f"host is {host!r}, which is not an address of this machine: give 127.0.0.1, or "
            "0.0.0.0 for all of its addresses"
        )
    return InputError(
        f"the service cannot listen on port {port} of {host!r} ({exc.strerror or exc}): choose "
        "another host or port"
    )


def is_known_host(header: str, listening: str) -> bool:
    """Whether a header Host means this machine, when the service listens on the address
    ``listening``.

    Known are loopback addresses, localhost and names below it, and ``listening`` itself, each with
    any port. Where other machines can reach the service, they may ask by any address (no name leads
    a browser to a Host that is an address) and by the machine's own name."""
    found = re.fullmatch(r"(\[[^\[\]]+\]|[^:\[\]]+)(:\d*)?", header.strip())
    if found is None:
        return False
    name, here = (one.strip("[]").rstrip(".").lower() for one in (found[1], listening))
    if name == here or name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback or not _is_loopback(listening)
    except ValueError:
        own = socket.gethostname().lower()
        return not _is_loopback(listening) and name in (own, own.split(".")[0])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _quality_warnings(about: dict[str, Any]) -> list[str]:
    """What the stored model says against itself."""
    quality = about.get("quality")
    found = quality.get("warnings") if isinstance(quality, dict) else None
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _failed(model: Any) -> list[str]:
    failed = sum(isinstance(submodel, FixedVote) for submodel in model.estimators_)
    return (
        [
            f"{failed} of {len(model.estimators_)} submodels could not be fitted and cast a fixed "
            "vote"
        ]
        if failed
        else []
    )


def _line(text: str) -> str:
    """A text from a file on one line, without what a terminal would take for a command."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _proves(rule: Any, tolerance: float | None, relative: float | None) -> str | None:
    """What stays true while an attacker owns no more than the radius."""
    if isinstance(rule, Median):
        if tolerance is not None:
            return f"the prediction moves by at most {tolerance}"
        return (
            None
            if relative is None
            else f"the prediction moves by at most {relative} times its absolute value"
        )
    return "the prediction stays the same"


async def _body(request: Request, max_bytes: int) -> bytes:
    """The body, counted while it comes in: a request may lie about its length, or not say it."""
    body = bytearray()
    too_large = _Refused(
        413, f"the body is larger than {max_bytes} bytes: send fewer rows at a time"
    )
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > max_bytes):
        raise too_large
    try:
        async for chunk in request.stream():
            if len(body) + len(chunk) > max_bytes:
                raise too_large
            body += chunk
    except ClientDisconnect as exc:
        raise _Refused(400, "the connection was closed before the body was whole") from exc
    return bytes(body)


def _rows(body: bytes, max_rows: int) -> list[Any]:
    """What stands in the list of rows."""
    try:
        text = body.decode()
        content = json.loads(text, object_pairs_hook=_object, parse_int=_whole)
        if (
            "\\u" in text
        ):  # may be half a character, such as \ud800, which Python reads and no library takes
            json.dumps(content, ensure_ascii=False).encode()
    except UnicodeError as exc:
        raise _Refused(422, f"the body holds something that is no text in UTF-8: {exc}") from exc
    except ValueError as exc:
        raise _Refused(422, f"the body is no JSON: {exc}") from exc
    rows = content["rows"] if isinstance(content, dict) and list(content) == ["rows"] else None
    if not isinstance(rows, list):
        raise _Refused(
            422, 'the body must be {"rows": [{"column": value, ...}, ...]} and nothing else'
        )
    if not rows:
        raise _Refused(422, "rows is empty: give at least one row")
    if len(rows) > max_rows:
        raise _Refused(
            413,
            f"rows holds {len(rows)} rows, and at most {max_rows} are taken: send fewer rows at a "
            "time",
        )
    return rows


def _object(pairs: list[tuple[str, Any]]) -> dict[str | None, Any]:
    """An object of JSON; where a name stands twice, {None: name}: two readers may take different
    values, and a proof is about one."""
    if len(dict(pairs)) == len(pairs):
        return dict(pairs)
    return {None: Counter(name for name, _ in pairs).most_common(1)[0][0]}


def _whole(digits: str) -> int | float:
    """JSON has one kind of number: what is too large for a float is infinite, written as digits or
    as 1e999."""
    return int(digits) if len(digits) < 300 else float(digits)


def _columns(rows: list[Any], kinds: dict[str, str]) -> dict[str, Any]:
    """The rows as columns; each cell is read by itself, so that no row changes how another is
    read."""
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise _Refused(
                422,
                f"row {i} is no object: give {{column: value, ...}} with the model's {len(kinds)} "
                "columns",
                i,
            )
        if None in row:
            raise _Refused(
                422, f"row {i} has the column {row[None][:80]!r} twice: give it once", i, row[None]
            )
        for name in kinds:
            if name not in row:
                raise _Refused(
                    422,
                    f"row {i} lacks the column {name!r}: add it, with null where there is no value",
                    i,
                    name,
                )
        for name in row:
            if name not in kinds:
                raise _Refused(
                    422,
                    f"row {i} has the column {name[:80]!r}, which the model was not fitted with: "
                    "leave it out",
                    i,
                    name,
                )
    return {name: cells([row[name] for row in rows], kind, name) for name, kind in kinds.items()}


def _answers(answers: Answers) -> list[dict[str, Any]]:
    """What is said of every row, as the class Row describes it."""
    proof, hangs, names = answers.proof, answers.hangs_on, answers.model.units_.names
    rivals = None if proof is None else proof.runner_up
    intervals = answers.intervals()
    return [
        {
            "prediction": _plain(prediction),
            "radius": None if proof is None else int(proof.radius[i]),
            "rival": None if rivals is None else _plain(rivals[i]),
            "hangs_on": None
            if hangs is None
            else [names[unit] for unit in np.flatnonzero(hangs[:, i])],
            "intervals": {
                str(r): [_plain(low[i]), _plain(high[i])] for r, (low, high) in intervals.items()
            }
            if answers.of_values
            else None,
        }
        for i, prediction in enumerate(answers.prediction)
    ]


def _plain(value: Any) -> Label | None:
    """A label or number as JSON has it: null for an infinite one, a text for a date."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, Label) else str(value)


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, allow_nan=False).encode()


def _schema(kinds: dict[str, str], max_rows: int) -> dict[str, Any]:
    """The body of a request."""
    columns = {
        "properties": {name: CELLS[kind] for name, kind in kinds.items()},
        "required": list(kinds),
    }
    rows = {
        "type": "array",
        "minItems": 1,
        "maxItems": max_rows,
        "items": {"type": "object", **columns, "additionalProperties": False},
    }
    return {
        "type": "object",
        "properties": {"rows": rows},
        "required": ["rows"],
        "additionalProperties": False,
    }


async def _refuse(request: Request, exc: Exception) -> Response:
    return _refusal(exc)


def _refusal(exc: Exception) -> Response:
    content: dict[str, Any] = {
        "error": "the service failed at this request, and its log says why",
        "row": None,
        "column": None,
    }
    if isinstance(exc, _Refused):
        content = {"error": exc.detail, "row": exc.row, "column": exc.column}
    elif isinstance(exc, HTTPException):  # no such address, or not by this method
        content["error"] = f"{exc.detail}: use POST /certify or GET /health"
    status, headers = (
        (exc.status_code, exc.headers) if isinstance(exc, HTTPException) else (500, None)
    )
    return Response(_json(content), status, headers, "application/json")
