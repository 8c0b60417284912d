"""Checking ballots, and turning them into scores for ranking.

Nothing here knows where ballots come from. Ranking scores carry no guarantee, so floating point is
fine here. No certificate may depend on them.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from .._support import Array
from ..ballots import Ballots
from ..errors import InputError

HIGHEST = -float(np.log(1e-9))  # scores are clipped to [-HIGHEST, HIGHEST] before averaging
TIE = 1e-9  # how far, as a share of it, a lowered score stays below the winner's


def as_ballots(ballots: Any) -> Ballots:
    """Return ballots (N, T, C), checked but for finite scores, which the kernels check."""
    array = _numbers("ballots", ballots, "(rows, submodels, classes)")
    if 0 in array.shape[1:]:
        raise InputError(
            f"ballots has shape {array.shape}: there must be at least one submodel and one class"
        )
    return _with_scores(ballots, array)


def as_values(votes: Any) -> Ballots:
    """Return values (N, T) as ballots of float64, finite where submodels vote."""
    array = _numbers("votes", votes, "(rows, submodels)")
    if array.shape[1] == 0:
        raise InputError(f"votes has shape {array.shape}: there must be at least one submodel")
    array = np.ascontiguousarray(array, dtype=np.float64)
    checked = _with_scores(votes, array)
    known = np.isfinite(array)
    if checked.abstentions is not None:
        known = known | checked.abstentions.submodels
    finite = known.all(axis=1)
    check_finite("votes", -1 if finite.all() else int(np.argmin(finite)))
    return checked


def _numbers(name: str, ballots: Any, axes: str) -> Array:
    """Return ballots as an array of numbers with the named axes."""
    try:
        array = np.asarray(ballots)
    except ValueError as exc:
        raise InputError(f"{name} is ragged: give an array of shape {axes}") from exc
    if array.ndim != axes.count(",") + 1:
        raise InputError(f"{name} has shape {array.shape}: it must be {axes}")
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} holds {array.dtype}, not numbers: give one for each of {axes}")
    return array


def _with_scores(ballots: Any, scores: Array) -> Ballots:
    if not isinstance(ballots, Ballots):
        return Ballots(scores)
    return ballots if scores is ballots.scores else replace(ballots, scores=scores)


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
