"""The margin tournament: every pair of labels meets, and the label whose worst duel is best wins."""

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..certificates import Certificates
from ..errors import InputError
from .base import GapRule, certificates

Array = NDArray[Any]


class Tournament(GapRule):
    """In the duel of y and z a submodel says an integer ``s`` in [-Q, Q]; y wins while ``sum(s) >= [z < y]`` against every z.

    A corrupted submodel can say -Q at worst, which costs ``s + Q``: the radius is how many of the largest such costs fit into the
    smallest lead. Sound; a lower bound. (docs/rules.md, "Tournament".)

    Parameters
    ----------
    margin : float, default=0
        The lead in score at which a submodel's word is full: ``s = round(127 * clip((g(y) - g(z)) / margin, -1, 1))``. Undecided
        submodels then nearly abstain. 0: the sign of the lead. Tune it on validation rows.
    prior : float in [0, 1), default=0
        Subtract ``prior * log(share of the label)`` from every score, so that weak submodels do not all answer with the commonest
        label. Buys accuracy at small radii for certificates at large ones.
    shares : array of C numbers, default=None
        The labels' shares for ``prior``; ``fit`` fills them from the training labels.
    """

    def __init__(self, margin: float = 0.0, prior: float = 0.0, shares: Any = None) -> None:
        self.margin = margin
        self.prior = prior
        self.shares = shares

    def check(self) -> None:
        if not isinstance(self.margin, Real) or not 0 <= self.margin < np.inf:
            raise InputError(f"margin is {self.margin!r}: it must be a finite number, 0 or above")
        if not isinstance(self.prior, Real) or not 0 <= self.prior < 1:
            raise InputError(f"prior is {self.prior!r}: it must be a number in [0, 1)")

    def filled(self, y: Array, classes: Array) -> "Tournament":
        rule = Tournament(**self.get_params())
        if rule.prior and rule.shares is None:
            counts = np.array([np.count_nonzero(y == label) for label in classes])
            rule.shares = (counts + 1) / (counts.sum() + len(classes))
        return rule

    def _shift(self, n_labels: int) -> Array | None:
        if not self.prior:
            return None
        if self.shares is None:
            raise InputError(f"shares is missing: with prior={self.prior} give the labels' shares of the training rows")
        shares = np.asarray(self.shares, dtype=np.float64)
        if shares.shape != (n_labels,) or not np.all((shares > 0) & (shares < np.inf)):
            raise InputError(f"shares has shape {shares.shape}: it must hold {n_labels} positive numbers, one a class")
        return np.asarray(self.prior * np.log(shares))

    def decision(self, ballots: Array) -> Certificates:
        self.check()
        return certificates("tournament", ballots, float(self.margin), shift=self._shift(ballots.shape[2]))

    def gaps(self, ballots: Array) -> kernels.Gaps:
        return kernels.gaps("tournament", ballots, float(self.margin), shift=self._shift(ballots.shape[2]))

    def with_rival(self, proof: Certificates, rival: Array) -> Certificates:
        return proof if proof.runner_up is None else replace(proof, runner_up=np.where(rival < 0, proof.runner_up, rival))
