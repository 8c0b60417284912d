"""From ballots to radii in integers: compiled where numba is installed, in numpy otherwise, with
equal answers.

``python -m partita.kernels`` compiles everything once, so that no later process waits for it.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from .._support.types import Array

BLOCK = (
    2**18
)  # scores in a block of rows: small enough for a core's cache, large enough to hide the call


@cache
def _kernels() -> ModuleType:
    try:
        from . import compiled
    except ImportError:
        from . import plain

        return plain
    return compiled


def _threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def over_rows(work: Callable[[slice], int], n_rows: int, per_row: int) -> int:
    """Run ``work`` on blocks of rows in threads; the first row that any of them complains of, -1
    where none does."""
    step = max(1, BLOCK // max(1, per_row))
    blocks = [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]

    def complaint(block: slice) -> int:
        bad = work(block)
        return block.start + bad if bad >= 0 else n_rows

    if len(blocks) <= 1:
        first = min(map(complaint, blocks), default=n_rows)
    else:
        with ThreadPoolExecutor(min(_threads(), len(blocks))) as pool:
            first = min(pool.map(complaint, blocks))
    return -1 if first == n_rows else first


def as_floats(block: Array) -> Array:
    """A block of scores in a type the kernels know; float32 and float64 stay as they are."""
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(np.float32 if block.dtype in (np.float16, np.bool_) else np.float64)
    return np.ascontiguousarray(block)


def decide(
    name: str, ballots: Array, setting: Any, labels: Array | None = None, shift: Array | None = None
) -> tuple[Array, Array, Array, int]:
    """Prediction, radius and runner-up of every row, and the first row that is not finite (-1:
    none)."""
    n_rows, n_submodels, n_labels = ballots.shape
    kernel = getattr(_kernels(), name)
    prediction = np.zeros(n_rows, np.int64) if labels is None else labels.astype(np.int64)
    radius, runner_up = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)

    def work(rows: slice) -> int:
        block = as_floats(ballots[rows])
        if shift is not None:
            block = block.astype(np.float64) - shift
        bad: int = kernel(block, setting, prediction[rows], radius[rows], runner_up[rows])
        return bad

    bad = over_rows(work, n_rows, n_submodels * n_labels)
    return prediction, radius, runner_up, bad


def stay_inside(votes: Array, lower: Array, upper: Array) -> tuple[Array, int]:
    """How many votes an attacker may set before their lower median leaves [lower, upper], and the
    first row that is not finite."""
    radius = np.zeros(len(votes), np.int64)

    def work(rows: slice) -> int:
        bad: int = _kernels().median(votes[rows], lower[rows], upper[rows], radius[rows])
        return bad

    return radius, over_rows(work, len(votes), votes.shape[1])


Gaps = tuple[Array, Array]  # losses (rows, rivals, submodels) and budgets (rows, rivals)


def gaps(name: str, ballots: Array, setting: Any, shift: Array | None = None) -> Gaps:
    """A decision on a block of finite ballots, written out as losses and budgets."""
    block = as_floats(ballots)
    if shift is not None:
        block = block.astype(np.float64) - shift
    n_rows, n_submodels, n_labels = block.shape
    losses, budgets = (
        np.zeros((n_rows, n_labels, n_submodels), np.int32),
        np.zeros((n_rows, n_labels), np.int64),
    )
    getattr(_kernels(), f"{name}_losses")(block, setting, losses, budgets)
    return losses, budgets


def median_gaps(votes: Array, lower: Array, upper: Array) -> Gaps:
    """The same for a median and its two bounds."""
    losses, budgets = (
        np.zeros((len(votes), 2, votes.shape[1]), np.int32),
        np.zeros((len(votes), 2), np.int64),
    )
    _kernels().median_losses(votes, lower, upper, losses, budgets)
    return losses, budgets


def reach_radius(
    gap_form: Gaps, starts: Array, members: Array, largest: int
) -> tuple[Array, Array]:
    """The radius in groups of submodels, and the rival, of every row."""
    radius, rival = np.zeros(len(gap_form[1]), np.int64), np.zeros(len(gap_form[1]), np.int64)
    _kernels().reach_radius(*gap_form, starts, members, largest, radius, rival)
    return radius, rival


def worst_choice(
    size: int, losses: Array, budgets: Array, rows: Array, starts: Array, members: Array
) -> tuple[int, Array]:
    """The most rows that fall to one choice of ``size`` groups, and the choice; every choice is
    tried, in threads."""
    n_groups = len(starts) - 1

    def try_from(first: int) -> tuple[int, Array]:
        chosen = np.zeros(size, np.int64)
        return int(
            _kernels().worst_choice(first, size, losses, budgets, rows, starts, members, chosen)
        ), chosen

    with ThreadPoolExecutor(_threads()) as pool:
        tried = list(pool.map(try_from, range(n_groups - size + 1)))
    return max(tried, key=lambda one: one[0])
