"""The numpy twins of the compiled kernels for sources that fall silent.

``compiled`` says what each does; ``plain`` has them beside its own.
"""

import numpy as np

from .._support.types import Array
from ._plain_votes import FAR, count_votes, dp, duel_signs, leader, topk_radius


def frontier(
    losses: Array,
    budgets: Array,
    full_vote: int,
    starts: Array,
    members: Array,
    apart: bool,
    radius: Array,
) -> None:
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


def runoff_frontier(ballots: Array, radius: Array) -> None:
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


def topk_frontier(ballots: Array, k: int, labels: Array, idle: Array, radius: Array) -> None:
    _, counts = count_votes(ballots)
    rows = np.arange(len(ballots))
    least = np.full(len(ballots), FAR)
    for m in range(radius.shape[1]):
        if m > 0:
            counts[rows, labels] = np.maximum(0, counts[rows, labels] - 1)
        least = np.minimum(least, topk_radius(counts, labels, k, idle))
        radius[:, m] = np.maximum(-1, least)
