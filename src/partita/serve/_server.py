"""uvicorn with time-outs for slow clients, and with an end that loses no request.

Nothing here knows applications: they are told by their lifecycle that the end is near.
"""

import asyncio
import signal
import socket
import time
from contextlib import suppress
from typing import Any

from ._service import Service
from ._web import H11Protocol, h11, uvicorn

SECONDS_OF_REFUSALS = 0.5  # at least, between the last request and closed sockets
SECONDS_IDLE = 75  # a connection between two requests; longer than proxies keep theirs
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


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

    def __init__(
        self, config: Any, service: Service, drain_seconds: float, finish_seconds: float
    ) -> None:
        super().__init__(config)
        self._service = service
        self._drain_seconds, self._finish_seconds = drain_seconds, finish_seconds

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what is under way, then close."""
        lifecycle, metrics = self._service.lifecycle, self._service.metrics
        lifecycle.stop_being_ready()
        is_hurried = signal.SIGINT in self._captured_signals
        if not is_hurried:
            await self._sleep_until(time.monotonic() + self._drain_seconds, lambda: True)
        lifecycle.refuse_new()
        if not is_hurried:  # clients that ask on are told, not cut off
            await self._sleep_until(time.monotonic() + SECONDS_OF_REFUSALS, lambda: True)
        finish_by = time.monotonic() + self._finish_seconds
        await self._sleep_until(finish_by, lambda: metrics.in_flight > 0)
        left = finish_by - time.monotonic()
        self.config.timeout_graceful_shutdown = 1 if metrics.in_flight == 0 else max(0, int(left))
        await super().shutdown(sockets)
        with suppress(ValueError):  # a service that was asked to stop, and did, has not failed
            self._captured_signals.remove(signal.SIGTERM)

    async def _sleep_until(self, end: float, condition: Any) -> None:
        while condition() and time.monotonic() < end and not self.force_exit:
            await asyncio.sleep(0.02)


def make_server(
    app: Any,
    service: Service,
    *,
    header_seconds: float,
    drain_seconds: float,
    finish_seconds: float,
    tls_cert: str | None = None,
    tls_key: str | None = None,
) -> Server:
    """A server for an application of this service; it listens on sockets that ``run`` is given."""
    protocol = type("Protocol", (PatientProtocol,), {"header_seconds": header_seconds})
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        http=protocol,
        ws="none",
        timeout_keep_alive=SECONDS_IDLE,
        ssl_certfile=tls_cert,
        ssl_keyfile=tls_key,
    )
    return Server(config, service, drain_seconds, finish_seconds)
