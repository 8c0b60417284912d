"""How the service is run, as one value that a worker process can be given."""

import math
import secrets
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InputError
from ._keys import Keys
from ._metrics import Family, Metrics
from ._request_log import RequestLog
from ._service import Limits, Service

MOST_WORKERS = 64


@dataclass(frozen=True)
class RunSettings:
    """Everything that :func:`partita.serve.run` was given."""

    model_path: Any
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    tolerance: float | None = None
    relative: float | None = None
    trusted: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    api_keys: Any = None
    allowed_hosts: Sequence[str] = ()
    low_radius: int = 1
    request_log: Any = None
    workers: int = 1
    tls_cert: Any = None
    tls_key: Any = None
    header_seconds: float = 10.0
    drain_seconds: float = 1.0
    finish_seconds: float = 10.0
    silent: Any = None
    submodel: Any = None
    table: Any = None
    key: str | None = None
    parties: Any = None
    # of a party: all its processes answer with one, so that it cannot pass for two
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def name(self) -> str:
        """What the service calls its model."""
        path = self.model_path if self.parties is None else self.parties
        return Path(path).resolve().name

    def check(self) -> None:
        """Refuse what cannot work before a model is loaded for it."""
        if not 0 <= self.port <= 65535:
            raise InputError(f"port is {self.port}: it must be a number from 0 to 65535")
        if not 1 <= self.workers <= MOST_WORKERS:
            raise InputError(
                f"workers is {self.workers}: it must be a number from 1 to {MOST_WORKERS}"
            )
        for name in ("header_seconds", "drain_seconds", "finish_seconds"):
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and seconds >= (name == "header_seconds")):
                least = "1" if name == "header_seconds" else "0"
                raise InputError(f"{name} is {seconds}: it must be a number, {least} or above")
        self.limits.check()
        self._check_role()
        Keys(self.token, self.api_keys)
        self._check_tls()

    def _check_role(self) -> None:
        """Refuse settings of a model, a party and a coordinator that do not go together."""
        if (self.model_path is None) == (self.parties is None):
            raise InputError(
                "give a stored model to serve, or parties (--parties FILE) to ask, and not both"
            )
        as_party = self.table is not None or self.key is not None or self.submodel is not None
        if as_party and (self.table is None or self.key is None):
            raise InputError(
                "a party needs its own table and the column that names its rows: give table and "
                "key (--table FILE --key COLUMN)"
            )
        of_model = {
            "tolerance": self.tolerance,
            "relative": self.relative,
            "silent": self.silent,
            "submodel": self.submodel,
            "table": self.table,
        }
        refused = [*of_model] if self.parties is not None else [*of_model][:3] if as_party else []
        wrong = next((name for name in refused if of_model[name] is not None), None)
        if wrong is not None:
            if self.parties is None:
                raise InputError(
                    f"{wrong} is not for a party, which only answers with ballots: leave it out"
                )
            in_file = wrong in ("tolerance", "relative")
            cure = "write it into parties.toml" if in_file else "leave it out"
            raise InputError(f"{wrong} is not for a coordinator: {cure}")

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

    def service(
        self, paths: Sequence[str], cells: Any, worker: int, further: Sequence[Family] = ()
    ) -> Service:
        """The service of one worker process."""
        log = None if self.request_log is None else RequestLog(self.request_log, worker)
        constants = {"model": self.name, "version": __version__}
        return Service(
            self.name,
            Metrics(paths, self.low_radius, constants, cells, worker, further),
            self.limits,
            Keys(self.token, self.api_keys),
            self.host,
            self.allowed_hosts,
            log,
        )
