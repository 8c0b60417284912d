"""An attacker that tries everything: every set of submodels, and every way they could vote.

What a rule hears of one submodel is its vote, the sign of each of its duels, and (with a margin)
its vote in each: a handful of integers that add up over submodels. So instead of every tuple of
corrupted ballots it is enough to try every multiset of behaviours, and to decide on the sums. A
decision says which of these integers it hears; behaviours that differ in others alone are tried
once. The decisions are written here once more, from the definitions, and know nothing of
certificates.
"""

from collections.abc import Callable
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np

Q = 127
VOTES, SIGNS, DUELS = "votes", "signs", "duels"


def hears(*heard):
    """Note which of a submodel's integers a decision depends on."""

    def note(decide: Callable) -> Callable:
        decide.hears = heard
        return decide

    return note


@cache
def behaviours(n_labels, margin, heard):
    """Every weak order of the labels; with a margin, every spacing by quarters of it as well."""
    steps = [0, margin / 4, margin / 2, margin, 2 * margin] if margin else range(n_labels)
    scores = np.array(list(product(steps, repeat=n_labels)), dtype=float)
    return distinct(tally(scores, margin) * mask(n_labels, heard), n_labels)


def distinct(sums, n_labels):
    """Each row of integers once; the lower halves of signs and duels mirror the upper ones."""
    upper = np.triu(np.ones((n_labels, n_labels), dtype=bool), 1).ravel()
    columns = np.flatnonzero(np.concatenate([np.ones(n_labels, dtype=bool), upper, upper]))
    digits = sums[:, columns] - sums[:, columns].min(axis=0)
    spans = digits.max(axis=0) + 1
    assert np.prod(spans.astype(float)) < 2**62
    key = digits @ np.cumprod([1, *spans[:-1]])  # one number per row: faster than rows to compare
    return sums[np.unique(key, return_index=True)[1]]


def mask(n_labels, heard):
    """1 for the integers that a decision hears, 0 for the others."""
    widths = {VOTES: n_labels, SIGNS: n_labels**2, DUELS: n_labels**2}
    return np.concatenate([np.full(width, name in heard) for name, width in widths.items()])


def tally(scores, margin):
    """What rules hear of submodels, one row each: votes, signs of all duels, votes in all duels."""
    n_labels = scores.shape[1]
    votes = np.eye(n_labels, dtype=int)[scores.argmax(axis=1)]
    difference = scores[:, :, None] - scores[:, None, :]
    signs = np.sign(difference).astype(int)
    duels = np.round(Q * np.clip(difference / margin, -1, 1)).astype(int) if margin else signs
    flat = [part.reshape(len(scores), -1) for part in (votes, signs, duels)]
    return np.concatenate(flat, axis=1)


def parts(sums, n_labels):
    """The sums of votes, signs and duels."""
    votes, signs, duels = np.split(sums, [n_labels, n_labels + n_labels**2], axis=1)
    return votes, signs.reshape(-1, n_labels, n_labels), duels.reshape(-1, n_labels, n_labels)


@hears(VOTES)
def plurality(votes, signs, duels):
    return votes.argmax(axis=1)


@hears(VOTES, SIGNS)
def runoff(votes, signs, duels):
    order = np.argsort(-votes, axis=1, kind="stable")[:, :2]
    first, second = order.min(axis=1), order.max(axis=1)  # the smaller label wins a tie
    return np.where(signs[np.arange(len(votes)), first, second] >= 0, first, second)


@hears(DUELS)
def tournament(votes, signs, duels):
    own = np.eye(votes.shape[1], dtype=bool)
    return np.where(own, 10**9, duels).min(axis=2).argmax(axis=1)


def tournament_with(head_start) -> Callable:
    """A tournament in which each label has a head start, which no attacker moves."""
    start = np.asarray(head_start)

    @hears(DUELS)
    def decide(votes, signs, duels):
        return tournament(votes, signs, duels + start[:, None] - start[None, :])

    return decide


def in_top(label, k) -> Callable:
    """Whether a label is among the k with the most votes."""

    @hears(VOTES)
    def decide(votes, signs, duels):
        order = np.argsort(-votes, axis=1, kind="stable")
        return (order[:, :k] == label).any(axis=1)

    return decide


@cache
def multisets(n_labels, size, margin, heard):
    """The sums of every multiset of behaviours, each once."""
    if size == 0:
        return np.zeros((1, n_labels + 2 * n_labels**2), dtype=int)
    smaller = multisets(n_labels, size - 1, margin, heard)
    one = behaviours(n_labels, margin, heard)
    return distinct((smaller[:, None] + one[None]).reshape(-1, one.shape[1]), n_labels)


def outcomes(honest, taken, decide, margin=0.0):
    """Every decision that an attacker who owns the ``taken`` submodels can bring about."""
    return outcomes_of(honest[~taken].sum(axis=0), int(taken.sum()), decide, margin)


def outcomes_of(rest, size, decide, margin):
    """Every decision that ``size`` corrupted submodels and the honest rest's sums can make."""
    n_labels = int(np.sqrt(len(rest) / 2))  # n + 2 n^2 integers
    return decide(*parts(rest + multisets(n_labels, size, margin, decide.hears), n_labels))


def decision(ballots, decide, margin=0.0):
    """What honest ballots decide."""
    sums = tally(ballots, margin).sum(axis=0, keepdims=True)
    return decide(*parts(sums, ballots.shape[1]))[0]


def truth(ballots, decide, margin=0.0, reach=None):
    """The largest r such that no attack on at most r units changes the decision; all if none does.

    A unit is a submodel, or a row of ``reach``: the submodels that it reaches.
    """
    reach = np.eye(len(ballots), dtype=bool) if reach is None else reach
    before = decision(ballots, decide, margin)
    honest = tally(ballots, margin) * mask(ballots.shape[1], decide.hears)
    for size in range(1, len(reach) + 1):
        # submodels of one mind are interchangeable: what is left without them is tried once
        left = {(int(taken.sum()), *honest[~taken].sum(axis=0)) for taken in unions(reach, size)}
        for corrupted, *rest in left:
            if np.any(outcomes_of(np.array(rest), corrupted, decide, margin) != before):
                return size - 1
    return len(reach)


def unions(reach, size):
    """What every set of so many units reaches together, each once."""
    return np.unique(
        [reach[list(units)].any(axis=0) for units in combinations(range(len(reach)), size)], axis=0
    )


def profiles(rng, how_many, n_labels, most_submodels):
    """Contested elections: submodels of a few minds, some changed by a little noise; many ties."""
    for _ in range(how_many):
        minds = rng.integers(0, n_labels, size=(rng.integers(1, 5), n_labels))
        row = minds[rng.integers(len(minds), size=rng.integers(1, most_submodels + 1))]
        yield row.astype(float) + (rng.random(row.shape) < rng.choice([0, 0.1, 0.4]))


def median_truth(votes, lower, upper, reach=None):
    """The same for the lower median and its bounds.

    Corrupted votes take every value there is, and values beyond all of them.
    """
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
    """The least and largest lower median that an attack on ``size`` submodels reaches."""
    values = [*np.unique(votes), -np.inf, np.inf]
    n_submodels = len(votes)
    reached = [
        np.sort(np.concatenate([np.delete(votes, taken), chosen]))[(n_submodels + 1) // 2 - 1]
        for taken in combinations(range(n_submodels), size)
        for chosen in combinations_with_replacement(values, size)
    ]
    return min(reached), max(reached)
