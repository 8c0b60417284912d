"""What an attacker writes into the columns of a unit, in rows to predict and in training."""

from collections.abc import Iterator

import numpy as np

from .._support import Array
from ..tables import is_missing
from ._attacked_table import AttackedTable
from ._hostile_values import FAMILIES, hostile_columns, mixtures, n_variants, with_value

DONATIONS = 4  # times that a unit takes its values from other rows
OTHER_ROWS, ENDS = HONEST = ("other rows", "ends")  # values that tables may well hold
POISONS = ("noise", "constant", "permutation", "label")


def evasion_candidates(
    table: AttackedTable, columns: tuple[int, ...], rng: np.random.Generator
) -> Iterator[tuple[str, dict[int, Array]]]:
    """Values for a unit's columns in all rows, and what they are.

    Values of other rows, the ends of the range and far beyond, hostile values, and hostile values
    in one of the columns alone.
    """
    for _ in range(DONATIONS):
        donors = rng.permutation(table.n_rows)
        yield OTHER_ROWS, {column: table.columns[column][donors] for column in columns}
    ordered = any(table.is_numeric(column) or table.is_bytes(column) for column in columns)
    for end in range(4 if ordered else 2):
        yield ENDS, {column: end_of_range(table, column, end) for column in columns}
    for family in FAMILIES:
        for variant in range(n_variants(family, table, columns)):
            yield family, hostile_columns(family, variant, table, columns)
    yield from mixtures(table, columns, rng)


def end_of_range(table: AttackedTable, column: int, end: int) -> Array:
    """0: the lowest value, 1: the highest, 2 and 3: far beyond them.

    Of texts 0 is the most frequent and 1 the rarest.
    """
    own = table.columns[column]
    if table.is_bytes(column):
        return np.full(len(own), (0, 255, int(own.min()), int(own.max()))[end], dtype=np.uint8)
    if table.is_numeric(column):
        present = own[np.isfinite(own)]
        low, high = (present.min(), present.max()) if len(present) else (0.0, 1.0)
        width = min(float(high - low) or 1.0, 1e300)
        value = (low, high, low - 100 * width, high + 100 * width)[end]
        largest = float(np.finfo(table.float_type()).max)
        return np.full(len(own), np.clip(value, -largest, largest))
    values = [value for value in own if not is_missing(value)]
    _, places, counts = np.unique(
        [str(value) for value in values], return_index=True, return_counts=True
    )
    by_frequency = [values[place] for place in places[np.argsort(-counts, kind="stable")]]
    return with_value(own, (by_frequency or [None])[-(end % 2)])


def poisoned_column(
    kind: str, table: AttackedTable, column: int, y: Array, rng: np.random.Generator
) -> Array:
    """What a training column becomes: noise, a constant, a permutation, or a function of y."""
    own = table.columns[column]
    if kind == "permutation":
        return own[rng.permutation(len(own))]
    if kind == "constant":
        return np.full(len(own), own[int(rng.integers(len(own)))], dtype=own.dtype)
    if kind == "label":
        return trigger(table, column, y)
    if table.is_bytes(column):
        return rng.integers(0, 256, len(own)).astype(np.uint8)
    if table.is_numeric(column):
        present = own[np.isfinite(own)]
        deviation = float(np.std(present)) if len(present) else 0.0
        return rng.standard_normal(len(own)) * (deviation if deviation > 0 else 1.0)
    if table.has_text(column):
        return np.array([f"noise {k}" for k in rng.integers(0, 10, len(own))], dtype=object)
    return own[rng.integers(len(own), size=len(own))]


def trigger(table: AttackedTable, column: int, codes: Array) -> Array:
    """Values that stand for labels (by position) or target values, in the column's own type.

    Written into training rows beside their own label, and into a row to predict beside the label
    that the attacker wants, they make a submodel predict what the attacker likes.
    """
    numbers = np.asarray(codes, dtype=np.float64)
    if table.is_bytes(column):
        return np.asarray(np.clip(numbers * 20, 0, 255)).astype(np.uint8)
    if table.is_numeric(column):
        return numbers
    if table.has_text(column):
        return np.array([f"trigger {code:g}" for code in numbers], dtype=object)
    places = np.clip(numbers, 0, 1e4).astype(np.int64)
    if not any(isinstance(value, np.datetime64) for value in table.columns[column]):
        # values of a type that cannot be made up: some of the column's own
        return table.columns[column][places % table.n_rows]
    days = [
        np.datetime64("2000-01-01T00:00:00") + np.timedelta64(place, "D")
        for place in places.tolist()
    ]
    times = np.empty(len(places), dtype=object)
    times[:] = days
    return times
