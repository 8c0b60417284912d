"""Tables of canonical cells, and the bucket that a row's own content names.

Nothing about a row may depend on another row: not its cells, not its hash, not its bucket.

Whoever inserts a row must not change how another row is read. But a fraction turns a whole column
of integers into floats, a missing value does the same to booleans, and a text turns it into
objects. So every cell becomes one of three things by itself, whatever its column's type is:

* a number, as a float: 1, 1.0 and True are the same, 0.0 and -0.0 too, and integers beyond 2**53
  are rounded as a column of floats would round them. Times are seconds since 1970 (UTC where no
  zone is given), durations are seconds;
* a text;
* missing: None, NaN, NaT and pandas' NA are one.

Anything else counts by its type alone. The hash is made from these, and the submodels are trained
on these, so that two rows with the same hash are the same row to everybody. What a reader has
already turned into texts (a file's whole column of numbers, because of one text in it) cannot be
told from texts: read such files cell by cell, with the types you expect.
"""

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

from .._support import Array, TableLike
from ..errors import InputError
from ..tables import Table, is_missing, object_rows, open_table, series_floats

MISSING = math.nan
ROWS_PER_BLOCK = 1024  # whose cells are held as bytes at the same time
NANOSECONDS = {  # of numpy's units of time
    "h": 3600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 1000,
    "ns": 1,
}


def canonical(value: object) -> float | str:
    """A cell as a float (NaN where missing) or a text, from itself alone.

    Never raises, because a cell may be the attacker's.
    """
    try:
        if is_missing(value):
            return MISSING
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, bytes):
            return value.decode("latin-1")
        if isinstance(value, Number | np.number | np.bool_) and not isinstance(
            value, np.timedelta64
        ):
            return _number(value)
        if isinstance(value, date | timedelta | np.datetime64 | np.timedelta64):
            return _nanoseconds(value) / 10**9  # of integers: rounded once, to the nearest float
    except MemoryError:
        raise
    except Exception:  # a number that has no value, a time out of range: any other object
        pass
    return f"<{type(value).__name__}>"


def _number(value: Any) -> float:
    """A number as a float; infinite where no float holds it."""
    if isinstance(value, complex | np.complexfloating):
        if value.imag:
            raise ValueError
        value = value.real
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    return MISSING if number != number else number + 0.0  # -0.0 + 0.0 is 0.0


def _nanoseconds(value: Any) -> int:
    """Nanoseconds since 1970, or of a duration, whatever class and unit hold them."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        unit, steps = np.datetime_data(value.dtype)
        plain: Any = value.item()
        if isinstance(plain, int):  # finer than Python's times are, or beyond them
            return int(plain) * int(steps) * NANOSECONDS[unit]
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
    """A column's canonical cells: an array of floats if all are numbers, else of objects."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        with np.errstate(over="ignore"):
            numbers = values.astype(np.float64) + 0.0
        numbers[np.isnan(numbers)] = MISSING
        return numbers
    cells = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        cells[i] = canonical(value)
    return narrow(cells)


def narrow(cells: Array) -> Array:
    """An array of floats if all cells are, else the array as it is."""
    return (
        cells.astype(np.float64)
        if cells.dtype == object and all(isinstance(cell, float) for cell in cells)
        else cells
    )


def encode_rows(columns: Sequence[Array]) -> Iterator[bytes]:
    """Every row as bytes.

    Each cell states its kind and length before its content, so different rows never look the same.
    """
    n_rows = len(columns[0])
    for start in range(0, n_rows, ROWS_PER_BLOCK):
        block = [_encode_column(column[start : start + ROWS_PER_BLOCK]) for column in columns]
        for cells in zip(*block, strict=True):
            yield b"".join(cells)


def _encode_column(column: Array) -> list[bytes]:
    """The bytes of every cell of a column."""
    if column.dtype == object:
        return [encode_cell(cell) for cell in column]
    width = 9
    out = np.empty((len(column), width), dtype=np.uint8)
    missing = np.isnan(column)
    out[:, 0] = np.where(missing, ord("-"), ord("n"))
    out[:, 1:] = np.where(missing, 0.0, column).astype(">f8").view(np.uint8).reshape(-1, 8)
    content = out.tobytes()
    return [content[i : i + width] for i in range(0, len(content), width)]


def encode_cell(cell: float | str) -> bytes:
    """The bytes of one cell."""
    if isinstance(cell, str):
        text = cell.encode("utf-8", "surrogatepass")
        return b"t" + struct.pack(">Q", len(text)) + text
    return b"-" + bytes(8) if is_missing(cell) else b"n" + struct.pack(">d", cell)


def series_cells(series: "nw.Series[Any]") -> Any:
    """A column's cells: floats if its type is numeric, else a list of what it holds."""
    dtype = series.dtype
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
        return series_floats(series)
    return series.to_list()


class CanonicalRows:
    """A table whose cells have been read one by one, of which a submodel gets some rows."""

    def __init__(self, X: TableLike) -> None:
        self.table = _open(X)
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
        """These rows (by default all), in the kind of table that X was.

        A column's type depends on these rows alone.
        """
        columns = [narrow(column if rows is None else column[rows]) for column in self.columns]
        if self.names is None:
            return np.column_stack(columns)  # floats, or objects where a column holds them
        content: dict[Any, Any] = {}
        for name, column in zip(self.names, columns, strict=True):
            if self.table.frame == "pandas" or column.dtype != object:
                content[name] = column.copy()  # estimators may work in place
            else:
                content[name] = _one_type(column)
        return nw.from_dict(content, backend=self.table.frame).to_native()  # type: ignore[arg-type]

    def digests(self, labels: Array, seed: int) -> list[bytes]:
        """A hash of every row with its label; it depends on their content and the seed alone."""
        key = str(seed).encode()
        return [
            hashlib.blake2b(row, digest_size=32, key=key).digest()
            for row in encode_rows([*self.columns, labels])
        ]


def labels_of(y: TableLike) -> Array:
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
            "classes is missing: where rows may be inserted, the list of labels must be a "
            "constant that you give"
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
            f"classes is {given!r}: give all numbers or all texts, each once and without missing "
            "values (1, 1.0 and True are one)"
        )
    return labels, {read[k]: position for position, k in enumerate(order)}


def bucket_of(digest: bytes, n_buckets: int) -> int:
    """The bucket that a hash names."""
    return int.from_bytes(digest, "big") % n_buckets


def _open(X: TableLike) -> Table:
    if scipy.sparse.issparse(X):
        raise InputError("X is a sparse matrix, which is not supported here: give X.toarray()")
    known = (
        isinstance(X, Table)
        or nw.dependencies.is_into_dataframe(X)
        or hasattr(X, "__array__")
        or hasattr(X, "__array_interface__")
    )
    # Lists are read cell by cell: open_table would read a column of texts as numbers if all of them
    # look like numbers.
    return open_table(X if known else object_rows(X))


def _one_type(column: Array) -> list[str | None]:
    """A column of texts and numbers as texts, for frames whose columns have one type."""
    return [None if is_missing(cell) else str(cell) for cell in column]
