"""The question to a party and its answer: one connection, one request and one time-out each.

A reply is bytes or the reason why there are none. Every connection is opened for one request, so
that an answer that comes late belongs to no question. Bytes are read here and understood later:
nothing that a party sends may keep the event loop from reading the others' answers, and a party's
name server is asked in a thread of its own for the same reason.

The answer is ``{"classes": [...], "ballots": [[...], null, ...], "identity": "9f..."}`` with one
score per class, or ``{"classes": null, "ballots": [1.5, null, ...], "identity": "9f..."}`` with one
value. Null is a row that the party does not have. A party may send anything: an answer that is not
exactly this is silence, and nothing in it is repaired, since a ballot that was made up here would
be no party's.

The identity is the challenge of the request under the party's secret (HMAC with SHA-256): two
answers to one challenge with one identity come from one secret, so from one party. What differs
proves nothing against a party that makes up secrets, and no party can take back what was equal.
"""

import asyncio
import hashlib
import hmac
import ipaddress
import json
import re
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import h11
import httpcore
import httpx
import numpy as np

from ..._support import Array
from ...errors import InputError
from ._parties import Party

Label = str | int | float | bool

NUMBER_BYTES = 28  # the longest float, a comma and a space
ROW_BYTES = 8
FIXED_BYTES = 1024
TOO_LONG = 431  # what h11 calls headers that do not end

# the first that occurs among an error and its causes
REASONS = (
    (ConnectionRefusedError, "the connection was refused"),
    (ssl.SSLError, "no trusted TLS connection"),
    ((ConnectionError, httpx.ReadError, httpx.WriteError), "the connection was closed early"),
)


@dataclass(frozen=True)
class Reply:
    """What a party sent; None and a reason where that cannot be used."""

    content: bytes | None
    reason: str
    seconds: float


class MalformedReplyError(Exception):
    """A reply that cannot be used, in words of ours: nothing that a party wrote is in them."""


class PartyClient:
    """Asks one party."""

    def __init__(self, party: Party) -> None:
        self._party, self._key = party, party.key()
        # no certificates are loaded for a party without TLS
        self._tls = party.tls() or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # httpx asks name servers in the event loop's threads, which all parties would share
        self._resolver = ThreadPoolExecutor(1, thread_name_prefix="resolve")

    async def ask(self, body: bytes, most_bytes: int, seconds: float) -> Reply:
        """Send a request and read the answer; whatever goes wrong becomes a reason."""
        start, reason = time.monotonic(), ""
        content = None
        try:
            async with asyncio.timeout(seconds):
                content = await self._exchange(body, most_bytes)
        except TimeoutError:
            reason = f"no answer within {seconds:g} seconds"
        except Exception as exc:  # one party must not stop the others
            reason = _reason(exc)
        return Reply(content, reason, time.monotonic() - start)

    async def _exchange(self, body: bytes, most_bytes: int) -> bytes:
        with suppress(InputError):  # the file is being replaced: the last key stays in force
            self._key = self._party.key()
        host, port = self._party.place
        url = httpx.URL(
            scheme="https" if self._party.is_encrypted else "http",
            host=await asyncio.get_running_loop().run_in_executor(
                self._resolver, _first_address, host, port
            ),
            port=port,
            path=self._party.path,
        )
        headers = {
            "Host": self._party.netloc,
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "Connection": "close",
        }
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        opened: list[httpcore.AsyncNetworkStream] = []

        async def trace(event: str, info: Mapping[str, Any]) -> None:
            if event == "connection.connect_tcp.complete":
                opened.append(info["return_value"])

        try:
            async with (
                httpx.AsyncClient(verify=self._tls, trust_env=False, timeout=None) as client,
                client.stream(
                    "POST",
                    url,
                    content=body,
                    headers=headers,
                    extensions={"sni_hostname": host, "trace": trace},
                ) as response,
            ):
                if response.status_code != 200:
                    raise MalformedReplyError(f"an answer with status {response.status_code}")
                named = {"content-length", "transfer-encoding"} & {*response.headers}
                if named != {"content-length"}:
                    raise MalformedReplyError("an answer without a length")
                if int(response.headers["content-length"]) > most_bytes:
                    raise MalformedReplyError("an answer that is too large")
                return b"".join([piece async for piece in response.aiter_raw()])
        finally:
            for stream in opened:  # httpx leaves one open whose TLS handshake is cut off
                await stream.aclose()


