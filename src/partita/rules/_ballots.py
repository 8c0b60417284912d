"""Checking ballots, and turning them into scores for ranking.

Ballots are an array of shape (rows, submodels, classes); nothing here knows where they come from.
Ranking scores carry no guarantee, so floating point is fine here. No certificate may depend on
them.
"""

from typing import Any

import numpy as np

from .._support.types import Array
from ..errors import InputError

HIGHEST = -float(np.log(1e-9))  # scores are clipped to [-HIGHEST, HIGHEST] before averaging
TIE = 1e-9  # how far, as a share of it, a lowered score stays below the winner's


def as_ballots(ballots: Any) -> Array:
    """Return ballots as a numeric array (N, T, C); the kernels check that they are finite."""
    try:
        array = np.asarray(ballots)
    except ValueError as exc:
        raise InputError(
            "ballots is ragged: give every row the same submodels and classes"
        ) from exc
    if array.ndim != 3:
        raise InputError(f"ballots has shape {array.shape}: it must be (rows, submodels, classes)")
    if array.dtype.kind not in "fiub":
        raise InputError(
            f"ballots holds {array.dtype}, not numbers: give one score for every row, submodel "
            "and class"
        )
    if 0 in array.shape[1:]:
        raise InputError(
            f"ballots has shape {array.shape}: there must be at least one submodel and one class"
        )
    return array


def check_finite(name: str, bad_row: int) -> None:
    """Raise if a kernel found a row that is not finite (-1: none)."""
    if bad_row >= 0:
        raise InputError(
            f"{name} holds a NaN or an infinity in row {bad_row}: replace it by a fixed finite "
            "score before certifying"
        )


def mean_scores(ballots: Array) -> Array:
    """Average the submodels' scores, each clipped to the range of a log-probability."""
    return np.asarray(np.clip(ballots, -HIGHEST, HIGHEST).mean(axis=1, dtype=np.float64))


def vote_shares(ballots: Array) -> Array:
    """Compute the share of submodels that vote for each class: (rows, classes)."""
    votes = ballots.argmax(axis=2)
    return np.stack([(votes == label).mean(axis=1) for label in range(ballots.shape[2])], axis=1)


def softmax(scores: Array) -> Array:
    """Turn scores (rows, classes) into positive shares with sum 1."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def with_winner(shares: Array, winner: Array) -> Array:
    """Change shares as little as possible so that each row's winner has the largest.

    Classes above the winner come down to one common level with it.
    """
    out = np.array(shares, dtype=np.float64)
    rows = np.arange(len(out))
    own = out[rows, winner]
    rest = out.copy()
    rest[rows, winner] = 0
    for i in np.flatnonzero((rest >= own[:, None]).any(axis=1) & (rest.max(axis=1) > 0)):
        ordered = np.sort(np.delete(out[i], winner[i]))[::-1]
        for k in range(1, len(ordered) + 1):  # the k largest share one level with the winner
            level = (own[i] + ordered[:k].sum()) / (k + 1)
            if k == len(ordered) or ordered[k] <= level:
                break
        out[i] = np.minimum(out[i], level * (1 - TIE))
        out[i, winner[i]] = 0
        out[i, winner[i]] = 1 - out[i].sum()
    return out
