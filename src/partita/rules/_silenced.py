"""Rules for ballots in which submodels abstain: an abstention is a ballot of NaN.

The other rules refuse NaN; these leave such ballots out and decide by the rest. Where the caller
declares who is silent, an abstaining submodel is out of everybody's reach. Where silence is read
from the values, whoever owns a unit can make it silent and can break its silence: an abstention is
then a vote of 0, which costs an attacker's victim a full vote when it turns into a lie.

Soundness: an attacker who makes a submodel abstain does no more than one who makes it lie (theory,
section 11), and where nobody is left to vote nothing is proven.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from .. import kernels
from .._support.types import Array
from ..certificates import Certificates, Counts
from ._ballots import as_ballots
from ._base import GapRule, Rule, count_units
from ._frontier import in_units, with_frontier
from ._median import Median
from ._overlap import check_bound_only, check_cover, overlap_radius
from ._pooled import PooledLabels, PooledValues
from ._reach import Reach
from ._silenced_pools import SilencedLabels, SilencedValues
from ._topk import TopK
from ._tournament import Tournament


def silenced(rule: Rule, detected: bool, default: Array) -> Any:
    """Return a rule that reads ballots of NaN as abstentions.

    Parameters
    ----------
    rule : Rule
        Resolved, as ``fit`` leaves it.
    detected : bool
        Whether silence was read from the values, which an attacker can write.
    default : array
        The ballot of a row in which everybody abstains.
    """
    if isinstance(rule, PooledLabels):
        return SilencedLabels(rule, detected, default)
    if isinstance(rule, PooledValues):
        return SilencedValues(rule, detected, default)
    if isinstance(rule, Median):
        return SilencedMedian(rule, detected, default)
    kind = SilencedGaps if isinstance(rule, GapRule) else SilencedVotes
    return kind(rule, detected, default)


def by_number_heard(heard: Array) -> Iterator[tuple[Array, int, Array]]:
    """Yield rows in which equally many submodels vote, how many, and which these are."""
    counts = heard.sum(axis=1)
    for number in np.unique(counts):
        rows = np.flatnonzero(counts == number)
        yield rows, int(number), np.argsort(~heard[rows], axis=1, kind="stable")[:, :number]


class SilencedVotes(Rule):
    """A rule for labels, on the ballots that are there."""

    needs_labels: ClassVar[bool] = False

    def __init__(self, rule: Any, detected: bool, default: Array) -> None:
        self.rule = rule
        self.detected = detected
        self.default = default
        self.needs_labels = rule.needs_labels  # type: ignore[misc]

    def __repr__(self) -> str:
        return repr(self.rule)

    def brief(self) -> Any:
        return self.rule.brief()

    def heard(self, ballots: Array) -> Array:
        """Return which submodels vote in which rows."""
        return np.asarray(~np.isnan(ballots).all(axis=2))

    def present(self, ballots: Array) -> Iterator[tuple[Array, int, Array, Array]]:
        """Yield rows, how many submodels vote in them, which, and their ballots."""
        for rows, number, order in by_number_heard(self.heard(ballots)):
            if number:
                own = np.take_along_axis(ballots[rows], order[:, :, None], axis=1)
            else:
                own = np.broadcast_to(
                    self._nobody(ballots.shape[2]), (len(rows), 1, ballots.shape[2])
                )
            yield rows, number, order, own

    def _nobody(self, n_labels: int) -> Array:
        """Return the ballot of a row in which everybody abstains."""
        return np.asarray(self.default)

    def decision(self, ballots: Array) -> Certificates:
        return self._decision(ballots, None)

    def _decision(self, ballots: Array, labels: Array | None) -> Certificates:
        n_rows, n_submodels, n_labels = ballots.shape
        prediction, radius, runner_up = np.zeros((3, n_rows), np.int64)
        for rows, number, _, own in self.present(ballots):
            if labels is None:
                proof = self.rule.decision(own)
            else:
                proof = self.rule.certify(own, labels[rows])
            prediction[rows] = proof.prediction
            never = proof.radius >= max(1, number)
            radius[rows] = np.where(never, n_submodels, proof.radius)
            runner_up[rows] = -1 if proof.runner_up is None else proof.runner_up
        without = labels is not None or n_labels == 1
        counts = Counts("submodels", n_submodels)
        return Certificates(prediction, radius, None if without else runner_up, counts)

    def certify(  # type: ignore[override]  # labels come first, as for the top k
        self,
        ballots: Any,
        labels: Any = None,
        reach: Any = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        """Decide and certify; ``labels`` only for the top k."""
        if not isinstance(self.rule, TopK):
            return super().certify(ballots, reach, cover, time_limit)
        array, given = as_ballots(ballots), np.asarray(labels)
        proof = replace(self._decision(array, given), truth=given)
        nobody = ~self.heard(array).any(axis=1)  # by no votes at all: the smallest labels lead
        proof.radius[nobody] = np.where(given[nobody] < self.rule.k, 0, -1)
        if self.detected:
            # an abstaining submodel that is made to vote may be what an attacker lacks
            own = self.frontier(array, None, given)[:, 0]
            unsure = (proof.radius > 0) & ~nobody
            proof = replace(
                proof, radius=np.where(unsure, np.minimum(proof.radius, own), proof.radius)
            )
        over = None if reach is None else Reach(reach, array.shape[1])
        if over is not None:
            check_cover(cover, time_limit)
            check_bound_only(self, cover)
            proof = count_units(proof, over, over.from_submodels(proof.radius))
        return with_frontier(proof, self, array, over, given)

    def frontier(self, ballots: Array, reach: Reach | None, *about: Array) -> Array:
        n_submodels = ballots.shape[1]
        radii = np.full((len(ballots), n_submodels), -1)
        for rows, number, _, own in self.present(ballots):
            if number and isinstance(self.rule, TopK):
                labels = about[0][rows] if about else self.rule.decide(own)
                idle = np.full(len(rows), (n_submodels - number) * self.detected)
                radii[rows, :number] = kernels.topk_frontier(
                    own, self.rule.k, labels, idle, number - 1
                )
            elif number:
                radii[rows, :number] = self.rule.frontier(own, None)
        return in_units(radii, reach)

    def decide(self, ballots: Any) -> Array:
        if not isinstance(self.rule, TopK):
            return super().decide(ballots)
        array = as_ballots(ballots)
        prediction = np.zeros(len(array), np.int64)
        for rows, _, _, own in self.present(array):
            prediction[rows] = self.rule.decide(own)
        return prediction

    def votes(self, ballots: Any) -> Array:
        """Return each submodel's own choice; the first label for one that abstains."""
        array = as_ballots(ballots)
        return np.asarray(np.where(np.isnan(array), -np.inf, array).argmax(axis=2))

    def probabilities(self, ballots: Any) -> Array:
        array = as_ballots(ballots)
        shares = np.zeros((len(array), array.shape[2]))
        for rows, _, _, own in self.present(array):
            shares[rows] = self.rule.probabilities(own)
        return shares


