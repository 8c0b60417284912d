"""Federated parties: each answers with one submodel's ballots, and a coordinator certifies them.

The coordinator is trusted, no party is: what one of them sends, sends late or does not send moves
its own ballot and no other. Rows stay with the parties; keys go out and ballots come in.

``_parties`` has who is asked (names, addresses, keys, certificates), ``_client`` the question and
the answer, ``_federation`` the vote, and ``_apps`` the two applications: the coordinator's and a
party's.
"""

from typing import TYPE_CHECKING

from ..._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._apps import (
        COORDINATOR_PATHS,
        PARTY_PATHS,
        PartyBallots,
        coordinator_app,
        party_app,
        party_families,
    )
    from ._federation import Federation, PartyAnswers, read_parties
    from ._parties import Party

__all__ = ["Federation", "Party", "PartyAnswers"]

__getattr__, __dir__ = lazy_names(__name__)
