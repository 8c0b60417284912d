"""What attackers write into the columns of a unit, in rows to predict and in training.

Honest values are those that a table may well hold. Hostile ones (extreme numbers, infinities, gaps,
strange texts) an estimator may treat in a way of its own: the certificate allows that, as long as
it concerns only the submodel whose columns, and the row whose cells, they were written into.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .._support import Array
from ..tables import is_missing
from ._attacked_table import AttackedTable, Changes

DONATIONS = 4  # times that a unit takes its values from other rows
OTHER_ROWS, ENDS = HONEST = ("other rows", "ends")  # values that tables may well hold
POISONS = ("noise", "constant", "permutation", "label")
LARGE, EXTREMES, INFINITIES, MISSING, TEXTS = FAMILIES = (
    "large numbers",
    "extremes",
    "infinities",
    "missing values",
    "texts",
)
ONE_CELL = "one cell"
DAMAGES = (LARGE, EXTREMES, INFINITIES, MISSING, ONE_CELL)  # what is done to training tables
TEXT_BYTES = 10**7  # at most, in a column of texts
# single precision holds the large numbers, and few estimators refuse them
NUMBERS = {LARGE: (1e6, -1e6, 1e18), EXTREMES: (1e300, -1e300)}
UNSEEN = "a text that no row holds"
STRANGE = ("", UNSEEN, "long " * 2000, "naïve, Ελληνικά, 日本語, العربية, \N{GRINNING FACE}, \0")


def evasion_candidates(
    table: AttackedTable, columns: tuple[int, ...], rng: np.random.Generator
) -> Iterator[tuple[str, Changes]]:
    """Yield values for a unit's columns in all rows, and what they are.

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
    """Return a column of one value. 0: the lowest, 1: the highest, 2 and 3: far beyond them.

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


def poison(
    kind: str, table: AttackedTable, columns: Iterable[int], y: Array, rng: np.random.Generator
) -> Changes:
    """Return training columns as noise, constants, permutations, or functions of y."""
    return {column: _poisoned(kind, table, column, y, rng) for column in columns}


def _poisoned(
    kind: str, table: AttackedTable, column: int, y: Array, rng: np.random.Generator
) -> Array:
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
    """Return values that stand for labels (by position) or target values, in the column's type.

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
    times = np.empty(len(places), dtype=object)
    times[:] = list(np.datetime64("2000-01-01T00:00:00") + places.astype("timedelta64[D]"))
    return times


def values_of(family: str, table: AttackedTable, column: int) -> list[Any]:
    """Return the values of a family that a column can hold, of its type; none if it holds bytes."""
    if table.is_bytes(column):
        return []
    if family == MISSING:
        return [np.nan if table.is_numeric(column) else None]
    if not table.is_numeric(column):
        return list(STRANGE) if family == TEXTS and table.has_text(column) else []
    if family == TEXTS:
        return [UNSEEN] if table.mixes_types() else []
    if family == INFINITIES:
        return [np.inf, -np.inf]
    kind = table.float_type()
    largest = float(np.finfo(kind).max)
    smallest = float(np.nextafter(kind(0), kind(1)))  # above zero; it goes with the large ones
    numbers = [number for number in NUMBERS[family] if abs(number) <= largest]
    return [*numbers, smallest if family == LARGE else largest]


def n_variants(family: str, table: AttackedTable, columns: Sequence[int]) -> int:
    """Return how often a family can be written into these columns, with other values each time."""
    return max((len(values_of(family, table, column)) for column in columns), default=0)


def hostile_columns(
    family: str,
    variant: int,
    table: AttackedTable,
    columns: Sequence[int],
    rows: Array | None = None,
) -> Changes:
    """Return the columns with values of a family in these rows, by default in all.

    Columns that cannot hold such values are left out.
    """
    changes = {}
    for column in columns:
        if values := values_of(family, table, column):
            value = values[variant % len(values)]
            changes[column] = with_value(table.columns[column], value, rows)
    return changes


def with_value(own: Array, value: Any, rows: Array | None = None) -> Array:
    """Return a copy of a column with a value in these rows, by default in all."""
    column = own.astype(object if isinstance(value, str) else own.dtype)
    column[slice(None) if rows is None else rows] = value
    return column


def damage(
    kind: str, table: AttackedTable, columns: Sequence[int], rng: np.random.Generator
) -> Changes:
    """Return a unit's columns in training with hostile values.

    Values of a family in all rows or in half of them; or a value of any family in one cell.
    """
    families = FAMILIES if kind == ONE_CELL else (kind, TEXTS) if kind in NUMBERS else (kind,)
    values_by_column = {
        column: [value for family in families for value in values_of(family, table, column)]
        for column in columns
    }
    able = {column: values for column, values in values_by_column.items() if values}
    if kind == ONE_CELL and able:
        column = int(rng.choice(list(able)))
        value = able[column][int(rng.integers(len(able[column])))]
        row = rng.integers(table.n_rows, size=1)
        return {column: with_value(table.columns[column], _shortened(value, table), row)}
    changes = {}
    for column, values in able.items():
        drawn = rng.random(table.n_rows)
        hit = drawn < (1.0 if rng.random() < 0.5 else 0.5)
        short = [_shortened(value, table) for value in values]
        changes[column] = _scattered(table.columns[column], short, hit, rng)
    return changes


def _shortened(value: Any, table: AttackedTable) -> Any:
    """Return a text cut for longer tables: numpy gives every row the longest one's room."""
    return value[: max(100, TEXT_BYTES // table.n_rows)] if isinstance(value, str) else value


def _scattered(own: Array, values: list[Any], hit: Array, rng: np.random.Generator) -> Array:
    """Return a copy of a column with one of the values, drawn at random, in each of these rows."""
    drawn = rng.integers(len(values), size=len(own))
    for k in np.unique(drawn[hit]):
        own = with_value(own, values[k], np.flatnonzero(hit & (drawn == k)))
    return own


def mixtures(
    table: AttackedTable, columns: Sequence[int], rng: np.random.Generator
) -> Iterator[tuple[str, Changes]]:
    """Yield, for each family, columns of which one in every row, drawn at random, is hostile."""
    for family in FAMILIES:
        able = [column for column in columns if values_of(family, table, column)]
        if len(columns) < 2 or not able:
            continue
        chosen = rng.choice(able, size=table.n_rows)
        yield (
            family,
            {
                column: _scattered(
                    table.columns[column], values_of(family, table, column), chosen == column, rng
                )
                for column in able
            },
        )
