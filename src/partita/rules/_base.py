"""What every rule shares: its settings in scikit-learn's way, and ``certify``.

A rule sees ballots and, where units overlap, which submodels each unit reaches. It never sees
models or tables. Whatever decides a certificate is integer arithmetic in :mod:`partita.kernels`.
"""

import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from .. import kernels
from .._support import Array
from ..ballots import Ballots
from ..certificates import Certificates, Counts, recounted
from ..errors import InputError
from ._ballots import as_ballots, check_finite, mean_scores, softmax, with_winner
from ._frontier import gap_frontier, in_units, with_frontier
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

    def without_fitted_state(self) -> Self:
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
        ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.
        reach : array-like of bool, shape (n_units, n_submodels), optional
            Which submodels each unit reaches, where units overlap; the radius then counts units. By
            default that of the ballots; without one it counts submodels.
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
        checked = as_ballots(ballots)
        proof = self.decision(checked)
        reach = checked.reach if reach is None else reach
        if reach is None:
            return with_frontier(proof, self, checked)
        check_cover(cover, time_limit)
        over = Reach(reach, checked.shape[1])
        proof = self._in_units(proof, checked, over, cover, time_limit)
        return with_frontier(proof, self, checked, over)

    def frontier(self, ballots: Ballots, reach: Reach | None, *about: Array) -> Array:
        """Compute how many may lie while m others abstain: (rows, m = 0, 1, ...).

        Parameters
        ----------
        ballots : Ballots
            Checked.
        reach : Reach or None
            Units that reach several submodels; None: every unit is one submodel.
        *about : array of shape (n_samples,)
            What is certified of each row: a median's bounds, or the labels of a top k.

        Returns
        -------
        array of int, shape (n_samples, n_silent)
            -1 where m abstentions alone may break the row; ``kernels.FAR`` where nothing does.
        """
        n_rows, n_submodels = ballots.shape[:2]
        radii = np.full((n_rows, n_submodels), -1)
        for rows, number, _, own in self._voters(ballots):
            if number:
                idle = (n_submodels - number) * is_detected(ballots)
                radii[rows, :number] = self._frontier(own, idle, *(one[rows] for one in about))
        return in_units(radii, reach)

    def _frontier(self, scores: Array, idle: int, *about: Array) -> Array:
        """Return the frontier in submodels, of rows in which all of these submodels vote.

        ``idle``: how many more submodels an attacker can make vote.
        """
        raise NotImplementedError

    def _in_units(
        self, proof: Certificates, ballots: Ballots, reach: Reach, cover: str, time_limit: float
    ) -> Certificates:
        """Convert a radius in submodels: as many units as reach no more submodels than that."""
        check_bound_only(self, cover)
        return count_units(proof, reach, reach.from_submodels(proof.radius))

    def decision(self, ballots: Any) -> Certificates:
        """Decide and certify; the radius counts submodels.

        Parameters
        ----------
        ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.

        Returns
        -------
        Certificates
            ``prediction`` and ``runner_up`` hold class indexes.
        """
        checked = as_ballots(ballots)
        if checked.abstentions is None:
            return self._decision(checked.scores)
        return self._decision_of_voters(checked)

    def _decision(self, scores: Array, *about: Array) -> Certificates:
        """Decide and certify rows in which all submodels vote; the radius counts submodels."""
        raise NotImplementedError

    def _decision_of_voters(self, ballots: Ballots, *about: Array) -> Certificates:
        """Decide and certify each row by the submodels that vote in it."""
        n_rows, n_submodels = ballots.shape[:2]
        prediction, radius, runner_up = np.zeros((3, n_rows), np.int64)
        has_runner_up = ballots.shape[2] > 1 and not about
        for rows, number, _, own in self._voters(ballots):
            proof = self._decision(own, *(one[rows] for one in about))
            prediction[rows] = proof.prediction
            never = proof.radius >= max(1, number)
            radius[rows] = np.where(never, n_submodels, proof.radius)
            if has_runner_up:
                runner_up[rows] = proof.runner_up
        counts = Counts("submodels", n_submodels)
        return Certificates(prediction, radius, runner_up if has_runner_up else None, counts)

    def _voters(self, ballots: Ballots) -> Iterator[tuple[Array, int, Array, Array]]:
        """Yield rows, how many submodels vote in them, which, and their scores."""
        if ballots.abstentions is None:
            n_rows, n_submodels = ballots.shape[:2]
            order = np.broadcast_to(np.arange(n_submodels), (n_rows, n_submodels))
            yield np.arange(n_rows), n_submodels, order, ballots.scores
            return
        for rows, number, order in ballots.by_number_of_voters():
            if number:
                where = order.reshape(*order.shape, *[1] * (ballots.scores.ndim - 2))
                own = np.take_along_axis(ballots.scores[rows], where, axis=1)
            else:
                nobody = self._nobody(np.asarray(ballots.abstentions.default))
                own = np.broadcast_to(nobody, (len(rows), 1, *nobody.shape))
            yield rows, number, order, own

    def _nobody(self, default: Array) -> Array:
        """Return the ballot of a row in which all submodels abstain."""
        return default

    def decide(self, ballots: Any) -> Array:
        """Return each row's predicted class, as an index.

        Parameters
        ----------
        ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.

        Returns
        -------
        array of int, shape (n_samples,)
            Class indexes.
        """
        return self.decision(ballots).prediction

    def votes(self, ballots: Any) -> Array:
        """Return each submodel's own choice, the smallest class among equals.

        Parameters
        ----------
        ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.

        Returns
        -------
        array of int, shape (n_samples, n_submodels)
            Class indexes; 0 for a submodel that abstains.
        """
        checked = as_ballots(ballots)
        votes = checked.scores.argmax(axis=2)
        if checked.abstentions is not None:
            votes[checked.abstentions.submodels] = 0
        return np.asarray(votes)

    def probabilities(self, ballots: Any) -> Array:
        """Return scores for ranking rows; nothing is proven about them.

        Parameters
        ----------
        ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Positive, with sum 1, and the largest for the predicted class.
        """
        checked = as_ballots(ballots)
        shares = np.empty((len(checked), checked.shape[2]))
        for rows, _, _, own in self._voters(checked):
            shares[rows] = self._soft_vote(own)
        return with_winner(shares, self.decide(checked))

    def _soft_vote(self, scores: Array) -> Array:
        """Combine the submodels' scores into shares (rows, classes); the decision may differ."""
        return softmax(mean_scores(scores))


