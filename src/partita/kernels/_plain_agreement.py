"""The numpy twins of the compiled kernels for models that leave groups out.

``compiled`` says what each does; ``plain`` has them beside its own.
"""

import numpy as np

from .._support.types import Array


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
    values: Array,
    models_of: Array,
    sets_with: Array,
    models_beyond: Array,
    beyond_with: Array,
    side: int,
    low: Array,
    high: Array,
) -> None:
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


def pooled_votes(scores: Array, starts: Array, members: Array, votes: Array) -> None:
    for d in range(len(starts) - 1):
        total = np.zeros((len(scores), scores.shape[2]))
        for member in members[starts[d] : starts[d + 1]]:
            total += scores[:, member]
        votes[:, d] = total.argmax(axis=1)


def pooled_means(values: Array, starts: Array, members: Array, means: Array) -> None:
    for d in range(len(starts) - 1):
        total = np.zeros(len(values))
        for member in members[starts[d] : starts[d + 1]]:
            with np.errstate(over="ignore"):  # as compiled code does
                total += values[:, member]
        means[:, d] = total / (starts[d + 1] - starts[d])
