"""What a column from outside holds: numbers, booleans, times, or text.

The kind is settled when a model is fitted. From then on every cell is read by itself, by its
column's kind: guessing the type of a column from a batch would let one row's cell change how
another row's is read.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import narwhals as nw
import numpy as np

from .._support import Array
from ..errors import InputError
from ._missing import is_missing

NUMBER, BOOLEAN, TIME, TEXT = "number", "boolean", "time", "text"
KINDS = (NUMBER, BOOLEAN, TIME, TEXT)
EXPECTED = {
    NUMBER: "a number",
    BOOLEAN: "true or false",
    TIME: "a time such as 2026-01-31 or 2026-01-31T12:00:00",
    TEXT: "text",
}


class CellError(InputError):
    """A cell that is not of its column's kind.

    Raised while a table is read; the message names row, column and value.

    Parameters
    ----------
    row : int
        The row, counted from 0 without a header.
    column : str
        The column's name.
    kind : {"number", "boolean", "time", "text"}
        What the column holds.
    value : Any
        What the cell holds instead.

    Attributes
    ----------
    row : int
        The row, counted from 0 without a header.
    column : str
        The column's name.

    See Also
    --------
    partita.tables.open_file : Reads tables whose cells are checked.

    Examples
    --------
    >>> from partita.tables import CellError
    >>> print(CellError(3, "price", "number", "n/a"))
    row 3, column 'price' holds 'n/a' where a number is needed
    """

    def __init__(self, row: int, column: str, kind: str, value: Any) -> None:
        shown = repr(value) if len(repr(value)) <= 40 else repr(value)[:37] + "..."
        super().__init__(
            f"row {row}, column {column!r} holds {shown} where {EXPECTED[kind]} is needed"
        )
        self.row, self.column = row, column
        self._arguments = (row, column, kind, value)

    def __reduce__(self) -> Any:  # an error may come back from another process
        return CellError, self._arguments


def frame_kinds(frame: "nw.DataFrame[Any]") -> dict[str, str | None]:
    """The kind of each column of a frame; None where a file could not give back its values."""
    return {str(name): _series_kind(frame[:, j]) for j, name in enumerate(frame.columns)}


def _series_kind(series: "nw.Series[Any]") -> str | None:
    dtype = series.dtype
    if dtype.is_numeric():
        return NUMBER
    if dtype == nw.Boolean:
        return BOOLEAN
    if dtype == nw.String:
        return TEXT
    if dtype == nw.Unknown and series.null_count() == len(series):
        return NUMBER  # a column without a type, as in files (_arrow.arrow_kind)
    if dtype == nw.Object:
        present = [value for value in series.to_list() if not is_missing(value)]
        return TEXT if all(isinstance(value, str) for value in present) else None
    return None


def read_cells(values: Sequence[Any], kind: str, column: str, first_row: int = 0) -> Array:
    """Read a column of cells one by one: floats, or strings for TEXT; NaN where one is missing.

    Parameters
    ----------
    values : sequence
        The cells as they came from outside.
    kind : {"number", "boolean", "time", "text"}
        What the column holds.
    column : str
        Its name, for the message.
    first_row : int, default=0
        Where these cells begin in their table, for the message.

    Raises
    ------
    CellError
        If a cell is of another kind.
    """
    if kind == TEXT and set(map(type, values)) <= {str, type(None)}:  # most tables
        texts = np.fromiter(values, dtype=object, count=len(values))
        texts[[value is None for value in values]] = math.nan
        return texts
    read = READERS[kind]
    cells = np.empty(len(values), dtype=object if kind == TEXT else np.float64)
    for i, value in enumerate(values):
        if is_missing(value):
            cells[i] = math.nan
            continue
        try:
            cells[i] = read(value)
        except (TypeError, ValueError, OverflowError) as exc:
            raise CellError(first_row + i, column, kind, value) from exc
    return cells


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
