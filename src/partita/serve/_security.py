"""What a request must have before it is answered: a known Host, a key, a bounded body in time."""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Any

from ..errors import InputError
from ._keys import Keys
from ._responses import RequestRefusedError, refusal_response
from ._web import ClientDisconnect, HTTPAuthorizationCredentials, Request

CLOSE = {"Connection": "close"}  # where the rest of a body would go on coming in


class KnownHosts:
    """Refuses requests for other hosts before anything else is done with them.

    A web page that a user of this machine looks at may let its own name lead to this machine (DNS
    rebinding), and then ask here as if the service were its own. The browser still says in the
    header Host which name it believes it is asking.
    """

    def __init__(self, app: Any, listening: str | None, allowed: Sequence[str] = ()) -> None:
        self.app, self.listening = app, listening
        self._allowed = frozenset(_bare(name) for name in allowed)

    def _knows(self, header: str) -> bool:
        if _bare(header) in self._allowed:
            return True
        if self.listening is None:  # only the hosts that were named
            return is_known_host(header, "127.0.0.1")
        return is_known_host(header, self.listening)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = (value for name, value in scope.get("headers", ()) if name == b"host")
        host = next(headers, b"").decode("latin-1")
        if scope["type"] == "http" and host and not self._knows(host):
            refusal = RequestRefusedError(
                421,
                f"the host {host[:80]!r} is not known to this service: ask by its address, or "
                "start it with a token or with --allow-host",
            )
            await refusal_response(refusal)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def is_known_host(header: str, listening: str) -> bool:
    """Whether a header Host means this machine, if the service listens on that address.

    Known are loopback addresses, localhost and names below it, and ``listening`` itself, each with
    any port. Where other machines can reach the service, they may ask by any address (no name leads
    a browser to a Host that is an address) and by the machine's own name.
    """
    name, here = _bare(header), listening.strip("[]").rstrip(".").lower()
    if name is None:
        return False
    if name == here or name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback or not is_loopback(listening)
    except ValueError:
        own = socket.gethostname().lower()
        return not is_loopback(listening) and name in (own, own.split(".")[0])


def _bare(header: str) -> str | None:
    """The name or address in a header Host, without its port; None if it is not valid."""
    found = re.fullmatch(r"(\[[^\[\]]+\]|[^:/\[\]]+)(:\d*)?", header.strip())
    return None if found is None else found[1].strip("[]").rstrip(".").lower()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_key(given: HTTPAuthorizationCredentials | None, keys: Keys) -> str:
    """Refuse a request without a key; return whose key it is."""
    name = None if given is None else keys.name_of(given.credentials.encode("latin-1"))
    if name is None:
        raise RequestRefusedError(
            401,
            "the token is missing or wrong: send the header Authorization: Bearer with this "
            "service's token",
            headers={"WWW-Authenticate": "Bearer"},
        )
    return name


def check_hosts(names: Sequence[str]) -> None:
    """Refuse a name that no header Host can match."""
    for name in names:
        if _bare(name) is None:
            raise InputError(
                f"allowed_hosts holds {name!r}, which is not a host: give a name such as "
                "models.example.org, without https:// and without a path"
            )


async def read_body(request: Request, max_bytes: int, seconds: float) -> bytes:
    """The body, counted while it comes in: a request may lie about its length, or not say it."""
    body = bytearray()
    too_large = RequestRefusedError(
        413,
        f"the body is larger than {max_bytes} bytes: send fewer rows at a time",
        headers=CLOSE,
    )
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > max_bytes):
        raise too_large
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                if len(body) + len(chunk) > max_bytes:
                    raise too_large
                body += chunk
    except TimeoutError as exc:
        raise RequestRefusedError(
            408,
            f"the body was not complete within {seconds:g} seconds: send it faster, or less",
            headers=CLOSE,
        ) from exc
    except ClientDisconnect as exc:
        raise RequestRefusedError(
            400, "the connection was closed before the body was complete"
        ) from exc
    return bytes(body)
