"""A party of a federation: its name, its address, and how it is trusted to be itself.

Nothing here opens a connection. A key is read from its file when it is needed, so that a file with
a new key takes effect at once, and it is in no message.
"""

import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..errors import InputError
from ._party_places import check_places

PRINTABLE = re.compile(r"[!-~]+")  # what a header can carry


@dataclass(frozen=True)
class Party:
    """Somebody who answers with ballots for their own rows.

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
    key_file: Any = None
    ca: Any = None

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.address)
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def is_encrypted(self) -> bool:
        """Whether the party is asked over TLS."""
        return urlsplit(self.address).scheme == "https"

    @property
    def path(self) -> str:
        """Where ballots are asked for."""
        return urlsplit(self.address).path.rstrip("/") + "/ballot"

    @property
    def host_header(self) -> str:
        """The header Host of a request."""
        return urlsplit(self.address).netloc

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
    check_places(listed, seconds)
    return listed


def _is_address(address: Any) -> bool:
    if not (isinstance(address, str) and PRINTABLE.fullmatch(address)):
        return False
    try:
        parts = urlsplit(address)
        named = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    bare = not (parts.query or parts.fragment or "@" in parts.netloc)
    return named and bare and parts.scheme in ("http", "https")
