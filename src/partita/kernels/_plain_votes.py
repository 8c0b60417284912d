"""Counting votes in numpy, for the twins of the compiled kernels.

``compiled`` has the same helpers under the same names; nothing here decides or certifies alone.
"""

import numpy as np

from .._support.types import Array

FAR = 2**62


def first_bad(scores: Array) -> int:
    good = np.isfinite(scores).all(axis=tuple(range(1, scores.ndim)))
    return -1 if good.all() else int(np.argmin(good))


def count_votes(ballots: Array) -> tuple[Array, Array]:
    votes = ballots.argmax(2)
    counts = np.stack([(votes == y).sum(1) for y in range(ballots.shape[2])], axis=1)
    return votes, counts


def leader(counts: Array, without: Array) -> Array:
    rest = counts.copy()
    rest[np.arange(len(counts)), without] = -1
    return rest.argmax(1)


def dp(a: Array, b: Array) -> Array:
    """See ``compiled.dp``."""
    return np.maximum(np.maximum((a + 2) // 2, (b + 2) // 2), (a + b + 4) // 3) - 1


def duel_signs(ballots: Array, y: Array, z: int) -> Array:
    """Return 1 for submodels that score the row's label y above z, -1 below, 0 equal."""
    mine, other = ballots[np.arange(len(ballots)), :, y], ballots[:, :, z]
    return (mine > other).astype(np.int64) - (mine < other)


def topk_radius(counts: Array, y: Array, k: int, idle: Array | int = 0) -> Array:
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