class SilencedGaps(SilencedVotes, GapRule):
    """A rule for labels that decides by gaps, on the ballots that are there."""

    def decision(self, ballots: Array) -> Certificates:
        proof = self._decision(ballots, None)
        if not self.detected:
            return proof
        everyone = Reach(np.eye(ballots.shape[1], dtype=bool), ballots.shape[1])
        radius, _ = self._overlap_radius(ballots, everyone, "bound", 1.0)
        return replace(proof, radius=np.maximum(radius, 0))

    @property
    def full_vote(self) -> int:
        return int(self.rule.full_vote)

    def frontier(self, ballots: Array, reach: Reach | None, *about: Array) -> Array:
        return GapRule.frontier(self, ballots, reach, *about)

    def _n_heard(self, ballots: Array) -> Array:
        return np.asarray(self.heard(ballots).sum(axis=1))

    def gaps(self, ballots: Array, *bounds: Array) -> kernels.Gaps:
        n_rows, n_submodels, n_labels = ballots.shape
        form = empty_gaps(n_rows, n_labels, n_submodels, self.full_vote if self.detected else 0)
        for rows, number, order, own in self.present(ballots):
            losses, budgets = self.rule.gaps(own)
            if not number and not self._has_head_starts(n_labels):
                budgets = np.where(budgets == kernels.FAR, budgets, -1)
            scatter_gaps(form, rows, order, losses[:, :, :number], budgets)
        return form

    def _has_head_starts(self, n_labels: int) -> bool:
        if not isinstance(self.rule, Tournament):
            return False
        return len(np.unique(self.rule.head_start(n_labels))) > 1

    def _nobody(self, n_labels: int) -> Array:
        """Return a ballot that leaves every duel to the head starts, or else the fixed one.

        With head starts that no attacker can overcome, a row in which all abstain must be decided
        by these.
        """
        if not self._has_head_starts(n_labels):
            return np.asarray(self.default)
        shift = self.rule._shift(n_labels)
        return np.zeros(n_labels) if shift is None else np.asarray(shift)

    def _with_runner_up(self, proof: Certificates, runner_up: Array) -> Certificates:
        return self.rule._with_runner_up(proof, runner_up)  # type: ignore[no-any-return]


