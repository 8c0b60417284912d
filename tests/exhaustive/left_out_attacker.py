"""Agreement once more from its definition, and an attacker on models that leave groups out.

A model that sees an attacked group says whatever the attacker likes; the others cannot be changed.
Sets are written out here: nothing of partita's tables is used.
"""

from functools import cache
from itertools import combinations, product

import numpy as np


def every_set(n_groups, radius):
    """The sets that models leave out, and the same as a matrix (models, groups)."""
    sets = list(combinations(range(n_groups), 2 * radius))
    left_out = np.array([[group in chosen for group in range(n_groups)] for chosen in sets])
    return sets, left_out


def containing(sets, groups):
    """Positions of the sets that contain all these groups."""
    return [k for k, chosen in enumerate(sets) if set(groups) <= set(chosen)]


def attacked(sets, groups):
    """Positions of the models that see one of these groups."""
    return [k for k, chosen in enumerate(sets) if not set(groups) <= set(chosen)]


def attacks(n_groups, size):
    return combinations(range(n_groups), size)


def agreed_labels(votes, sets, n_groups, radius, nobody=-1):
    """The label of each row of votes (rows, models); ``nobody`` where no set is unanimous."""
    label = np.full(len(votes), nobody)
    for groups in combinations(range(n_groups), radius):
        own = votes[:, containing(sets, groups)]
        unanimous = (own == own[:, :1]).all(axis=1)
        label[unanimous] = own[unanimous, 0]
    return label


def covered_radius(votes, sets, n_groups, radius):
    """The certificate of one row from its definition: every set of q groups is in a unanimous one.

    For designs that are too large to try every attack on.
    """
    unanimous = [
        set(groups)
        for groups in combinations(range(n_groups), radius)
        if len(set(votes[containing(sets, groups)])) == 1
    ]

    def holds(size):
        return all(
            any(set(groups) <= chosen for chosen in unanimous) for groups in attacks(n_groups, size)
        )

    return max(size for size in range(radius + 1) if size == 0 or holds(size))


def largest_radius(votes, sets, n_groups, radius, n_labels, fallback, largest=None):
    """The largest q such that no attack on q groups changes one row's label.

    Every answer of every model that sees an attacked group is tried, and the attacker owns the
    fallback. ``largest``: no attack on more groups than this.
    """
    before = agreed_labels(votes[None], sets, n_groups, radius, fallback)[0]
    for size in range(1, (largest or radius) + 1):
        for groups in attacks(n_groups, size):
            owned = attacked(sets, groups)
            answers = every_answer(n_labels, len(owned))
            changed = np.repeat(votes[None].astype(np.int8), len(answers), axis=0)
            changed[:, owned] = answers
            # -1, where the fallback decides, is another label if the attacker likes
            if (agreed_labels(changed, sets, n_groups, radius) != before).any():
                return size - 1
    return largest or radius


@cache
def every_answer(n_labels, n_models):
    return np.array(list(product(range(n_labels), repeat=n_models)), dtype=np.int8)


def agreed_values(values, sets, n_groups, radius, side):
    """The value of each row of values (rows, models)."""
    if side == "mean":
        both = [agreed_values(values, sets, n_groups, radius, end) for end in ("lower", "upper")]
        return both[0] / 2 + both[1] / 2
    if side == "upper":
        return -agreed_values(-values, sets, n_groups, radius, "lower")
    least = [
        values[:, containing(sets, groups)].min(axis=1)
        for groups in combinations(range(n_groups), radius)
    ]
    return np.max(least, axis=0)


def value_attacks(values, sets, n_groups, size, rng, how_many):
    """Attacks on one row of values: everything very low, very high, and at random."""
    ends = np.array([values.min() - 1e9, values.max() + 1e9])
    for groups in attacks(n_groups, size):
        owned = attacked(sets, groups)
        changed = np.repeat(values[None], how_many + 2, axis=0)
        changed[0, owned], changed[1, owned] = ends
        choices = np.concatenate([ends, values])
        changed[2:, owned] = rng.choice(choices, size=(how_many, len(owned)))
        yield changed
