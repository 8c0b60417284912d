"""Ballots to radii in integers, in compiled code.

Rows are split into blocks that run in threads; the kernels release the GIL and start no threads of
their own. Arguments come in checked. ``python
-m partita.kernels`` compiles everything once, so that no later process waits for it.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import NamedTuple, TypeAlias

import numpy as np

from .._support import Array

# scores in a block of rows: small enough for a core's cache, large enough to hide the call
BLOCK = 2**18

FAR = 2**62  # a radius or budget that nothing reaches

# what the kernel of a rule needs: a number, or a tournament's margin and head starts
Setting: TypeAlias = float | tuple[float, Array]

Gaps = tuple[Array, Array]  # losses (rows, opponents, submodels) and budgets (rows, opponents)


def _kernels() -> ModuleType:
    """Import the compiled kernels at first use, because importing numba takes a while."""
    from . import compiled

    return compiled


def _threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def over_rows(work: Callable[[slice], int], n_rows: int, per_row: int) -> int:
    """Run ``work`` on blocks of rows in threads.

    ``work`` returns the first bad row of its block, or -1; so does this function for all rows.
    """
    step = max(1, BLOCK // max(1, per_row))
    blocks = [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]

    def first_bad(block: slice) -> int:
        bad = work(block)
        return block.start + bad if bad >= 0 else n_rows

    if len(blocks) <= 1:
        first = min(map(first_bad, blocks), default=n_rows)
    else:
        with ThreadPoolExecutor(min(_threads(), len(blocks))) as pool:
            first = min(pool.map(first_bad, blocks))
    return -1 if first == n_rows else first


def as_floats(block: Array) -> Array:
    """Convert a block of scores to a type the kernels know; float32 and float64 stay."""
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(np.float32 if block.dtype in (np.float16, np.bool_) else np.float64)
    return np.ascontiguousarray(block)


def _shifted(ballots: Array, shift: Array | None) -> Array:
    block = as_floats(ballots)
    return block if shift is None else block.astype(np.float64) - shift


def decide(
    name: str,
    ballots: Array,
    setting: Setting,
    labels: Array | None = None,
    shift: Array | None = None,
) -> tuple[Array, Array, Array, int]:
    """Return each row's prediction, radius and runner-up, and the first row that is not finite.

    The latter is -1 where all are.
    """
    n_rows, n_submodels, n_labels = ballots.shape
    kernel = getattr(_kernels(), name)
    prediction = np.zeros(n_rows, np.int64) if labels is None else labels.astype(np.int64)
    radius, runner_up = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)

    def work(rows: slice) -> int:
        block = _shifted(ballots[rows], shift)
        bad: int = kernel(block, setting, prediction[rows], radius[rows], runner_up[rows])
        return bad

    bad = over_rows(work, n_rows, n_submodels * n_labels)
    return prediction, radius, runner_up, bad


class Rows(NamedTuple):
    """An array of which a kernel gets a block's rows."""

    array: Array


def fill(name: str, per_row: int, *arguments: object) -> None:
    """Run a kernel on blocks of rows; among its arguments are the arrays that it fills."""
    kernel = getattr(_kernels(), name)

    def work(rows: slice) -> int:
        kernel(*(one.array[rows] if isinstance(one, Rows) else one for one in arguments))
        return -1

    n_rows = next(len(one.array) for one in arguments if isinstance(one, Rows))
    over_rows(work, n_rows, per_row)


def stay_inside(votes: Array, lower: Array, upper: Array) -> Array:
    """Count the votes an attacker may set before the lower median leaves [lower, upper]."""
    radius = np.zeros(len(votes), np.int64)
    fill("median", votes.shape[1], *map(Rows, (votes, lower, upper, radius)))
    return radius


def gaps(name: str, ballots: Array, setting: Setting, shift: Array | None = None) -> Gaps:
    """Write the decisions on a block of finite ballots out as losses and budgets."""
    block = _shifted(ballots, shift)
    n_rows, n_submodels, n_labels = block.shape
    losses = np.zeros((n_rows, n_labels, n_submodels), np.int32)
    budgets = np.zeros((n_rows, n_labels), np.int64)
    getattr(_kernels(), f"{name}_losses")(block, setting, losses, budgets)
    return losses, budgets


def median_gaps(votes: Array, lower: Array, upper: Array) -> Gaps:
    """Write medians and their two bounds out as losses and budgets."""
    losses = np.zeros((len(votes), 2, votes.shape[1]), np.int32)
    budgets = np.zeros((len(votes), 2), np.int64)
    _kernels().median_losses(votes, lower, upper, losses, budgets)
    return losses, budgets


def reach_radius(
    gap_form: Gaps, starts: Array, members: Array, largest: int
) -> tuple[Array, Array]:
    """Return each row's radius in groups of submodels, and the nearest opponent."""
    radius, runner_up = np.zeros((2, len(gap_form[1])), np.int64)
    _kernels().reach_radius(*gap_form, starts, members, largest, radius, runner_up)
    return radius, runner_up