class SilencedMedian(Median):
    """The lower median of the values that are there."""

    def __init__(self, rule: Median, detected: bool, default: Array) -> None:
        super().__init__(rule.stretch, rule.centre)
        self.rule = rule
        self.detected = detected
        self.default = default

    def __repr__(self) -> str:
        return repr(self.rule)

    def brief(self) -> Any:
        return self.rule.brief()

    def votes(self, ballots: Any) -> Array:
        array = np.asarray(ballots, dtype=np.float64)
        silent = np.isnan(array)
        values = super().votes(np.where(silent, 0.0, array))
        return np.where(silent, np.nan, values)

    def decide(self, ballots: Any) -> Array:
        return self.interval(ballots, 0)[0]

    def interval(self, votes: Any, radius: int, reach: Any = None) -> tuple[Array, Array]:
        array = np.asarray(votes, dtype=np.float64)
        over = None if reach is None else Reach(reach, array.shape[1])
        low, high = np.full((2, len(array)), np.nan)
        for rows, number, order in by_number_heard(~np.isnan(array)):
            own = np.take_along_axis(array[rows], order, axis=1)
            if not number:
                own = np.broadcast_to(np.asarray(self.default, dtype=np.float64), (len(rows), 1))
            reached = radius if over is None else over.most_reached(int(radius))
            low[rows], high[rows] = self.rule.interval(own, reached)
        return low, high

    def certify(  # type: ignore[override]  # as Median's
        self,
        votes: Any,
        lower: Any = None,
        upper: Any = None,
        reach: Any = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        array, low, high = self.check_bounds(votes, lower, upper)
        check_cover(cover, time_limit)
        n_submodels = array.shape[1]
        over = Reach(np.eye(n_submodels, dtype=bool) if reach is None else reach, n_submodels)
        radius, _ = overlap_radius(self.gaps(array, low, high), over, cover, time_limit)
        prediction = self.decide(votes)
        inside = (prediction >= low) & (prediction <= high)
        radius = np.where(inside, np.maximum(radius, 0), -1)
        counts = Counts("submodels" if reach is None else "units", over.n_units)
        proof = Certificates(prediction, radius, None, counts, of_values=True)
        return with_frontier(proof, self, array, None if reach is None else over, low, high)

    def gaps(self, ballots: Array, *bounds: Array) -> kernels.Gaps:
        form = empty_gaps(len(ballots), 2, ballots.shape[1], int(self.detected))
        for rows, number, order in by_number_heard(~np.isnan(ballots)):
            own = np.take_along_axis(ballots[rows], order, axis=1)
            limits = [bound[rows] for bound in bounds]
            if number:
                losses, budgets = self.rule._silence_gaps(own, *limits)
            else:
                losses = np.zeros((len(rows), 2, 0), np.int32)
                endless = np.stack([limits[1] == np.inf, limits[0] == -np.inf], axis=1)
                budgets = np.where(endless, kernels.FAR, -1)
            scatter_gaps(form, rows, order, losses, budgets)
        return form

    def _silence_gaps(self, ballots: Array, *bounds: Array) -> kernels.Gaps:
        return self.gaps(ballots, *bounds)

    def _n_heard(self, ballots: Array) -> Array:
        return np.asarray((~np.isnan(ballots)).sum(axis=1))


def empty_gaps(n_rows: int, n_opponents: int, n_submodels: int, loss: int) -> kernels.Gaps:
    """Return a gap form in which everybody abstains: lying costs what an abstention can become."""
    losses = np.full((n_rows, n_opponents, n_submodels), loss, np.int32)
    return losses, np.zeros((n_rows, n_opponents), np.int64)


def scatter_gaps(
    form: kernels.Gaps, rows: Array, order: Array, losses: Array, budgets: Array
) -> None:
    """Put in the losses of the submodels that vote, and what the rows can afford."""
    all_losses = form[0][rows]
    where = np.broadcast_to(order[:, None, :], losses.shape)
    np.put_along_axis(all_losses, where, losses, axis=2)
    all_losses[budgets == kernels.FAR] = 0
    form[0][rows], form[1][rows] = all_losses, budgets