async def ask_all(
    clients: Sequence[PartyClient], body: bytes, most_bytes: int, seconds: float
) -> list[Reply]:
    """Ask every party at the same time; return the replies in their order."""
    return list(await asyncio.gather(*(one.ask(body, most_bytes, seconds) for one in clients)))


def _first_address(host: str, port: int) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])


def _reason(exc: BaseException) -> str:
    """Say why there is no answer, in words of ours."""
    if isinstance(exc, MalformedReplyError):
        return str(exc)
    causes = [exc]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    for kind, reason in REASONS:
        if any(isinstance(one, kind) for one in causes):
            return reason
    if isinstance(exc, httpx.RemoteProtocolError):
        hint = next((one for one in causes if isinstance(one, h11.RemoteProtocolError)), None)
        if hint is None or "closed" in str(hint):
            return "the connection was closed early"
        return (
            "headers that do not end"
            if hint.error_status_hint == TOO_LONG
            else "an answer that is not HTTP"
        )
    return f"it cannot be asked ({type(exc).__name__})"


# ---- the body of an answer ----


def identity_of(secret: bytes, challenge: bytes | None) -> str | None:
    """Return what a party with this secret answers to a challenge."""
    return None if challenge is None else hmac.new(secret, challenge, hashlib.sha256).hexdigest()


def answer_bytes(
    classes: Sequence[Label] | None, ballots: Array, identity: str | None = None
) -> bytes:
    """Write the body of an answer; rows of NaN become null."""
    missing = np.asarray(np.isnan(ballots).reshape(len(ballots), -1).any(axis=1))
    # a float32 has the same value as a float64, which JSON gives back bit for bit
    rows = [None if gone else row for gone, row in zip(missing, ballots.tolist(), strict=True)]
    names = None if classes is None else list(classes)
    answer = {"classes": names, "ballots": rows, "identity": identity}
    return json.dumps(answer, allow_nan=False).encode()


def most_bytes(n_rows: int, classes: Sequence[Label] | None) -> int:
    """Return the length that no honest answer exceeds."""
    n_numbers = 1 if classes is None else len(classes)
    named = 0 if classes is None else len(json.dumps(list(classes)))
    return FIXED_BYTES + named + n_rows * (ROW_BYTES + NUMBER_BYTES * n_numbers)


def read_answer(content: bytes, n_rows: int, classes: Sequence[Label] | None) -> tuple[Array, str]:
    """Read an answer: ballots, float32 (rows, classes) or float64 (rows,), and an identity.

    Rows that the party does not have are NaN. Raises :class:`MalformedReplyError`.
    """
    try:
        answer = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as exc:
        raise MalformedReplyError("an answer that is not valid JSON") from exc
    if not isinstance(answer, dict) or set(answer) != {"classes", "ballots", "identity"}:
        raise MalformedReplyError("an answer without classes, ballots and identity")
    if not _same_classes(answer["classes"], classes):
        raise MalformedReplyError("an answer for other classes")
    identity, rows = answer["identity"], answer["ballots"]
    if not (isinstance(identity, str) and re.fullmatch("[0-9a-f]{64}", identity)):
        raise MalformedReplyError("an answer without a valid identity")
    if not isinstance(rows, list) or len(rows) != n_rows:
        raise MalformedReplyError("an answer for another number of rows")
    width = 1 if classes is None else len(classes)
    ballots = np.full((n_rows, width), np.nan)
    for i, row in enumerate(rows):
        if row is not None:
            ballots[i] = _numbers([row] if classes is None else row, width)
    with np.errstate(over="ignore"):
        array = ballots[:, 0] if classes is None else ballots.astype(np.float32)
    if np.isinf(array).any():
        raise MalformedReplyError("a score that is not finite")
    return array, identity


def _numbers(row: object, width: int) -> list[float]:
    if not isinstance(row, list) or len(row) != width:
        raise MalformedReplyError("a ballot of the wrong shape")
    if not all(type(cell) in (int, float) for cell in row):
        raise MalformedReplyError("a score that is not a number")
    try:
        return [float(cell) for cell in row]
    except OverflowError as exc:
        raise MalformedReplyError("a score that is not finite") from exc


def _same_classes(given: object, expected: Sequence[Label] | None) -> bool:
    if given is None or expected is None:
        return given is None and expected is None
    # 1, 1.0 and true are equal to Python
    return isinstance(given, list) and [(type(one), one) for one in given] == [
        (type(one), one) for one in expected
    ]


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
