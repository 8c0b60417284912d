"""What every rule shares: checked ballots, settings in scikit-learn's way, ``certify``, and shares.

A rule sees ballots and, where units overlap, which submodels each unit reaches. Whatever decides a
certificate is integer arithmetic in :mod:`partita.kernels`. Shares rank rows and carry no
guarantee: floating point is fine there, and no certificate may depend on them.
"""

import inspect
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import kernels
from .._support import Array, check_whole
from ..ballots import Ballots
from ..certificates import Certificates, Counts, recounted
from ..errors import InputError
from ._overlap import Reach
from ._silence import (
    decision_of_voters,
    frontier,
    gap_frontier,
    gaps_of_voters,
    voters,
)

HIGHEST = -float(np.log(1e-9))  # scores are clipped to [-HIGHEST, HIGHEST] before averaging
TIE = 1e-9  # how far, as a share of it, a lowered score stays below the winner's


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

    def set_params(self, **params: object) -> Self:
        """Change settings, as scikit-learn's estimators do.

        Parameters
        ----------
        **params : object
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


class TrainingLabels(NamedTuple):
    """What open settings follow from, as :meth:`Rule.resolve` takes it."""

    y: Array | None
    classes: Array
    probabilities: bool
    balanced: bool
    weights: Array | None


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
    largest_radius: int | None = None  # that it can certify; None: it depends on the submodels

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
        return self._resolve(TrainingLabels(y, classes, probabilities, balanced, weights))

    def _resolve(self, labels: TrainingLabels) -> Self:
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
        self,
        ballots: ArrayLike,
        reach: ArrayLike | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
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
        return self._certified(self.decision(checked), checked, reach, cover, time_limit)

    def prediction_set(
        self, ballots: ArrayLike, radius: int = 1, reach: ArrayLike | None = None
    ) -> Array:
        """List the labels that an attack of a given size may bring about.

        Whatever the attacker does, the decision about a row is one of its labels. They hold the
        prediction, which stands alone where the certified radius is at least ``radius``; a larger
        radius never gives fewer labels. Exact for :class:`Plurality` where every unit reaches one
        submodel; for other rules there may be labels that no attack brings about (theory, section
        13).

        Parameters
        ----------
        ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
            Every submodel's score for every class.
        radius : int, default=1
            How many submodels (units, with ``reach``) the attacker owns.
        reach : array-like of bool, shape (n_units, n_submodels), optional
            Which submodels each unit reaches, where units overlap. By default that of the ballots.

        Returns
        -------
        array of bool, shape (n_samples, n_classes)
            Which labels belong to each row's set.

        See Also
        --------
        partita.metrics.label_set_curve : How often the truth is in the sets, and their mean size.

        Examples
        --------
        >>> import numpy as np
        >>> from partita.rules import Plurality
        >>> ballots = np.eye(3)[[[0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 1]]]
        >>> Plurality().prediction_set(ballots, radius=1).tolist()
        [[True, True, False], [True, False, False]]
        """
        if self.needs_labels:
            raise InputError(
                f"{self!r} has no label sets, as its radius is about given labels: use another rule"
            )
        checked = as_ballots(ballots)
        check_whole("radius", radius, 0)
        proof = self.certify(checked, reach=reach)
        size = min(int(radius), proof.counts.total)
        possible = np.asarray(np.arange(checked.shape[2])[None] == proof.prediction[:, None])
        rows = np.flatnonzero(proof.radius < size)
        if len(rows):
            possible[rows] |= self._possible_labels(checked[rows], Reach.of(checked, reach), size)
        return possible

    def _possible_labels(self, ballots: Ballots, reach: Reach, radius: int) -> Array:
        """Return the labels that an attack may bring about where the certificate does not hold."""
        return np.ones((len(ballots), ballots.shape[2]), dtype=bool)

    def _certified(
        self,
        proof: Certificates,
        ballots: Ballots,
        reach: ArrayLike | None,
        cover: str,
        time_limit: float,
        *about: Array,
    ) -> Certificates:
        """Return a decision with its frontier, and with a radius in units where these overlap."""
        reach = ballots.reach if reach is None else reach
        over = None
        if reach is not None:
            over = Reach(reach, ballots.shape[1], cover, time_limit)
            proof = self._in_units(proof, ballots, over, *about)
        return replace(proof, frontier=partial(self.frontier, ballots, over, *about))

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
        return frontier(self, ballots, reach, *about)

    def _frontier(self, scores: Array, idle: int, *about: Array) -> Array:
        """Return the frontier in submodels, of rows in which all of these submodels vote.

        ``idle``: how many more submodels an attacker can make vote.
        """
        raise NotImplementedError

    def _in_units(
        self, proof: Certificates, ballots: Ballots, reach: Reach, *about: Array
    ) -> Certificates:
        """Convert a radius in submodels: as many units as reach no more submodels than that."""
        if reach.cover == "exact":
            raise InputError(
                f"cover='exact' is not supported with {self!r}, which does not decide by gaps: use "
                "cover='bound', or rule='tournament' or 'plurality'"
            )
        return count_units(proof, reach, reach.from_submodels(proof.radius))

    def decision(self, ballots: ArrayLike) -> Certificates:
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
        return decision_of_voters(self, checked)

    def _decision(self, scores: Array, *about: Array) -> Certificates:
        """Decide and certify rows in which all submodels vote; the radius counts submodels."""
        raise NotImplementedError

    def _ballot_without_voters(self, default: Array) -> Array:
        """Return the ballot of a row in which all submodels abstain."""
        return default

    def _siding(self, decided: Array, labels: tuple[int, ...]) -> Array:
        """Return the ballot of a submodel that sides with each row's decision."""
        return np.where(np.arange(*labels) == decided[:, None], 0, -HIGHEST)

    def decide(self, ballots: ArrayLike) -> Array:
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

    def votes(self, ballots: ArrayLike) -> Array:
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

    def probabilities(self, ballots: ArrayLike) -> Array:
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
        for rows, _, _, own in voters(self, checked):
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

    def decision(self, ballots: ArrayLike) -> Certificates:
        checked = as_ballots(ballots)
        proof = super().decision(checked)
        if not checked.silence_detected:
            return proof
        radius, _ = self._overlap_radius(checked, Reach.of_each(checked.shape[1]))
        return replace(proof, radius=np.maximum(radius, 0))

    def frontier(self, ballots: Ballots, reach: Reach | None, *about: Array) -> Array:
        return gap_frontier(self, ballots, reach, *about)

    def gaps(self, ballots: ArrayLike, *bounds: Array) -> kernels.Gaps:
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
        return gaps_of_voters(self, given, *bounds)

    def _gaps(self, scores: Array, *bounds: Array) -> kernels.Gaps:
        """Return the gaps of rows in which all submodels vote."""
        raise NotImplementedError

    def _gaps_of_any_number(self, scores: Array, *bounds: Array) -> kernels.Gaps:
        """Return gaps that stay right when some of these submodels abstain."""
        return self._gaps(scores, *bounds)

    def _budgets_without_voters(self, budgets: Array, *bounds: Array) -> Array:
        """Return the budgets of rows in which all submodels abstain."""
        return np.where(budgets == kernels.FAR, budgets, -1)

    def _overlap_radius(
        self, ballots: Ballots, reach: Reach, *bounds: Array
    ) -> tuple[Array, Array]:
        """Compute each row's radius in units, and the opponent that is nearest in units."""
        radius, runner_up = np.zeros((2, len(ballots)), np.int64)

        def work(rows: slice) -> int:
            gap_form = self.gaps(ballots[rows], *(bound[rows] for bound in bounds))
            radius[rows], runner_up[rows] = reach.radius(gap_form)
            return -1

        kernels.over_rows(work, len(ballots), ballots.scores[:1].size)
        return radius, runner_up

    def _in_units(
        self, proof: Certificates, ballots: Ballots, reach: Reach, *about: Array
    ) -> Certificates:
        radius, runner_up = self._overlap_radius(ballots, reach, *about)
        proof = self._with_runner_up(proof, runner_up)
        return count_units(proof, reach, np.where(proof.radius < 0, -1, np.maximum(radius, 0)))

    def _with_runner_up(self, proof: Certificates, runner_up: Array) -> Certificates:
        """Put in the opponent that is nearest in units, where that is the rule's runner-up."""
        return proof


