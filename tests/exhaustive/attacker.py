"""An attacker that tries everything: every set of submodels, and every way in which they could vote
and rank.

What a rule sees of one submodel is its vote, the sign of each of its duels, and (with a margin) its
word in each: a handful of integers that add up over submodels. So instead of every tuple of
corrupted ballots it is enough to try every multiset of behaviours, and to decide on the sums. The
decisions are written here once more, from the definitions, and know nothing of certificates."""

from collections.abc import Callable
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np

Q = 127


@cache
def behaviours(n_labels, margin):
    """Score rows for every weak order of the labels; with a margin, every spacing by quarters of it
    as well."""
    if margin:
        steps = [0, margin / 4, margin / 2, margin, 2 * margin]
        return np.unique(tally(np.array(list(product(steps, repeat=n_labels))), margin), axis=0)
    return np.unique(
        tally(np.array(list(product(range(n_labels), repeat=n_labels)), dtype=float), margin),
        axis=0,
    )


def tally(scores, margin):
    """What the rules see of submodels, one row each: votes, signs of all duels, words of all
    duels."""
    n_labels = scores.shape[1]
    votes = np.eye(n_labels, dtype=int)[scores.argmax(axis=1)]
    difference = scores[:, :, None] - scores[:, None, :]
    signs = np.sign(difference).astype(int)
    words = np.round(Q * np.clip(difference / margin, -1, 1)).astype(int) if margin else signs
    return np.concatenate(
        [votes, signs.reshape(len(scores), -1), words.reshape(len(scores), -1)], axis=1
    )


def parts(sums, n_labels):
    votes, signs, words = np.split(sums, [n_labels, n_labels + n_labels**2], axis=1)
    return votes, signs.reshape(-1, n_labels, n_labels), words.reshape(-1, n_labels, n_labels)


def plurality(votes, signs, words):
    return votes.argmax(axis=1)


def runoff(votes, signs, words):
    order = np.argsort(-votes, axis=1, kind="stable")
    first, second = (
        order[:, :2].min(axis=1),
        order[:, :2].max(axis=1),
    )  # of the two, the smaller label wins a tie
    return np.where(signs[np.arange(len(votes)), first, second] >= 0, first, second)


def tournament(votes, signs, words):
    n_labels = votes.shape[1]
    own = np.eye(n_labels, dtype=bool)
    return np.where(own, 10**9, words).min(axis=2).argmax(axis=1)


def tournament_with(head_start) -> Callable:
    """A tournament in which each label has a head start, which no attacker moves."""
    start = np.asarray(head_start)

    def decide(votes, signs, words):
        return tournament(votes, signs, words + start[:, None] - start[None, :])

    return decide


def in_top(label, k) -> Callable:
    def decide(votes, signs, words):
        order = np.argsort(-votes, axis=1, kind="stable")
        return (order[:, :k] == label).any(axis=1)

    return decide


@cache
def multisets(n_labels, size, margin):
    """The sums of every multiset of behaviours, each once."""
    if size == 0:
        return np.zeros((1, n_labels + 2 * n_labels**2), dtype=int)
    smaller, one = multisets(n_labels, size - 1, margin), behaviours(n_labels, margin)
    return np.unique((smaller[:, None] + one[None]).reshape(-1, one.shape[1]), axis=0)


def truth(ballots, decide, margin=0.0, reach=None):
    """The largest r such that no attack on at most r units changes the decision; all of them if
    none does.

    A unit is a submodel, or a row of ``reach``: the submodels that it reaches.
    """
    n_submodels, n_labels = ballots.shape
    reach = np.eye(n_submodels, dtype=bool) if reach is None else reach
    honest = tally(ballots, margin)
    before = decide(*parts(honest.sum(axis=0, keepdims=True), n_labels))[0]
    for size in range(1, len(reach) + 1):
        for taken in unions(reach, size):
            corrupted = multisets(n_labels, int(taken.sum()), margin)
            rest = honest[~taken].sum(axis=0)
            if np.any(decide(*parts(rest + corrupted, n_labels)) != before):
                return size - 1
    return len(reach)


def unions(reach, size):
    """What every set of so many units reaches together, each once."""
    return np.unique(
        [reach[list(units)].any(axis=0) for units in combinations(range(len(reach)), size)], axis=0
    )


def profiles(rng, how_many, n_labels, most_submodels):
    """Contested elections: submodels of a few minds, some of them changed by a little noise; many
    ties."""
    for _ in range(how_many):
        minds = rng.integers(0, n_labels, size=(rng.integers(1, 5), n_labels))
        row = minds[rng.integers(len(minds), size=rng.integers(1, most_submodels + 1))]
        yield row.astype(float) + (rng.random(row.shape) < rng.choice([0, 0.1, 0.4]))


def median_truth(votes, lower, upper, reach=None):
    """The same for the lower median and its bounds: corrupted votes take every value there is, and
    values beyond all of them."""
    ends = [end for end in (lower, upper) if np.isfinite(end)]
    values = np.unique([*votes, min([*votes, *ends]) - 1, max([*votes, *ends]) + 1])
    n_submodels = len(votes)

    def inside(all_votes):
        middle = np.sort(all_votes)[(n_submodels + 1) // 2 - 1]
        return lower <= middle <= upper

    if not inside(votes):
        return -1
    reach = np.eye(n_submodels, dtype=bool) if reach is None else reach
    for size in range(1, len(reach) + 1):
        for taken in unions(reach, size):
            for chosen in combinations_with_replacement(values, int(taken.sum())):
                if not inside(np.concatenate([votes[~taken], chosen])):
                    return size - 1
    return len(reach)


def median_range(votes, size):
    """The least and largest lower median that an attack on ``size`` submodels reaches, with -inf
    and inf among the values."""
    values = [*np.unique(votes), -np.inf, np.inf]
    n_submodels = len(votes)
    reached = [
        np.sort(np.concatenate([np.delete(votes, taken), chosen]))[(n_submodels + 1) // 2 - 1]
        for taken in combinations(range(n_submodels), size)
        for chosen in combinations_with_replacement(values, size)
    ]
    return min(reached), max(reached)
