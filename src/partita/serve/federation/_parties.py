"""The parties of a federation: names, addresses, keys and certificates.

A party under two addresses would have two votes, and owning it counts as one: addresses are
compared in one form for every spelling, and names are looked up. Two addresses of one machine that
no look-up shows to be one, such as those on both sides of a proxy, show when the parties answer
(``_client``). Nothing is sent here.

A key is read from its file when it is needed, so that a file with a new key takes effect at once,
and it is in no message.
"""

import ipaddress
import re
import socket
import ssl
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..._support import PathLike
from ...errors import InputError

PRINTABLE = re.compile(r"[!-~]+")  # what a header can carry
MOST_LOOKUPS = 32  # at the same time
THIS_MACHINE = "127.0.0.1"


@dataclass(frozen=True)
class Party:
    """A source of ballots: it answers for its own rows.

    Parameters
    ----------
    name : str
        What certificates and metrics call the party.
    address : str
        Such as ``"https://clinic-a.example.org:8001"``; ballots are asked for at ``/ballot`` below
        it.
    key_file : str or path, optional
        A file that holds the party's API key and nothing else.
    ca : str or path, optional
        A file of certificates (PEM) that the party's certificate must come from; by default those
        that this machine trusts.

    See Also
    --------
    Federation : Asks parties and certifies what they answer.

    Examples
    --------
    >>> from partita.serve import Party
    >>> Party("clinic A", "http://127.0.0.1:8001").place
    ('127.0.0.1', 8001)
    """

    name: str
    address: str
    key_file: PathLike | None = None
    ca: PathLike | None = None

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.address)
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def netloc(self) -> str:
        """Host and port as the address writes them, for the header Host."""
        return urlsplit(self.address).netloc

    @property
    def is_encrypted(self) -> bool:
        """Whether the party is asked over TLS."""
        return urlsplit(self.address).scheme == "https"

    @property
    def path(self) -> str:
        """Where ballots are asked for."""
        return urlsplit(self.address).path.rstrip("/") + "/ballot"

    def check(self) -> None:
        """Refuse a party that cannot be asked.

        Raises
        ------
        InputError
            If its name, address, key or certificates cannot be used.
        """
        if not (isinstance(self.name, str) and self.name.strip() and self.name.isprintable()):
            raise InputError(f"a party's name is {self.name!r}: give a text that can be printed")
        if not _is_address(self.address):
            raise InputError(
                f"the party {self.name!r} has the address {self.address!r}: give one such as "
                "https://clinic-a.example.org:8001, without user, question mark or fragment"
            )
        self.key()
        self.tls()

    def key(self) -> str | None:
        """Read the party's API key.

        Returns
        -------
        str or None
            None where the party asks for none.

        Raises
        ------
        InputError
            If the file cannot be read, or holds something else.
        """
        if self.key_file is None:
            return None
        try:
            key = Path(self.key_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeError) as exc:
            cause = getattr(exc, "strerror", None) or "it is not text"
            raise InputError(
                f"the key file {str(self.key_file)!r} of the party {self.name!r} cannot be read "
                f"({cause}): give a file that holds the key"
            ) from exc
        if not PRINTABLE.fullmatch(key):
            raise InputError(
                f"the key file {str(self.key_file)!r} of the party {self.name!r} is empty or holds "
                "more than a key: write the key into it, on one line"
            )
        return key

    def tls(self) -> ssl.SSLContext | None:
        """Return what the party's certificate is checked with.

        Returns
        -------
        ssl.SSLContext or None
            None where the party is asked without encryption.

        Raises
        ------
        InputError
            If the file of certificates cannot be used.
        """
        if not self.is_encrypted:
            if self.ca is not None:
                raise InputError(
                    f"the party {self.name!r} has certificates (ca) and an address without TLS: "
                    "give an address that begins with https://"
                )
            return None
        try:
            return ssl.create_default_context(cafile=None if self.ca is None else str(self.ca))
        except (OSError, ssl.SSLError) as exc:
            raise InputError(
                f"the certificates {str(self.ca)!r} of the party {self.name!r} cannot be used "
                f"({exc}): give a PEM file"
            ) from exc


def check_parties(parties: Sequence[Party], seconds: float = 2.0) -> tuple[Party, ...]:
    """Return the parties, if all can be asked and no two share a name or an address.

    ``seconds``: how long hosts may be looked up.
    """
    listed = tuple(parties)
    if not listed:
        raise InputError("parties is empty: give at least one")
    for party in listed:
        if not isinstance(party, Party):
            raise InputError(f"parties holds {party!r}: give partita.serve.Party objects")
        party.check()
    names = [party.name for party in listed]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two parties have the name {twice!r}: each needs its own")
    _check_places(listed, seconds)
    return listed


def _is_address(address: object) -> bool:
    if not (isinstance(address, str) and PRINTABLE.fullmatch(address)):
        return False
    try:
        parts = urlsplit(address)
        named = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    bare = not (parts.query or parts.fragment or "@" in parts.netloc)
    return named and bare and parts.scheme in ("http", "https")


def _check_places(parties: Sequence[Party], seconds: float) -> None:
    """Refuse parties that are asked at one place: one host or address, port and path.

    Names that are not found within ``seconds`` are compared as they are written.
    """
    found = _look_up({party.place[0] for party in parties}, seconds)
    hosts = [found[party.place[0]] for party in parties]
    rest = [(party.place[1], _plain_path(party.path)) for party in parties]
    for (j, one), (k, other) in combinations(enumerate(parties), 2):
        if rest[j] == rest[k] and (shared := hosts[j] & hosts[k]):
            raise InputError(
                f"the parties {one.name!r} ({one.address}) and {other.name!r} ({other.address}) "
                f"have the same address, {min(shared)} with port {rest[j][0]}: list each party "
                "once, and ask different ones at different ports or paths"
            )


def _look_up(names: Iterable[str], seconds: float) -> dict[str, set[str]]:
    """Return for each host its name and the addresses that are found for it."""
    pool = ThreadPoolExecutor(MOST_LOOKUPS, thread_name_prefix="look-up")
    # with a last dot or without, a name may be looked up elsewhere
    asked = {
        name: [pool.submit(_addresses, one) for one in {name, name.rstrip(".")}] for name in names
    }
    wait([future for futures in asked.values() for future in futures], seconds)
    pool.shutdown(wait=False, cancel_futures=True)
    hosts = {}
    for name, futures in asked.items():
        ready = [one for one in futures if one.done() and not one.cancelled()]
        hosts[name] = {_plain_host(name)}.union(*(one.result() for one in ready))
    return hosts


def _addresses(host: str) -> set[str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    return {_plain_host(str(place[0])) for *_, place in found}


def _plain_host(host: str) -> str:
    """Return one form of a host: all addresses of the loopback interface are this machine."""
    try:
        address = ipaddress.ip_address(host.rstrip("."))
    except ValueError:
        return host.rstrip(".").lower()
    mapped = getattr(address, "ipv4_mapped", None) or address
    return THIS_MACHINE if mapped.is_loopback or mapped.is_unspecified else str(mapped)


def _plain_path(path: str) -> str:
    """Return one form of a path: decoded, without empty and dot segments."""
    while (decoded := unquote(path, "latin-1")) != path:
        path = decoded
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            kept[-1:] = []
        elif segment not in ("", "."):
            kept.append(segment)
    return "/".join(kept)
