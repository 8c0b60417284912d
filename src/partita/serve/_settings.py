"""How the service is run, as one value that a worker process can be given."""

import math
import secrets
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .._support import PathLike
from ..errors import InputError
from ._security import Keys, check_hosts

MOST_WORKERS = 64


@dataclass(frozen=True)
class ServeSettings:
    """Everything that :func:`partita.serve.run` was given, by the same names."""

    model_path: PathLike | None = None
    host: str | None = None  # whatever the header Host says, requests are answered
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    tolerance: float | None = None
    relative: float | None = None
    trusted: Sequence[str] = ()
    max_rows: int = 1000
    max_bytes: int = 1_000_000
    max_waiting: int = 256
    body_seconds: float = 10.0
    header_seconds: float = 10.0
    drain_seconds: float = 1.0
    finish_seconds: float = 10.0
    api_keys: PathLike | None = None
    allowed_hosts: Sequence[str] = ()
    low_radius: int = 1
    request_log: PathLike | None = None
    workers: int = 1
    tls_cert: PathLike | None = None
    tls_key: PathLike | None = None
    silent: str | Sequence[str] | None = None
    label_sets: int = 0
    submodel: str | int | None = None
    table: PathLike | None = None
    key: str | None = None
    parties: PathLike | None = None
    # of a party: all its processes answer with one, so that it cannot pass for two
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "ServeSettings":
        """Take the settings among arguments; they have the same names."""
        return cls(**{one.name: given[one.name] for one in fields(cls) if one.name in given})

    @property
    def name(self) -> str:
        """What the service calls its model."""
        return Path(self.parties or self.model_path or "").resolve().name

    def check(self) -> None:
        """Refuse what cannot work before a model is loaded for it."""
        if not 0 <= self.port <= 65535:
            raise InputError(f"port is {self.port}: it must be a number from 0 to 65535")
        if not 1 <= self.workers <= MOST_WORKERS:
            raise InputError(
                f"workers is {self.workers}: it must be a number from 1 to {MOST_WORKERS}"
            )
        for name, least in (("header_seconds", 1), ("drain_seconds", 0), ("finish_seconds", 0)):
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and seconds >= least):
                raise InputError(f"{name} is {seconds}: it must be a number, {least} or above")
        self.check_requests()
        self._check_role()
        Keys(self.token, self.api_keys)
        self._check_tls()

    def check_requests(self) -> None:
        """Refuse limits and hosts under which every request is refused."""
        if self.max_rows < 1 or self.max_bytes < 1:
            raise InputError(
                f"max_rows is {self.max_rows} and max_bytes is {self.max_bytes}: both must be 1 or "
                "above, or every request is refused"
            )
        if self.max_waiting < 1 or not self.body_seconds > 0:
            raise InputError(
                f"max_waiting is {self.max_waiting} and body_seconds is {self.body_seconds}: both "
                "must be above 0, or every request is refused"
            )
        check_hosts(self.allowed_hosts)

    def _check_role(self) -> None:
        """Refuse settings of a model, a party and a coordinator that do not go together."""
        if (self.model_path is None) == (self.parties is None):
            raise InputError(
                "give a stored model to serve, or parties (--parties FILE) to ask, and not both"
            )
        as_party = (self.table, self.key, self.submodel) != (None, None, None)
        if as_party and (self.table is None or self.key is None):
            raise InputError(
                "a party needs its own table and the column that names its rows: give table and "
                "key (--table FILE --key COLUMN)"
            )
        of_model = ("tolerance", "relative", "silent", "label_sets")
        if self.parties is not None:
            for name in (*of_model, "submodel", "table"):
                if getattr(self, name) != getattr(ServeSettings, name):
                    in_file = name in ("tolerance", "relative", "label_sets")
                    cure = "write it into parties.toml" if in_file else "leave it out"
                    raise InputError(f"{name} is not for a coordinator: {cure}")
        elif as_party:
            for name in of_model:
                if getattr(self, name) != getattr(ServeSettings, name):
                    raise InputError(
                        f"{name} is not for a party, which only answers with ballots: leave it out"
                    )

    def _check_tls(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InputError("tls_cert and tls_key belong together: give both files, or neither")
        if self.tls_cert is None:
            return
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.tls_cert, self.tls_key)
        except (OSError, ssl.SSLError) as exc:
            raise InputError(
                f"tls_cert {str(self.tls_cert)!r} and tls_key {str(self.tls_key)!r} cannot be used "
                f"({exc}): give a certificate and its private key as PEM files"
            ) from exc