def run_kernel(
    kernel: str,
    ballots: Array,
    setting: kernels.Setting,
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


def possible_labels(
    rule: Rule,
    kernel: str,
    ballots: Ballots,
    most: tuple[Reach, int],
    setting: kernels.Setting,
    shift: Array | None = None,
) -> Array:
    """Run the kernel of label sets on checked ballots: what so many units of a reach can do."""
    reach, radius = most
    n_reached, attackable = reach.most_reached(radius), np.asarray(reach.groups.any(axis=0))
    possible = np.ones((len(ballots), ballots.shape[2]), dtype=bool)
    for rows, number, order, own in voters(rule, ballots):
        if number:  # where no submodel votes no label is excluded
            reached = attackable[order]
            idle = (attackable.sum() - reached.sum(axis=1)) * ballots.silence_detected
            possible[rows] = kernels.possible_labels(
                kernel, own, setting, reached, idle, n_reached, shift
            )
    return possible


def count_units(proof: Certificates, reach: Reach, radius: Array) -> Certificates:
    """Return the same decisions with a radius that counts units."""
    return recounted(proof, radius, Counts("units", reach.n_units), None)


# ---- ballots, checked ----


def as_ballots(ballots: ArrayLike) -> Ballots:
    """Return ballots (N, T, C), checked but for finite scores, which the kernels check."""
    array = _numbers("ballots", ballots, "(rows, submodels, classes)")
    if 0 in array.shape[1:]:
        raise InputError(
            f"ballots has shape {array.shape}: there must be at least one submodel and one class"
        )
    return _with_scores(ballots, array)


def as_values(votes: ArrayLike) -> Ballots:
    """Return values (N, T) as ballots of float64, finite where submodels vote."""
    array = _numbers("votes", votes, "(rows, submodels)")
    if array.shape[1] == 0:
        raise InputError(f"votes has shape {array.shape}: there must be at least one submodel")
    array = np.ascontiguousarray(array, dtype=np.float64)
    checked = _with_scores(votes, array)
    known = np.isfinite(array)
    if checked.abstentions is not None:
        known = known | checked.abstentions.submodels
    finite = known.all(axis=1)
    check_finite("votes", -1 if finite.all() else int(np.argmin(finite)))
    return checked


def _numbers(name: str, ballots: ArrayLike, axes: str) -> Array:
    """Return ballots as an array of numbers with the named axes."""
    try:
        array = np.asarray(ballots)
    except ValueError as exc:
        raise InputError(f"{name} is ragged: give an array of shape {axes}") from exc
    if array.ndim != axes.count(",") + 1:
        raise InputError(f"{name} has shape {array.shape}: it must be {axes}")
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} holds {array.dtype}, not numbers: give one for each of {axes}")
    return array


