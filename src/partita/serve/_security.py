"""What a request must have before it is answered: a known Host, a key, a bounded body in time.

The keys are one token, or a file of keys that may change while the service runs. Only hashes of
keys are held, and every comparison looks at all of them in the same time. A file that cannot be
read any more leaves the last good keys in force: no mistake in it opens the service or locks it.
"""

# What starlette has and why it is not used: TrustedHostMiddleware does not know which names and
# addresses are this machine's; RequestBodyLimitMiddleware sets no time for a body; both refuse in
# plain text of their own.

import asyncio
import hashlib
import hmac
import ipaddress
import re
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from fastapi import Request
from fastapi.security import HTTPAuthorizationCredentials
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from .._support import PathLike, log
from ..errors import InputError
from ._rows import RequestRefusedError, refusal_response

CLOSE = {"Connection": "close"}  # where the rest of a body would go on coming in
SECONDS_BETWEEN_LOOKS = 1.0  # at the file of keys
SHORTEST_KEY = 16
HASHED = "sha256:"
NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)
TOKEN_NAME = "token"  # what the log calls a request with the token

Hashes = list[tuple[bytes, str]]  # sha256 and the name of the key's owner


class Keys:
    """The keys that open the service.

    Parameters
    ----------
    token : str, optional
        One key.
    path : str or path, optional
        A file of further keys, one per line: a name, a space, and the key or ``sha256:`` and its
        hash in hexadecimal. Empty lines and those that begin with # are skipped.
    """

    def __init__(self, token: str | None = None, path: PathLike | None = None) -> None:
        check_token_setting(token)
        self._own: Hashes = [] if token is None else [(_hash(token.encode()), TOKEN_NAME)]
        self._path = None if path is None else Path(path)
        self._from_file: Hashes = []
        self._looked_at = time.monotonic()
        self._seen: tuple[int, ...] | None = None
        if self._path is not None:
            self._seen = _state(self._path)
            self._from_file = read_keys(self._path)

    def __bool__(self) -> bool:
        return bool(self._own) or self._path is not None

    def name_of(self, key: bytes) -> str | None:
        """Return the key's owner, or None."""
        self._look()
        given, found = _hash(key), None
        for known, name in (*self._own, *self._from_file):
            if hmac.compare_digest(given, known):  # no break: the time tells nothing
                found = name
        return found

    def _look(self) -> None:
        """Read the file again if it has changed."""
        now = time.monotonic()
        if self._path is None or now - self._looked_at < SECONDS_BETWEEN_LOOKS:
            return
        self._looked_at = now
        state = _state(self._path)
        if state == self._seen:
            return
        self._seen = state
        try:
            self._from_file = read_keys(self._path)
            log(f"the keys were read again: {len(self._from_file)} in force")
        except InputError as exc:
            log(f"warning: {exc}; the keys that were read before stay in force")


def read_keys(path: Path) -> Hashes:
    """Read the keys in a file, as hashes."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as exc:
        cause = getattr(exc, "strerror", None) or exc
        raise InputError(
            f"the key file {str(path)!r} cannot be read ({cause}): give a text file of names and "
            "keys"
        ) from exc
    keys = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            keys.append(_parse(line.split(), f"line {number} of the key file {str(path)!r}"))
    if not keys:
        raise InputError(f"the key file {str(path)!r} holds no key: add a line with a name and one")
    return keys


def _parse(words: list[str], where: str) -> tuple[bytes, str]:
    if len(words) != 2 or not NAME.fullmatch(words[0]):
        raise InputError(
            f"{where} is not a name and a key: write a name of letters, digits, dots, dashes and "
            "underscores, a space, and the key"
        )
    name, key = words
    if key.startswith(HASHED):
        digest = key.removeprefix(HASHED)
        if not re.fullmatch(r"[0-9a-fA-F]{64}", digest):
            raise InputError(f"{where} has no valid hash: give the 64 digits that sha256sum prints")
        return bytes.fromhex(digest), name
    if len(key) < SHORTEST_KEY:
        raise InputError(
            f"{where} has a key of {len(key)} characters: give at least {SHORTEST_KEY}, such as "
            "openssl rand -hex 32 prints"
        )
    return _hash(key.encode()), name


def check_token_setting(token: str | None) -> None:
    """Refuse a token that no header can carry."""
    if token is not None and (
        not token or any(char.isspace() or not char.isprintable() for char in token)
    ):
        raise InputError(
            "token is empty or holds a space or a line break, which no header can carry: give "
            "another, or none"
        )


def _hash(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()


def _state(path: Path) -> tuple[int, ...] | None:
    """Return what differs when the file has changed."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def check_key(given: HTTPAuthorizationCredentials | None, keys: Keys) -> str:
    """Refuse a request without a key; return the key's owner."""
    name = None if given is None else keys.name_of(given.credentials.encode("latin-1"))
    if name is None:
        raise RequestRefusedError(
            401,
            "the token is missing or wrong: send the header Authorization: Bearer with this "
            "service's token",
            headers={"WWW-Authenticate": "Bearer"},
        )
    return name


class KnownHosts:
    """Refuses requests for other hosts before anything else is done with them.

    A web page that a user of this machine looks at may let its own name lead to this machine (DNS
    rebinding), and then ask here as if the service were its own. The browser still says in the
    header Host which name it believes it is asking.
    """

    def __init__(self, app: ASGIApp, listening: str | None, allowed: Sequence[str] = ()) -> None:
        self.app, self.listening = app, listening
        self._allowed = frozenset(_bare(name) for name in allowed)

    def _knows(self, header: str) -> bool:
        here = self.listening or "127.0.0.1"  # beside the hosts that were named
        return _bare(header) in self._allowed or is_known_host(header, here)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
    """Return whether a header Host means this machine, if the service listens on that address.

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
    """Return the name or address in a header Host, without its port; None if it is not valid."""
    found = re.fullmatch(r"(\[[^\[\]]+\]|[^:/\[\]]+)(:\d*)?", header.strip())
    return None if found is None else found[1].strip("[]").rstrip(".").lower()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_hosts(names: Sequence[str]) -> None:
    """Refuse a name that no header Host can match."""
    for name in names:
        if _bare(name) is None:
            raise InputError(
                f"allowed_hosts holds {name!r}, which is not a host: give a name such as "
                "models.example.org, without https:// and without a path"
            )


async def read_body(request: Request, max_bytes: int, seconds: float) -> bytes:
    """Read a body and count it meanwhile: a request may lie about its length, or not say it."""
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
