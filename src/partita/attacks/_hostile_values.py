"""Values that honest tables rarely hold: extreme numbers, infinities, strange texts.

An estimator may treat them in a way of its own. The certificate allows that, as long as it concerns
only the submodel whose columns, and the row whose cells, they were written into.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._support import Array
from ._attacked_table import AttackedTable

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


def values_of(family: str, table: AttackedTable, column: int) -> list[Any]:
    """The values of a family that a column can hold, of its own type; none if it holds bytes."""
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
    """How many times a family can be written into these columns, with other values every time."""
    return max((len(values_of(family, table, column)) for column in columns), default=0)


def hostile_columns(
    family: str,
    variant: int,
    table: AttackedTable,
    columns: Sequence[int],
    rows: Array | None = None,
) -> dict[int, Array]:
    """The columns with values of a family in these rows, by default in all.

    Columns that cannot hold such values are left out.
    """
    changes = {}
    for column in columns:
        if values := values_of(family, table, column):
            value = values[variant % len(values)]
            changes[column] = with_value(table.columns[column], value, rows)
    return changes


def with_value(own: Array, value: Any, rows: Array | None = None) -> Array:
    """A copy of a column with a value in these rows, by default in all."""
    column = own.astype(object if isinstance(value, str) else own.dtype)
    column[slice(None) if rows is None else rows] = value
    return column


def damage(
    kind: str, table: AttackedTable, columns: Sequence[int], rng: np.random.Generator
) -> dict[int, Array]:
    """A unit's columns in training with hostile values.

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
        choice = rng.integers(len(values), size=table.n_rows)
        new = table.columns[column]
        for k in np.unique(choice[hit]):
            rows = np.flatnonzero(hit & (choice == k))
            new = with_value(new, _shortened(values[k], table), rows)
        changes[column] = new
    return changes


def _shortened(value: Any, table: AttackedTable) -> Any:
    """A text that is shorter in a longer table: numpy gives every row the longest one's room."""
    return value[: max(100, TEXT_BYTES // table.n_rows)] if isinstance(value, str) else value


def mixtures(
    table: AttackedTable, columns: Sequence[int], rng: np.random.Generator
) -> Iterator[tuple[str, dict[int, Array]]]:
    """For each family: in every row one column, drawn at random, is hostile, the others honest."""
    for family in FAMILIES:
        able = [column for column in columns if values_of(family, table, column)]
        if len(columns) < 2 or not able:
            continue
        chosen = rng.choice(able, size=table.n_rows)
        changes = {}
        for column in able:
            values, new = values_of(family, table, column), table.columns[column]
            drawn = rng.integers(len(values), size=table.n_rows)
            for k, value in enumerate(values):
                new = with_value(new, value, np.flatnonzero((chosen == column) & (drawn == k)))
            changes[column] = new
        yield family, changes
