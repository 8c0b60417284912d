"""The HTTP service: rows as JSON in, predictions with their proofs out.

A request's walk: ``_run`` (processes, sockets, HTTP, time-outs), ``_metrics`` (its id, counters and
line in the log), ``_security`` (Host, key, size), ``_app`` (routes), ``_certifier`` (requests that
wait together, certified) with ``_rows`` (what is read and what is answered). ``federation`` is for
parties that keep their columns and answer with ballots.
"""

from typing import TYPE_CHECKING, Any

from .._support import require
from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._app import make_app
    from ._run import run
    from .federation import Federation, Party, PartyAnswers

__all__ = ["Federation", "Party", "PartyAnswers", "make_app", "run"]

_lazy_name, __dir__ = lazy_names(__name__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        serves = name in ("make_app", "run")
        purpose = "serving a model" if serves else "asking parties"
        require("fastapi" if serves else "httpx", purpose, "partita[serve]")
    return _lazy_name(name)
