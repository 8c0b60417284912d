"""The margin tournament: every pair of labels meets; the label whose worst duel is best wins.

Margins are computed in float64 and rounded once per pair; from there on everything is integer.
Nothing may be added to a gap that an attacker can move: head starts are constants.
"""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np

from .. import kernels
from .._support import Array, array_of
from ..certificates import Certificates
from ..errors import InputError
from ._ballots import mean_scores, softmax
from ._base import GapRule, run_kernel

# What fit uses where scores are log-probabilities; chosen on validation rows
# (docs/results/defaults.md).
DEFAULT_MARGIN = 0.25
DEFAULT_PRIOR = 1.0
DEFAULT_OFFSET = 0.25
FULL_VOTE = 127  # what a full vote counts with a margin; 1 without
MOST_VOTES = 1e9  # head starts are clipped to this: it decides every duel


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

    def __init__(
        self,
        margin: float | None = None,
        prior: float | None = None,
        offset: Any = None,
        shares: Any = None,
    ) -> None:
        self.margin = margin
        self.prior = prior
        self.offset = offset
        self.shares = shares

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

    def resolve(
        self,
        y: Array | None,
        classes: Array,
        probabilities: bool = True,
        balanced: bool = False,
        weights: Array | None = None,
    ) -> Self:
        rule = type(self)(**self.get_params())
        if rule.shares is None and y is not None:
            rule.shares = _shares(y, classes, weights)
        if rule.margin is None:
            rule.margin = DEFAULT_MARGIN if probabilities else 0.0
        by_default = (
            rule.prior is None and probabilities and not balanced and rule.shares is not None
        )
        if rule.offset is None:
            rule.offset = DEFAULT_OFFSET if by_default else 0.0
        if rule.prior is None:
            rule.prior = DEFAULT_PRIOR if by_default else 0.0
        if isinstance(rule.offset, Mapping):
            rule.offset = _by_class(rule.offset, classes)
        if not rule.needs_shares and self.shares is None:
            rule.shares = None
        return rule

    def without_fitted_state(self) -> Self:
        offset = None if _is_number(self.offset) and not self.offset else self.offset
        return type(self)(margin=self.margin, prior=self.prior, offset=offset)

    def _check_labels(self, n_labels: int) -> None:
        """Refuse settings that are for another number of labels, or missing."""
        self.head_start(n_labels)
        self._shift(n_labels)

    def _log_shares(self, n_labels: int) -> Array:
        if self.shares is None:
            name, value = ("prior", self.prior) if self.prior else ("offset", self.offset)
            raise InputError(
                f"shares is missing: with {name}={value} give the labels' shares of the training "
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

    def _has_head_starts(self, n_labels: int) -> bool:
        return len(np.unique(self.head_start(n_labels))) > 1

    def _nobody(self, default: Array) -> Array:
        """Return a ballot that leaves every duel to the head starts, or else the fixed one.

        With head starts that no attacker can overcome, they must decide a row in which all abstain.
        """
        if not self._has_head_starts(len(default)):
            return default
        shift = self._shift(len(default))
        return np.zeros(len(default)) if shift is None else shift

    def _budgets_of_nobody(self, budgets: Array, *bounds: Array) -> Array:
        if self._has_head_starts(budgets.shape[1]):
            return budgets
        return super()._budgets_of_nobody(budgets, *bounds)

    def _with_runner_up(self, proof: Certificates, runner_up: Array) -> Certificates:
        if proof.runner_up is None:
            return proof
        return replace(proof, runner_up=np.where(runner_up < 0, proof.runner_up, runner_up))


def _shares(y: Array, classes: Array, weights: Array | None) -> Array:
    """Compute the labels' shares, none of them 0.

    Weights that are whole numbers count as repetitions of rows; others are scaled to a mean of 1.
    """
    counted = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not np.all(counted == np.floor(counted)):
        counted = counted * np.count_nonzero(counted) / counted.sum()
    counts = np.array([counted[y == label].sum() for label in classes])
    return np.asarray((counts + 1) / (counts.sum() + len(classes)))


def _is_number(value: Any) -> bool:
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


def _is_offset(offset: Any) -> bool:
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
