"""Top-k: does a label stay among the k with the most votes?"""

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError
from ._base import Rule, as_ballots, certificates, over_units, vote_shares
from ._reach import Reach


class TopK(Rule):
    """A label stays in the top k until k rivals rank above it; the cheapest attack gives its votes
    to the k nearest. Exact.

    The prediction is the plurality label. (docs/rules.md, "Top-k".)

    Parameters
    ----------
    k : int, default=3
    """

    needs_scores: ClassVar[bool] = False

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def check(self) -> None:
        if not isinstance(self.k, Integral) or isinstance(self.k, bool) or self.k < 1:
            raise InputError(f"k is {self.k!r}: it must be a whole number, 1 or above")

    def certify(  # type: ignore[override]  # labels come first: they are what is asked about
        self, ballots: Any, labels: Any = None, reach: Any = None, **cover: Any
    ) -> Certificates:
        """Certify that each row's label stays among its top k; radius -1: it is not there now.

        ``labels`` are class indexes, one per row: what the radius is about. ``reach`` as in every
        rule."""
        array = as_ballots(ballots)
        if labels is None:
            raise InputError(
                f"labels is missing: the radius of TopK({self.k}) is about a label that stays "
                f"among the top {self.k}, not about the "
                "prediction; give one label per row, such as the true ones"
            )
        n_rows, n_submodels, n_labels = array.shape
        asked = np.asarray(labels)
        if (
            asked.shape != (n_rows,)
            or asked.dtype.kind not in "iu"
            or not np.all((asked >= 0) & (asked < n_labels))
        ):
            raise InputError(
                f"labels must hold one class index from 0 to {n_labels - 1} for each of the "
                f"{n_rows} rows"
            )
        proof = replace(self._about(array, asked), truth=asked)
        if reach is None:
            return proof
        over = Reach(reach, n_submodels)
        return over_units(proof, over, over.from_submodels(proof.radius))

    def decision(self, ballots: Array) -> Certificates:
        return self._about(ballots, self.decide(ballots))

    def _about(self, ballots: Array, labels: Array) -> Certificates:
        self.check()
        return certificates("topk", ballots, int(self.k), labels=labels)

    def leaning(self, ballots: Array) -> Array:
        return vote_shares(ballots)

    def decide(self, ballots: Any) -> Array:
        return certificates("plurality", as_ballots(ballots), 0).prediction
