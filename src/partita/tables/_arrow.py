"""A column of an Arrow table as floats or strings, by its kind."""

from typing import Any

import numpy as np

from .._support import Array, require
from ..errors import InputError
from ._kinds import BOOLEAN, NUMBER, TEXT, TIME, CellError, read_cells

TICKS_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def arrow_library() -> Any:
    """pyarrow, or an error that says how to install it."""
    return require("pyarrow", "reading tables from files", "partita[cli]")


def arrow_kind(data_type: Any) -> str | None:
    """The kind that an Arrow type is read as; None where it is not supported."""
    types = arrow_library().types
    if types.is_dictionary(data_type):
        data_type = data_type.value_type
    if (
        types.is_integer(data_type)
        or types.is_floating(data_type)
        or types.is_decimal(data_type)
        or types.is_null(data_type)
    ):
        return NUMBER
    if types.is_boolean(data_type):
        return BOOLEAN
    if types.is_timestamp(data_type) or types.is_date(data_type):
        return TIME
    return TEXT if str(data_type) in ("string", "large_string", "string_view") else None


def missing_cells(column: Any) -> Array:
    """Which cells of an Arrow column are missing, as ``is_missing`` says of each: null and NaN."""
    return np.asarray(column.is_null(nan_is_null=True).to_numpy())


def column_values(column: Any, kind: str, name: str, first_row: int = 0) -> Array:
    """An Arrow column as floats, or as strings for TEXT; NaN where a cell is missing.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        The cells.
    kind : {"number", "boolean", "time", "text"}
        What they are to be read as.
    name : str
        The column's name, for messages.
    first_row : int, default=0
        Where the column begins in its table, for messages.
    """
    stored_kind = arrow_kind(column.type)
    empty = arrow_library().types.is_null(column.type)
    if kind == TEXT:
        if stored_kind != TEXT and not empty:
            raise InputError(
                f"column {name!r} holds {column.type} where the model was fitted with text: "
                "store it as text"
            )
        return read_cells(python_values(column, name), TEXT, name, first_row)
    if kind == TIME and stored_kind == TEXT:
        return read_cells(python_values(column, name), TIME, name, first_row)
    # 0 and 1 are booleans, but true and false are no numbers
    matches = stored_kind == kind or (kind == BOOLEAN and stored_kind == NUMBER)
    if not matches and not empty:
        present = column.drop_null()
        if len(present):
            row = int(np.argmax(column.is_valid().to_numpy()))
            raise CellError(first_row + row, name, kind, present[0].as_py())
    return float_values(column, kind, name, first_row)


def python_values(column: Any, name: str) -> list[Any]:
    """The cells of a column of strings, None where missing."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError as exc:
        raise InputError(
            f"column {name!r} holds bytes that are not valid UTF-8: store the table as UTF-8"
        ) from exc


def float_values(column: Any, kind: str, name: str, first_row: int = 0) -> Array:
    """A column of numbers, booleans or times as floats; times are seconds since 1970."""
    arrow = arrow_library()
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind == TIME and not arrow.types.is_null(column.type):
        return _seconds(column)
    values: Array = column.cast(arrow.float64(), safe=False).to_numpy()
    if kind == BOOLEAN and not np.isin(values[~np.isnan(values)], (0, 1)).all():
        row = int(np.argmax(~np.isnan(values) & ~np.isin(values, (0, 1))))
        raise CellError(first_row + row, name, kind, float(values[row]))
    return values if values.flags.writeable else values.copy()


def _seconds(column: Any) -> Array:
    arrow = arrow_library()
    if arrow.types.is_date32(column.type):
        return np.asarray(column.cast(arrow.int32()).cast(arrow.float64()).to_numpy() * 86400.0)
    ticks = column.cast(arrow.int64()).cast(arrow.float64(), safe=False).to_numpy()
    unit = "ms" if arrow.types.is_date64(column.type) else column.type.unit
    return np.asarray(ticks / TICKS_PER_SECOND[unit])
