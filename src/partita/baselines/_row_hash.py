"""Rows read cell by cell, and the bucket that a row's own content names.

Whoever inserts a row must not change how another row is read. But a fraction turns a whole column
of integers into floats, a gap does the same to booleans, and a text turns it into objects. So every
cell becomes one of three things by itself, whatever its column's type is:

* a number, as a float: 1, 1.0 and True are the same, 0.0 and -0.0 too, and integers beyond 2**53
  are rounded as a column of floats would round them. Times are seconds since 1970 (UTC where no
  zone is given), durations are seconds;
* a text;
* a gap: None, NaN, NaT and pandas' NA are one.

Anything else counts by its type alone. The hash is made from these, and the submodels are trained
on these, so that two rows with the same hash are the same row to everybody. What a reader has
already turned into texts (a file's whole column of numbers, because of one text in it) cannot be
told apart from texts: read such files cell by cell, with the types you expect."""

import hashlib
import math
import struct
from calendar import timegm
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from numbers import Number
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from sklearn.utils.validation import column_or_1d

from .._support.types import Array
from ..errors import InputError
from ..tables._table import Table, cells_of, open_table

GAP = math.nan
BLOCK = 1024  # rows whose cells are held as bytes at the same time
TICKS = {
    "h": 3600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 1000,
    "ns": 1,
}  # numpy's units of time, in nanoseconds


def canonical(value: Any) -> float | str:
    """A cell as a float (NaN: a gap) or a text, from itself alone. Never raises: a cell may be the
    attacker's."""
    try:
        if value is None or type(value).__name__ == "NAType":
            return GAP
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, bytes):
            return value.decode("latin-1")
        if isinstance(value, Number | np.number | np.bool_) and not isinstance(
            value, np.timedelta64
        ):
            return _number(value)
        if isinstance(value, date | timedelta | np.datetime64 | np.timedelta64):
            return (
                GAP if value != value else _nanoseconds(value) / 10**9
            )  # of integers: rounded once, to the nearest float
    except MemoryError:
        raise
    except (
        Exception
    ):  # a number that cannot be one, a time out of range: as strange as any other object
        pass
    return f"<{type(value).__name__}>"


def _number(value: Any) -> float:
    if isinstance(value, complex | np.complexfloating):
        if value.imag:
            raise ValueError
        value = value.real
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    return GAP if number != number else number + 0.0  # -0.0 + 0.0 is 0.0


def _nanoseconds(value: Any) -> int:
    """Whole nanoseconds since 1970, or of a duration, the same for every class and unit that can
    hold them."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        unit, steps = np.datetime_data(value.dtype)
        plain: Any = value.item()
        if isinstance(plain, int):  # finer than Python's times are, or beyond them
            return int(plain) * int(steps) * TICKS[unit]
        value = plain
    if isinstance(value, timedelta):
        return (
            (value.days * 86400 + value.seconds) * 10**9
            + value.microseconds * 1000
            + int(getattr(value, "nanoseconds", 0))
        )
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return int(
        timegm(value.utctimetuple()) * 10**9
        + value.microsecond * 1000
        + getattr(value, "nanosecond", 0)
    )


def canonical_column(values: Any) -> Array:
    """A column's cells: floats where all of them are, else objects."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        with np.errstate(over="ignore"):
            numbers = values.astype(np.float64) + 0.0
        numbers[np.isnan(numbers)] = GAP
        return numbers
    cells = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        cells[i] = canonical(value)
    return narrowed(cells)


def narrowed(cells: Array) -> Array:
    """Floats where all cells are, else the objects as they are."""
    return (
        cells.astype(np.float64)
        if cells.dtype == object and all(isinstance(cell, float) for cell in cells)
        else cells
    )


class Rows:
    """A table whose cells have been read one by one, of which a submodel gets some rows."""

    def __init__(self, X: Any) -> None:
        self.table = _opened(X)
        self.names: Sequence[Any] | None = None  # of the columns, where X was a frame
        first = self.table.take([0])
        if nw.dependencies.is_into_dataframe(first):
            read = [
                nw.from_native(self.table.take([j]), eager_only=True)
                for j in range(self.table.n_columns)
            ]
            self.names = [frame.columns[0] for frame in read]
            self.columns = [canonical_column(series_cells(frame[:, 0])) for frame in read]
        else:
            self.columns = [
                canonical_column(np.asarray(self.table.take([j]))[:, 0])
                for j in range(self.table.n_columns)
            ]

    def __len__(self) -> int:
        return self.table.n_rows

    def take(self, rows: Array | None = None) -> Any:
        """These rows (None: all), in the kind of table that X was; a column's type depends on these
        rows alone."""
        columns = [narrowed(column if rows is None else column[rows]) for column in self.columns]
        if self.names is None:
            return np.column_stack(columns)  # floats, or objects where a column holds them
        in_pandas = self.table.frame == "pandas"
        content = {
            name: column.copy()
            if in_pandas or column.dtype != object
            else _one_type(column)  # a copy: estimators may work in place
            for name, column in zip(self.names, columns, strict=True)
        }
        return nw.from_dict(content, backend=self.table.frame).to_native()  # type: ignore[arg-type]

    def digests(self, labels: Array, seed: int) -> list[bytes]:
        """A hash of every row and its label: their content alone decides it, and the seed."""
        key = str(seed).encode()
        return [
            hashlib.blake2b(row, digest_size=32, key=key).digest()
            for row in encoded_rows([*self.columns, labels])
        ]


