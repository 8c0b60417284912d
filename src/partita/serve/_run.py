"""Running the service: sockets, uvicorn, and what is said on standard error."""

import errno
import os
import socket
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from warnings import simplefilter

from .._support.progress import log
from ..errors import InputError
from ..workflow._stored_model import open_model
from ._app import MAX_BYTES, MAX_ROWS, make_app
from ._security import is_loopback
from ._web import uvicorn

BACKLOG = 2048  # connections that wait to be accepted
SECONDS_TO_FINISH = 10  # what requests under way have left when the service is told to stop


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
    silent: Any = None,
) -> None:
    """Load a stored model and serve it until SIGINT or SIGTERM.

    Parameters
    ----------
    model_path : str or path
        The folder or zip that ``partita fit`` or :func:`partita.store.save` wrote.
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
    silent : "detect" or list of str, optional
        Silent sources, as :func:`make_app` takes them.

    Raises
    ------
    InputError
        If the address cannot be listened on, or the model cannot be served.

    See Also
    --------
    make_app : The service as an ASGI application, for a server of your own.

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
    if not 0 <= port <= 65535:
        raise InputError(f"port is {port}: it must be a number from 0 to 65535")
    with ExitStack() as opened:
        # before the model is loaded: a port in use is reported at once
        sockets = [opened.enter_context(bound) for bound in bind_sockets(host, port)]
        stored = open_model(model_path, trusted)
        name = Path(model_path).resolve().name
        app = make_app(
            stored.model,
            name=name,
            tolerance=tolerance,
            relative=relative,
            token=token,
            host=host,
            warnings=_stored_warnings(stored.about),
            max_rows=max_rows,
            max_bytes=max_bytes,
            silent=silent,
        )
        for warning in app.state.warnings:
            log(f"warning: {warning}")
        if token is None and not is_loopback(host):
            log(f"warning: other machines can reach {host}, and there is no token: anybody may ask")
        simplefilter("ignore")  # what libraries think of strangers' rows would fill the log
        try:
            for bound in sockets:
                bound.listen(BACKLOG)
        except OSError as exc:
            raise _cannot_listen(host, port, exc) from exc
        address = f"[{host}]" if ":" in host else host
        log(
            f"{name} is running on http://{address}:{sockets[0].getsockname()[1]} (Ctrl+C stops it)"
        )
        config = uvicorn.Config(
            app,
            access_log=False,
            server_header=False,
            http="h11",
            ws="none",
            timeout_graceful_shutdown=SECONDS_TO_FINISH,
        )
        with suppress(KeyboardInterrupt):  # uvicorn raises it after it has stopped
            uvicorn.Server(config).run(sockets=sockets)


def _stored_warnings(about: dict[str, Any]) -> list[str]:
    """What the stored model says against itself."""
    quality = about.get("quality")
    found = quality.get("warnings") if isinstance(quality, dict) else None
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def bind_sockets(host: str, port: int) -> list[socket.socket]:
    """A socket for each address that the host stands for, bound and not listening yet."""
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
    failure: OSError | None = None
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
