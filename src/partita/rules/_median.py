"""The median of the submodels' values, for regression."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from .. import kernels
from .._support import Array, check_whole
from ..ballots import Ballots
from ..certificates import Certificates, Counts, check_row_bounds
from ..errors import InputError
from ._base import GapRule, TrainingLabels, as_values
from ._overlap import Reach
from ._silence import voters

LARGEST = np.finfo(np.float64).max


@dataclass(eq=False, repr=False)
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

    stretch: float = 1.0
    centre: float | None = None

    def check(self) -> None:
        if not isinstance(self.stretch, Real) or not 1 <= self.stretch < np.inf:
            raise InputError(f"stretch is {self.stretch!r}: it must be a finite number, 1 or above")
        if self.centre is not None and not (
            isinstance(self.centre, Real) and np.isfinite(float(self.centre))
        ):
            raise InputError(f"centre is {self.centre!r}: it must be a finite number")

    def _resolve(self, labels: TrainingLabels) -> Self:
        rule = super()._resolve(labels)
        if rule.centre is None and labels.y is not None:
            rule.centre = float(np.median(labels.y))
        return rule

    def without_fitted_state(self) -> Self:
        return type(self)(stretch=self.stretch)

    def votes(self, ballots: ArrayLike) -> Array:
        """Return every submodel's value, stretched.

        Parameters
        ----------
        ballots : Ballots or array-like of shape (n_samples, n_submodels)
            Every submodel's value.

        Returns
        -------
        array of float64, shape (n_samples, n_submodels)
            What the median is taken of; without meaning for a submodel that abstains.
        """
        return self._stretched(ballots).scores

    def _stretched(self, ballots: ArrayLike) -> Ballots:
        self.check()
        checked = as_values(ballots)
        return checked if self.stretch == 1 else replace(checked, scores=self._stretch(checked))

    def _stretch(self, votes: ArrayLike) -> Array:
        array = np.asarray(votes, dtype=np.float64)
        if self.stretch == 1:
            return array
        if self.centre is None:
            raise InputError(
                f"centre is missing: with stretch={self.stretch} give the value the votes are "
                "stretched away from"
            )
        with np.errstate(over="ignore"):
            return np.clip(self.centre + self.stretch * (array - self.centre), -LARGEST, LARGEST)

    def _ballot_without_voters(self, default: Array) -> Array:
        return self._stretch(default)

    def _siding(self, decided: Array, labels: tuple[int, ...]) -> Array:
        centre = self.centre or 0.0
        return np.asarray(centre + (decided - centre) / self.stretch)

    def decide(self, ballots: ArrayLike) -> Array:
        """Return each row's lower median.

        Parameters
        ----------
        ballots : Ballots or array-like of shape (n_samples, n_submodels)
            Every submodel's value.

        Returns
        -------
        array of float64, shape (n_samples,)
            The predictions.
        """
        return self._medians(self._stretched(ballots))

    def _medians(self, stretched: Ballots) -> Array:
        median = np.empty(len(stretched))
        for rows, _, _, own in voters(self, stretched):
            middle = (own.shape[1] + 1) // 2 - 1
            median[rows] = np.partition(own, middle, axis=1)[:, middle]
        return median

    def certify(  # type: ignore[override]  # a value needs bounds where a label does not
        self,
        votes: ArrayLike,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        reach: ArrayLike | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        """Certify that each row's prediction stays in [lower, upper].

        Parameters
        ----------
        votes : Ballots or array-like of shape (n_samples, n_submodels)
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
        values, low, high = self.check_bounds(votes, lower, upper)
        prediction, counts = self._medians(values), Counts("submodels", values.shape[1])
        radius = np.where((prediction >= low) & (prediction <= high), 0, -1)
        proof = Certificates(prediction, radius, None, counts, of_values=True)
        if reach is None and values.reach is None:
            if values.abstentions is None:
                radius = kernels.stay_inside(values.scores, low, high)
            else:
                radius = self._in_units(
                    proof, values, Reach.of_each(counts.total), low, high
                ).radius
            proof = replace(proof, radius=radius)
        return self._certified(proof, values, reach, cover, time_limit, low, high)

    def check_bounds(
        self, votes: ArrayLike, lower: ArrayLike | None, upper: ArrayLike | None
    ) -> tuple[Ballots, Array, Array]:
        """Check votes and bounds.

        Parameters
        ----------
        votes : Ballots or array-like of shape (n_samples, n_submodels)
            Every submodel's value.
        lower, upper : float or array-like of shape (n_samples,)
            The bounds; both are required.

        Returns
        -------
        votes : Ballots of float64, shape (n_samples, n_submodels)
            The votes, stretched.
        lower : array of float64, shape (n_samples,)
            One lower bound per row.
        upper : array of float64, shape (n_samples,)
            One upper bound per row.
        """
        stretched = self._stretched(votes)
        return stretched, *check_row_bounds(lower, upper, len(stretched))

    def _gaps(self, scores: Array, *bounds: Array) -> kernels.Gaps:
        lower, upper = bounds
        return kernels.median_gaps(scores, lower, upper)

    def _gaps_of_any_number(self, scores: Array, *bounds: Array) -> kernels.Gaps:
        """Return gaps that hold for any number of votes.

        The median stays at least l while more votes are at or above l than below, and at most u
        while no fewer are at or below u than above. For odd numbers :meth:`gaps` may take the
        former for "no fewer"; when one abstains, that is not enough.
        """
        losses, budgets = self._gaps(scores, *bounds)
        odd = scores.shape[1] % 2
        budgets[:, 1] -= np.where(budgets[:, 1] == kernels.FAR, 0, odd)
        return losses, budgets

    def _budgets_without_voters(self, budgets: Array, *bounds: Array) -> Array:
        lower, upper = bounds
        endless = np.stack([upper == np.inf, lower == -np.inf], axis=1)
        return np.where(endless, kernels.FAR, -1)

    def interval(
        self, votes: ArrayLike, radius: int, reach: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Compute which values a prediction can take under an attack of a given size.

        Parameters
        ----------
        votes : Ballots or array-like of shape (n_samples, n_submodels)
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
        stretched = self._stretched(votes)
        n_rows, n_submodels = stretched.shape
        reach = stretched.reach if reach is None else reach
        if reach is not None:
            radius = Reach(reach, n_submodels).most_reached(int(radius))
        low, high = np.full(n_rows, -np.inf), np.full(n_rows, np.inf)
        for rows, _, _, own in voters(self, stretched):
            number, ordered = own.shape[1], np.sort(own, axis=1)
            middle = (number + 1) // 2 - 1
            if radius <= middle:
                low[rows] = ordered[:, middle - radius]
            if middle + radius < number:
                high[rows] = ordered[:, middle + radius]
        return low, high
