"""What an attacker writes into the columns of a unit."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import Cells

Array = NDArray[Any]

DONORS = 4  # times that a unit takes its values from other rows
UNSEEN = "what nobody ever wrote here"


def evading(cells: Cells, columns: tuple[int, ...], rng: np.random.Generator) -> Iterator[dict[int, Array]]:
    """Values for a unit's columns in all rows: ends of the range, far beyond, gaps, unseen texts, values of other rows."""
    for _ in range(DONORS):
        donors = rng.permutation(cells.n_rows)
        yield {column: cells.columns[column][donors] for column in columns}
    for end in range(4):
        yield {column: _extreme(cells, column, end) for column in columns}
    if not any(cells.of_bytes(column) for column in columns):
        yield {column: _gaps(cells, column) for column in columns}


def _extreme(cells: Cells, column: int, end: int) -> Array:
    """0: the lowest value, 1: the highest, 2 and 3: far beyond them; of texts: the commonest, the rarest, an unseen one, an empty one."""
    own = cells.columns[column]
    if cells.of_bytes(column):
        return np.full(len(own), (0, 255, int(own.min()), int(own.max()))[end], dtype=np.uint8)
    if cells.of_numbers(column):
        there = own[np.isfinite(own)]
        low, high = (there.min(), there.max()) if len(there) else (0.0, 1.0)
        width = (high - low) or 1.0
        return np.full(len(own), (low, high, low - 100 * width, high + 100 * width)[end])
    texts, counts = np.unique([str(value) for value in own if value is not None and value == value], return_counts=True)
    known = texts[np.argsort(-counts, kind="stable")].tolist() or [UNSEEN]
    return np.array([(known[0], known[-1], UNSEEN, "")[end]] * len(own), dtype=object)


def _gaps(cells: Cells, column: int) -> Array:
    return np.full(cells.n_rows, np.nan) if cells.of_numbers(column) else np.array([None] * cells.n_rows, dtype=object)


POISONS = ("noise", "constant", "permutation", "label")


def poisoned(kind: str, cells: Cells, column: int, y: Array, rng: np.random.Generator) -> Array:
    """What a column of the training table becomes: noise, a constant, a permutation of itself, or a function of the label."""
    own = cells.columns[column]
    if kind == "permutation":
        return own[rng.permutation(len(own))]
    if kind == "constant":
        return np.full(len(own), own[int(rng.integers(len(own)))], dtype=own.dtype)
    if kind == "label":
        return trigger(cells, column, y)
    if cells.of_bytes(column):
        return rng.integers(0, 256, len(own)).astype(np.uint8)
    if cells.of_numbers(column):
        return rng.standard_normal(len(own)) * (np.nanstd(own) or 1.0)
    return np.array([f"noise {k}" for k in rng.integers(0, 10, len(own))], dtype=object)


def trigger(cells: Cells, column: int, wanted: Array) -> Array:
    """A value that stands for a label (its place among all labels) or for a target value, in the column's own kind.

    Written into training rows beside their own label, and into a row to be predicted beside the label that is wanted, it makes of a
    submodel what the attacker likes.
    """
    codes = np.asarray(wanted, dtype=np.float64)
    if cells.of_bytes(column):
        return np.clip(codes * 20, 0, 255).astype(np.uint8)
    return codes if cells.of_numbers(column) else np.array([f"trigger {code:g}" for code in codes], dtype=object)
