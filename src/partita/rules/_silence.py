"""What abstentions cost: rows in which submodels abstain, and how many more may fall silent.

A submodel that abstains takes back its own vote in every gap, ``s``; one that lies can cost
``s + Q``. So silence costs about half of a lie. The *frontier* of a row says, for each number of
units that are silent, how many others may lie.

Soundness: without voters nothing is certified; silence that an attacker could have faked
may be broken, so that an idle submodel counts as one that may vote; and where units overlap liars
and abstainers are priced separately, which counts a submodel twice at worst (theory, section 11).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .. import kernels
from .._support import Array
from ..ballots import Ballots
from ..certificates import Certificates, Counts, Silence
from ._overlap import Reach

if TYPE_CHECKING:
    from ._base import GapRule, Rule


# ---- rows in which submodels abstain ----


def voters(rule: "Rule", ballots: Ballots) -> Iterator[tuple[Array, int, Array, Array]]:
    """Yield rows, how many submodels vote in them, which, and their scores."""
    n_rows, n_submodels = ballots.shape[:2]
    if ballots.abstentions is None:
        order = np.broadcast_to(np.arange(n_submodels), (n_rows, n_submodels))
        yield np.arange(n_rows), n_submodels, order, ballots.scores
        return
    numbers = ballots.n_voters
    for number in np.unique(numbers).tolist():
        rows = np.flatnonzero(numbers == number)
        silent = ballots.abstentions.submodels[rows]
        order = np.argsort(silent, axis=1, kind="stable")[:, :number]
        if number:
            where = order.reshape(*order.shape, *[1] * (ballots.scores.ndim - 2))
            own = np.take_along_axis(ballots.scores[rows], where, axis=1)
        else:
            ballot = rule._ballot_without_voters(np.asarray(ballots.abstentions.default))
            own = np.broadcast_to(ballot, (len(rows), 1, *ballot.shape))
        yield rows, number, order, own


def decision_of_voters(rule: "Rule", ballots: Ballots, *about: Array) -> Certificates:
    """Decide and certify each row by the submodels that vote in it; the radius counts submodels."""
    n_rows, n_submodels = ballots.shape[:2]
    prediction, radius, runner_up = np.zeros((3, n_rows), np.int64)
    has_runner_up = ballots.shape[2] > 1 and not about
    for rows, number, _, own in voters(rule, ballots):
        proof = rule._decision(own, *(one[rows] for one in about))
        prediction[rows] = proof.prediction
        never = proof.radius >= max(1, number)
        radius[rows] = np.where(never, n_submodels, proof.radius)
        if has_runner_up:
            runner_up[rows] = proof.runner_up
    counts = Counts("submodels", n_submodels)
    return Certificates(prediction, radius, runner_up if has_runner_up else None, counts)


def gaps_of_voters(rule: "GapRule", ballots: Ballots, *bounds: Array) -> kernels.Gaps:
    """Write decisions out as :meth:`GapRule.gaps` does, so that they hold for any number of voters.

    A submodel that abstains costs nothing, or a full vote if it may be made to vote.
    """
    n_rows, n_submodels = ballots.shape[:2]
    n_opponents = 2 if ballots.scores.ndim == 2 else ballots.shape[2]
    idle = rule.full_vote if ballots.silence_detected else 0
    all_losses = np.full((n_rows, n_opponents, n_submodels), idle, np.int32)
    all_budgets = np.zeros((n_rows, n_opponents), np.int64)
    for rows, number, order, own in voters(rule, ballots):
        limits = [bound[rows] for bound in bounds]
        losses, budgets = rule._gaps_of_any_number(own, *limits)
        if not number:
            budgets = rule._budgets_without_voters(budgets, *limits)
        known = all_losses[rows]
        where = np.broadcast_to(order[:, None, :], (len(rows), n_opponents, number))
        np.put_along_axis(known, where, losses[:, :, :number], axis=2)
        known[budgets == kernels.FAR] = 0
        all_losses[rows], all_budgets[rows] = known, budgets
    return all_losses, all_budgets


# ---- the frontier: how many may lie while others fall silent ----


def frontier(rule: "Rule", ballots: Ballots, reach: Reach | None, *about: Array) -> Array:
    """Compute the frontier of a rule that counts submodels."""
    n_rows, n_submodels = ballots.shape[:2]
    radii = np.full((n_rows, n_submodels), -1)
    for rows, number, _, own in voters(rule, ballots):
        if number:
            idle = (n_submodels - number) * ballots.silence_detected
            radii[rows, :number] = rule._frontier(own, idle, *(one[rows] for one in about))
    return radii if reach is None else reach.frontier_from_submodels(radii)


def gap_frontier(rule: "GapRule", ballots: Ballots, reach: Reach | None, *bounds: Array) -> Array:
    """Compute the frontier of a rule that decides by gaps."""
    n_rows, n_submodels = ballots.shape[:2]
    over = Reach.of_each(n_submodels) if reach is None else reach
    apart = bool((over.sizes == 1).all())
    radii = np.empty((n_rows, max(1, len(over))), np.int64)

    def work(rows: slice) -> int:
        gap_form = gaps_of_voters(rule, ballots[rows], *(bound[rows] for bound in bounds))
        groups = over.starts, over.members
        radii[rows] = kernels.frontier(gap_form, rule.full_vote, groups, apart, radii.shape[1] - 1)
        return -1

    kernels.over_rows(work, n_rows, ballots.scores[:1].size)
    reached = np.array([over.most_reached(m) for m in range(radii.shape[1])])
    empty = reached[None] >= ballots.n_voters[:, None]  # so many silent groups may leave no voter
    return np.where(empty & (radii != kernels.FAR), -1, radii)


# ---- what the silence in a row cost ----


def with_silence(
    names: Sequence[str],
    ballots: Ballots,
    proof: Certificates,
    decided: Array,
    certify: Callable[[Ballots, Array], Certificates],
) -> Certificates:
    """Return certificates that say what was silent, and what that cost at most.

    Parameters
    ----------
    names : sequence of str
        The units.
    ballots : Ballots
        What ``proof`` certifies.
    proof : Certificates
        Returned as it is where no units are known to be silent.
    decided : array
        The decision about each row: class indexes, or values.
    certify : callable
        Certifies ballots that have no abstentions, of some of the rows.
    """
    abstentions = ballots.abstentions
    if abstentions is None or abstentions.units is None:
        return proof
    rule = ballots.own_rule
    abstained = abstentions.submodels.sum(axis=1)
    without = np.array(proof.radius)
    rows = np.flatnonzero(abstained)
    if len(rows):
        if rule.largest_radius is None:
            again = certify(_as_if_siding(rule, ballots[rows], decided[rows]), rows)
            same = proof.of_values | (again.prediction == decided[rows])
            at_best = np.where(same, again.radius, 0)
        else:
            at_best = np.full(len(rows), rule.largest_radius)
        without[rows] = np.maximum(without[rows], at_best)
    silence = Silence(
        abstentions.units,
        tuple(names),
        abstained,
        ballots.shape[1],
        np.asarray(proof.radius),
        without,
        abstentions.detected,
    )
    return replace(proof, silence=silence)


def _as_if_siding(rule: "Rule", ballots: Ballots, decided: Array) -> Ballots:
    """Return ballots in which the submodels that abstained side with the decision."""
    assert ballots.abstentions is not None
    gone, siding = ballots.abstentions.submodels, rule._siding(decided, ballots.shape[2:])
    gone = gone.reshape(*gone.shape, *[1] * (ballots.scores.ndim - 2))
    scores = np.where(gone, siding[:, None], ballots.scores)
    return replace(ballots, scores=scores.astype(ballots.dtype), abstentions=None)
