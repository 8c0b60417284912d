"""Canaries: a few submodels are fitted again, and must score the same to the last bit.

Submodels are fitted in threads. Whatever they share there (a library's generator, numpy's global
one, a cache) lets one column reach submodels that do not own it, which no proof allows for. The
second time a submodel is fitted at the end, beside others than the first time, so that what it got
from its neighbours is something else. This finds what no list of settings foresees.
"""

from typing import Any

import numpy as np

from .._support import Array, warn_or_raise
from ..errors import SoundnessError
from ._failures import FixedVote

MOST_CANARIES = 3
MANY_ROWS = 100_000  # from here on one canary: fits take long, and what is shared reaches them all
SUBMODELS_PER_CANARY = 7
ROWS = 500  # training rows on which scores are compared

CANARY_CURE = (
    "seed everything random in the estimator; if that does not help, its submodels share "
    "something between threads, which n_jobs=1 prevents"
)


def canaries(n_submodels: int, n_rows: int) -> list[int]:
    """Choose the submodels to fit again: the middle one, and with more submodels the ends."""
    number = min(MOST_CANARIES, max(1, n_submodels // SUBMODELS_PER_CANARY))
    if n_rows >= MANY_ROWS:
        number = 1
    first, middle, last = 0, n_submodels // 2, n_submodels - 1
    return {1: [middle], 2: [first, last]}.get(number, [first, middle, last])


def sample_rows(n_rows: int) -> Array:
    """Choose training rows, evenly spread."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, ROWS)).astype(np.int64))


def check_same_fit(before: Any, after: Any, name: str) -> None:
    """Refuse a submodel that fails in one of two fits on the same columns."""
    if isinstance(before, FixedVote) != isinstance(after, FixedVote):
        raise SoundnessError(
            f"{name} fails at random when it is fitted again, so no radius would hold: find out "
            "why first"
        )


def check_same_scores(before: Array, after: Array, name: str) -> None:
    """Refuse a submodel whose scores differ when it is fitted again on the same columns."""
    if np.array_equal(before, after, equal_nan=True):
        return
    differ = 1.0
    if before.shape == after.shape:
        differ = float(np.mean((before != after).reshape(len(before), -1).any(axis=1)))
    raise SoundnessError(
        f"{name} gives other scores ({differ:.0%} of rows) when it is fitted again on the "
        f"same columns, so no radius would hold: {CANARY_CURE}"
    )


class GlobalGenerator:
    """Notices draws from numpy's global generator, which depend on whatever was drawn before.

    Python's own generator is not watched: clusters draw from it for their own purposes during a
    fit.
    """

    def __init__(self) -> None:
        self._before = _state()

    def check(self, strict: bool) -> None:
        """Warn, or raise if ``strict``, if something was drawn since."""
        if _state() != self._before:
            warn_or_raise(
                "numpy's global generator was drawn from while the submodels were fitted, so "
                "their votes depend on more than their columns: give everything in the estimator "
                "a random_state",
                strict,
            )


def _state() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state(legacy=True)
    return name, np.asarray(keys).tobytes(), *rest
