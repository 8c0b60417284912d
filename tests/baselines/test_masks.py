"""Random ablations: uniform sets, and an encoding of their own."""

import math

import numpy as np
import pytest

from partita.baselines._ablation import ablate, random_masks


@pytest.mark.parametrize("keep", [1, 2, 3, 4, 6])
def test_all_sets_of_columns_are_equally_likely(keep):
    kept = random_masks(np.random.default_rng(7), 30_000, 6, keep)
    assert (kept.sum(axis=1) == keep).all()
    _, counts = np.unique(kept @ (1 << np.arange(6)), return_counts=True)
    n = math.comb(6, keep)
    assert len(counts) == n
    spread = (
        (counts - 30_000 / n) ** 2 / (30_000 / n)
    ).sum()  # chi-square with n - 1 degrees: five standard deviations
    assert spread <= n - 1 + 5 * math.sqrt(2 * (n - 1))


def test_an_ablated_column_is_unlike_any_value():
    rows = ablate(
        np.array([0.0, 0.25, 1.0], dtype=np.float32),
        np.array([[True, True, True], [False, True, False]]),
    )
    assert rows.tolist() == [[0, 0.25, 1, 1, 0.75, 0], [0, 0.25, 0, 0, 0.75, 0]]
    assert rows.dtype == np.float32
