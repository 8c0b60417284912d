"""Top-k: does a label stay among the k with the most votes?"""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from .. import kernels
from .._support import Array, check_whole
from ..ballots import Ballots
from ..certificates import Certificates
from ..errors import InputError
from ._ballots import as_ballots, vote_shares
from ._base import Rule, count_units, run_kernel
from ._frontier import with_frontier
from ._overlap import check_bound_only, check_cover
from ._plurality import Plurality
from ._reach import Reach


class TopK(Rule):
    """Certify that a given label stays among the k labels with the most votes.

    A label stays in the top k until k others rank above it; the cheapest attack gives its votes to
    the k nearest. Exact (theory, section 3). The prediction is the plurality label.

    Parameters
    ----------
    k : int, default=3
        How many labels count as the top.

    See Also
    --------
    Plurality : Certifies the label with the most votes.

    References
    ----------
    Z. Hammoudeh and D. Lowd, "Provable Robustness Against a Union of L0 Adversarial Attacks", AAAI
    2024, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.rules import TopK
    >>> votes = [[0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2, 2]]
    >>> TopK(k=2).certify(np.eye(4)[votes], labels=[0, 0]).radius.tolist()
    [1, 0]
    """

    needs_scores: ClassVar[bool] = False
    needs_labels: ClassVar[bool] = True

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def check(self) -> None:
        check_whole("k", self.k, 1)

    def certify(  # type: ignore[override]  # labels come first: the radius is about them
        self,
        ballots: Any,
        labels: Any = None,
        reach: Any = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        """Certify that each row's label stays among the top k.

        Parameters
        ----------
        ballots : array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.
        labels : array-like of int, shape (n_samples,)
            The class index that each row's radius is about, such as the true one. Required.
        reach : array-like of bool, shape (n_units, n_submodels), optional
            Which submodels each unit reaches, where units overlap; the radius then counts units. By
            default it counts submodels.
        cover : {"bound"}, default="bound"
            Top-k has only the bound.
        time_limit : float, default=10.0
            Accepted for the sake of other rules.

        Returns
        -------
        Certificates
            ``prediction`` holds the given labels. A radius of -1 means that the label is outside
            the top k now.
        """
        checked = as_ballots(ballots)
        if labels is None:
            raise InputError(
                f"labels is missing: the radius of TopK({self.k}) is about a label that stays "
                f"among the top {self.k}, not about the "
                "prediction; give one label per row, such as the true ones"
            )
        n_rows, n_submodels, n_labels = checked.shape
        given = np.asarray(labels)
        if (
            given.shape != (n_rows,)
            or given.dtype.kind not in "iu"
            or not np.all((given >= 0) & (given < n_labels))
        ):
            raise InputError(
                f"labels must hold one class index from 0 to {n_labels - 1} for each of the "
                f"{n_rows} rows"
            )
        proof = replace(self._about(checked, given), truth=given)
        reach = checked.reach if reach is None else reach
        if reach is None:
            return with_frontier(proof, self, checked, None, given)
        check_cover(cover, time_limit)
        check_bound_only(self, cover)
        over = Reach(reach, n_submodels)
        proof = count_units(proof, over, over.from_submodels(proof.radius))
        return with_frontier(proof, self, checked, over, given)

    def decision(self, ballots: Any) -> Certificates:
        checked = as_ballots(ballots)
        return self._about(checked, self.decide(checked))

    def _about(self, ballots: Ballots, labels: Array) -> Certificates:
        """Certify that these labels stay among the top k; the radius counts submodels."""
        self.check()
        if ballots.abstentions is None:
            return self._decision(ballots.scores, labels)
        proof = self._decision_of_voters(ballots, labels)
        radius, nobody = proof.radius, ballots.n_voters == 0
        if ballots.abstentions.detected:
            # an abstaining submodel that is made to vote may be what an attacker lacks
            own = self.frontier(ballots, None, labels)[:, 0]
            radius = np.where(radius > 0, np.minimum(radius, own), radius)
        smallest = np.where(labels < self.k, 0, -1)  # by no votes at all these lead
        return replace(proof, radius=np.where(nobody, smallest, radius))

    def _decision(self, scores: Array, *about: Array) -> Certificates:
        return run_kernel("topk", scores, int(self.k), labels=about[0])

    def _soft_vote(self, scores: Array) -> Array:
        return vote_shares(scores)

    def decide(self, ballots: Any) -> Array:
        return Plurality().decide(ballots)

    def _frontier(self, scores: Array, idle: int, *about: Array) -> Array:
        labels = about[0] if about else self.decide(scores)
        more = np.full(len(scores), idle)
        return kernels.topk_frontier(scores, self.k, labels, more, scores.shape[1] - 1)
