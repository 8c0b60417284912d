"""Plurality: the label that most submodels vote for."""

from typing import ClassVar

import numpy as np

from .. import kernels
from .._support import Array
from ..certificates import Certificates
from ._ballots import mean_scores, softmax, vote_shares
from ._base import GapRule, run_kernel


class Plurality(GapRule):
    """Predict the label that most submodels vote for.

    One corrupted submodel moves one vote, so it closes the gap between the winner y and a label z
    by at most 2: the prediction survives ``floor((c_y - c_z - [z < y]) / 2)`` corrupted submodels,
    where c counts votes and z is the runner-up. Exact (Theorem 3 of [1]_; theory, section 2).

    See Also
    --------
    RunOff : Also uses which of the two leaders the submodels prefer.
    Tournament : Uses all pairwise preferences; the default.

    References
    ----------
    .. [1] Z. Hammoudeh and D. Lowd, "Provable Robustness Against a Union of L0 Adversarial
       Attacks", AAAI 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.rules import Plurality
    >>> votes = [[0, 0, 0, 1, 2], [1, 1, 0, 0, 2]]  # two rows, five submodels
    >>> proof = Plurality().certify(np.eye(3)[votes])
    >>> proof.prediction.tolist(), proof.radius.tolist(), proof.runner_up.tolist()
    ([0, 0], [1, 0], [1, 1])
    """

    needs_scores: ClassVar[bool] = False

    def _decision(self, scores: Array, *about: Array) -> Certificates:
        return run_kernel("plurality", scores, 0)

    def _soft_vote(self, scores: Array) -> Array:
        votes = vote_shares(scores)
        shares = softmax(mean_scores(scores))  # together they count less than one vote
        return np.asarray((scores.shape[1] * votes + shares) / (scores.shape[1] + 1))

    def _gaps(self, scores: Array, *bounds: Array) -> kernels.Gaps:
        return kernels.gaps("plurality", scores, 0)
