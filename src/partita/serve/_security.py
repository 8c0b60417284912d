"""What a request must have before its body is read: a known Host, the token, a bounded size."""

import hmac
import ipaddress
import re
import socket
from typing import Any

from ..errors import InputError
from ._responses import RequestRefusedError, refusal_response
from ._web import ClientDisconnect, HTTPAuthorizationCredentials, Request


class KnownHosts:
    """Refuses requests for other hosts before anything else is done with them.

    A web page that a user of this machine looks at may let its own name lead to this machine (DNS
    rebinding), and then ask here as if the service were its own. The browser still says in the
    header Host which name it believes it is asking.
    """

    def __init__(self, app: Any, listening: str) -> None:
        self.app, self.listening = app, listening

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = (value for name, value in scope.get("headers", ()) if name == b"host")
        host = next(headers, b"").decode("latin-1")
        if scope["type"] == "http" and host and not is_known_host(host, self.listening):
            refusal = RequestRefusedError(
                421,
                f"the host {host[:80]!r} is not known to this service: ask by its address, or "
                "start it with a token",
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
    found = re.fullmatch(r"(\[[^\[\]]+\]|[^:\[\]]+)(:\d*)?", header.strip())
    if found is None:
        return False
    name, here = (one.strip("[]").rstrip(".").lower() for one in (found[1], listening))
    if name == here or name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback or not is_loopback(listening)
    except ValueError:
        own = socket.gethostname().lower()
        return not is_loopback(listening) and name in (own, own.split(".")[0])


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_token_setting(token: str | None) -> None:
    """Refuse a token that no header can carry."""
    if token is not None and (
        not token or any(char.isspace() or not char.isprintable() for char in token)
    ):
        raise InputError(
            "token is empty or holds a space or a line break, which no header can carry: give "
            "another, or none"
        )


def check_token(given: HTTPAuthorizationCredentials | None, token: str) -> None:
    """Refuse a request without the token; the comparison takes the same time for any other."""
    if given is None or not hmac.compare_digest(
        given.credentials.encode("latin-1"), token.encode()
    ):
        raise RequestRefusedError(
            401,
            "the token is missing or wrong: send the header Authorization: Bearer with this "
            "service's token",
        )


async def read_body(request: Request, max_bytes: int) -> bytes:
    """The body, counted while it comes in: a request may lie about its length, or not say it."""
    body = bytearray()
    too_large = RequestRefusedError(
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
        raise RequestRefusedError(
            400, "the connection was closed before the body was complete"
        ) from exc
    return bytes(body)
