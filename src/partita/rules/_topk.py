"""Top-k: does a label stay among the k with the most votes?"""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from .. import kernels
from .._support.numbers import check_whole
from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError
from ._ballots import as_ballots, vote_shares
from ._base import Rule, count_units, run_kernel
from ._frontier import in_units, with_frontier
from ._overlap import check_bound_only, check_cover
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
        array = as_ballots(ballots)
        if labels is None:
            raise InputError(
                f"labels is missing: the radius of TopK({self.k}) is about a label that stays "
                f"among the top {self.k}, not about the "
                "prediction; give one label per row, such as the true ones"
            )
        n_rows, n_submodels, n_labels = array.shape
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
        proof = replace(self._about(array, given), truth=given)
        if reach is None:
            return with_frontier(proof, self, array, None, given)
        check_cover(cover, time_limit)
        check_bound_only(self, cover)
        over = Reach(reach, n_submodels)
        proof = count_units(proof, over, over.from_submodels(proof.radius))
        return with_frontier(proof, self, array, over, given)

    def decision(self, ballots: Array) -> Certificates:
        return self._about(ballots, self.decide(ballots))

    def _about(self, ballots: Array, labels: Array) -> Certificates:
        self.check()
        return run_kernel("topk", ballots, int(self.k), labels=labels)

    def _soft_vote(self, ballots: Array) -> Array:
        return vote_shares(ballots)

    def decide(self, ballots: Any) -> Array:
        return run_kernel("plurality", as_ballots(ballots), 0).prediction

    def frontier(self, ballots: Array, reach: Reach | None, *about: Array) -> Array:
        labels, idle = about[0] if about else self.decide(ballots), np.zeros(len(ballots))
        return in_units(
            kernels.topk_frontier(ballots, self.k, labels, idle, ballots.shape[1] - 1), reach
        )
