"""The margin tournament: every pair of labels meets, and the label whose worst duel is best
wins."""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from .. import kernels
from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError
from ._base import GapRule, certificates, mean_scores, softmax

# What fit fills in where scores are log-probabilities: chosen on validation rows
# (docs/defaults.md).
DEFAULT_MARGIN = 0.25
DEFAULT_PRIOR = 1.0
DEFAULT_OFFSET = 0.25
FULL_VOTE = 127  # what a full vote counts with a margin; 1 without
MOST_VOTES = 1e9  # a larger head start decides every duel as well


class Tournament(GapRule):
    """In the duel of y and z a submodel casts ``s`` in [-Q, Q]; y wins while ``b(y) - b(z) + sum(s)
    >= [z < y]`` for every z.

    A corrupted submodel casts -Q at worst, which costs ``s + Q``: the radius is how many of the
    largest such costs fit into the smallest lead. The head starts b are constants, out of the
    attacker's reach. Sound; a lower bound. (docs/rules.md, "Tournament".)

    Parameters
    ----------
    margin : float >= 0, default=None
        The lead in score at which a submodel casts a full vote: ``s = round(Q * clip((g(y) - g(z))
        / margin, -1, 1))`` with Q = 127. Undecided submodels then nearly abstain. 0: the sign of
        the lead (Q = 1). None: ``fit`` fills in 0.25 where the submodels' scores are
        log-probabilities; otherwise 0.
    prior : float in [0, 1], default=None
        Subtract ``prior * log(share of the label)`` from every score, so that weak submodels do not
        all answer with the commonest label. None: ``fit`` fills in 1 where the scores are
        log-probabilities and the labels' shares are known; otherwise 0.
    offset : float, array of C numbers, or mapping from labels to numbers, default=None
        A head start for each label that counts once, not once per submodel. An array or a mapping:
        in full votes, so that ``{"fraud": 2}`` gives that label two votes: more recall for it, less
        precision. A number: that many times the log share of each label (divided by the margin),
        which puts back once what ``prior=1`` takes out of every submodel. None: ``fit`` fills in
        0.25 with the prior, where that is left open too; otherwise 0.
    shares : array of C numbers, default=None
        The labels' shares for ``prior`` and a single ``offset``; ``fit`` fills them in from the
        training labels.
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
        """Whether a setting is about the labels' shares."""
        return bool(self.prior) or bool(_is_number(self.offset) and self.offset)

    def filled(
        self,
        y: Array | None,
        classes: Array,
        probabilities: bool = True,
        balanced: bool = False,
        weights: Array | None = None,
    ) -> "Tournament":
        rule = Tournament(**self.get_params())
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

    def brief(self) -> "Tournament":
        offset = None if _is_number(self.offset) and not self.offset else self.offset
        return Tournament(margin=self.margin, prior=self.prior, offset=offset)

    def _log_shares(self, n_labels: int) -> Array:
        if self.shares is None:
            name, value = ("prior", self.prior) if self.prior else ("offset", self.offset)
            raise InputError(
                f"shares is missing: with {name}={value} give the labels' shares of the training "
                "rows"
            )
        shares = np.asarray(self.shares, dtype=np.float64)
        if shares.shape != (n_labels,) or not np.all((shares > 0) & (shares < np.inf)):
            raise InputError(
                f"shares has shape {shares.shape}: it must hold {n_labels} positive numbers, one "
                "for each class"
            )
        return np.asarray(np.log(shares))

    def _shift(self, n_labels: int) -> Array | None:
        """What is subtracted from every submodel's scores."""
        return np.asarray(self.prior * self._log_shares(n_labels)) if self.prior else None

    def head_start(self, n_labels: int) -> Array:
        """What each label's gaps have before any submodel is heard, as integers in the scale of the
        gaps."""
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
        """What one submodel that is sure adds to a gap."""
        return FULL_VOTE if self.margin else 1

    def _setting(self, n_labels: int) -> tuple[float, Array]:
        self.check()
        return float(self.margin or 0.0), self.head_start(n_labels)

    def decision(self, ballots: Array) -> Certificates:
        n_labels = ballots.shape[2]
        return certificates(
            "tournament", ballots, self._setting(n_labels), shift=self._shift(n_labels)
        )

    def leaning(self, ballots: Array) -> Array:
        n_submodels, n_labels = ballots.shape[1:]
        shift = self._shift(n_labels)
        scores = mean_scores(ballots) - (0.0 if shift is None else shift)
        return softmax(
            scores + self.head_start(n_labels) * (self.margin or 1.0) / self.full_vote / n_submodels
        )

    def gaps(self, ballots: Array) -> kernels.Gaps:
        n_labels = ballots.shape[2]
        return kernels.gaps(
            "tournament", ballots, self._setting(n_labels), shift=self._shift(n_labels)
        )

    def with_rival(self, proof: Certificates, rival: Array) -> Certificates:
        return (
            proof
            if proof.runner_up is None
            else replace(proof, runner_up=np.where(rival < 0, proof.runner_up, rival))
        )


def _shares(y: Array, classes: Array, weights: Array | None) -> Array:
    """The labels' shares, none of them 0. Weights that are whole numbers are repetitions of rows;
    others are scaled to one a row."""
    counted = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not np.all(counted == np.floor(counted)):
        counted = counted * np.count_nonzero(counted) / counted.sum()
    counts = np.array([counted[y == label].sum() for label in classes])
    return np.asarray((counts + 1) / (counts.sum() + len(classes)))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _by_class(offset: Mapping[Any, float], classes: Array) -> list[float]:
    """Head starts in the order of the classes; a label may be named as a text."""
    known = {str(label): position for position, label in enumerate(classes.tolist())}
    votes = [0.0] * len(classes)
    for label, number in offset.items():
        if str(label) not in known:
            raise InputError(
                f"offset names the label {label!r}, which is not among the classes: give one of "
                f"{', '.join(known)}"
            )
        votes[known[str(label)]] = float(number)
    return votes


def _is_offset(offset: Any) -> bool:
    """Whether this is a finite number, or a list of finite numbers."""
    try:
        array = np.asarray(offset, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return (
        not isinstance(offset, str | bool)
        and array.ndim <= 1
        and bool(np.all(np.abs(array) <= MOST_VOTES))
    )