def frontier(
    gap_form: Gaps, full_vote: int, groups: tuple[Array, Array], apart: bool, n_silent: int
) -> Array:
    """Return how many groups may lie while m others abstain: (rows, m = 0 ... n_silent).

    -1: m abstentions alone break the row; ``FAR``: nothing does.
    """
    radius = np.zeros((len(gap_form[1]), n_silent + 1), np.int64)
    _kernels().frontier(*gap_form, full_vote, *groups, apart, radius)
    return radius


def runoff_frontier(ballots: Array, n_silent: int) -> Array:
    """Return :func:`frontier` of the run-off on a block of finite ballots, in submodels."""
    radius = np.zeros((len(ballots), n_silent + 1), np.int64)
    _kernels().runoff_frontier(as_floats(ballots), radius)
    return radius


def topk_frontier(ballots: Array, k: int, labels: Array, idle: Array, n_silent: int) -> Array:
    """Return :func:`frontier` of the top k; ``idle[i]`` more submodels may be made to vote."""
    radius = np.zeros((len(ballots), n_silent + 1), np.int64)
    _kernels().topk_frontier(
        as_floats(ballots), k, labels.astype(np.int64), idle.astype(np.int64), radius
    )
    return radius


def possible_labels(
    name: str,
    ballots: Array,
    setting: Setting,
    attackable: Array,
    idle: Array,
    most: int,
    shift: Array | None = None,
) -> Array:
    """Return the labels that attacks on ``most`` submodels can bring about: bool (rows, labels).

    ``attackable``: which submodels an attacker can reach in each row; ``idle``: how many more can
    be made to vote. Ballots are finite.
    """
    kernel, (n_rows, n_submodels, n_labels) = getattr(_kernels(), f"{name}_labels"), ballots.shape
    possible = np.ones((n_rows, n_labels), np.bool_)

    def work(rows: slice) -> int:
        block = _shifted(ballots[rows], shift)
        kernel(block, setting, attackable[rows], idle[rows], most, possible[rows])
        return -1

    over_rows(work, n_rows, n_submodels * n_labels**2)
    return possible


def worst_choice(
    size: int, losses: Array, budgets: Array, rows: Array, starts: Array, members: Array
) -> tuple[int, Array]:
    """Return the most rows that fall to one choice of ``size`` groups, and the choice.

    Every choice is tried, in threads.
    """
    n_groups = len(starts) - 1

    def try_from(first: int) -> tuple[int, Array]:
        chosen = np.zeros(size, np.int64)
        fallen = _kernels().worst_choice(
            first, size, losses, budgets, rows, starts, members, chosen
        )
        return int(fallen), chosen

    with ThreadPoolExecutor(_threads()) as pool:
        results = list(pool.map(try_from, range(n_groups - size + 1)))
    return max(results, key=lambda result: result[0])


def tree_sums(
    X: Array, nodes: tuple[Array, ...], codes: tuple[Array, Array], roots: Array, start: Array
) -> Array:
    """Return the sums of the leaves that each row reaches, from ``start`` on."""
    sums = np.repeat(start[None], len(X), axis=0)
    X = np.ascontiguousarray(X, dtype=np.float64)
    fill("tree_sums", len(roots), Rows(X), *nodes, *codes, roots, Rows(sums))
    return sums


def agreement(
    votes: Array, tables: tuple[Array, ...], fallback: Array, n_labels: int
) -> tuple[Array, Array, Array]:
    """Return the label that models leaving groups out agree on, its radius, and the runner-up."""
    decided = np.zeros((3, len(votes)), np.int64)
    votes = np.ascontiguousarray(votes, dtype=np.int32)  # one type: compiled once
    inputs = Rows(votes), *tables, Rows(fallback), n_labels
    fill("agreement", votes.shape[1], *inputs, *map(Rows, decided))
    prediction, radius, runner_up = decided
    return prediction, radius, runner_up


def agreement_bounds(values: Array, tables: tuple[Array, ...], side: int) -> tuple[Array, Array]:
    """Bound what an attacker can make of a value that models leaving groups out agree on."""
    low, high = np.zeros((2, len(values)))
    fill("agreement_bounds", values.shape[1], Rows(values), *tables, side, Rows(low), Rows(high))
    return low, high


def pooled_votes(scores: Array, starts: Array, members: Array) -> Array:
    """Return each model's label: the largest sum of its members' scores."""
    votes = np.zeros((len(scores), len(starts) - 1), np.int32)
    _kernels().pooled_votes(scores, starts, members, votes)
    return votes


def pooled_means(values: Array, starts: Array, members: Array) -> Array:
    """Return each model's value: the mean of its members' values."""
    means = np.zeros((len(values), len(starts) - 1))
    _kernels().pooled_means(values, starts, members, means)
    return means
