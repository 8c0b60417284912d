"""The HTTP service: rows as JSON in, predictions with their proofs out.

A request's walk: ``_server`` (HTTP, time-outs), ``_observer`` (id, metrics, log), ``_security``
(Host, key, size), ``_batching`` (those that wait together), ``_certifier`` (``_rows``, the
workflow's certified table, ``_responses``). ``_app`` has the routes that certify, ``_service`` what
any application has beside its own routes, ``_run`` and ``_workers`` the processes.

Federated parties: ``_party_app`` answers with one submodel's ballots (``_party_ballots``), and
``_federation_app`` asks parties (``_asking``, ``_ballot_answers``) and certifies what they say
(``_party_vote``); ``_federation`` is the same without a service.

Responses are described by pydantic models and FastAPI makes the OpenAPI page of them. Requests are
read by hand: pydantic would take the last of two equal names, convert ``"1"`` to a number, and lose
the row and the column that an error is about; a proof is about exactly the cells that were sent.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._app import make_app
    from ._federation import Federation, PartyAnswers
    from ._parties import Party
    from ._run import run

__all__ = ["Federation", "Party", "PartyAnswers", "make_app", "run"]

__getattr__, __dir__ = lazy_names(__name__)
