"""Who may ask: one token, or a file of keys that may change while the service runs.

Only hashes of keys are held, and every comparison looks at all of them in the same time. A file
that cannot be read any more leaves the last good keys in force: no mistake in it opens the service
or shuts everybody out.
"""

import hashlib
import hmac
import re
import time
from pathlib import Path
from typing import Any

from .._support import log
from ..errors import InputError

SECONDS_BETWEEN_LOOKS = 1.0  # at the file
SHORTEST_KEY = 16
HASHED = "sha256:"
NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)
TOKEN_NAME = "token"  # what the log calls a request with the token

Hashes = list[tuple[bytes, str]]  # sha256 and the name of whose key it is


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

    def __init__(self, token: str | None = None, path: Any = None) -> None:
        check_token_setting(token)
        self._own: Hashes = [] if token is None else [(_hash(token.encode()), TOKEN_NAME)]
        self._path = None if path is None else Path(path)
        self._from_file: Hashes = []
        self._seen: Any = None
        self._looked_at = time.monotonic()
        if self._path is not None:
            self._seen = _state(self._path)
            self._from_file = read_keys(self._path)

    def __bool__(self) -> bool:
        return bool(self._own) or self._path is not None

    def name_of(self, key: bytes) -> str | None:
        """Whose key this is; None if it is nobody's."""
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
    """The keys in a file, as hashes."""
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


def _state(path: Path) -> Any:
    """Something that differs when the file has changed."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
