"""What every rule shares: its settings in scikit-learn's way, and ``certify``.

A rule sees ballots and, where units overlap, which submodels each unit reaches. It never sees
models or tables. Whatever decides a certificate is integer arithmetic in :mod:`partita.kernels`.
"""

import inspect
from typing import Any, ClassVar, Self

import numpy as np

from .. import kernels
from .._support.types import Array
from ..certificates import Certificates, Counts, recounted
from ..errors import InputError
from ._ballots import as_ballots, check_finite, mean_scores, softmax, with_winner
from ._frontier import gap_frontier, with_frontier
from ._overlap import check_bound_only, check_cover, overlap_radius
from ._reach import Reach


class Settings:
    """Settings in scikit-learn's way: the arguments of ``__init__``, stored as they are.

    They are checked when they are used, so that searches can set them (``rule__margin``).
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name, as scikit-learn's estimators do.

        Parameters
        ----------
        deep : bool, default=True
            Ignored: a rule holds no other estimators.

        Returns
        -------
        dict
            Settings by name.
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change settings, as scikit-learn's estimators do.

        Parameters
        ----------
        **params : Any
            Settings by name.

        Returns
        -------
        Rule
            The rule itself.

        Raises
        ------
        InputError
            If the rule has no such setting.
        """
        for name, value in params.items():
            if name not in self.get_params():
                raise InputError(
                    f"{type(self).__name__} has no setting {name!r}: it has "
                    f"{', '.join(self.get_params()) or 'none'}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = {
            name: value
            for name, value in self.get_params().items()
            if str(value) != str(defaults[name].default)
        }
        shown = [f"{name}={value!r}" for name, value in given.items()]
        return f"{type(self).__name__}({', '.join(shown)})"

    def check(self) -> None:
        """Check the settings.

        Raises
        ------
        InputError
            If a setting is out of range; the message says what it must be.
        """


class Rule(Settings):
    """Base class of the decision rules.

    A rule's settings are the arguments of its ``__init__``, stored as they are and checked when the
    rule is used, so that scikit-learn's searches can set them (``rule__margin``).

    See Also
    --------
    Plurality : Most votes win.
    RunOff : The two labels with the most votes meet in a duel.
    Tournament : Every pair of labels meets; the default.
    TopK : Whether a label stays among the k with the most votes.
    Median : The median of the submodels' values, for regression.

    Examples
    --------
    >>> from partita.rules import RunOff, Tournament
    >>> Tournament(margin=0.5).get_params()
    {'margin': 0.5, 'prior': None, 'offset': None, 'shares': None}
    >>> RunOff().set_params(exact=True)
    RunOff(exact=True)
    """

    needs_scores: ClassVar[bool] = True  # False: votes are enough
    needs_labels: ClassVar[bool] = False  # True: certify needs the labels it is about

    def resolve(
        self,
        y: Array | None,
        classes: Array,
        probabilities: bool = True,
        balanced: bool = False,
        weights: Array | None = None,
    ) -> Self:
        """Return a copy whose open settings (None) are resolved; called by ``fit``.

        Parameters
        ----------
        y : array of shape (n_samples,) or None
            Training targets; None where they may be attacked, so that nothing may be learnt from
            them.
        classes : array of shape (n_classes,)
            All labels, sorted; empty for regression.
        probabilities : bool, default=True
            Whether the submodels' scores are log-probabilities.
        balanced : bool, default=False
            Whether the estimator weighs its classes by their shares already.
        weights : array of shape (n_samples,), optional
            Sample weights.

        Returns
        -------
        Rule
            A rule of the same class.
        """
        return type(self)(**self.get_params())

    def brief(self) -> Self:
        """Return a copy without what ``fit`` learnt from the labels, for display.

        Returns
        -------
        Rule
            A rule of the same class.
        """
        return type(self)(**self.get_params())

    def certify(
        self, ballots: Any, reach: Any = None, cover: str = "bound", time_limit: float = 10.0
    ) -> Certificates:
        """Decide every row and compute how many submodels must be corrupted to change it.

        Parameters
        ----------
        ballots : array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.
        reach : array-like of bool, shape (n_units, n_submodels), optional
            Which submodels each unit reaches, where units overlap; the radius then counts units. By
            default it counts submodels.
        cover : {"bound", "exact"}, default="bound"
            With ``reach``: a fast sound bound, or an integer program for each row that the bound
            leaves undecided (only for rules that decide by gaps: plurality and tournament).
        time_limit : float, default=10.0
            Seconds per integer program; after that its dual bound is used, so the result stays
            sound.

        Returns
        -------
        Certificates
            ``prediction`` and ``runner_up`` hold class indexes.
        """
        array = as_ballots(ballots)
        proof = self.decision(array)
        if reach is None:
            return with_frontier(proof, self, array)
        check_cover(cover, time_limit)
        over = Reach(reach, array.shape[1])
        return with_frontier(
            self._in_units(proof, array, over, cover, time_limit), self, array, over
        )

    def frontier(self, ballots: Array, reach: Reach | None, *about: Array) -> Array:
        """Compute how many may lie while m others abstain: (rows, m = 0, 1, ...).

        Parameters
        ----------
        ballots : array
            Checked, finite ballots.
        reach : Reach or None
            Units that reach several submodels; None: every unit is one submodel.
        *about : array of shape (n_samples,)
            What is certified of each row: a median's bounds, or the labels of a top k.

        Returns
        -------
        array of int, shape (n_samples, n_silent)
            -1 where m abstentions alone may break the row; ``kernels.FAR`` where nothing does.
        """
        raise NotImplementedError

    def _in_units(
        self, proof: Certificates, ballots: Array, reach: Reach, cover: str, time_limit: float
    ) -> Certificates:
        """Convert a radius in submodels: as many units as reach no more submodels than that."""
        check_bound_only(self, cover)
        return count_units(proof, reach, reach.from_submodels(proof.radius))

    def decision(self, ballots: Array) -> Certificates:
        """Decide and certify checked ballots; the radius counts submodels.

        Parameters
        ----------
        ballots : array of shape (n_samples, n_submodels, n_classes)
            As :func:`partita.certify` takes them, already an array of numbers.

        Returns
        -------
        Certificates
            ``prediction`` and ``runner_up`` hold class indexes.
        """
        raise NotImplementedError

    def decide(self, ballots: Any) -> Array:
        """Return each row's predicted class, as an index.

        Parameters
        ----------
        ballots : array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.

        Returns
        -------
        array of int, shape (n_samples,)
            Class indexes.
        """
        return self.decision(as_ballots(ballots)).prediction

    def votes(self, ballots: Any) -> Array:
        """Return each submodel's own choice, the smallest class among equals.

        Parameters
        ----------
        ballots : array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.

        Returns
        -------
        array of int, shape (n_samples, n_submodels)
            Class indexes.
        """
        return np.asarray(as_ballots(ballots).argmax(axis=2))

    def probabilities(self, ballots: Any) -> Array:
        """Return scores for ranking rows; nothing is proven about them.

        Parameters
        ----------
        ballots : array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Positive, with sum 1, and the largest for the predicted class.
        """
        array = as_ballots(ballots)
        return with_winner(self._soft_vote(array), self.decide(array))

    def _soft_vote(self, ballots: Array) -> Array:
        """Combine the submodels' scores into shares (rows, classes); the decision may differ."""
        return softmax(mean_scores(ballots))


