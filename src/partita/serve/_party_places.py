"""Where parties are asked, in one form for every spelling of an address.

One party under two addresses has two votes, and owning it counts as one. Names are looked up here
and nothing is sent. Two addresses of one machine that no look-up shows to be one, such as those on
both sides of a proxy, show when the parties answer (``_ballot_answers``).
"""

import ipaddress
import socket
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import combinations
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ..errors import InputError

if TYPE_CHECKING:
    from ._parties import Party

MOST_LOOKUPS = 32  # at the same time
THIS_MACHINE = "127.0.0.1"


def check_places(parties: "Sequence[Party]", seconds: float) -> None:
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
    asked = {name: [pool.submit(_addresses, one) for one in _spellings(name)] for name in names}
    wait([future for futures in asked.values() for future in futures], seconds)
    pool.shutdown(wait=False, cancel_futures=True)
    hosts = {}
    for name, futures in asked.items():
        ready = [one for one in futures if one.done() and not one.cancelled()]
        hosts[name] = {_plain_host(name)}.union(*(one.result() for one in ready))
    return hosts


def _spellings(name: str) -> list[str]:
    return list(dict.fromkeys([name, name.rstrip(".")]))


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