class GapRule(Rule):
    """A rule that decides by gaps, which is what sharp certificates for overlapping units need."""

    @property
    def full_vote(self) -> int:
        """What one decided submodel adds to a gap."""
        return 1

    def decision(self, ballots: Any) -> Certificates:
        checked = as_ballots(ballots)
        proof = super().decision(checked)
        if not is_detected(checked):
            return proof
        each = Reach.of(replace(checked, reach=None))
        radius, _ = self._overlap_radius(checked, each, "bound", 1.0)
        return replace(proof, radius=np.maximum(radius, 0))

    def frontier(self, ballots: Ballots, reach: Reach | None, *about: Array) -> Array:
        return gap_frontier(self, ballots, reach, *about)

    def gaps(self, ballots: Any, *bounds: Array) -> kernels.Gaps:
        """Write decisions out as losses and budgets against each opponent.

        Parameters
        ----------
        ballots : Ballots or array
            A block of checked, finite ballots; for the median stretched values.
        *bounds : array of shape (n_samples,)
            For the median: the lower and the upper bound of each row.

        Returns
        -------
        losses : array of int, shape (n_samples, n_opponents, n_submodels)
            What corrupting each submodel costs the decision against each opponent.
        budgets : array of int, shape (n_samples, n_opponents)
            What the decision can afford against each opponent.
        """
        given = ballots if isinstance(ballots, Ballots) else Ballots(np.asarray(ballots))
        if given.abstentions is None:
            return self._gaps(given.scores, *bounds)
        return self._gaps_of_voters(given, *bounds)

    def _gaps(self, scores: Array, *bounds: Array) -> kernels.Gaps:
        """Return the gaps of rows in which all submodels vote."""
        raise NotImplementedError

    def _gaps_of_voters(self, ballots: Ballots, *bounds: Array) -> kernels.Gaps:
        """Write decisions out as :meth:`gaps` does, so that they hold for any number of voters.

        A submodel that abstains costs nothing, or a full vote if it may be made to vote.
        """
        n_rows, n_submodels = ballots.shape[:2]
        n_opponents = 2 if ballots.scores.ndim == 2 else ballots.shape[2]
        idle = self.full_vote if is_detected(ballots) else 0
        all_losses = np.full((n_rows, n_opponents, n_submodels), idle, np.int32)
        all_budgets = np.zeros((n_rows, n_opponents), np.int64)
        for rows, number, order, own in self._voters(ballots):
            limits = [bound[rows] for bound in bounds]
            losses, budgets = self._gaps_of_any_number(own, *limits)
            if not number:
                budgets = self._budgets_of_nobody(budgets, *limits)
            known = all_losses[rows]
            where = np.broadcast_to(order[:, None, :], (len(rows), n_opponents, number))
            np.put_along_axis(known, where, losses[:, :, :number], axis=2)
            known[budgets == kernels.FAR] = 0
            all_losses[rows], all_budgets[rows] = known, budgets
        return all_losses, all_budgets

    def _gaps_of_any_number(self, scores: Array, *bounds: Array) -> kernels.Gaps:
        """Return gaps that stay right when some of these submodels abstain."""
        return self._gaps(scores, *bounds)

    def _budgets_of_nobody(self, budgets: Array, *bounds: Array) -> Array:
        """Return the budgets of rows in which all submodels abstain."""
        return np.where(budgets == kernels.FAR, budgets, -1)

    def _overlap_radius(
        self, ballots: Ballots, reach: Reach, cover: str, time_limit: float, *bounds: Array
    ) -> tuple[Array, Array]:
        """Compute each row's radius in units, and the opponent that is nearest in units."""
        radius, runner_up = np.zeros((2, len(ballots)), np.int64)

        def work(rows: slice) -> int:
            gap_form = self.gaps(ballots[rows], *(bound[rows] for bound in bounds))
            radius[rows], runner_up[rows] = overlap_radius(gap_form, reach, cover, time_limit)
            return -1

        kernels.over_rows(work, len(ballots), ballots.scores[:1].size)
        return radius, runner_up

    def _in_units(
        self, proof: Certificates, ballots: Ballots, reach: Reach, cover: str, time_limit: float
    ) -> Certificates:
        radius, runner_up = self._overlap_radius(ballots, reach, cover, time_limit)
        proof = self._with_runner_up(proof, runner_up)
        return count_units(proof, reach, np.maximum(radius, 0))

    def _with_runner_up(self, proof: Certificates, runner_up: Array) -> Certificates:
        """Put in the opponent that is nearest in units, where that is the rule's runner-up."""
        return proof


def is_detected(ballots: Ballots) -> bool:
    """Whether submodels abstain that an attacker could make vote."""
    return ballots.abstentions is not None and ballots.abstentions.detected


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
