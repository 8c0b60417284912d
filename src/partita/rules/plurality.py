"""Plurality: the label that most submodels vote for."""

from typing import Any, ClassVar

from ..certificates import Certificates
from .base import Rule, as_ballots, certificates


class Plurality(Rule):
    """Most votes win.

    One corrupted submodel moves one vote, so it closes the gap between the winner and a rival by at most 2: the prediction
    survives ``floor((c_y - c_z - [z < y]) / 2)`` of them. Exact. (docs/rules.md, "Plurality".)
    """

    needs_scores: ClassVar[bool] = False

    def certify(self, ballots: Any) -> Certificates:
        return certificates("plurality", as_ballots(ballots), 0)
