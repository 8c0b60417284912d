"""Rules that decide by votes and duels: plurality, run-off, tournament, and whether in the top k.

Margins are computed in float64 and rounded once per pair; from there on everything is integer.
Nothing may be added to a gap that an attacker can move: head starts are constants.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from .. import kernels
from .._support import Array, array_of, check_whole
from ..ballots import Ballots
from ..certificates import Certificates
from ..errors import InputError
from ._base import (
    GapRule,
    Rule,
    TrainingLabels,
    as_ballots,
    mean_scores,
    possible_labels,
    run_kernel,
    softmax,
    vote_shares,
)
from ._overlap import Reach
from ._silence import decision_of_voters

# What fit uses where scores are log-probabilities; chosen on validation rows
# (docs/results/defaults.md).
DEFAULT_MARGIN = 0.25
DEFAULT_PRIOR = 1.0
DEFAULT_OFFSET = 0.25
FULL_VOTE = 127  # what a full vote counts with a margin; 1 without
MOST_VOTES = 1e9  # head starts are clipped to this: it decides every duel


class Plurality(GapRule):
    """Predict the label that most submodels vote for.

    One corrupted submodel moves one vote, so it closes the gap between the winner y and a label z
    by at most 2: the prediction survives ``floor((c_y - c_z - [z < y]) / 2)`` corrupted submodels,
    where c counts votes and z is the runner-up. Exact (Theorem 3 of [1]_; theory, section 2).

    See Also
    --------
    RunOff : Also uses which of the two leaders the submodels prefer.
    Tournament : Uses all pairwise preferences; the default.

    References
    ----------
    .. [1] Z. Hammoudeh and D. Lowd, "Provable Robustness Against a Union of L0 Adversarial
       Attacks", AAAI 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.rules import Plurality
    >>> votes = [[0, 0, 0, 1, 2], [1, 1, 0, 0, 2]]  # two rows, five submodels
    >>> proof = Plurality().certify(np.eye(3)[votes])
    >>> proof.prediction.tolist(), proof.radius.tolist(), proof.runner_up.tolist()
    ([0, 0], [1, 0], [1, 1])
    """

    needs_scores: ClassVar[bool] = False

    def _decision(self, scores: Array, *about: Array) -> Certificates:
        return run_kernel("plurality", scores, 0)

    def _soft_vote(self, scores: Array) -> Array:
        votes = vote_shares(scores)
        shares = softmax(mean_scores(scores))  # together they count less than one vote
        return np.asarray((scores.shape[1] * votes + shares) / (scores.shape[1] + 1))

    def _gaps(self, scores: Array, *bounds: Array) -> kernels.Gaps:
        return kernels.gaps("plurality", scores, 0)

    def _possible_labels(self, ballots: Ballots, reach: Reach, radius: int) -> Array:
        return possible_labels(self, "plurality", ballots, (reach, radius), 0)


@dataclass(eq=False, repr=False)
class RunOff(Rule):
    """Let the two labels with the most votes meet in a second round.

    Round 1 keeps the two labels with the most votes; in round 2 every submodel sides with the one
    it scores higher. The winner falls only if another label enters round 2 and beats it there, or
    if two labels push it out of the top two; the radius is the smaller of the two costs (Theorem 4
    of [1]_; theory, section 3).

    Parameters
    ----------
    exact : bool, default=False
        False: the paper's bound, which prices entering and winning round 2 separately. True: the
        size of the smallest attack, never below the bound.

    See Also
    --------
    Plurality : Round 1 alone.
    Tournament : Uses all pairwise preferences; the default.

    References
    ----------
    .. [1] Z. Hammoudeh and D. Lowd, "Provable Robustness Against a Union of L0 Adversarial
       Attacks", AAAI 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.rules import RunOff
    >>> scores = np.array([[[3, 1, 0], [3, 1, 0], [0, 2, 1], [0, 2, 1], [1, 0, 2]]])
    >>> proof = RunOff(exact=True).certify(scores)
    >>> proof.prediction.tolist(), proof.radius.tolist()
    ([0], [0])
    """

    exact: bool = False

    def check(self) -> None:
        if not isinstance(self.exact, bool):
            raise InputError(f"exact is {self.exact!r}: it must be True or False")

    def _decision(self, scores: Array, *about: Array) -> Certificates:
        self.check()
        return run_kernel("runoff", scores, self.exact)

    def _frontier(self, scores: Array, idle: int, *about: Array) -> Array:
        return kernels.runoff_frontier(scores, scores.shape[1] - 1)

    def _possible_labels(self, ballots: Ballots, reach: Reach, radius: int) -> Array:
        return possible_labels(self, "runoff", ballots, (reach, radius), False)


@dataclass(eq=False, repr=False)
class Tournament(GapRule):
    """Let every pair of labels meet; the label whose worst duel is best wins.

    In the duel of y and z a submodel casts an integer ``s`` in [-Q, Q], and y wins while
    ``b(y) - b(z) + sum(s) >= [z < y]`` for every z. A corrupted submodel casts -Q at worst, which
    costs ``s + Q``: the radius is how many of the largest such costs fit into the smallest lead.
    The head starts b are constants that no attacker can move. Sound; a lower bound, exact for two
    labels (theory, section 4).

    Parameters
    ----------
    margin : float, optional
        The lead in score at which a submodel casts a full vote:
        ``s = round(Q * clip((g(y) - g(z)) / margin, -1, 1))`` with Q = 127, so that undecided
        submodels nearly abstain. 0: the sign of the lead (Q = 1). By default ``fit`` uses 0.25
        where the submodels' scores are log-probabilities, and 0 otherwise.
    prior : float, optional
        Subtract ``prior * log(share of the label)`` from every score, so that weak submodels do not
        all vote for the most common label; between 0 and 1. By default ``fit`` uses 1 where the
        scores are log-probabilities and the labels' shares are known, and 0 otherwise.
    offset : float, array-like of shape (n_classes,) or mapping, optional
        A head start for each label that counts once, not once per submodel. An array, or a mapping
        from labels to numbers: in full votes, so that ``{"fraud": 2}`` gives that label two votes
        (more recall for it, less precision). A number: that many times the log share of each label
        (divided by the margin), which puts back once what ``prior=1`` takes out of every submodel.
        By default ``fit`` uses 0.25 together with its own prior, and 0 otherwise.
    shares : array-like of shape (n_classes,), optional
        The labels' shares for ``prior`` and a single ``offset``; by default ``fit`` counts the
        training labels.

    See Also
    --------
    RunOff : Uses the duel of the two leaders only.
    Plurality : Uses first choices only.

    References
    ----------
    Theory, sections 2 and 4. The gap certificate generalises Theorem 3 of Z. Hammoudeh and D. Lowd,
    "Provable Robustness Against a Union of L0 Adversarial Attacks", AAAI 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.rules import Tournament
    >>> scores = np.array([[[2.0, 1.0, 0.0], [1.0, 0.9, 0.0], [2.0, 0.0, 1.0]]])
    >>> proof = Tournament().certify(scores)
    >>> proof.prediction.tolist(), proof.radius.tolist(), proof.runner_up.tolist()
    ([0], [1], [1])
    """

    margin: float | None = None
    prior: float | None = None
    offset: float | ArrayLike | Mapping[Any, float] | None = None
    shares: ArrayLike | None = None

    def check(self) -> None:
        if self.margin is not None and not (_is_number(self.margin) and 0 <= self.margin < np.inf):
            raise InputError(f"margin is {self.margin!r}: it must be a finite number, 0 or above")
        if self.prior is not None and not (_is_number(self.prior) and 0 <= self.prior <= 1):
            raise InputError(f"prior is {self.prior!r}: it must be a number from 0 to 1")
        offset = list(self.offset.values()) if isinstance(self.offset, Mapping) else self.offset
        if offset is not None and not _is_offset(offset):
            raise InputError(
                f"offset is {self.offset!r}: it must be a finite number, or one for each class, "
                f"at most {MOST_VOTES:g}"
            )

    @property
    def needs_shares(self) -> bool:
        """Whether a setting depends on the labels' shares."""
        return bool(self.prior) or bool(_is_number(self.offset) and self.offset)

    def _resolve(self, labels: TrainingLabels) -> Self:
        rule, probabilities = super()._resolve(labels), labels.probabilities
        if rule.shares is None and labels.y is not None:
            rule.shares = _shares(labels.y, labels.classes, labels.weights)
        if rule.margin is None:
            rule.margin = DEFAULT_MARGIN if probabilities else 0.0
        unweighted = probabilities and not labels.balanced
        by_default = rule.prior is None and unweighted and rule.shares is not None
        if rule.offset is None:
            rule.offset = DEFAULT_OFFSET if by_default else 0.0
        if rule.prior is None:
            rule.prior = DEFAULT_PRIOR if by_default else 0.0
        if isinstance(rule.offset, Mapping):
            rule.offset = _by_class(rule.offset, labels.classes)
        if not rule.needs_shares and self.shares is None:
            rule.shares = None
        return rule

    def without_fitted_state(self) -> Self:
        offset = None if _is_number(self.offset) and not self.offset else self.offset
        return type(self)(margin=self.margin, prior=self.prior, offset=offset)

    def check_labels(self, n_labels: int) -> None:
        """Check that the settings fit a number of labels.

        Parameters
        ----------
        n_labels : int
            How many labels there are.

        Raises
        ------
        InputError
            If settings are for another number of labels, or missing.
        """
        self.head_start(n_labels)
        self._shift(n_labels)

    def _log_shares(self, n_labels: int) -> Array:
        if self.shares is None:
            name, value = ("prior", self.prior) if self.prior else ("offset", self.offset)
            raise InputError(
                f"shares is missing: with {name}={value!r} give the labels' shares of the training "
                "rows"
            )
        shares = array_of("shares", self.shares, np.float64)
        if shares.shape != (n_labels,) or not np.all((shares > 0) & (shares < np.inf)):
            raise InputError(
                f"shares has shape {shares.shape}: it must hold {n_labels} positive numbers, one "
                "for each class"
            )
        return np.asarray(np.log(shares))

    def _shift(self, n_labels: int) -> Array | None:
        """Return what is subtracted from every submodel's scores."""
        return np.asarray(self.prior * self._log_shares(n_labels)) if self.prior else None

    def head_start(self, n_labels: int) -> Array:
        """Compute each label's head start.

        Parameters
        ----------
        n_labels : int
            How many labels there are.

        Returns
        -------
        array of int, shape (n_labels,)
            Integers in the scale of the gaps; all 0 without an offset.
        """
        if self.offset is None or (_is_number(self.offset) and not self.offset):
            return np.zeros(n_labels, dtype=np.int64)
        if _is_number(self.offset):
            votes = self.offset * self._log_shares(n_labels) / (self.margin or 1.0)
        elif isinstance(self.offset, Mapping):
            raise InputError(
                "offset names labels, which ballots do not: give a list with one number for each "
                "class"
            )
        else:
            votes = np.asarray(self.offset, dtype=np.float64)
            if votes.shape != (n_labels,):
                raise InputError(
                    f"offset has shape {votes.shape}: give one number, or one for each of the "
                    f"{n_labels} classes"
                )
        return np.asarray(
            np.rint(self.full_vote * np.clip(votes, -MOST_VOTES, MOST_VOTES)), dtype=np.int64
        )

    @property
    def full_vote(self) -> int:
        """What one decided submodel adds to a gap."""
        return FULL_VOTE if self.margin else 1

    def _setting(self, n_labels: int) -> tuple[float, Array]:
        self.check()
        return float(self.margin or 0.0), self.head_start(n_labels)

    def _decision(self, scores: Array, *about: Array) -> Certificates:
        n_labels = scores.shape[2]
        return run_kernel(
            "tournament", scores, self._setting(n_labels), shift=self._shift(n_labels)
        )

    def _soft_vote(self, scores: Array) -> Array:
        n_submodels, n_labels = scores.shape[1:]
        shift = self._shift(n_labels)
        shares = mean_scores(scores) - (0.0 if shift is None else shift)
        return softmax(
            shares + self.head_start(n_labels) * (self.margin or 1.0) / self.full_vote / n_submodels
        )

    def _gaps(self, scores: Array, *bounds: Array) -> kernels.Gaps:
        n_labels = scores.shape[2]
        shift = self._shift(n_labels)
        return kernels.gaps("tournament", scores, self._setting(n_labels), shift)

    def _possible_labels(self, ballots: Ballots, reach: Reach, radius: int) -> Array:
        n_labels = ballots.shape[2]
        setting, shift = self._setting(n_labels), self._shift(n_labels)
        return possible_labels(self, "tournament", ballots, (reach, radius), setting, shift)

    def _has_head_starts(self, n_labels: int) -> bool:
        return len(np.unique(self.head_start(n_labels))) > 1

    def _ballot_without_voters(self, default: Array) -> Array:
        """Return a ballot that leaves every duel to the head starts, or else the fixed one.

        With head starts that no attacker can overcome, they must decide a row in which all abstain.
        """
        if not self._has_head_starts(len(default)):
            return default
        shift = self._shift(len(default))
        return np.zeros(len(default)) if shift is None else shift

    def _budgets_without_voters(self, budgets: Array, *bounds: Array) -> Array:
        if self._has_head_starts(budgets.shape[1]):
            return budgets
        return super()._budgets_without_voters(budgets, *bounds)

    def _with_runner_up(self, proof: Certificates, runner_up: Array) -> Certificates:
        if proof.runner_up is None:
            return proof
        return replace(proof, runner_up=np.where(runner_up < 0, proof.runner_up, runner_up))


