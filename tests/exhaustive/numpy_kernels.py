"""The numpy twin of every compiled kernel: same signatures, same results, slow and readable.

``partita.kernels.compiled`` says what each does; whoever changes a kernel changes both.
"""

from itertools import combinations

import numpy as np

Q = 127
FAR = 2**62
STAYING = 4


# ---- votes ----


def first_bad(scores):
    good = np.isfinite(scores).all(axis=tuple(range(1, scores.ndim)))
    return -1 if good.all() else int(np.argmin(good))


def count_votes(ballots):
    votes = ballots.argmax(2)
    counts = np.stack([(votes == y).sum(1) for y in range(ballots.shape[2])], axis=1)
    return votes, counts


def leader(counts, without):
    rest = counts.copy()
    rest[np.arange(len(counts)), without] = -1
    return rest.argmax(1)


def dp(a, b):
    """See ``compiled.dp``."""
    return np.maximum(np.maximum((a + 2) // 2, (b + 2) // 2), (a + b + 4) // 3) - 1


def duel_signs(ballots, y, z):
    """Return 1 for submodels that score the row's label y above z, -1 below, 0 equal."""
    mine, other = ballots[np.arange(len(ballots)), :, y], ballots[:, :, z]
    return (mine > other).astype(np.int64) - (mine < other)


def topk_radius(counts, y, k, idle=0):
    """See ``compiled._topk_radius``."""
    n_rows, n_labels = counts.shape
    radius = np.full(n_rows, FAR)
    if k >= n_labels:
        return radius
    rows, labels = np.arange(n_rows), np.arange(n_labels)
    own, total = counts[rows, y], counts.sum(1)
    after = labels > y[:, None]
    lead = counts - after
    lead[rows, y] = -2 - total  # never among the k largest: every other lead is at least -1
    cheapest = -np.sort(-lead, axis=1)[:, :k]
    found = np.zeros(n_rows, bool)
    for m in range(int(own.max(initial=0)) + 1):
        deficit = np.maximum(0, (own - m)[:, None] - cheapest).sum(1)
        now = ~found & (m <= own) & (deficit <= m)
        radius[now] = m - 1
        found |= now
    deficit = np.maximum(0, -cheapest).sum(1)
    spare = total + idle - own - (after & (counts > 0)).sum(1)
    rest = ~found & (deficit - own <= spare)
    radius[rest] = deficit[rest] - 1
    return radius


# ---- decisions, losses and budgets ----


def gap_radius(histogram, budget):
    """See ``compiled.gap_radius``; ``histogram[..., loss]`` and ``budget[...]`` hold many rows."""
    left = np.array(budget, dtype=np.int64)
    taken = np.where(left < 0, -1, 0)
    open_ = left >= 0
    for loss in range(histogram.shape[-1] - 1, 0, -1):
        count = histogram[..., loss]
        take = np.where(open_, np.minimum(count, left // loss), 0)
        taken += take
        left -= take * loss
        open_ = open_ & (take == count)
    return np.where(open_, taken + histogram[..., 0], taken)


def plurality(ballots, unused, prediction, radius, runner_up):
    bad = first_bad(ballots)
    if bad >= 0:
        return bad
    n_rows, n_submodels, n_labels = ballots.shape
    _, counts = count_votes(ballots)
    rows = np.arange(n_rows)
    y = counts.argmax(1)
    prediction[:], radius[:], runner_up[:] = y, n_submodels, -1
    if n_labels > 1:
        z = leader(counts, y)
        mine, other = counts[rows, y], counts[rows, z]
        losses = np.stack([other, n_submodels - mine - other, mine], axis=1)
        radius[:], runner_up[:] = gap_radius(losses, mine - other - (z < y)), z
    return -1


def topk(ballots, k, prediction, radius, runner_up):
    bad = first_bad(ballots)
    if bad >= 0:
        return bad
    n_submodels, n_labels = ballots.shape[1:]
    radius[:], runner_up[:] = n_submodels, -1
    if k >= n_labels:
        return -1
    _, counts = count_votes(ballots)
    radius[:] = np.minimum(n_submodels, topk_radius(counts, prediction, k))
    return -1


def _overtake(y, z, signs, votes, counts, duel_gap, limit):
    """See ``compiled._overtake``."""
    n_labels = counts.shape[1]
    worth = np.stack(
        [[((votes == u) & (signs == p)).sum(1) for p in (-1, 0, 1)] for u in range(n_labels)]
    )
    worth[z] = 0
    third = np.stack([(u != y) & (u != z) for u in range(n_labels)])
    before = (np.arange(n_labels) < z)[:, None]
    result = limit.copy()
    for k in range(1, int(limit.max(initial=0))):
        need = np.where(third, np.maximum(0, counts.T + before - counts[:, z] - k), 0)
        twos = np.minimum(need, worth[:, 2])
        ones = np.minimum(need - twos, worth[:, 1])
        left = k - need.sum(0)
        more_twos = np.minimum(left, worth[:, 2].sum(0) - twos.sum(0))
        more_ones = np.minimum(left - more_twos, worth[:, 1].sum(0) - ones.sum(0))
        gain = 2 * (twos.sum(0) + more_twos) + ones.sum(0) + more_ones
        result = np.where((left >= 0) & (gain > duel_gap), np.minimum(result, k), result)
    return result


def runoff(ballots, exact, prediction, radius, runner_up):
    bad = first_bad(ballots)
    if bad >= 0:
        return bad
    n_rows, n_submodels, n_labels = ballots.shape
    prediction[:], radius[:], runner_up[:] = 0, n_submodels, -1
    if n_labels == 1:
        return -1
    votes, counts = count_votes(ballots)
    rows, labels = np.arange(n_rows), np.arange(n_labels)
    top = counts.argmax(1)
    second = leader(counts, top)
    signs = np.stack([duel_signs(ballots, top, z) for z in range(n_labels)], axis=1)
    lost = signs[rows, second].sum(1) - (second < top) < 0
    y, w = np.where(lost, second, top), np.where(lost, top, second)
    least = np.full(n_rows, n_submodels)
    if n_labels > 2:
        gaps = counts[rows, y][:, None] - counts - (labels < y[:, None])
        gaps[rows, y] = 2 * n_submodels  # above every gap to another label
        gaps.sort(axis=1)
        least = np.minimum(least, dp(gaps[:, 0], gaps[:, 1]))
    for z in range(n_labels):
        signs = duel_signs(ballots, y, z)
        duel_gap = signs.sum(1) - (z < y)
        if exact:
            falls = _overtake(y, z, signs, votes, counts, duel_gap, least + 1) - 1
        else:
            enter = np.where(z == w, 0, (counts[rows, w] - counts[:, z] - (z < w)) // 2)
            falls = np.maximum(enter, duel_gap // 2)
        least = np.where(z == y, least, np.minimum(least, falls))
    prediction[:], radius[:], runner_up[:] = y, least, w
    return -1


def _duel_votes(mine, other, margin):
    """See ``compiled._duel_vote``; without a margin the sign."""
    difference = mine.astype(np.float64) - other.astype(np.float64)
    if margin > 0:
        return np.rint(Q * np.clip(difference / margin, -1, 1)).astype(np.int64)
    return np.sign(difference).astype(np.int64)


@np.errstate(over="ignore")  # a difference or quotient beyond all numbers is clipped
def tournament(ballots, setting, prediction, radius, runner_up):
    bad = first_bad(ballots)
    if bad >= 0:
        return bad
    n_rows, n_submodels, n_labels = ballots.shape
    margin, head_start = setting
    prediction[:], radius[:], runner_up[:] = 0, n_submodels, -1
    if n_labels == 1:
        return -1
    gaps = np.full((n_rows, n_labels, n_labels), FAR)
    for y in range(n_labels):
        for z in range(y + 1, n_labels):
            gap = (
                _duel_votes(ballots[:, :, y], ballots[:, :, z], margin).sum(1)
                + head_start[y]
                - head_start[z]
            )
            gaps[:, y, z], gaps[:, z, y] = gap, -gap
    winner = gaps.min(2).argmax(1)
    rows = np.arange(n_rows)
    largest = Q if margin > 0 else 1
    least, nearest = np.full(n_rows, n_submodels), np.full(n_rows, -1)
    least_gap = np.zeros(n_rows, np.int64)
    for z in range(n_labels):
        duel_votes = _duel_votes(ballots[rows, :, winner], ballots[:, :, z], margin)
        bins = rows[:, None] * (2 * largest + 1) + duel_votes + largest
        losses = np.bincount(bins.ravel(), minlength=n_rows * (2 * largest + 1)).reshape(n_rows, -1)
        gap = gaps[rows, winner, z] - (z < winner)
        reach = gap_radius(losses, gap)
        nearer = (nearest < 0) | (reach < least) | ((reach == least) & (gap < least_gap))
        nearer &= winner != z
        least, least_gap = np.where(nearer, reach, least), np.where(nearer, gap, least_gap)
        nearest = np.where(nearer, z, nearest)
    prediction[:], radius[:], runner_up[:] = winner, np.maximum(least, 0), nearest
    return -1


def median(votes, lower, upper, radius):
    bad = first_bad(votes)
    if bad >= 0:
        return bad
    n_submodels = votes.shape[1]
    tie = 1 - n_submodels % 2
    radius[:] = n_submodels
    for inside, open_side, term in (
        (votes <= upper[:, None], upper == np.inf, 0),
        (votes >= lower[:, None], lower == -np.inf, tie),
    ):
        count = inside.sum(1)
        losses = np.stack([n_submodels - count, np.zeros_like(count), count], axis=1)
        reach = gap_radius(losses, 2 * count - n_submodels - term)
        radius[:] = np.where(open_side, radius, np.minimum(radius, reach))
    return -1


def plurality_losses(ballots, unused, losses, budgets):
    votes, counts = count_votes(ballots)
    rows, labels = np.arange(len(ballots)), np.arange(ballots.shape[2])
    y = counts.argmax(1)
    budgets[:] = counts[rows, y][:, None] - counts - (labels < y[:, None])
    losses[:] = (
        1 + (votes == y[:, None])[:, None].astype(np.int64) - (votes[:, None] == labels[:, None])
    )
    budgets[rows, y], losses[rows, y] = FAR, 0


def tournament_losses(ballots, setting, losses, budgets):
    n_rows, _, n_labels = ballots.shape
    margin, head_start = setting
    decision = np.zeros((3, n_rows), np.int64)
    tournament(ballots, setting, *decision)
    y, rows, largest = decision[0], np.arange(n_rows), Q if margin > 0 else 1
    for z in range(n_labels):
        with np.errstate(over="ignore"):
            duel_votes = _duel_votes(ballots[rows, :, y], ballots[:, :, z], margin)
        losses[:, z] = duel_votes + largest
        budgets[:, z] = duel_votes.sum(1) + head_start[y] - head_start[z] - (z < y)
    budgets[rows, y], losses[rows, y] = FAR, 0


def median_losses(votes, lower, upper, losses, budgets):
    n_submodels = votes.shape[1]
    losses[:, 0], losses[:, 1] = 2 * (votes <= upper[:, None]), 2 * (votes >= lower[:, None])
    budgets[:] = losses.sum(2) - n_submodels - [0, 1 - n_submodels % 2]
    losses[upper == np.inf, 0], budgets[upper == np.inf, 0] = 0, FAR
    losses[lower == -np.inf, 1], budgets[lower == -np.inf, 1] = 0, FAR


def reach_radius(
    losses,
    budgets,
    starts,
    members,
    largest,
    radius,
    runner_up,
):
    n_groups = len(starts) - 1
    radius[:], runner_up[:] = n_groups, -1
    totals = np.zeros((*budgets.shape, n_groups), np.int64)
    for g in range(n_groups):
        totals[:, :, g] = losses[:, :, members[starts[g] : starts[g + 1]]].sum(2)
    spent = np.cumsum(-np.sort(-totals, axis=2), axis=2)
    reach = np.where(budgets < 0, -1, (spent <= budgets[:, :, None]).sum(2))
    for i in range(len(losses)):
        opponents = [z for z in range(budgets.shape[1]) if budgets[i, z] != FAR]
        if opponents:
            runner_up[i] = min(opponents, key=lambda z: (reach[i, z], budgets[i, z], z))
            radius[i] = reach[i, runner_up[i]]


# ---- silence ----


def frontier(
    losses,
    budgets,
    full_vote,
    starts,
    members,
    apart,
    radius,
):
    n_groups, n_silent = len(starts) - 1, radius.shape[1]
    lie, silence = np.zeros((2, *budgets.shape, n_groups), np.int64)
    for g in range(n_groups):
        own = losses[:, :, members[starts[g] : starts[g + 1]]].astype(np.int64)
        lie[:, :, g], silence[:, :, g] = own.sum(2), np.maximum(0, own - full_vote).sum(2)
    nothing = np.zeros((*budgets.shape, 1), np.int64)
    lies, silences = (
        np.concatenate([nothing, np.cumsum(-np.sort(-cost, axis=2), axis=2)], axis=2)
        for cost in (lie, silence)
    )
    r = np.arange(n_groups + 1)
    for m in range(n_silent):
        if apart:
            cost = lies + silences[:, :, np.minimum(r + m, n_groups)] - silences
        else:
            cost = lies + silences[:, :, [min(m, n_groups)]]
        safe = (cost <= budgets[:, :, None]).sum(2) - 1  # the cost grows with r
        radius[:, m] = np.where(safe == n_groups, FAR, safe).min(1)


def runoff_frontier(ballots, radius):
    n_rows, _, n_labels = ballots.shape
    radius[:] = FAR
    if n_labels == 1:
        return
    _, counts = count_votes(ballots)
    rows, labels = np.arange(n_rows), np.arange(n_labels)
    top = counts.argmax(1)
    second = leader(counts, top)
    duels = np.stack([duel_signs(ballots, top, z).sum(1) for z in range(n_labels)], axis=1)
    lost = duels[rows, second] - (second < top) < 0
    y, w = np.where(lost, second, top), np.where(lost, top, second)
    least = np.full(n_rows, FAR)
    for z in range(n_labels):
        enter = np.where(z == w, 0, counts[rows, w] - counts[:, z] - (z < w))
        win = duel_signs(ballots, y, z).sum(1) - (z < y)
        least = np.where(z == y, least, np.minimum(least, np.maximum(enter, win)))
    gaps = counts[rows, y][:, None] - counts - (labels < y[:, None])
    gaps[rows, y] = FAR
    gaps.sort(axis=1)
    for m in range(radius.shape[1]):
        reach = (least - m) // 2
        if n_labels > 2:
            reach = np.minimum(reach, dp(gaps[:, 0] - m, gaps[:, 1] - m))
        radius[:, m] = np.maximum(-1, reach)


def topk_frontier(ballots, k, labels, idle, radius):
    _, counts = count_votes(ballots)
    rows = np.arange(len(ballots))
    least = np.full(len(ballots), FAR)
    for m in range(radius.shape[1]):
        if m > 0:
            counts[rows, labels] = np.maximum(0, counts[rows, labels] - 1)
        least = np.minimum(least, topk_radius(counts, labels, k, idle))
        radius[:, m] = np.maximum(-1, least)


# ---- one attacker for many rows ----


# ---- label sets ----


def plurality_labels(ballots, unused, attackable, idle, most, possible):
    n_labels = ballots.shape[2]
    votes, counts = count_votes(ballots)
    for i, own in enumerate(counts):
        loose = np.bincount(votes[i], weights=attackable[i], minlength=n_labels).astype(int)
        for z in range(n_labels):
            others = np.arange(n_labels) != z
            k = min(most, idle[i] + loose[others].sum())
            need = np.maximum(0, own + (np.arange(n_labels) < z) - own[z] - k)[others]
            possible[i, z] = (need <= loose[others]).all() and need.sum() <= k


def runoff_labels(ballots, unused, attackable, idle, most, possible):
    n_labels = ballots.shape[2]
    _, counts = count_votes(ballots)
    labels = np.arange(n_labels)
    for i, own in enumerate(counts):
        m = min(most, idle[i] + attackable[i].sum())
        for z in range(n_labels):
            possible[i, z] = n_labels == 1
            for w in labels[labels != z]:
                side = np.sign(ballots[i, :, z] - ballots[i, :, w]).astype(int)
                gains = np.concatenate([1 - side[attackable[i]], np.ones(idle[i], int)])
                best = side.sum() + np.sort(gains)[::-1][:m].sum()
                for b in range(m + 1):
                    over = np.maximum(
                        own + (labels < z) - own[z] - (m - b), own + (labels < w) - own[w] - b
                    )
                    surplus = np.maximum(0, over)[(labels != z) & (labels != w)].sum()
                    wins = best - b * (1 + (w > z)) >= (w < z)
                    possible[i, z] |= bool(wins and surplus <= m)


def tournament_labels(ballots, setting, attackable, idle, most, possible):
    margin, head_start = setting
    n_labels = ballots.shape[2]
    labels = range(n_labels)
    for i, row in enumerate(ballots):
        s = np.array([[_duel_votes(row[:, y], row[:, z], margin) for z in labels] for y in labels])
        gaps = s.sum(axis=2) + head_start[:, None] - head_start[None, :]
        full_vote = Q if margin > 0 else 1

        def reaches(y, w0, z, w, i=i, s=s, gaps=gaps, full_vote=full_vote):
            gains = (2 * full_vote + s[y, w0] - s[z, w])[attackable[i]]
            gains = np.sort(np.concatenate([gains, np.full(idle[i], 2 * full_vote)]))[::-1]
            return gains[:most].sum() >= gaps[y, w0] - gaps[z, w] + (y < z)

        worst = np.where(np.eye(n_labels, dtype=bool), FAR, gaps).min(axis=1)
        staying = np.argsort(-worst, kind="stable")[:STAYING]
        for z in labels:
            possible[i, z] = all(
                y == z
                or any(
                    all(reaches(y, w0, z, w) for w in labels if w != z) for w0 in labels if w0 != y
                )
                for y in staying
            )


def worst_choice(
    first,
    size,
    losses,
    budgets,
    rows,
    starts,
    members,
    chosen,
):
    n_groups = len(starts) - 1
    most = -1
    for rest in combinations(range(first + 1, n_groups), size - 1):
        choice = (first, *rest)
        reached = np.unique(np.concatenate([members[starts[g] : starts[g + 1]] for g in choice]))
        fallen = len(np.unique(rows[losses[reached].sum(0, dtype=np.int64) > budgets]))
        if fallen > most:
            most = fallen
            chosen[:] = choice
    return most


# ---- models that leave groups out ----


def agreement(
    votes,
    models_of,
    covers,
    starts,
    widths,
    fallback,
    n_labels,
    prediction,
    radius,
    runner_up,
):
    of_sets = votes[:, models_of]  # rows, sets, models
    unanimous = (of_sets == of_sets[:, :, :1]).all(axis=2)
    found = unanimous.any(axis=1)
    first = unanimous.argmax(axis=1)
    counts = np.stack([(votes == label).sum(axis=1) for label in range(n_labels)], axis=1)
    otherwise = np.where(fallback >= 0, fallback, counts.argmax(axis=1))
    prediction[:] = np.where(found, of_sets[np.arange(len(votes)), first, 0], otherwise)
    radius[:] = np.where(unanimous.all(axis=1), len(widths) + 1, 0)
    for q in range(1, len(widths) + 1):
        sets = covers[starts[q - 1] : starts[q]].reshape(-1, widths[q - 1])
        covered = unanimous[:, sets].any(axis=2).all(axis=1)
        radius[covered] = np.maximum(radius[covered], q)
    counts[np.arange(len(votes)), prediction] = -1
    runner_up[:] = counts.argmax(axis=1) if n_labels > 1 else -1


def agreement_bounds(
    values,
    models_of,
    sets_with,
    models_beyond,
    beyond_with,
    side,
    low,
    high,
):
    of_sets, of_beyond = values[:, models_of], values[:, models_beyond]
    from_below = of_sets.min(axis=2)[:, sets_with].max(axis=2)
    to_above = of_sets.max(axis=2)[:, sets_with].min(axis=2)
    up = of_beyond.min(axis=2)[:, beyond_with].max(axis=2)
    down = of_beyond.max(axis=2)[:, beyond_with].min(axis=2)
    if side < 0:
        lowest, highest = from_below, up
    elif side > 0:
        lowest, highest = down, to_above
    else:
        lowest, highest = from_below / 2 + down / 2, up / 2 + to_above / 2
    low[:], high[:] = lowest.min(axis=1), highest.max(axis=1)


def pooled_votes(scores, starts, members, votes):
    for d in range(len(starts) - 1):
        total = np.zeros((len(scores), scores.shape[2]))
        for member in members[starts[d] : starts[d + 1]]:
            total += scores[:, member]
        votes[:, d] = total.argmax(axis=1)


def pooled_means(values, starts, members, means):
    for d in range(len(starts) - 1):
        total = np.zeros(len(values))
        for member in members[starts[d] : starts[d + 1]]:
            with np.errstate(over="ignore"):  # as compiled code does
                total += values[:, member]
        means[:, d] = total / (starts[d + 1] - starts[d])


# ---- trees ----


def tree_sums(
    X,
    feature,
    threshold,
    left,
    right,
    missing_left,
    category_set,
    categories,
    roots,
    sums,
):
    rows = np.arange(len(X))
    for root in roots:
        node = np.full(len(X), root)
        while (feature[node] >= 0).any():
            value = X[rows, feature[node]]
            goes_left = value <= threshold[node]
            if len(categories):
                codes = category_set[node]
                is_code = (value >= 0) & (value < 256)
                code = np.where(is_code, value, 0).astype(np.int64)
                in_set = (categories[codes, code // 32] >> (code % 32).astype(np.uint32)) & 1 == 1
                goes_left = np.where(
                    codes < 0, goes_left, np.where(is_code, in_set, missing_left[node])
                )
            goes_left = np.where(np.isnan(value), missing_left[node], goes_left)
            below = np.where(goes_left, left[node], right[node])
            node = np.where(feature[node] >= 0, below, node)
        here = rows
        while len(here):
            sums[here, left[node]] += threshold[node]
            more = right[node] >= 0
            here, node = here[more], right[node][more]
