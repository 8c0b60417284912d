"""Values that honest tables rarely hold: large and extreme numbers, infinities, gaps, strange
texts.

An estimator may treat them in a way of its own. The proof allows that, as long as it concerns only
the submodel whose columns, and the row whose cells, they were written into."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._support.types import Array
from ._attacked_table import Cells

LARGE, EXTREMES, INFINITIES, GAPS, TEXTS = FAMILIES = (
    "large numbers",
    "extremes",
    "infinities",
    "gaps",
    "texts",
)
ONE_CELL = "one cell"
DAMAGES = (LARGE, EXTREMES, INFINITIES, GAPS, ONE_CELL)  # what is done to training tables
TEXT_ROOM = 10**7
NUMBERS = {
    LARGE: (1e6, -1e6, 1e18),
    EXTREMES: (1e300, -1e300),
}  # single precision holds the large ones, and few estimators refuse them
UNSEEN = "a text that no row holds"
STRANGE = ("", UNSEEN, "long " * 2000, "naïve, Ελληνικά, 日本語, العربية, \N{GRINNING FACE}, \0")


def values_of(family: str, cells: Cells, column: int) -> list[Any]:
    """The values of a family that a column can hold, of its own type; none where it holds bytes."""
    if cells.of_bytes(column):
        return []
    if family == GAPS:
        return [np.nan if cells.of_numbers(column) else None]
    if not cells.of_numbers(column):
        return list(STRANGE) if family == TEXTS and cells.of_texts(column) else []
    if family == TEXTS:
        return [UNSEEN] if cells.holds_anything() else []
    if family == INFINITIES:
        return [np.inf, -np.inf]
    kind = cells.float_type()
    largest = float(np.finfo(kind).max)
    last = (
        float(np.nextafter(kind(0), kind(1))) if family == LARGE else largest
    )  # the smallest number above 0 goes with the large ones
    return [*(number for number in NUMBERS[family] if abs(number) <= largest), last]


def ways(family: str, cells: Cells, columns: tuple[int, ...] | list[int]) -> int:
    """How often a family can be written into these columns, with other values every time."""
    return max((len(values_of(family, cells, column)) for column in columns), default=0)


def rewritten(
    family: str,
    way: int,
    cells: Cells,
    columns: tuple[int, ...] | list[int],
    rows: Array | None = None,
) -> dict[int, Array]:
    """The columns with values of a family in these rows (None: all); without the columns that
    cannot hold them."""
    found = {}
    for column in columns:
        if values := values_of(family, cells, column):
            found[column] = written(cells.columns[column], values[way % len(values)], rows)
    return found


def written(own: Array, value: Any, rows: Array | None = None) -> Array:
    """A copy of a column with a value in these rows (None: all)."""
    new = own.astype(object if isinstance(value, str) else own.dtype)
    new[slice(None) if rows is None else rows] = value
    return new


def damaged(
    kind: str, cells: Cells, columns: tuple[int, ...] | list[int], rng: np.random.Generator
) -> dict[int, Array]:
    """A unit's columns in training: values of a family in all rows or in half of them; or in one
    cell (of any family)."""
    families = FAMILIES if kind == ONE_CELL else (kind, TEXTS) if kind in NUMBERS else (kind,)
    able = {
        column: [value for family in families for value in values_of(family, cells, column)]
        for column in columns
    }
    able = {column: values for column, values in able.items() if values}
    if kind == ONE_CELL and able:
        column = int(rng.choice(list(able)))
        return {
            column: written(
                cells.columns[column],
                _drawn(able[column], cells, rng),
                rng.integers(cells.n_rows, size=1),
            )
        }
    changes = {}
    for column, values in able.items():
        new, hit = (
            cells.columns[column],
            rng.random(cells.n_rows) < (1.0 if rng.random() < 0.5 else 0.5),
        )
        parts = rng.integers(len(values), size=cells.n_rows)
        for part in np.unique(parts[hit]):
            new = written(new, _short(values[part], cells), np.flatnonzero(hit & (parts == part)))
        changes[column] = new
    return changes


def _drawn(values: list[Any], cells: Cells, rng: np.random.Generator) -> Any:
    return _short(values[int(rng.integers(len(values)))], cells)


def _short(value: Any, cells: Cells) -> Any:
    """A long text is shorter in a long table: an array of texts takes the longest one's room for
    every row."""
    return value[: max(100, TEXT_ROOM // cells.n_rows)] if isinstance(value, str) else value


def mixtures(
    cells: Cells, columns: tuple[int, ...], rng: np.random.Generator
) -> Iterator[tuple[str, dict[int, Array]]]:
    """For each family: in every row one of the columns, drawn at random, holds such a value; the
    others are honest."""
    for family in FAMILIES:
        able = [column for column in columns if values_of(family, cells, column)]
        if len(columns) < 2 or not able:
            continue
        chosen = rng.choice(able, size=cells.n_rows)
        changes = {}
        for column in able:
            values, new = values_of(family, cells, column), cells.columns[column]
            drawn = rng.integers(len(values), size=cells.n_rows)
            for k, value in enumerate(values):
                new = written(new, value, np.flatnonzero((chosen == column) & (drawn == k)))
            changes[column] = new
        yield family, changes
