"""All compiled code, in one file: numba's cache does not notice changes in another.

Every kernel works on one block of rows, releases the GIL and starts no threads of its own
(``kernels.over_rows`` splits the rows). ``tests/exhaustive/numpy_kernels.py`` holds the readable
twin of each in numpy, with the same signature and equal results.

``plurality``, ``runoff``, ``tournament`` and ``topk`` decide and certify: ``kernel(ballots,
setting, prediction, radius, runner_up)`` fills the last three arrays and returns the first row that
holds a NaN or an infinity (-1: none). Radii count submodels here; the number of all submodels means
that nothing can change the prediction.

``..._losses`` write a decision out as gaps: what corrupting each submodel costs the prediction
against each opponent, and what it can afford; ``reach_radius`` counts in units that reach several
submodels each. ``..._labels`` find the labels that an attack of a given size can bring about.

Soundness: all arithmetic on gaps is integer. Only a margin is computed in float64, and rounded once
per pair of labels. No kernel may start threads (``parallel=True``) or sum floating-point gaps.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

from .._support import Array

F = TypeVar("F", bound=Callable[..., Any])

Q = 127  # a full vote in a duel with a margin (1 without)
FAR = 2**62  # beyond every gap
FEW = 64  # values that are sorted by insertion
STAYING = 4  # labels that are tried as one that stays ahead


def _compile(function: F) -> F:
    """Compile at the first call and cache on disk; without a writable folder, in every process."""
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder that it may write to
        return numba.njit(**options)(function)


# ---- losses and budget to radius: the one theorem behind plurality, tournament and median ----


@_compile
def gap_radius(histogram: Array, budget: int) -> int:
    """Count the submodels an attacker may take before the losses exceed the budget.

    ``histogram[loss]`` counts the submodels whose corruption costs ``loss``; the attacker takes the
    costliest first. -1: the budget is negative, so all is lost already.
    """
    if budget < 0:
        return -1
    taken = 0
    for loss in range(histogram.shape[0] - 1, 0, -1):
        count = histogram[loss]
        if count * loss > budget:
            return taken + budget // loss
        taken += count
        budget -= count * loss
    return taken + histogram[0]


# ---- votes ----


@_compile
def _finite(row: Array) -> bool:
    scores = row.reshape(-1)
    bad = np.int32(0)
    for j in range(scores.shape[0]):
        bad += np.int32(scores[j] - scores[j] != 0)  # NaN for a NaN and for an infinity
    return bad == 0


@_compile
def _count_votes(row: Array, votes: Array, counts: Array) -> None:
    """Let every submodel vote for its highest score, the smallest label among equals."""
    counts[:] = 0
    for t in range(row.shape[0]):
        best, vote = row[t, 0], 0
        for y in range(1, row.shape[1]):
            higher = row[t, y] > best
            vote = y if higher else vote
            best = row[t, y] if higher else best
        votes[t] = vote
        counts[vote] += 1


@_compile
def _leader(counts: Array, without: int) -> int:
    """Return the label with the most votes, one left out (-1: none); the smallest of equals."""
    leader = -1
    for y in range(counts.shape[0]):
        if y != without and (leader < 0 or counts[y] > counts[leader]):
            leader = y
    return leader


@_compile
def plurality(
    ballots: Array, unused: int, prediction: Array, radius: Array, runner_up: Array
) -> int:
    n_rows, n_submodels, n_labels = ballots.shape
    votes = np.empty(n_submodels, np.int64)
    counts = np.empty(n_labels, np.int64)
    losses = np.empty(3, np.int64)
    for i in range(n_rows):
        if not _finite(ballots[i]):
            return i
        _count_votes(ballots[i], votes, counts)
        y = _leader(counts, -1)
        z = _leader(counts, y)
        prediction[i], radius[i], runner_up[i] = y, n_submodels, z
        # no other label is nearer, and the largest losses, those of y's voters, are the same for
        # all labels
        if z >= 0:
            losses[0], losses[2] = counts[z], counts[y]
            losses[1] = n_submodels - counts[y] - counts[z]
            radius[i] = gap_radius(losses, counts[y] - counts[z] - (z < y))
    return -1


@_compile
def topk(ballots: Array, k: int, prediction: Array, radius: Array, runner_up: Array) -> int:
    """``prediction`` is an input here: the labels to certify."""
    n_rows, n_submodels, n_labels = ballots.shape
    votes = np.empty(n_submodels, np.int64)
    counts = np.empty(n_labels, np.int64)
    lead = np.empty(n_labels, np.int64)
    for i in range(n_rows):
        if not _finite(ballots[i]):
            return i
        _count_votes(ballots[i], votes, counts)
        radius[i] = min(n_submodels, _topk_radius(counts, prediction[i], k, 0, lead))
        runner_up[i] = -1
    return -1


@_compile
def _topk_radius(counts: Array, y: int, k: int, idle: int, lead: Array) -> int:
    """Count the votes an attacker may set before y leaves the top k; FAR: it never does.

    ``idle`` submodels have no vote now, and cast one if they are attacked.
    """
    n_labels = counts.shape[0]
    if k >= n_labels:
        return FAR
    # z ranks above y while y has at most lead[z] votes, so the k largest leads are the cheapest
    # labels to lift above y, whatever y loses
    for z in range(n_labels):
        lead[z] = counts[z] - (y < z)
    lead[y] = -FAR
    for rank in range(k):
        for z in range(rank + 1, n_labels):
            if lead[z] > lead[rank]:
                lead[rank], lead[z] = lead[z], lead[rank]
    for m in range(counts[y] + 1):  # votes taken from y
        deficit = 0
        for rank in range(k):
            deficit += max(0, counts[y] - m - lead[rank])
        if deficit <= m:
            return m - 1
    # y has no vote left and some labels still need one each: every other label gives, all but the
    # one vote that a label behind y must keep
    spare = counts.sum() + idle - counts[y]
    for z in range(y + 1, n_labels):
        spare -= counts[z] > 0
    return deficit - 1 if deficit - counts[y] <= spare else FAR


# ---- duels ----


@_compile
def _lay_out(row: Array, by_label: Array) -> None:
    """Copy a row's ballots label by label, so that loops over submodels read memory in order."""
    for y in range(row.shape[1]):
        for t in range(row.shape[0]):
            by_label[y, t] = row[t, y]


