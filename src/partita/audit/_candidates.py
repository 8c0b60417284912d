"""What an attacker writes into the columns of a unit."""

from collections.abc import Iterator

import numpy as np

from .._support.types import Array
from ._attacked_table import Cells
from ._hostile_values import FAMILIES, mixtures, rewritten, ways, written

DONORS = 4  # times that a unit takes its values from other rows


def evading(
    cells: Cells, columns: tuple[int, ...], rng: np.random.Generator
) -> Iterator[tuple[str, dict[int, Array]]]:
    """Values for a unit's columns in all rows, and what they are: values of other rows, the ends of
    the range and far beyond, extremes, infinities, gaps, strange texts, and those in one of the
    columns alone."""
    for _ in range(DONORS):
        donors = rng.permutation(cells.n_rows)
        yield "other rows", {column: cells.columns[column][donors] for column in columns}
    of_texts = not any(cells.of_numbers(column) or cells.of_bytes(column) for column in columns)
    for end in range(2 if of_texts else 4):
        yield "ends", {column: _extreme(cells, column, end) for column in columns}
    for family in FAMILIES:
        for way in range(ways(family, cells, columns)):
            yield family, rewritten(family, way, cells, columns)
    yield from mixtures(cells, columns, rng)


def _extreme(cells: Cells, column: int, end: int) -> Array:
    """0: the lowest value, 1: the highest, 2 and 3: far beyond them; of texts the commonest and the
    rarest."""
    own = cells.columns[column]
    if cells.of_bytes(column):
        return np.full(len(own), (0, 255, int(own.min()), int(own.max()))[end], dtype=np.uint8)
    if cells.of_numbers(column):
        there = own[np.isfinite(own)]
        low, high = (there.min(), there.max()) if len(there) else (0.0, 1.0)
        width = min(float(high - low) or 1.0, 1e300)
        largest = float(np.finfo(cells.float_type()).max)
        return np.full(
            len(own),
            np.clip((low, high, low - 100 * width, high + 100 * width)[end], -largest, largest),
        )
    cells_there = [value for value in own if value is not None and value == value]
    _, places, counts = np.unique(
        [str(value) for value in cells_there], return_index=True, return_counts=True
    )
    known = [cells_there[place] for place in places[np.argsort(-counts, kind="stable")]] or [None]
    return written(own, known[-(end % 2)])


POISONS = ("noise", "constant", "permutation", "label")


def poisoned(kind: str, cells: Cells, column: int, y: Array, rng: np.random.Generator) -> Array:
    """What a column of the training table becomes: noise, a constant, a permutation of itself, or a
    function of the label."""
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
        there = own[np.isfinite(own)]
        return rng.standard_normal(len(own)) * (
            float(np.std(there)) if len(there) and np.std(there) > 0 else 1.0
        )
    if cells.of_texts(column):
        return np.array([f"noise {k}" for k in rng.integers(0, 10, len(own))], dtype=object)
    return own[rng.integers(len(own), size=len(own))]


def trigger(cells: Cells, column: int, wanted: Array) -> Array:
    """A value that stands for a label (its place among all labels) or for a target value, in the
    column's own kind.

    Written into training rows beside their own label, and into a row to be predicted beside the
    label that is wanted, it makes of a submodel what the attacker likes."""
    codes = np.asarray(wanted, dtype=np.float64)
    if cells.of_bytes(column):
        return np.clip(codes * 20, 0, 255).astype(np.uint8)
    if cells.of_numbers(column):
        return codes
    if cells.of_texts(column):
        return np.array([f"trigger {code:g}" for code in codes], dtype=object)
    places = np.clip(codes, 0, 1e4).astype(np.int64)
    if not any(isinstance(value, np.datetime64) for value in cells.columns[column]):
        return cells.columns[column][
            places % cells.n_rows
        ]  # values of a type that cannot be made up: some of the column's own
    new = np.empty(len(places), dtype=object)
    new[:] = [
        np.datetime64("2000-01-01T00:00:00") + np.timedelta64(place, "D")
        for place in places.tolist()
    ]
    return new
