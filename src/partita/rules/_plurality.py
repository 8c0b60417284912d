"""Plurality: the label that most submodels vote for."""

from typing import ClassVar

import numpy as np

from .. import kernels
from .._support.types import Array
from ..certificates import Certificates
from ._base import GapRule, certificates, mean_scores, softmax, vote_shares


class Plurality(GapRule):
    """Most votes win.

    One corrupted submodel moves one vote, so it closes the gap between the winner and a rival by at
    most 2: the prediction survives ``floor((c_y - c_z - [z < y]) / 2)`` of them. Exact.
    (docs/rules.md, "Plurality".)"""

    needs_scores: ClassVar[bool] = False

    def decision(self, ballots: Array) -> Certificates:
        return certificates("plurality", ballots, 0)

    def leaning(self, ballots: Array) -> Array:
        votes = vote_shares(ballots)
        return np.asarray(
            (ballots.shape[1] * votes + softmax(mean_scores(ballots))) / (ballots.shape[1] + 1)
        )  # less than a vote

    def gaps(self, ballots: Array) -> kernels.Gaps:
        return kernels.gaps("plurality", ballots, 0)
