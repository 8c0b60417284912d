"""Six columns of three values each: few enough to try every attack."""

import itertools

import numpy as np

from partita.baselines._ablation import ablate

GRID = np.array(list(itertools.product([0, 0.5, 1], repeat=6)))


CORNERS = np.flatnonzero((GRID != 0.5).all(axis=1))


DISTANCE = (GRID[:, None] != GRID[None]).sum(axis=2)


PAIRS = {f"pair {k}": [k, k + 6] for k in range(6)}  # six units of two columns, which lie apart


def all_predictions(model, keep):
    """What the fitted model says about every ablation of every row of the grid: (rows,
    ablations)."""
    kept = np.array(
        [[k in some for k in range(6)] for some in itertools.combinations(range(6), keep)]
    )
    rows = ablate(GRID.astype(np.float32)[:, None], kept)
    return model.estimator_.predict(rows.reshape(-1, 12)).reshape(rows.shape[:2])
