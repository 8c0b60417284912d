"""The sockets that the service listens on, and one sentence for every reason why it cannot."""

import errno
import os
import socket

from ..errors import InputError

BACKLOG = 2048  # connections that wait to be accepted


def listen(sockets: list[socket.socket], host: str, port: int) -> None:
    """Listen on sockets that are bound."""
    try:
        for bound in sockets:
            bound.listen(BACKLOG)
    except OSError as exc:
        raise _cannot_listen(host, port, exc) from exc


def bind_sockets(host: str, port: int) -> list[socket.socket]:
    """A socket for each address that the host stands for, bound and not listening yet."""
    if not host:
        raise InputError(
            "host is empty: give an address of this machine, such as 127.0.0.1, or 0.0.0.0 for "
            "all of them"
        )
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as exc:
        raise InputError(
            f"host is {host!r}, which is not an address that can be found ({exc}): give an address "
            "of this machine"
        ) from exc
    bound: list[socket.socket] = []
    failure: OSError | None = None
    for family, kind, protocol, _, place in dict.fromkeys(places):
        one = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":  # elsewhere it would let two services share a port
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            # port 0: the same free one for all addresses
            chosen = bound[0].getsockname()[1] if bound and not port else port
            one.bind((place[0], chosen, *place[2:]))
        except OSError as exc:
            one.close()
            failure = exc
            if exc.errno == errno.EADDRNOTAVAIL:  # such as ::1 of localhost, where there is no IPv6
                continue
            break
        bound.append(one)
    else:
        if bound:
            return bound
    for one in bound:
        one.close()
    assert failure is not None
    raise _cannot_listen(host, port, failure) from failure


def _cannot_listen(host: str, port: int, exc: OSError) -> InputError:
    """Why a service cannot listen there, in a sentence."""
    if exc.errno == errno.EADDRINUSE:
        return InputError(
            f"port {port} of {host} is in use: stop the program that listens there, or choose "
            "another port"
        )
    if exc.errno in (errno.EACCES, errno.EPERM):
        return InputError(
            f"port {port} of {host} is not open to this user: choose a port of 1024 or above"
        )
    if exc.errno == errno.EADDRNOTAVAIL:
        return InputError(
            f"host is {host!r}, which is not an address of this machine: give 127.0.0.1, or "
            "0.0.0.0 for all of its addresses"
        )
    return InputError(
        f"the service cannot listen on port {port} of {host!r} ({exc.strerror or exc}): choose "
        "another host or port"
    )