class GapRule(Rule):
    """A rule that decides by gaps, which is what sharp certificates for overlapping units need."""

    @property
    def full_vote(self) -> int:
        """What one decided submodel adds to a gap."""
        return 1

    def frontier(self, ballots: Array, reach: Reach | None, *about: Array) -> Array:
        return gap_frontier(self, ballots, reach, *about)

    def _silence_gaps(self, ballots: Array, *bounds: Array) -> kernels.Gaps:
        """Return gaps that stay right when submodels abstain; :meth:`gaps`, for most rules."""
        return self.gaps(ballots, *bounds)

    def _n_heard(self, ballots: Array) -> Array:
        """Return how many submodels vote in each row."""
        return np.full(len(ballots), ballots.shape[1])

    def gaps(self, ballots: Array, *bounds: Array) -> kernels.Gaps:
        """Write decisions out as losses (rows, opponents, submodels) and budgets (rows, opponents).

        Parameters
        ----------
        ballots : array
            A block of checked, finite ballots.
        *bounds : array of shape (n_samples,)
            For the median: the lower and the upper bound of each row.

        Returns
        -------
        losses, budgets : array of int
            What corrupting each submodel costs the decision against each opponent, and what it can
            afford.
        """
        raise NotImplementedError

    def _overlap_radius(
        self, ballots: Array, reach: Reach, cover: str, time_limit: float
    ) -> tuple[Array, Array]:
        """Compute each row's radius in units, and the opponent that is nearest in units."""
        radius, runner_up = np.zeros((2, len(ballots)), np.int64)

        def work(rows: slice) -> int:
            radius[rows], runner_up[rows] = overlap_radius(
                self.gaps(ballots[rows]), reach, cover, time_limit
            )
            return -1

        kernels.over_rows(work, len(ballots), ballots[:1].size)
        return radius, runner_up

    def _in_units(
        self, proof: Certificates, ballots: Array, reach: Reach, cover: str, time_limit: float
    ) -> Certificates:
        radius, runner_up = self._overlap_radius(ballots, reach, cover, time_limit)
        proof = self._with_runner_up(proof, runner_up)
        return count_units(proof, reach, np.maximum(radius, 0))

    def _with_runner_up(self, proof: Certificates, runner_up: Array) -> Certificates:
        """Put in the opponent that is nearest in units, where that is the rule's runner-up."""
        return proof


def run_kernel(
    kernel: str,
    ballots: Array,
    setting: Any,
    labels: Array | None = None,
    shift: Array | None = None,
) -> Certificates:
    """Run a kernel on checked ballots; the radius counts submodels."""
    prediction, radius, runner_up, bad_row = kernels.decide(kernel, ballots, setting, labels, shift)
    check_finite("ballots", bad_row)
    without = labels is not None or ballots.shape[2] == 1
    return Certificates(
        prediction, radius, None if without else runner_up, Counts("submodels", ballots.shape[1])
    )


def count_units(proof: Certificates, reach: Reach, radius: Array) -> Certificates:
    """Return the same decisions with a radius that counts units."""
    return recounted(proof, radius, Counts("units", reach.n_units), None)
