"""Asking all parties at the same time: one connection, one request and one time-out each.

A reply is bytes or the reason why there are none. Every connection is opened for one request and
aborted after it, so that an answer that comes late belongs to nobody. Bytes are read here and
understood later: nothing that a party sends may keep the event loop from hearing the others, and a
party's name server is asked in a thread of its own for the same reason.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ._parties import Party

MOST_HEADERS = 16_384  # bytes
STATUS = re.compile(r"HTTP/1\.[01] (\d{3})(?: .*)?")


@dataclass(frozen=True)
class Reply:
    """What a party sent; None and a reason where that cannot be used."""

    content: bytes | None
    reason: str
    seconds: float


class MalformedReplyError(Exception):
    """A reply that cannot be used, in words of ours: nothing that a party wrote is in them."""


class PartyClient:
    """The way to one party."""

    def __init__(self, party: Party) -> None:
        self.party, self._tls = party, party.tls()
        self._key = party.key()
        self._resolver: ThreadPoolExecutor | None = None

    async def ask(self, body: bytes, most_bytes: int, seconds: float) -> Reply:
        """Send a request and read the answer; whatever goes wrong becomes a reason."""
        start, reason = time.monotonic(), ""
        content = None
        try:
            async with asyncio.timeout(seconds):
                content = await self._exchange(body, most_bytes)
        except MalformedReplyError as exc:
            reason = str(exc)
        except TimeoutError:
            reason = f"no answer within {seconds:g} seconds"
        except ConnectionRefusedError:
            reason = "the connection was refused"
        except ssl.SSLError:
            reason = "no trusted TLS connection"
        except (asyncio.IncompleteReadError, ConnectionError):
            reason = "the connection was closed early"
        except asyncio.LimitOverrunError:
            reason = "headers that do not end"
        except Exception as exc:  # one party must not stop the others
            reason = f"it cannot be asked ({type(exc).__name__})"
        return Reply(content, reason, time.monotonic() - start)

    async def _exchange(self, body: bytes, most_bytes: int) -> bytes:
        host, port = await self._resolved()
        name = self.party.place[0] if self._tls else None
        reader, writer = await asyncio.open_connection(
            host, port, limit=MOST_HEADERS, ssl=self._tls, server_hostname=name
        )
        try:
            writer.write(self._head(len(body)) + body)
            await writer.drain()
            length = body_length(await reader.readuntil(b"\r\n\r\n"))
            if length > most_bytes:
                raise MalformedReplyError("an answer that is too large")
            return await reader.readexactly(length)
        finally:
            writer.transport.abort()  # nobody waits for the other side to say goodbye

    def _head(self, length: int) -> bytes:
        with suppress(InputError):  # the file is being replaced: the last key stays in force
            self._key = self.party.key()
        lines = [
            f"POST {self.party.path} HTTP/1.1",
            f"Host: {self.party.host_header}",
            "Content-Type: application/json",
            f"Content-Length: {length}",
            "Connection: close",
        ]
        if self._key is not None:
            lines.append(f"Authorization: Bearer {self._key}")
        return "\r\n".join([*lines, "", ""]).encode("ascii")

    async def _resolved(self) -> tuple[str, int]:
        host, port = self.party.place
        try:
            return str(ipaddress.ip_address(host)), port
        except ValueError:
            pass
        if self._resolver is None:
            self._resolver = ThreadPoolExecutor(1, thread_name_prefix="resolve")
        found: Any = await asyncio.get_running_loop().run_in_executor(
            self._resolver, _first_address, host, port
        )
        return str(found), port


async def ask_all(
    lines: Sequence[PartyClient], body: bytes, most_bytes: int, seconds: float
) -> list[Reply]:
    """Ask every party; the replies are in the order of the lines."""
    return list(await asyncio.gather(*(line.ask(body, most_bytes, seconds) for line in lines)))


def body_length(head: bytes) -> int:
    """The length of the body that follows these headers; an error where it is no plain answer."""
    first, *rest = head.decode("latin-1").split("\r\n")
    status = STATUS.fullmatch(first)
    if status is None:
        raise MalformedReplyError("an answer that is not HTTP")
    if status[1] != "200":
        raise MalformedReplyError(f"an answer with status {status[1]}")
    headers = [line.partition(":") for line in rest if line]
    names = [name.strip().lower() for name, _, _ in headers]
    lengths = {
        value.strip()
        for name, (_, _, value) in zip(names, headers, strict=True)
        if name == "content-length"
    }
    length = lengths.pop() if len(lengths) == 1 else ""
    if "transfer-encoding" in names or not re.fullmatch("[0-9]{1,15}", length):
        raise MalformedReplyError("an answer without a length")
    return int(length)


def _first_address(host: str, port: int) -> str:
    return str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
