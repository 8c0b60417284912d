"""A few submodels are fitted again, alone, and must say the same to the last bit.

Submodels are fitted in threads. Whatever they share there (a library's generator, numpy's global
one, a cache) lets one column reach submodels that do not own it, which no proof allows for. What no
list of settings foresees, this finds."""

from typing import Any

import numpy as np

from .._support.strictness import warn_or_raise
from .._support.types import Array
from ..errors import SoundnessError
from ._failures import FixedVote

MOST = 3  # submodels that are fitted again
SHARE = 7  # one of so many
ROWS = 500  # that both are asked about

CURE = (
    "seed everything random in the estimator; if that does not help, its submodels share "
    "something between threads: n_jobs=1 keeps "
    "them apart"
)


def canaries(n_submodels: int) -> list[int]:
    """The submodels that are fitted again: the middle one, and with more submodels the ends."""
    number = min(MOST, max(1, n_submodels // SHARE))
    return {1: [n_submodels // 2], 2: [0, n_submodels - 1]}.get(
        number, [0, n_submodels // 2, n_submodels - 1]
    )


def sample_rows(n_rows: int) -> Array:
    """Some of the training rows, evenly spread."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, ROWS)).astype(np.int64))


def check_same(before: Array, after: Array, name: str) -> None:
    """Refuse a submodel whose scores are others when it is fitted again."""
    equal = np.array_equal(before, after, equal_nan=True)
    if not equal:
        differ = (
            float(np.mean((before != after).reshape(len(before), -1).any(axis=1)))
            if before.shape == after.shape
            else 1.0
        )
        raise SoundnessError(
            f"{name} gives other scores ({differ:.0%} of rows) when it is fitted again on the "
            f"same columns, so no radius would hold: {CURE}"
        )


def failed_differently(before: Any, after: Any) -> bool:
    return isinstance(before, FixedVote) != isinstance(after, FixedVote)


class GlobalGenerator:
    """Watches numpy's global generator: a submodel that draws from it depends on whatever was drawn
    before.

    Python's own is left alone: clusters draw from it for their own affairs while they fit.
    """

    def __init__(self) -> None:
        self._before = _state()

    def check(self, strict: bool) -> None:
        """Warn, or refuse, if something was drawn since."""
        if _state() != self._before:
            warn_or_raise(
                "numpy's global generator was drawn from while the submodels were fitted, so "
                "their votes depend on more than their "
                "columns: give everything in the estimator a random_state",
                strict,
            )


def _state() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state(legacy=True)
    return name, np.asarray(keys).tobytes(), *rest