def labels_of(y: Any) -> Array:
    """Labels as canonical cells, an array of objects."""
    if y is None:
        raise InputError("RowPartitionClassifier requires y to be passed, but the target y is None")
    if nw.dependencies.is_into_series(y):
        cells: Any = series_cells(nw.from_native(y, series_only=True))
    else:
        cells = column_or_1d(y, warn=True) if hasattr(y, "__array__") else list(y)
    return canonical_column(cells).astype(object)


def constant_labels(classes: Any) -> tuple[Array, dict[float | str, int]]:
    """The labels that are given, sorted, and the position of each as a canonical cell."""
    if classes is None:
        raise InputError(
            "classes is missing: where rows may be inserted the list of labels must be a constant "
            "that you give"
        )
    given = list(classes) if isinstance(classes, Iterable) and not isinstance(classes, str) else []
    read = [canonical(label) for label in given]
    order = sorted(range(len(read)), key=lambda k: (str(type(read[k])), read[k]))
    labels = np.asarray(given)[order] if order else np.empty(0)
    if labels.ndim != 1 or not len(labels):
        raise InputError(f"classes is {classes!r}: give the list of all labels")
    if (
        len({type(label) for label in read}) > 1
        or any(label != label for label in read)
        or len(set(read)) < len(read)
    ):
        raise InputError(
            f"classes is {given!r}: give all numbers or all texts, each once and without gaps (1, "
            "1.0 and True are one)"
        )
    return labels, {read[k]: position for position, k in enumerate(order)}


def bucket_of(digest: bytes, n_buckets: int) -> int:
    return int.from_bytes(digest, "big") % n_buckets


def encoded_rows(columns: Sequence[Array]) -> Iterator[bytes]:
    """Every row as bytes. Each cell says its kind and its length before its content, so no two
    different rows look the same."""
    n_rows = len(columns[0])
    for start in range(0, n_rows, BLOCK):
        for cells in zip(
            *(_encoded(column[start : start + BLOCK]) for column in columns), strict=True
        ):
            yield b"".join(cells)


def _encoded(column: Array) -> list[bytes]:
    if column.dtype == object:
        return [encoded_cell(cell) for cell in column]
    width = 9
    out = np.empty((len(column), width), dtype=np.uint8)
    gaps = np.isnan(column)
    out[:, 0] = np.where(gaps, ord("-"), ord("n"))
    out[:, 1:] = np.where(gaps, 0.0, column).astype(">f8").view(np.uint8).reshape(-1, 8)
    content = out.tobytes()
    return [content[i : i + width] for i in range(0, len(content), width)]


def encoded_cell(cell: float | str) -> bytes:
    if isinstance(cell, str):
        text = cell.encode("utf-8", "surrogatepass")
        return b"t" + struct.pack(">Q", len(text)) + text
    return b"-" + bytes(8) if cell != cell else b"n" + struct.pack(">d", cell)


def _opened(X: Any) -> Table:
    if scipy.sparse.issparse(X):
        raise InputError("X is a sparse matrix, whose rows are not read here: give X.toarray()")
    known = (
        isinstance(X, Table)
        or nw.dependencies.is_into_dataframe(X)
        or hasattr(X, "__array__")
        or hasattr(X, "__array_interface__")
    )
    # Lists are cells as they are: open_table would read the texts of a column as numbers if all of
    # them look like numbers.
    return open_table(X if known else cells_of(X))


def series_cells(series: "nw.Series[Any]") -> Any:
    """A column's cells: floats where its type is a number's, else a list of whatever it holds."""
    dtype = series.dtype
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return series.to_list()


def _one_type(column: Array) -> list[str | None]:
    """For frames whose columns have one type: texts, a number among them in Python's words."""
    return [None if cell != cell else str(cell) for cell in column]