@dataclass(eq=False, repr=False)
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

    k: int = 3

    def check(self) -> None:
        check_whole("k", self.k, 1)

    def certify(  # type: ignore[override]  # labels come first: the radius is about them
        self,
        ballots: ArrayLike,
        labels: ArrayLike | None = None,
        reach: ArrayLike | None = None,
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
        n_rows, _, n_labels = checked.shape
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
        return self._certified(proof, checked, reach, cover, time_limit, given)

    def decision(self, ballots: ArrayLike) -> Certificates:
        checked = as_ballots(ballots)
        return self._about(checked, self.decide(checked))

    def _about(self, ballots: Ballots, labels: Array) -> Certificates:
        """Certify that these labels stay among the top k; the radius counts submodels."""
        self.check()
        if ballots.abstentions is None:
            return self._decision(ballots.scores, labels)
        proof = decision_of_voters(self, ballots, labels)
        radius, empty = proof.radius, ballots.n_voters == 0
        if ballots.abstentions.detected:
            # an abstaining submodel that is made to vote may be what an attacker lacks
            own = self.frontier(ballots, None, labels)[:, 0]
            radius = np.where(radius > 0, np.minimum(radius, own), radius)
        smallest = np.where(labels < self.k, 0, -1)  # by no votes at all these lead
        return replace(proof, radius=np.where(empty, smallest, radius))

    def _decision(self, scores: Array, *about: Array) -> Certificates:
        return run_kernel("topk", scores, int(self.k), labels=about[0])

    def _soft_vote(self, scores: Array) -> Array:
        return vote_shares(scores)

    def decide(self, ballots: ArrayLike) -> Array:
        return Plurality().decide(ballots)

    def _frontier(self, scores: Array, idle: int, *about: Array) -> Array:
        labels = about[0] if about else self.decide(scores)
        more = np.full(len(scores), idle)
        return kernels.topk_frontier(scores, self.k, labels, more, scores.shape[1] - 1)


def _shares(y: Array, classes: Array, weights: Array | None) -> Array:
    """Compute the labels' shares, none of them 0.

    Weights that are whole numbers count as repetitions of rows; others are scaled to a mean of 1.
    """
    counted = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not np.all(counted == np.floor(counted)):
        counted = counted * np.count_nonzero(counted) / counted.sum()
    counts = np.array([counted[y == label].sum() for label in classes])
    return np.asarray((counts + 1) / (counts.sum() + len(classes)))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def _by_class(offset: Mapping[Any, float], classes: Array) -> list[float]:
    """Put head starts in the order of the classes; a label may be named by its text."""
    known = {str(label): position for position, label in enumerate(classes.tolist())}
    votes = [0.0] * len(classes)
    for label, number in offset.items():
        if str(label) not in known:
            raise InputError(
                f"offset names the label {label!r}, which is not among the classes: give one of "
                f"{', '.join(map(repr, known))}"
            )
        votes[known[str(label)]] = float(number)
    return votes


def _is_offset(offset: ArrayLike) -> bool:
    """Whether this is a finite number or a list of finite numbers."""
    try:
        array = np.asarray(offset, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return (
        not isinstance(offset, str | bool)
        and array.ndim <= 1
        and bool(np.all(np.abs(array) <= MOST_VOTES))
    )
