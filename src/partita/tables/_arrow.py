"""A column of an Arrow table as floats or texts, by its kind."""

from typing import Any

import numpy as np

from .._support.types import Array
from ..errors import InputError, MissingExtraError
from ._kinds import BOOLEAN, NUMBER, TEXT, TIME, CellError, cells


def kind_of(data_type: Any) -> str | None:
    """The kind that an Arrow type is read as; None where it is not read."""
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


def column_values(column: Any, kind: str, name: str, first_row: int = 0) -> Array:
    """A column as floats with NaN for gaps, or as texts with NaN for gaps. ``first_row``: where it
    begins in its table, for blame."""
    found = kind_of(column.type)
    empty = arrow_library().types.is_null(column.type)
    if kind == TEXT:
        if found != TEXT and not empty:
            raise InputError(
                f"column {name!r} holds {column.type} where the model was fitted with texts: "
                "store it as text"
            )
        return cells(listed(column, name), TEXT, name, first_row)
    if kind == TIME and found == TEXT:
        return cells(listed(column, name), TIME, name, first_row)
    # 0 and 1 are booleans, but true and false are no numbers
    matches = found == kind or (kind == BOOLEAN and found == NUMBER)
    if not matches and not empty:
        present = column.drop_null()
        if len(present):
            row = int(np.argmax(column.is_valid().to_numpy()))
            raise CellError(first_row + row, name, kind, present[0].as_py())
    return floats(column, kind, name, first_row)


def listed(column: Any, name: str) -> list[Any]:
    """The cells of a column of texts."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError as exc:
        raise InputError(
            f"column {name!r} holds bytes that are no text in UTF-8: store the table as UTF-8"
        ) from exc


def floats(column: Any, kind: str, name: str, first_row: int = 0) -> Array:
    arrow = arrow_library()
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind == TIME and not arrow.types.is_null(column.type):
        if arrow.types.is_date32(column.type):
            return np.asarray(column.cast(arrow.int32()).cast(arrow.float64()).to_numpy() * 86400.0)
        unit = (
            1e3
            if arrow.types.is_date64(column.type)
            else {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit]
        )
        return np.asarray(
            column.cast(arrow.int64()).cast(arrow.float64(), safe=False).to_numpy() / unit
        )
    values: Array = column.cast(arrow.float64(), safe=False).to_numpy()
    if kind == BOOLEAN and not np.isin(values[~np.isnan(values)], (0, 1)).all():
        row = int(np.argmax(~np.isnan(values) & ~np.isin(values, (0, 1))))
        raise CellError(first_row + row, name, kind, float(values[row]))
    return values if values.flags.writeable else values.copy()


def first_line(exc: BaseException) -> str:
    return (str(exc).strip() or type(exc).__name__).splitlines()[0][:200]


def arrow_library() -> Any:
    try:
        import pyarrow
    except ImportError as exc:
        raise MissingExtraError("pyarrow", "reading tables from files", "partita[cli]") from exc
    return pyarrow
