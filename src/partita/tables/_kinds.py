"""What a column holds when it comes from outside: a number, a boolean, a time, or a text.

Which of them is settled when a model is fitted. From then on every cell is read by itself, by its
column's kind: guessing the type of a column from a batch would let one row's cell change how
another row's is read."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import narwhals as nw
import numpy as np

from .._support.types import Array
from ..errors import InputError

NUMBER, BOOLEAN, TIME, TEXT = "number", "boolean", "time", "text"
KINDS = (NUMBER, BOOLEAN, TIME, TEXT)
EXPECTED = {
    NUMBER: "a number",
    BOOLEAN: "true or false",
    TIME: "a time such as 2026-01-31 or 2026-01-31T12:00:00",
    TEXT: "a text",
}


class CellError(InputError):
    """A cell that is not of its column's kind."""

    def __init__(self, row: int, column: str, kind: str, value: Any) -> None:
        shown = repr(value) if len(repr(value)) <= 40 else repr(value)[:37] + "..."
        super().__init__(
            f"row {row}, column {column!r} holds {shown} where {EXPECTED[kind]} is needed"
        )
        self.row, self.column = row, column
        self._made_of = (row, column, kind, value)

    def __reduce__(self) -> Any:  # an error may come back from another process
        return CellError, self._made_of


def of_frame(frame: "nw.DataFrame[Any]") -> dict[str, str | None]:
    """The kind of every column of a frame in memory; None where a file could not give back what the
    frame holds."""
    return {str(name): _of_series(frame[:, j]) for j, name in enumerate(frame.columns)}


def _of_series(series: "nw.Series[Any]") -> str | None:
    dtype = series.dtype
    if dtype.is_numeric():
        return NUMBER
    if dtype == nw.Boolean:
        return BOOLEAN
    if dtype == nw.String:
        return TEXT
    if dtype == nw.Unknown and series.null_count() == len(series):
        return NUMBER  # a column without a type, as files have it too (arrow_columns.kind_of)
    if dtype == nw.Object:
        return (
            TEXT if all(isinstance(value, str) for value in series.drop_nulls().to_list()) else None
        )
    return None


def cells(values: Sequence[Any], kind: str, column: str, first_row: int = 0) -> Array:
    """A column of cells from outside, each read by itself: floats with NaN for gaps, or texts with
    NaN for gaps."""
    read = READERS[kind]
    out = np.empty(len(values), dtype=object if kind == TEXT else np.float64)
    for i, value in enumerate(values):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            out[i] = math.nan
            continue
        try:
            out[i] = read(value)
        except (TypeError, ValueError, OverflowError) as exc:
            raise CellError(first_row + i, column, kind, value) from exc
    return out


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise TypeError


def _boolean(value: Any) -> float:
    if isinstance(value, bool) or (isinstance(value, int | float) and value in (0, 1)):
        return float(value)
    raise TypeError


def _time(value: Any) -> float:
    """Seconds since 1970; a time without a zone is taken as UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value.strip())
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        raise TypeError
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError


READERS: dict[str, Callable[[Any], Any]] = {
    NUMBER: _number,
    BOOLEAN: _boolean,
    TIME: _time,
    TEXT: _text,
}
