"""Around every request: its id, its place in the metrics, its line in the log, the end of service.

This is the outermost layer, so that nothing is answered without being counted. It reads no body.
"""

import asyncio
import logging
import re
import secrets
import time
from typing import Any

from ._lifecycle import Lifecycle
from ._metrics import Metrics
from ._request_log import RequestLog
from ._responses import RequestRefusedError, refusal_response

REQUEST_ID = re.compile(rb"[A-Za-z0-9._:+/=-]{1,100}")
NOTES = "partita.notes"  # where the routes leave what the log should say, in the scope
SHOWN_PATH = 200  # characters
CLOSE = {"Connection": "close", "Retry-After": "1"}

logger = logging.getLogger("partita.serve")


def note(scope: Any, **facts: Any) -> None:
    """Leave something for the line in the log."""
    scope.get(NOTES, {}).update(facts)


def request_id(headers: Any) -> bytes:
    """The id that the client gave, if it is a plain one, or a new one."""
    given = next((value for name, value in headers if name == b"x-request-id"), b"")
    return given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8).encode()


class Observer:
    """ASGI middleware that counts, logs, and refuses what begins too late.

    Parameters
    ----------
    app : ASGI application
        What answers.
    metrics : Metrics
        Where requests are counted.
    lifecycle : Lifecycle
        Whether new requests are welcome.
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
        app: Any,
        metrics: Metrics,
        lifecycle: Lifecycle,
        log: RequestLog | None,
        operations: frozenset[str],
        probes: frozenset[str],
    ) -> None:
        self.app, self._metrics, self._lifecycle, self._log = app, metrics, lifecycle, log
        self._operations, self._probes = operations, probes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0
        name = request_id(scope["headers"])
        notes: dict[str, Any] = {}
        scope[NOTES] = notes

        async def send_with_id(message: Any) -> None:
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

        self._metrics.add("partita_requests_in_flight")
        try:
            if self._lifecycle.refuses_new and scope["path"] not in self._operations:
                refusal = RequestRefusedError(
                    503, "the service is stopping: ask again later", headers=CLOSE
                )
                await refusal_response(refusal)(scope, receive, send_with_id)
            else:
                await self._answer(scope, receive, send_with_id, name)
        except asyncio.CancelledError:
            status = status or 503
            raise
        finally:
            self._metrics.add("partita_requests_in_flight", -1.0)
            self._count(scope, notes, name, status or 500, time.perf_counter() - start)

    async def _answer(self, scope: Any, receive: Any, send: Any, name: bytes) -> None:
        """Let the application answer; its faults are logged with the request's id, not shown."""
        started = False

        async def send_once(message: Any) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, send_once)
        except Exception as exc:
            logger.exception("request %s failed", name.decode())
            if started:  # half an answer is none: the connection is closed
                raise
            await refusal_response(exc)(scope, receive, send)

    def _count(
        self, scope: Any, notes: dict[str, Any], name: bytes, status: int, seconds: float
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
