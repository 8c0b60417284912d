"""Random ablations: which units a draw keeps, and the encoding of ablated rows.

A column enters as two numbers, ``(x, 1 - x)`` with x scaled to [0, 1]; an ablated column enters as
``(0, 0)``, which no value of x gives.
"""

import numpy as np

from .._support import Array


def random_masks(rng: np.random.Generator, n_draws: int, d: int, keep: int) -> Array:
    """Sets of ``keep`` of ``d`` units, all sets equally likely, as bool (n_draws, d).

    The first steps of a shuffle, in all draws at once. Sorting random floats would do but for ties;
    whole numbers have no such bias.
    """
    fewer = min(keep, d - keep)  # choosing what is ablated is choosing what is kept
    order = np.tile(np.arange(d, dtype=np.int32), (n_draws, 1))
    draw = np.arange(n_draws)
    for k in range(fewer):
        partner = rng.integers(k, d, size=n_draws)
        order[draw, partner], order[:, k] = order[:, k].copy(), order[draw, partner]
    chosen = np.zeros((n_draws, d), dtype=bool)
    chosen[draw[:, None], order[:, :fewer]] = True
    return chosen if fewer == keep else ~chosen


def ablate(scaled: Array, masks: Array) -> Array:
    """The doubled encoding, float32 (..., 2 d), of rows in [0, 1]; a mask is True where kept.

    Rows and masks are broadcast against each other.
    """
    d = masks.shape[-1]
    shape = np.broadcast_shapes(scaled.shape, masks.shape)[:-1]
    rows = np.empty((*shape, 2 * d), dtype=np.float32)
    np.multiply(scaled, masks, out=rows[..., :d])
    np.multiply(1 - scaled, masks, out=rows[..., d:])
    return rows
