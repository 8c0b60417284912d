"""The median of the submodels' values, for regression."""

from numbers import Real
from typing import Any, Self

import numpy as np

from .. import kernels
from .._support.arrays import array_of
from .._support.numbers import check_whole
from .._support.types import Array
from ..certificates import Certificates, Counts
from ..errors import InputError
from ._ballots import check_finite
from ._base import GapRule, count_units
from ._bounds import check_row_bounds
from ._frontier import with_frontier
from ._overlap import check_cover, overlap_radius
from ._reach import Reach

LARGEST = np.finfo(np.float64).max


class Median(GapRule):
    """Predict the lower median of the submodels' values.

    With T votes it is the h-th smallest, ``h = ceil(T / 2)``: always one of the votes. It stays at
    most u while ``#(v <= u) >= h``, and at least l while ``#(v >= l) >= T + 1 - h``; every
    corrupted submodel takes one from either count. Exact (appendix G.6 of [1]_; theory, section 5).

    Parameters
    ----------
    stretch : float, default=1.0
        Submodels with few columns predict close to the mean. With ``stretch > 1`` every vote
        becomes ``centre + stretch * (vote - centre)``: a fixed increasing map, so every certificate
        stands. Tune it on validation rows.
    centre : float, optional
        The value that votes are stretched away from. By default ``fit`` uses the median training
        target.

    See Also
    --------
    partita.FeaturePartitionRegressor : The estimator that uses it.

    References
    ----------
    .. [1] Z. Hammoudeh and D. Lowd, "Provable Robustness Against a Union of L0 Adversarial
       Attacks", AAAI 2024.

    Examples
    --------
    >>> from partita.rules import Median
    >>> votes = [[1.0, 2.0, 3.0, 4.0, 9.0]]
    >>> proof = Median().certify(votes, lower=1.5, upper=5.0)
    >>> float(proof.prediction[0]), int(proof.radius[0])
    (3.0, 1)
    >>> low, high = Median().interval(votes, radius=1)
    >>> float(low[0]), float(high[0])
    (2.0, 4.0)
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

    def resolve(
        self,
        y: Array | None,
        classes: Array,
        probabilities: bool = True,
        balanced: bool = False,
        weights: Array | None = None,
    ) -> Self:
        rule = type(self)(**self.get_params())
        if rule.centre is None and y is not None:
            rule.centre = float(np.median(y))
        return rule

    def brief(self) -> Self:
        return type(self)(stretch=self.stretch)

    def votes(self, ballots: Any) -> Array:
        """Return every submodel's value, stretched.

        Parameters
        ----------
        ballots : array-like of shape (n_samples, n_submodels)
            Every submodel's value.

        Returns
        -------
        array of float64, shape (n_samples, n_submodels)
            What the median is taken of.
        """
        self.check()
        array = array_of("votes", ballots)
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise InputError(
                f"votes has shape {array.shape} and holds {array.dtype}: it must be numbers of "
                "shape (rows, submodels)"
            )
        if array.shape[1] == 0:
            raise InputError(f"votes has shape {array.shape}: there must be at least one submodel")
        array = np.ascontiguousarray(array, dtype=np.float64)
        finite = np.isfinite(array).all(axis=1)
        check_finite("votes", -1 if finite.all() else int(np.argmin(finite)))
        if self.stretch == 1:
            return array
        if self.centre is None:
            raise InputError(
                f"centre is missing: with stretch={self.stretch} give the value the votes are "
                "stretched away from"
            )
        with np.errstate(over="ignore"):
            return np.clip(self.centre + self.stretch * (array - self.centre), -LARGEST, LARGEST)

    def decide(self, ballots: Any) -> Array:
        """Return each row's lower median.

        Parameters
        ----------
        ballots : array-like of shape (n_samples, n_submodels)
            Every submodel's value.

        Returns
        -------
        array of float64, shape (n_samples,)
            The predictions.
        """
        array = self.votes(ballots)
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
        """Certify that each row's prediction stays in [lower, upper].

        Parameters
        ----------
        votes : array-like of shape (n_samples, n_submodels)
            Every submodel's value.
        lower, upper : float or array-like of shape (n_samples,)
            The bounds; both are required. An infinite bound always holds.
        reach : array-like of bool, shape (n_units, n_submodels), optional
            Which submodels each unit reaches, where units overlap; the radius then counts units. By
            default it counts submodels.
        cover : {"bound", "exact"}, default="bound"
            With ``reach``: a fast sound bound, or an integer program for each row that the bound
            leaves undecided.
        time_limit : float, default=10.0
            Seconds per integer program; after that its dual bound is used, so the result stays
            sound.

        Returns
        -------
        Certificates
            A radius of -1 means that the prediction itself is outside. There is no runner-up.
        """
        array, low, high = self.check_bounds(votes, lower, upper)
        radius, _ = kernels.stay_inside(array, low, high)
        proof = Certificates(
            self.decide(votes), radius, None, Counts("submodels", array.shape[1]), of_values=True
        )
        if reach is None:
            return with_frontier(proof, self, array, None, low, high)
        check_cover(cover, time_limit)
        over = Reach(reach, array.shape[1])
        in_units, _ = overlap_radius(self.gaps(array, low, high), over, cover, time_limit)
        return with_frontier(count_units(proof, over, in_units), self, array, over, low, high)

    def check_bounds(self, votes: Any, lower: Any, upper: Any) -> tuple[Array, Array, Array]:
        """Check votes and bounds.

        Parameters
        ----------
        votes : array-like of shape (n_samples, n_submodels)
            Every submodel's value.
        lower, upper : float or array-like of shape (n_samples,)
            The bounds; both are required.

        Returns
        -------
        votes : array of float64, shape (n_samples, n_submodels)
            The votes, stretched.
        lower : array of float64, shape (n_samples,)
            One lower bound per row.
        upper : array of float64, shape (n_samples,)
            One upper bound per row.
        """
        array = self.votes(votes)
        return array, *check_row_bounds(lower, upper, len(array))

    def gaps(self, ballots: Array, *bounds: Array) -> kernels.Gaps:
        lower, upper = bounds
        return kernels.median_gaps(ballots, lower, upper)

    def _silence_gaps(self, ballots: Array, *bounds: Array) -> kernels.Gaps:
        """Return gaps that hold for any number of votes.

        The median stays at least l while more votes are at or above l than below, and at most u
        while no fewer are at or below u than above. For odd numbers :meth:`gaps` may take the
        former for "no fewer"; when one abstains, that is not enough.
        """
        losses, budgets = self.gaps(ballots, *bounds)
        odd = ballots.shape[1] % 2
        budgets[:, 1] -= np.where(budgets[:, 1] == kernels.FAR, 0, odd)
        return losses, budgets

    def interval(self, votes: Any, radius: int, reach: Any = None) -> tuple[Array, Array]:
        """Compute which values a prediction can take under an attack of a given size.

        Parameters
        ----------
        votes : array-like of shape (n_samples, n_submodels)
            Every submodel's value.
        radius : int
            How many submodels (units, with ``reach``) the attacker owns.
        reach : array-like of bool, shape (n_units, n_submodels), optional
            Which submodels each unit reaches, where units overlap.

        Returns
        -------
        low : array of shape (n_samples,)
            The prediction stays at or above this; -inf where nothing holds it.
        high : array of shape (n_samples,)
            The prediction stays at or below this; inf where nothing holds it.
        """
        check_whole("radius", radius, 0)
        array = np.sort(self.votes(votes), axis=1)
        n_rows, n_submodels = array.shape
        if reach is not None:
            radius = Reach(reach, n_submodels).most_reached(int(radius))
        middle = (n_submodels + 1) // 2 - 1
        low = array[:, middle - radius] if radius <= middle else np.full(n_rows, -np.inf)
        high = (
            array[:, middle + radius] if middle + radius < n_submodels else np.full(n_rows, np.inf)
        )
        return low, high
