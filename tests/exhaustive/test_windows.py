"""Patches by agreement: every position, and everything that models which see it could say."""

from itertools import combinations, product

import numpy as np
import pytest

from partita.vision._window_votes import SettledVotes
from partita.vision._windows import check_patches, choose_grid, left_out_sets
from tests.exhaustive.left_out_attacker import agreed_labels, every_answer

CASES = [  # image, patches, windows, n_patches, labels, how many profiles of votes
    ((3, 3), (2, 2), 4, 1, 2, 64),
    ((4, 5), (2, 3), 4, 1, 3, 40),
    ((2, 6), (2, 3), 4, 1, 2, 64),
    ((5, 4), [(1, 2), (3, 1)], 3, 1, 3, 27),
    ((6, 3), (2, 2), 5, 2, 2, 32),
    ((1, 7), [(1, 2), (1, 1)], 3, 1, 2, 8),
]


def positions(shape, patches):
    """The pixels under every patch at every position."""
    for tall, wide in patches:
        for top, left in product(range(shape[0] - tall + 1), range(shape[1] - wide + 1)):
            under = np.zeros(shape, dtype=bool)
            under[top : top + tall, left : left + wide] = True
            yield under.ravel()


def profiles(n_models, n_labels, how_many):
    """All votes there are, or some of those that mostly agree; the fallback votes last."""
    if n_labels**n_models <= how_many:
        votes = np.array(list(product(range(n_labels), repeat=n_models)))
    else:
        rng = np.random.default_rng(n_models)
        votes = np.repeat(rng.integers(n_labels, size=(how_many, 1)), n_models, axis=1)
        share = rng.choice([0.5 / n_models, 1.5 / n_models, 0.4], size=(how_many, 1))
        other = rng.random(votes.shape) < share
        votes[other] = rng.integers(n_labels, size=other.sum())
    return np.concatenate([votes, np.arange(len(votes))[:, None] % n_labels], axis=1)


@pytest.mark.parametrize(("shape", "patches", "windows", "n_patches", "labels", "many"), CASES)
def test_no_patch_breaks_what_is_certified(shape, patches, windows, n_patches, labels, many):
    """The pixels decide which models a patch touches; grids are not consulted here."""
    shapes = check_patches(patches, shape)
    grid = choose_grid(shape, shapes, windows, n_patches)
    masks, left_out = grid.masks(), left_out_sets(len(grid), 2 * n_patches)
    sets = list(combinations(range(len(grid)), 2 * n_patches))
    seen = ~np.array([masks[list(chosen)].any(axis=0) for chosen in sets])
    votes = profiles(len(sets), labels, many)

    def ask(images, models):
        return votes[images, models]

    prediction, radius = SettledVotes(ask, len(votes), left_out, n_patches).certify()
    assert set(radius) >= {0, n_patches}
    touched = {
        tuple(np.flatnonzero((seen & under).any(axis=1)))
        for size in range(1, n_patches + 1)
        for chosen in combinations(list(positions(shape, shapes)), size)
        for under in [np.any(chosen, axis=0)]
        if size == n_patches
    }
    for row in range(len(votes)):
        if radius[row] < n_patches:
            continue
        for owned in touched:
            answers = every_answer(labels, len(owned))
            attacked = np.repeat(votes[row : row + 1, :-1], len(answers), axis=0)
            attacked[:, list(owned)] = answers
            # -1, where the fallback decides, is the attacker's
            found = agreed_labels(attacked, sets, len(grid), n_patches)
            assert (found == prediction[row]).all()


@pytest.mark.parametrize(("shape", "patches", "windows", "n_patches", "labels", "many"), CASES[:3])
def test_what_is_not_certified_can_be_broken_where_windows_are_tight(
    shape, patches, windows, n_patches, labels, many
):
    """Whoever owns a whole window breaks every image that is not certified."""
    shapes = check_patches(patches, shape)
    grid = choose_grid(shape, shapes, windows, n_patches)
    left_out = left_out_sets(len(grid), 2 * n_patches)
    sets = list(combinations(range(len(grid)), 2 * n_patches))
    votes = profiles(len(sets), labels, many)
    settled = SettledVotes(lambda images, models: votes[images, models], len(votes), left_out, 1)
    prediction, radius = settled.certify()
    for row in np.flatnonzero(radius == 0):
        broken = False
        for window in range(len(grid)):
            owned = np.flatnonzero(~left_out[:, window])
            answers = every_answer(labels, len(owned))
            attacked = np.repeat(votes[row : row + 1, :-1], len(answers), axis=0)
            attacked[:, owned] = answers
            found = agreed_labels(attacked, sets, len(grid), n_patches)
            broken |= bool((found != prediction[row]).any())
        assert broken