def _with_scores(ballots: ArrayLike, scores: Array) -> Ballots:
    if not isinstance(ballots, Ballots):
        return Ballots(scores)
    return ballots if scores is ballots.scores else replace(ballots, scores=scores)


def check_finite(name: str, bad_row: int) -> None:
    """Raise if a kernel found a row that is not finite (-1: none)."""
    if bad_row >= 0:
        raise InputError(
            f"{name} holds a NaN or an infinity in row {bad_row}: replace it by a fixed finite "
            "score before certifying"
        )


def mean_scores(ballots: Array) -> Array:
    """Average the submodels' scores, each clipped to the range of a log-probability."""
    return np.asarray(np.clip(ballots, -HIGHEST, HIGHEST).mean(axis=1, dtype=np.float64))


def vote_shares(ballots: Array) -> Array:
    """Compute the share of submodels that vote for each class: (rows, classes)."""
    votes = ballots.argmax(axis=2)
    return np.stack([(votes == label).mean(axis=1) for label in range(ballots.shape[2])], axis=1)


def softmax(scores: Array) -> Array:
    """Turn scores (rows, classes) into positive shares with sum 1."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def with_winner(shares: Array, winner: Array) -> Array:
    """Change shares as little as possible so that each row's winner has the largest.

    Classes above the winner come down to one common level with it.
    """
    out = np.array(shares, dtype=np.float64)
    rows = np.arange(len(out))
    own = out[rows, winner]
    rest = out.copy()
    rest[rows, winner] = 0
    for i in np.flatnonzero((rest >= own[:, None]).any(axis=1) & (rest.max(axis=1) > 0)):
        ordered = np.sort(np.delete(out[i], winner[i]))[::-1]
        for k in range(1, len(ordered) + 1):  # the k largest share one level with the winner
            level = (own[i] + ordered[:k].sum()) / (k + 1)
            if k == len(ordered) or ordered[k] <= level:
                break
        out[i] = np.minimum(out[i], level * (1 - TIE))
        out[i, winner[i]] = 0
        out[i, winner[i]] = 1 - out[i].sum()
    return out
