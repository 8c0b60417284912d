"""The median of the submodels' values, for regression."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from .. import kernels
from .._support.arrays import array_of
from .._support.types import Array
from ..certificates import Certificates, Counts
from ..errors import InputError
from ._base import Rule, over_units, refuse_unfinite
from ._bounds import bound, check_order
from ._overlap import check_cover, radius_in_units
from ._reach import Reach

LARGEST = np.finfo(np.float64).max


class Median(Rule):
    """The lower median ``v_(h)``, ``h = ceil(T / 2)``: always one of the votes.

    It stays at most u while ``#(v <= u) >= h`` and at least l while ``#(v >= l) >= T + 1 - h``;
    every corrupted submodel takes one from either count. Exact. (docs/rules.md, "Median".)

    Parameters
    ----------
    stretch : float >= 1, default=1
        Submodels with few columns predict close to the mean. Every vote becomes ``centre + stretch
        * (vote - centre)``: a fixed increasing map, so every proof stands. Tune it on validation
        rows.
    centre : float, default=None
        ``fit`` fills it with the median training target.
    """

    def __init__(self, stretch: float = 1.0, centre: float | None = None) -> None:
        self.stretch = stretch
        self.centre = centre

    def check(self) -> None:
        if not isinstance(self.stretch, Real) or not 1 <= self.stretch < np.inf:
            raise InputError(f"stretch is {self.stretch!r}: it must be a finite number, 1 or above")
        if self.centre is not None and not (
            isinstance(self.centre, Real) and np.isfinite(float(self.centre))
        ):
            raise InputError(f"centre is {self.centre!r}: it must be a finite number")

    def filled(
        self,
        y: Array | None,
        classes: Array,
        probabilities: bool = True,
        balanced: bool = False,
        weights: Array | None = None,
    ) -> "Median":
        rule = Median(**self.get_params())
        if rule.centre is None and y is not None:
            rule.centre = float(np.median(y))
        return rule

    def brief(self) -> "Median":
        return Median(stretch=self.stretch)

    def _stretched(self, votes: Any) -> Array:
        self.check()
        array = array_of("votes", votes)
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise InputError(
                f"votes has shape {array.shape} and holds {array.dtype}: it must be numbers of "
                "shape (rows, submodels)"
            )
        if array.shape[1] == 0:
            raise InputError(f"votes has shape {array.shape}: there must be at least one submodel")
        array = np.ascontiguousarray(array, dtype=np.float64)
        finite = np.isfinite(array).all(axis=1)
        refuse_unfinite("votes", -1 if finite.all() else int(np.argmin(finite)))
        if self.stretch == 1:
            return array
        if self.centre is None:
            raise InputError(
                f"centre is missing: with stretch={self.stretch} give the value the votes are "
                "stretched away from"
            )
        with np.errstate(over="ignore"):
            return np.clip(self.centre + self.stretch * (array - self.centre), -LARGEST, LARGEST)

    def decide(self, votes: Any) -> Array:
        """The (stretched) lower median of every row."""
        array = self._stretched(votes)
        middle = (array.shape[1] + 1) // 2 - 1
        return np.asarray(np.partition(array, middle, axis=1)[:, middle])

    def certify(  # type: ignore[override]  # a value needs bounds where a label does not
        self,
        votes: Any,
        lower: Any = None,
        upper: Any = None,
        reach: Any = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        """Certify that each row's prediction stays in [lower, upper]; radius -1: it is outside now.
        An infinite bound always holds.

        ``reach``, ``cover`` and ``time_limit`` as in every rule.
        """
        array, low, high = self.checked(votes, lower, upper)
        radius, _ = kernels.stay_inside(array, low, high)
        proof = Certificates(
            self.decide(votes), radius, None, Counts("submodels", array.shape[1]), of_values=True
        )
        if reach is None:
            return proof
        check_cover(cover, time_limit)
        over = Reach(reach, array.shape[1])
        return over_units(
            proof,
            over,
            radius_in_units(kernels.median_gaps(array, low, high), over, cover, time_limit)[0],
        )

    def checked(self, votes: Any, lower: Any, upper: Any) -> tuple[Array, Array, Array]:
        """The stretched votes and the bounds of every row."""
        if lower is None or upper is None:
            raise InputError("lower and upper are both needed: -inf or inf leaves a side open")
        array = self._stretched(votes)
        low, high = bound("lower", lower, len(array)), bound("upper", upper, len(array))
        check_order(low, high)
        return array, low, high

    def interval(self, votes: Any, radius: int, reach: Any = None) -> tuple[Array, Array]:
        """The values the prediction can take when at most ``radius`` submodels (units, given
        ``reach``) are corrupted: (low, high)."""
        if not isinstance(radius, Integral) or isinstance(radius, bool) or radius < 0:
            raise InputError(f"radius is {radius!r}: it must be a whole number, 0 or above")
        array = np.sort(self._stretched(votes), axis=1)
        n_rows, n_submodels = array.shape
        if reach is not None:
            radius = Reach(reach, n_submodels).most_reached(int(radius))
        middle = (n_submodels + 1) // 2 - 1
        low = array[:, middle - radius] if radius <= middle else np.full(n_rows, -np.inf)
        high = (
            array[:, middle + radius] if middle + radius < n_submodels else np.full(n_rows, np.inf)
        )
        return low, high