@_compile
def _duel(mine: Array, other: Array) -> tuple[Any, Any]:
    """Count the submodels that score the first label above the second, and those below."""
    above = below = np.int32(0)
    for t in range(mine.shape[0]):
        above += np.int32(mine[t] > other[t])
        below += np.int32(mine[t] < other[t])
    return np.int64(above), np.int64(below)


@_compile
def dp(a: int, b: int) -> int:
    """Count the submodels that may fall while a label keeps its place in the top two.

    ``a`` and ``b`` are its two smallest vote gaps, one of which must stay non-negative.
    """
    return max((a + 2) // 2, (b + 2) // 2, (a + b + 4) // 3) - 1


@_compile
def _two_smallest_gaps(counts: Array, y: int) -> tuple[int, int]:
    first = second = FAR
    for z in range(counts.shape[0]):
        if z != y:
            gap = counts[y] - counts[z] - (z < y)
            if gap < first:
                first, second = gap, first
            elif gap < second:
                second = gap
    return first, second


@_compile
def _overtake(
    y: int, z: int, row: Array, votes: Array, counts: Array, duel_gap: int, limit: int, worth: Array
) -> int:
    """Count the fewest corrupted submodels that bring z into round 2 and let it beat y there.

    All of them score z first and y last. ``worth[u, p]`` counts the submodels that vote u, by what
    winning one over is worth in round 2 (2: it preferred y, 1: a tie, 0: z). Returns ``limit``
    where it takes that many or more.
    """
    worth[:] = 0
    for t in range(votes.shape[0]):
        worth[votes[t], 1 + (row[t, y] > row[t, z]) - (row[t, y] < row[t, z])] += 1
    worth[z] = 0
    all_twos, all_ones = worth[:, 2].sum(), worth[:, 1].sum()
    for k in range(1, limit):
        needed = twos = ones = 0
        for u in range(counts.shape[0]):
            if u != y and u != z:
                # voters that u must lose, or it ranks above z
                need = counts[u] + (u < z) - counts[z] - k
                if need > 0:
                    needed += need
                    from_twos = min(need, worth[u, 2])
                    twos += from_twos
                    ones += min(need - from_twos, worth[u, 1])
        if needed > k:
            continue
        more_twos = min(k - needed, all_twos - twos)
        more_ones = min(k - needed - more_twos, all_ones - ones)
        if 2 * (twos + more_twos) + ones + more_ones > duel_gap:
            return k
    return limit


@_compile
def _two_rounds(row: Array, by_label: Array, votes: Array, counts: Array) -> tuple[int, int]:
    """Return the winner and the loser of round 2; fill what the arrays are named for."""
    _count_votes(row, votes, counts)
    _lay_out(row, by_label)
    y = _leader(counts, -1)
    w = _leader(counts, y)
    above, below = _duel(by_label[y], by_label[w])
    if above - below - (w < y) < 0:
        y, w = w, y
    return y, w


@_compile
def runoff(ballots: Array, exact: bool, prediction: Array, radius: Array, runner_up: Array) -> int:
    n_rows, n_submodels, n_labels = ballots.shape
    by_label = np.empty((n_labels, n_submodels), ballots.dtype)
    votes = np.empty(n_submodels, np.int64)
    counts = np.empty(n_labels, np.int64)
    worth = np.empty((n_labels, 3), np.int64)
    for i in range(n_rows):
        row = ballots[i]
        if not _finite(row):
            return i
        if n_labels == 1:
            prediction[i], radius[i], runner_up[i] = 0, n_submodels, -1
            continue
        y, w = _two_rounds(row, by_label, votes, counts)
        least = n_submodels
        if n_labels > 2:  # y falls out of the top two
            first, second = _two_smallest_gaps(counts, y)
            least = min(least, dp(first, second))
        for z in range(n_labels):  # y loses round 2 to z
            if z != y:
                above, below = _duel(by_label[y], by_label[z])
                duel_gap = above - below - (z < y)
                if exact:
                    least = min(
                        least, _overtake(y, z, row, votes, counts, duel_gap, least + 1, worth) - 1
                    )
                else:
                    enter = 0 if z == w else (counts[w] - counts[z] - (z < w)) // 2
                    least = min(least, max(enter, duel_gap // 2))
        prediction[i], radius[i], runner_up[i] = y, least, w
    return -1


@_compile
def _duel_vote(mine: float, other: float, margin: float) -> Any:
    """Return one submodel's vote in a duel with a margin, an integer in [-Q, Q].

    Rounding half to even keeps it antisymmetric.
    """
    share = (np.float64(mine) - np.float64(other)) / margin
    return np.int32(np.rint(Q * max(-1.0, min(1.0, share))))


@_compile
def _all_duels(by_label: Array, margin: float, head_start: Array, gaps: Array, wins: Array) -> None:
    """Fill ``gaps[y, z]``: the votes in the duel of y and z, and y's head start over z.

    ``wins`` is filled only without a margin.
    """
    n_labels, n_submodels = by_label.shape
    for y in range(n_labels):
        for z in range(y + 1, n_labels):
            mine, other = by_label[y], by_label[z]
            if margin > 0:
                total = np.int32(0)
                for t in range(n_submodels):
                    total += _duel_vote(mine[t], other[t], margin)
                gap = np.int64(total)
            else:
                above, below = _duel(mine, other)
                wins[y, z], wins[z, y] = above, below
                gap = above - below
            gap += head_start[y] - head_start[z]
            gaps[y, z], gaps[z, y] = gap, -gap


@_compile
def _best_worst_duel(gaps: Array) -> int:
    """Return the label whose worst duel is best; the smallest among equals."""
    winner, best = 0, -FAR
    for y in range(gaps.shape[0]):
        worst = FAR
        for z in range(gaps.shape[0]):
            if z != y:
                worst = min(worst, gaps[y, z])
        if worst > best:
            winner, best = y, worst
    return winner


@_compile
def tournament(
    ballots: Array, setting: tuple[float, Array], prediction: Array, radius: Array, runner_up: Array
) -> int:
    """``setting`` holds the margin and every label's head start, an int64 added to gaps once."""
    n_rows, n_submodels, n_labels = ballots.shape
    margin, head_start = setting
    by_label = np.empty((n_labels, n_submodels), ballots.dtype)
    gaps = np.empty((n_labels, n_labels), np.int64)
    wins = np.empty((n_labels, n_labels), np.int64)
    losses = np.empty(2 * Q + 1 if margin > 0 else 3, np.int64)
    for i in range(n_rows):
        if not _finite(ballots[i]):
            return i
        _lay_out(ballots[i], by_label)
        _all_duels(by_label, margin, head_start, gaps, wins)
        y = _best_worst_duel(gaps)
        least, least_gap, nearest = n_submodels, FAR, -1
        for z in range(n_labels):
            if z == y:
                continue
            if margin > 0:
                losses[:] = 0
                for t in range(n_submodels):
                    losses[Q + _duel_vote(by_label[y, t], by_label[z, t], margin)] += 1
            else:
                losses[0], losses[2] = wins[z, y], wins[y, z]
                losses[1] = n_submodels - wins[z, y] - wins[y, z]
            gap = gaps[y, z] - (z < y)
            reach = gap_radius(losses, gap)
            if nearest < 0 or reach < least or (reach == least and gap < least_gap):
                least, least_gap, nearest = reach, gap, z
        prediction[i], radius[i], runner_up[i] = y, max(least, 0), nearest
    return -1


# ---- regression ----


@_compile
def median(votes: Array, lower: Array, upper: Array, radius: Array) -> int:
    """Certify that the lower median stays in [lower, upper]; -1: it is outside now.

    No vote can pass an infinite bound.
    """
    n_rows, n_submodels = votes.shape
    tie = 1 - n_submodels % 2  # for even numbers of votes the lower median lies below the middle
    losses = np.zeros(3, np.int64)
    for i in range(n_rows):
        if not _finite(votes[i]):
            return i
        below = above = 0
        for t in range(n_submodels):
            below += votes[i, t] <= upper[i]
            above += votes[i, t] >= lower[i]
        least = n_submodels
        if upper[i] < np.inf:
            losses[0], losses[2] = n_submodels - below, below
            least = min(least, gap_radius(losses, 2 * below - n_submodels))
        if lower[i] > -np.inf:
            losses[0], losses[2] = n_submodels - above, above
            least = min(least, gap_radius(losses, 2 * above - n_submodels - tie))
        radius[i] = least
    return -1


# ---- units that reach several submodels ----


@_compile
def plurality_losses(ballots: Array, unused: int, losses: Array, budgets: Array) -> None:
    """Fill ``losses[i, z, t]``, what corrupting submodel t costs row i's label against z.

    ``budgets[i, z]`` is what it can afford; against itself the budget is FAR.
    """
    n_rows, n_submodels, n_labels = ballots.shape
    votes = np.empty(n_submodels, np.int64)
    counts = np.empty(n_labels, np.int64)
    for i in range(n_rows):
        _count_votes(ballots[i], votes, counts)
        y = _leader(counts, -1)
        for z in range(n_labels):
            budgets[i, z] = FAR if z == y else counts[y] - counts[z] - (z < y)
            for t in range(n_submodels):
                losses[i, z, t] = 0 if z == y else 1 + (votes[t] == y) - (votes[t] == z)


@_compile
def tournament_losses(
    ballots: Array, setting: tuple[float, Array], losses: Array, budgets: Array
) -> None:
    n_rows, n_submodels, n_labels = ballots.shape
    margin, head_start = setting
    by_label = np.empty((n_labels, n_submodels), ballots.dtype)
    gaps = np.empty((n_labels, n_labels), np.int64)
    wins = np.empty((n_labels, n_labels), np.int64)
    for i in range(n_rows):
        _lay_out(ballots[i], by_label)
        _all_duels(by_label, margin, head_start, gaps, wins)
        y = _best_worst_duel(gaps)
        for z in range(n_labels):
            budgets[i, z] = FAR if z == y else gaps[y, z] - (z < y)
            mine, other = by_label[y], by_label[z]
            for t in range(n_submodels):
                if z == y:
                    losses[i, z, t] = 0
                elif margin > 0:
                    losses[i, z, t] = Q + _duel_vote(mine[t], other[t], margin)
                else:
                    losses[i, z, t] = 1 + (mine[t] > other[t]) - (mine[t] < other[t])


@_compile
def median_losses(votes: Array, lower: Array, upper: Array, losses: Array, budgets: Array) -> None:
    """Opponent 0 is the way above the upper bound, opponent 1 the way below the lower one.

    An infinite bound cannot be passed.
    """
    n_rows, n_submodels = votes.shape
    for i in range(n_rows):
        budgets[i, 0] = budgets[i, 1] = -n_submodels
        for t in range(n_submodels):
            losses[i, 0, t] = 2 * (votes[i, t] <= upper[i])
            losses[i, 1, t] = 2 * (votes[i, t] >= lower[i])
            budgets[i, 0] += losses[i, 0, t]
            budgets[i, 1] += losses[i, 1, t]
        budgets[i, 1] -= 1 - n_submodels % 2
        if upper[i] == np.inf:
            budgets[i, 0], losses[i, 0] = FAR, 0
        if lower[i] == -np.inf:
            budgets[i, 1], losses[i, 1] = FAR, 0


@_compile
def _sorted_radius(totals: Array, budget: int) -> int:
    """``gap_radius`` for losses too large to count; sorts them."""
    if budget < 0:
        return -1
    totals.sort()
    for taken in range(totals.shape[0]):
        budget -= totals[totals.shape[0] - 1 - taken]
        if budget < 0:
            return taken
    return totals.shape[0]


@_compile
def reach_radius(
    losses: Array,
    budgets: Array,
    starts: Array,
    members: Array,
    largest: int,
    radius: Array,
    runner_up: Array,
) -> None:
    """Count the groups an attacker may take before their summed losses can exceed a budget.

    Group g holds the submodels ``members[starts[g]:starts[g + 1]]``; a submodel in two groups
    counts twice, which errs on the safe side. ``largest`` is the most that one group can cost.
    Fills the smallest radius over all opponents, and that opponent (-1: none can win).
    """
    n_rows, n_opponents = budgets.shape
    n_groups = starts.shape[0] - 1
    totals = np.empty(n_groups, np.int64)
    counting = largest <= 8 * n_groups + 64  # few bins: counting is faster than sorting
    histogram = np.zeros(largest + 1 if counting else 0, np.int64)
    for i in range(n_rows):
        radius[i], runner_up[i] = n_groups, -1
        least_budget = FAR
        for z in range(n_opponents):
            budget = budgets[i, z]
            if budget == FAR:
                continue
            for g in range(n_groups):
                totals[g] = 0
                for m in range(starts[g], starts[g + 1]):
                    totals[g] += losses[i, z, members[m]]
            if counting:
                histogram[:] = 0
                for g in range(n_groups):
                    histogram[totals[g]] += 1
                reach = gap_radius(histogram, budget)
            else:
                reach = _sorted_radius(totals, budget)
            if (
                runner_up[i] < 0
                or reach < radius[i]
                or (reach == radius[i] and budget < least_budget)
            ):
                radius[i], runner_up[i], least_budget = reach, z, budget


# ---- sources that fall silent: how many may lie when m others abstain ----


@_compile
def _sort_descending(values: Array) -> None:
    """Sort in place; a few values by insertion, which is faster."""
    if values.shape[0] > FEW:
        values.sort()
        values[:] = values[::-1].copy()
        return
    for k in range(1, values.shape[0]):
        value, place = values[k], k
        while place > 0 and values[place - 1] < value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@_compile
def frontier(
    losses: Array,
    budgets: Array,
    full_vote: int,
    starts: Array,
    members: Array,
    apart: bool,
    radius: Array,
) -> None:
    """Fill ``radius[i, m]``: how many groups may lie while any m others abstain; FAR: all.

    -1: m abstentions alone can break row i. A group that lies costs the losses of its submodels,
    one that abstains their votes, where these are for the prediction: ``loss - full_vote``.
    ``apart``: every group is one submodel of its own, so one order serves both; otherwise liars
    and abstainers are priced separately, and a submodel may count twice, on the safe side.
    """
    n_rows, n_opponents = budgets.shape
    n_groups = starts.shape[0] - 1
    lie, silence = np.zeros((2, n_groups), np.int64)
    lies, silences = np.zeros((2, n_groups + 1), np.int64)  # what the costliest cost together
    for i in range(n_rows):
        radius[i] = FAR
        for z in range(n_opponents):
            if budgets[i, z] == FAR:
                continue
            for g in range(n_groups):
                lie[g] = silence[g] = 0
                for k in range(starts[g], starts[g + 1]):
                    loss = losses[i, z, members[k]]
                    lie[g] += loss
                    silence[g] += max(0, loss - full_vote)
            _sort_descending(lie)
            if not apart:
                _sort_descending(silence)
            for g in range(n_groups):
                lies[g + 1] = lies[g] + lie[g]
                alone = max(0, lie[g] - full_vote) if apart else silence[g]
                silences[g + 1] = silences[g] + alone
            r = n_groups
            for m in range(radius.shape[1]):
                while r >= 0:
                    cost = lies[r] + silences[min(r + m if apart else m, n_groups)]
                    if apart:
                        cost -= silences[r]
                    if cost <= budgets[i, z]:
                        break
                    r -= 1
                if r < n_groups:
                    radius[i, m] = min(radius[i, m], r)


@_compile
def runoff_frontier(ballots: Array, radius: Array) -> None:
    """Fill ``radius[i, m]`` for the run-off: a lie moves a gap by 2, an abstention by 1."""
    n_rows, n_submodels, n_labels = ballots.shape
    by_label = np.empty((n_labels, n_submodels), ballots.dtype)
    votes = np.empty(n_submodels, np.int64)
    counts = np.empty(n_labels, np.int64)
    for i in range(n_rows):
        radius[i] = FAR
        if n_labels == 1:
            continue
        y, w = _two_rounds(ballots[i], by_label, votes, counts)
        least = FAR  # z must enter round 2 and win it there: the dearer of the two, for each z
        for z in range(n_labels):
            if z != y:
                above, below = _duel(by_label[y], by_label[z])
                enter = 0 if z == w else counts[w] - counts[z] - (z < w)
                least = min(least, max(enter, above - below - (z < y)))
        first, second = _two_smallest_gaps(counts, y)
        for m in range(radius.shape[1]):
            reach = (least - m) // 2
            if n_labels > 2:
                reach = min(reach, dp(first - m, second - m))
            radius[i, m] = max(-1, reach)


@_compile
def topk_frontier(ballots: Array, k: int, labels: Array, idle: Array, radius: Array) -> None:
    """Fill ``radius[i, m]`` for the top k; ``idle[i]`` further submodels may be made to vote.

    Only abstentions of the label's own voters can hurt it, and how many of the m these are is up
    to the worst case: a liar wants voters of the label too.
    """
    n_submodels, n_labels = ballots.shape[1:]
    votes = np.empty(n_submodels, np.int64)
    counts = np.empty(n_labels, np.int64)
    lead = np.empty(n_labels, np.int64)
    for i in range(ballots.shape[0]):
        _count_votes(ballots[i], votes, counts)
        y, least = labels[i], FAR
        for m in range(radius.shape[1]):
            if m == 0 or counts[y] > 0:
                counts[y] -= m > 0
                least = min(least, _topk_radius(counts, y, k, idle[i], lead))
            radius[i, m] = max(-1, least)


# ---- label sets: what an attack of a given size can bring about ----
#
# ``kernel(ballots, setting, attackable, idle, most, possible)`` sets ``possible[i, z]`` to False
# where no attack on at most ``most`` submodels makes z the label of row i. ``attackable[i, t]``:
# whether an attacker can reach submodel t; ``idle[i]`` further submodels, which do not vote now,
# can be made to.


@_compile
def plurality_labels(
    ballots: Array, unused: int, attackable: Array, idle: Array, most: int, possible: Array
) -> None:
    """Exact: all corrupted submodels vote z, taken first from the labels ahead of it."""
    n_rows, n_submodels, n_labels = ballots.shape
    votes = np.empty(n_submodels, np.int64)
    counts = np.empty(n_labels, np.int64)
    loose = np.empty(n_labels, np.int64)  # votes that can be taken from each label
    for i in range(n_rows):
        _count_votes(ballots[i], votes, counts)
        loose[:] = 0
        for t in range(n_submodels):
            loose[votes[t]] += attackable[i, t]
        for z in range(n_labels):
            k = min(most, idle[i] + loose.sum() - loose[z])
            needed = 0
            for u in range(n_labels):
                if u != z:
                    need = max(0, counts[u] + (u < z) - counts[z] - k)
                    needed += need if need <= loose[u] else k + 1
            possible[i, z] = needed <= k


@_compile
def runoff_labels(
    ballots: Array, unused: bool, attackable: Array, idle: Array, most: int, possible: Array
) -> None:
    """z needs a label w to be in round 2 with, and to beat there.

    Of m corrupted submodels b vote w and the others z; the other labels must lose their surplus
    over both, and who votes w scores it no lower than z, which costs z 1 or 2 in the duel. Which
    submodels are corrupted is chosen anew for votes and duel: an upper bound.
    """
    n_rows, n_submodels, n_labels = ballots.shape
    votes = np.empty(n_submodels, np.int64)
    counts = np.empty(n_labels, np.int64)
    worth = np.empty(3, np.int64)  # submodels by what winning them over adds to the duel
    for i in range(n_rows):
        row = ballots[i]
        _count_votes(row, votes, counts)
        for z in range(n_labels):
            found = n_labels == 1
            for w in range(n_labels):
                if w == z or found:
                    continue
                worth[:] = 0
                worth[1] = idle[i]
                gap = -np.int64(w < z)
                for t in range(n_submodels):
                    side = np.int64(row[t, z] > row[t, w]) - np.int64(row[t, z] < row[t, w])
                    gap += side
                    worth[1 - side] += attackable[i, t]
                m = min(most, worth.sum())
                twos = min(m, worth[2])
                gap += 2 * twos + min(m - twos, worth[1])
                for b in range(m + 1):
                    if gap - b * (1 + (w > z)) < 0:
                        break
                    needed = 0
                    for u in range(n_labels):
                        if u != z and u != w:
                            over_z = counts[u] + (u < z) - counts[z] - (m - b)
                            over_w = counts[u] + (u < w) - counts[w] - b
                            needed += max(0, over_z, over_w)
                    if needed <= m:
                        found = True
                        break
            possible[i, z] = found


@_compile
def tournament_labels(
    ballots: Array,
    setting: tuple[float, Array],
    attackable: Array,
    idle: Array,
    most: int,
    possible: Array,
) -> None:
    """z is impossible if some label y stays ahead of it; only the best few y are tried."""
    n_rows, n_submodels, n_labels = ballots.shape
    margin, head_start = setting
    full_vote = Q if margin > 0 else 1
    duels = np.zeros((n_labels, n_labels, n_submodels), np.int64)
    gaps = np.zeros((n_labels, n_labels), np.int64)
    gains = np.empty(n_submodels + most, np.int64)
    tried = np.empty(n_labels, np.bool_)
    for i in range(n_rows):
        row = ballots[i]
        for y in range(n_labels):
            for z in range(y + 1, n_labels):
                gap = head_start[y] - head_start[z]
                for t in range(n_submodels):
                    if margin > 0:
                        vote = np.int64(_duel_vote(row[t, y], row[t, z], margin))
                    else:
                        vote = np.int64(row[t, y] > row[t, z]) - np.int64(row[t, y] < row[t, z])
                    duels[y, z, t], duels[z, y, t] = vote, -vote
                    gap += vote
                gaps[y, z], gaps[z, y] = gap, -gap
        tried[:] = False
        possible[i] = True
        n_idle = min(idle[i], most)
        for _ in range(min(n_labels, STAYING)):
            y, best = -1, -FAR
            for z in range(n_labels):
                if not tried[z]:
                    worst = FAR
                    for w in range(n_labels):
                        if w != z:
                            worst = min(worst, gaps[z, w])
                    if y < 0 or worst > best:
                        y, best = z, worst
            tried[y] = True
            for z in range(n_labels):
                if z != y and possible[i, z]:
                    possible[i, z] = not _stays_ahead(
                        y, z, duels, gaps, attackable[i], n_idle, most, full_vote, gains
                    )


@_compile
def _stays_ahead(
    y: int,
    z: int,
    duels: Array,
    gaps: Array,
    attackable: Array,
    n_idle: int,
    most: int,
    full_vote: int,
    gains: Array,
) -> bool:
    """Tell whether y is ahead of z after every attack, each in its worst duel.

    z overtakes y only if, for y's worst duel, with some w0, all duels of z become as good: for
    every w0 there must be one that cannot. A submodel adds ``2 Q + s(y, w0) - s(z, w)`` at most.
    """
    n_labels, n_submodels = duels.shape[1:]
    for first in range(n_labels):
        w0 = (z + first) % n_labels  # z itself first: there y falls most easily
        if w0 == y:
            continue
        blocked = False
        for second in range(n_labels):
            w = (y + second) % n_labels
            if w == z:
                continue
            need = gaps[y, w0] - gaps[z, w] + (y < z)
            if need <= 0:
                continue
            if need > 4 * full_vote * most:
                blocked = True
                break
            n_gains, total = n_idle, 2 * full_vote * n_idle
            gains[:n_idle] = 2 * full_vote
            for t in range(n_submodels):
                if attackable[t]:
                    gains[n_gains] = 2 * full_vote + duels[y, w0, t] - duels[z, w, t]
                    total += gains[n_gains]
                    n_gains += 1
            if total >= need and n_gains > most:
                _sort_descending(gains[:n_gains])
                total = gains[:most].sum()
            if total < need:
                blocked = True
                break
        if not blocked:
            return False
    return True


# ---- one attacker, many rows ----


@_compile
def worst_choice(
    first: int,
    size: int,
    losses: Array,
    budgets: Array,
    rows: Array,
    starts: Array,
    members: Array,
    chosen: Array,
) -> int:
    """Count the most rows that fall to one choice of ``size`` groups that starts with ``first``.

    ``chosen`` is filled with the choice. ``losses[t, p]``, ``budgets[p]`` and ``rows[p]`` belong to
    pair p of a row and an opponent; a row's pairs are adjacent. The sums of a choice are built up
    group by group, each submodel once.
    """
    n_submodels, n_pairs = losses.shape
    n_groups = starts.shape[0] - 1
    sums = np.zeros((size + 1, n_pairs), np.int32)
    covered = np.zeros((size + 1, n_submodels), np.bool_)
    pick = np.full(size, -1, np.int64)
    most, depth = -1, 0
    pick[0] = first
    while depth >= 0:
        if pick[depth] > n_groups - (size - depth) or (depth == 0 and pick[0] > first):
            depth -= 1
            if depth >= 0:
                pick[depth] += 1
            continue
        sums[depth + 1] = sums[depth]
        covered[depth + 1] = covered[depth]
        for m in range(starts[pick[depth]], starts[pick[depth] + 1]):
            t = members[m]
            if not covered[depth + 1, t]:
                covered[depth + 1, t] = True
                _add(sums[depth + 1], losses[t])
        if depth + 1 < size:
            depth += 1
            pick[depth] = pick[depth - 1] + 1
            continue
        fallen = _count_fallen(sums[size], budgets, rows)
        if fallen > most:
            most = fallen
            chosen[:] = pick
        pick[depth] += 1
    return most


@_compile
def _add(sums: Array, losses: Array) -> None:
    for p in range(sums.shape[0]):
        sums[p] += losses[p]


@_compile
def _count_fallen(sums: Array, budgets: Array, rows: Array) -> int:
    fallen, last = 0, -1
    for p in range(sums.shape[0]):
        if sums[p] > budgets[p] and rows[p] != last:
            fallen += 1
            last = rows[p]
    return fallen


# ---- leaving groups out: agreement ----


@_compile
def agreement(
    votes: Array,
    models_of: Array,
    covers: Array,
    starts: Array,
    widths: Array,
    fallback: Array,
    n_labels: int,
    prediction: Array,
    radius: Array,
    runner_up: Array,
) -> None:
    """Predict the label on which some set of groups is unanimous, and certify it.

    ``votes[i, d]`` is the label of model d; ``models_of[b]`` lists the models that leave out set b
    of r groups. For q = 1 ... r - 1, ``covers[starts[q - 1]:starts[q]]`` holds, for each set of q
    groups, the ``widths[q - 1]`` sets b that contain it. ``fallback`` is the prediction where no
    set is unanimous; -1: the label with the most votes.
    """
    n_rows, n_models = votes.shape
    n_sets, per_set = models_of.shape
    largest = widths.shape[0] + 1
    unanimous = np.empty(n_sets, np.bool_)
    counts = np.empty(n_labels, np.int64)
    for i in range(n_rows):
        row = votes[i]
        counts[:] = 0
        for d in range(n_models):
            counts[row[d]] += 1
        first = row[0]
        if counts[first] == n_models:
            prediction[i], radius[i] = first, largest
        else:
            label, found = -1, False
            for b in range(n_sets):
                vote = row[models_of[b, 0]]
                unanimous[b] = True
                for k in range(1, per_set):
                    if row[models_of[b, k]] != vote:
                        unanimous[b] = False
                        break
                if unanimous[b]:
                    label, found = vote, True
            if not found:
                label = fallback[i] if fallback[i] >= 0 else _leader(counts, -1)
            prediction[i], radius[i] = label, 0
            if found:
                for q in range(largest - 1, 0, -1):
                    if _all_covered(unanimous, covers[starts[q - 1] : starts[q]], widths[q - 1]):
                        radius[i] = q
                        break
        runner_up[i] = _leader(counts, prediction[i])


@_compile
def _all_covered(unanimous: Array, sets: Array, width: int) -> bool:
    """Tell whether each run of ``width`` sets holds a unanimous one."""
    for start in range(0, sets.shape[0], width):
        found = False
        for k in range(start, start + width):
            if unanimous[sets[k]]:
                found = True
                break
        if not found:
            return False
    return True


@_compile
def agreement_bounds(
    values: Array,
    models_of: Array,
    sets_with: Array,
    models_beyond: Array,
    beyond_with: Array,
    side: int,
    low: Array,
    high: Array,
) -> None:
    """Bound what an attacker on any set of q groups can make of an agreed value.

    ``models_of[b]``: the models that leave out set b of r groups; ``sets_with[a]``: the sets b that
    contain set a of q groups; ``models_beyond[u]``: the models that leave out set u of r + q
    groups; ``beyond_with[a]``: the sets u that contain a. ``side``: -1 for ``max_b min_d``, 1 for
    its mirror image, 0 for the mean of both.
    """
    least, most = np.empty((2, models_of.shape[0]))
    least_beyond, most_beyond = np.empty((2, models_beyond.shape[0]))
    for i in range(values.shape[0]):
        if side <= 0:
            _extremes(values[i], models_of, -1, least)
            _extremes(values[i], models_beyond, -1, least_beyond)
        if side >= 0:
            _extremes(values[i], models_of, 1, most)
            _extremes(values[i], models_beyond, 1, most_beyond)
        low[i], high[i] = np.inf, -np.inf
        for a in range(sets_with.shape[0]):
            lowest = highest = 0.0
            if side <= 0:
                lowest = _extreme(least, sets_with[a], 1)
                highest = _extreme(least_beyond, beyond_with[a], 1)
            if side >= 0:
                down = _extreme(most_beyond, beyond_with[a], -1)
                up = _extreme(most, sets_with[a], -1)
                if side > 0:
                    lowest, highest = down, up
                else:
                    lowest, highest = lowest / 2 + down / 2, highest / 2 + up / 2
            low[i], high[i] = min(low[i], lowest), max(high[i], highest)


@_compile
def _extremes(row: Array, sets: Array, sign: int, found: Array) -> None:
    """Fill ``found`` with the largest (``sign`` 1) or smallest (-1) value of each set."""
    for k in range(sets.shape[0]):
        found[k] = _extreme(row, sets[k], sign)


@_compile
def _extreme(values: Array, chosen: Array, sign: int) -> float:
    found = values[chosen[0]]
    for k in range(1, chosen.shape[0]):
        if sign * values[chosen[k]] > sign * found:
            found = values[chosen[k]]
    return found


@_compile
def pooled_votes(scores: Array, starts: Array, members: Array, votes: Array) -> None:
    """Let every model choose a label by the sum of its members' scores, the smallest of equals.

    ``members[starts[d]:starts[d + 1]]`` are the members of model d, which are added in this order.
    """
    n_rows, _, n_labels = scores.shape
    total = np.empty(n_labels)
    for i in range(n_rows):
        for d in range(starts.shape[0] - 1):
            total[:] = 0
            for k in range(starts[d], starts[d + 1]):
                for label in range(n_labels):
                    total[label] += scores[i, members[k], label]
            best = 0
            for label in range(1, n_labels):
                if total[label] > total[best]:
                    best = label
            votes[i, d] = best


@_compile
def pooled_means(values: Array, starts: Array, members: Array, means: Array) -> None:
    """Let every model predict the mean of its members' values, added in their order."""
    for i in range(values.shape[0]):
        for d in range(starts.shape[0] - 1):
            total = 0.0
            for k in range(starts[d], starts[d + 1]):
                total += values[i, members[k]]
            means[i, d] = total / (starts[d + 1] - starts[d])


# ---- sums of trees, which the default submodels are ----


@_compile
def tree_sums(
    X: Array,
    feature: Array,
    threshold: Array,
    left: Array,
    right: Array,
    missing_left: Array,
    category_set: Array,
    categories: Array,
    roots: Array,
    sums: Array,
) -> None:
    """Add the leaf that each row reaches in each tree to the sum the leaf names.

    A node looks at column ``feature``. NaN goes where ``missing_left`` says; a code
    (``category_set`` not negative) left if its bit is set in its row of ``categories``; a number
    left if it is at most ``threshold``. A leaf (``feature`` -1) adds ``threshold`` to the sum
    ``left``, and the leaf ``right`` adds to another one (-1: there is none). Trees are added in
    their order, so that a row's sums are the same in every batch.
    """
    has_codes = categories.shape[0] > 0
    for t in range(roots.shape[0]):
        for i in range(X.shape[0]):
            node = roots[t]
            while feature[node] >= 0:
                value = X[i, feature[node]]
                codes = category_set[node] if has_codes else -1
                if np.isnan(value):
                    goes_left = missing_left[node]
                elif codes < 0:
                    goes_left = value <= threshold[node]
                elif 0 <= value < 256:
                    code = int(value)
                    goes_left = (categories[codes, code // 32] >> np.uint32(code % 32)) & 1 == 1
                else:
                    goes_left = missing_left[node]
                node = left[node] if goes_left else right[node]
            while node >= 0:
                sums[i, left[node]] += threshold[node]
                node = right[node]
