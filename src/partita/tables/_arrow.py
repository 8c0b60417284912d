"""Tables that Arrow reads: columns by their kinds, tables in files, and Parquet.

Parquet is read by column, so that a submodel never loads what it does not own.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from .._support import Array, TableLike, one_line, require
from ..errors import InputError
from ._cells import BOOLEAN, NUMBER, TEXT, TIME, CellError, read_cells
from ._table import Table, empty_frame, pandas_frame

Arrow: TypeAlias = Any  # pyarrow's tables, columns and types: it has no type information
Split = tuple[str, object]  # a column, and its value in the rows that count

TICKS_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
READ_AT_ONCE = 2**16  # rows
INDEX = re.compile(r"__index_level_\d+__$")  # how pandas stores an index without a name
# columns that Arrow adds to a table while it reads files
ARROW_COLUMNS = ("__fragment_index", "__batch_index", "__last_in_fragment", "__filename")


def arrow_library() -> ModuleType:
    """Return pyarrow, or an error that says how to install it."""
    return require("pyarrow", "reading tables from files", "partita[cli]")


def arrow_kind(data_type: Arrow) -> str | None:
    """Return the kind that an Arrow type is read as; None where it is not supported."""
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


def missing_cells(column: Arrow) -> Array:
    """Return which cells of an Arrow column are missing, as ``is_missing`` says: null and NaN."""
    return np.asarray(column.is_null(nan_is_null=True).to_numpy())


def column_values(column: Arrow, kind: str, name: str, first_row: int = 0) -> Array:
    """Return an Arrow column as floats, or as strings for TEXT; NaN where a cell is missing.

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


def python_values(column: Arrow, name: str) -> list[str | None]:
    """Return the cells of a column of strings, None where missing."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError as exc:
        raise InputError(
            f"column {name!r} holds bytes that are not valid UTF-8: store the table as UTF-8"
        ) from exc


def float_values(column: Arrow, kind: str, name: str, first_row: int = 0) -> Array:
    """Return numbers, booleans or times as floats; times are seconds since 1970."""
    arrow = arrow_library()
    column = plain_column(column)
    if kind == TIME and not arrow.types.is_null(column.type):
        return _seconds(column)
    values: Array = column.cast(arrow.float64(), safe=False).to_numpy()
    if kind == BOOLEAN and not np.isin(values[~np.isnan(values)], (0, 1)).all():
        row = int(np.argmax(~np.isnan(values) & ~np.isin(values, (0, 1))))
        raise CellError(first_row + row, name, kind, float(values[row]))
    return values if values.flags.writeable else values.copy()


def plain_column(column: Arrow) -> Arrow:
    """Return a column without a dictionary of its values."""
    is_dictionary = arrow_library().types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_dictionary else column


def _seconds(column: Arrow) -> Array:
    arrow = arrow_library()
    if arrow.types.is_date32(column.type):
        return np.asarray(column.cast(arrow.int32()).cast(arrow.float64()).to_numpy() * 86400.0)
    ticks = column.cast(arrow.int64()).cast(arrow.float64(), safe=False).to_numpy()
    unit = "ms" if arrow.types.is_date64(column.type) else column.type.unit
    return np.asarray(ticks / TICKS_PER_SECOND[unit])


# ---- files ----


class File:
    """A table in a file, of which columns are read when they are needed.

    Attributes
    ----------
    path : Path
        Where the file is.
    names : list of str
        Names of the columns.
    n_rows : int
        Number of rows.
    first_row : int
        Where it begins, if it is a batch of a larger table.
    times : collection of str
        Columns of strings that are times.
    advice : str
        What may be wrong with how the file is read; empty if nothing is.
    """

    path: Path
    names: list[str]
    n_rows: int
    first_row: int = 0
    times: Collection[str] = ()
    advice: str = ""

    def kind(self, name: str) -> str:
        """Return what a column holds, one of KINDS; an InputError for other types."""
        kind = TIME if name in self.times else arrow_kind(self.arrow_type(name))
        if kind is None:
            raise InputError(
                f"column {name!r} of {str(self.path)!r} holds {self.arrow_type(name)}, which is "
                "not supported: make it numbers, times or text"
            )
        return kind

    def arrow_type(self, name: str) -> Arrow:
        """Return the Arrow type of a column."""
        raise NotImplementedError

    def arrow(self, names: Sequence[str]) -> Arrow:
        """Return columns as an Arrow table."""
        raise NotImplementedError

    def batches(
        self, names: Sequence[str], size: int, rows: Array | None = None
    ) -> Iterator["LoadedFile"]:
        """Yield columns, ``size`` rows at a time (the last batch may be shorter).

        ``rows`` (positions, ascending) restricts it to some rows.
        """
        start = 0
        for table in _regroup(self._arrow_batches(names, size), size, rows):
            yield LoadedFile(self.path, table, start, self.times)
            start += table.num_rows

    def _arrow_batches(self, names: Sequence[str], size: int) -> Iterator[Arrow]:
        """Yield columns as Arrow batches of at most ``size`` rows, in the order of the rows."""
        raise NotImplementedError

    def check_column(self, name: str, argument: str) -> None:
        """Raise an InputError that names the argument unless the file has this column."""
        if name not in self.names:
            shown = [repr(one if len(one) <= 60 else f"{one[:57]}...") for one in self.names[:6]]
            one_column = "one column, " if len(self.names) == 1 else ""
            more = f" and {len(self.names) - 6} more" if len(self.names) > 6 else ""
            advice = f"; {self.advice}" if self.advice else ""
            raise InputError(
                f"{argument} names the column {name!r}, which {str(self.path)!r} does not have: "
                f"it has {one_column}{', '.join(shown)}{more}{advice}"
            )

    def target(self, name: str) -> Array:
        """Return a column of labels or values in its own type; refuse one with missing values."""
        arrow = arrow_library()
        kind = self.kind(name)
        column = plain_column(self.arrow([name]).column(name))
        missing = missing_cells(column)
        if missing.any():
            raise InputError(
                f"the target {name!r} has {missing.sum()} missing value(s), the first in row "
                f"{int(np.argmax(missing))}: leave out the rows without one"
            )
        if kind == TEXT:
            return np.asarray(python_values(column.cast(arrow.string()), name), dtype=object)
        if kind == TIME or arrow.types.is_decimal(column.type):
            return column_values(column, kind, name)
        return np.asarray(column.to_numpy())

    def has_missing(self, name: str) -> bool:
        """Return whether a column has missing values."""
        return bool(missing_cells(self.arrow([name]).column(name)).any())

    def table(self, kinds: Mapping[str, str]) -> "FileTable":
        """Return the columns named in ``kinds``, in their order, each to be read by its kind."""
        return FileTable(self, dict(kinds))


class LoadedFile(File):
    """A table from a file, or a batch of it, in memory."""

    def __init__(
        self, path: Path, table: Arrow, first_row: int = 0, times: Collection[str] = ()
    ) -> None:
        self.path, self._table, self.first_row, self.times = path, table, first_row, times
        self.names, self.n_rows = list(table.column_names), table.num_rows

    def arrow_type(self, name: str) -> Arrow:
        return self._table.schema.field(name).type

    def arrow(self, names: Sequence[str]) -> Arrow:
        return self._table.select(list(names))

    def _arrow_batches(self, names: Sequence[str], size: int) -> Iterator[Arrow]:
        return iter(self.arrow(names).to_batches(max_chunksize=size))


class FileTable(Table):
    """Some columns of a file, as a table for fit and certify."""

    kinds: dict[str, str]
    reads_apart = True

    def __init__(self, file: File, kinds: dict[str, str], rows: Array | None = None) -> None:
        self.file, self.kinds, self.rows = file, kinds, rows
        self.names = list(kinds)
        self.n_rows, self.n_columns = file.n_rows if rows is None else len(rows), len(kinds)
        self.header = empty_frame(tuple(self.names))
        if self.n_rows == 0:
            raise InputError(f"{str(file.path)!r} has no rows: give a table with at least one")
        if self.n_columns == 0:
            raise InputError(
                f"{str(file.path)!r} has no columns to learn from: give a table with at least one "
                "beside the target"
            )

    def with_rows(self, rows: Array) -> "FileTable":
        """Return the same columns of some of these rows."""
        return FileTable(self.file, self.kinds, self._rows_of_file(rows))

    def numeric(self) -> list[bool]:
        return [kind != TEXT for kind in self.kinds.values()]

    def take(self, columns: list[int], rows: Array | None = None) -> TableLike:
        names = [self.names[column] for column in columns]
        part = self.file.arrow(names)
        chosen = self._rows_of_file(rows)
        if chosen is not None:
            part = part.take(chosen)
        first_row = self.file.first_row
        return pandas_frame(
            {
                name: column_values(part.column(name), self.kinds[name], name, first_row)
                for name in names
            }
        )

    def batches(
        self, columns: list[int], size: int, rows: Array | None = None
    ) -> Iterator[TableLike]:
        names = [self.names[column] for column in columns]
        kinds = {name: self.kinds[name] for name in names}
        for batch in self.file.batches(names, size, self._rows_of_file(rows)):
            yield batch.table(kinds).take_all()

    def _rows_of_file(self, rows: Array | None) -> Array | None:
        """Return positions in the file of some rows of this table; None stands for all."""
        if rows is None:
            return self.rows
        return rows if self.rows is None else self.rows[rows]


def rows_where(file: File, split: Split) -> Arrow:
    """Return the rows in which a column has a value, as an Arrow expression."""
    import pyarrow.dataset

    column, value = split
    file.check_column(column, "split")
    stored = file.arrow_type(column)
    try:
        wanted = pyarrow.scalar(value).cast(
            stored.value_type if pyarrow.types.is_dictionary(stored) else stored
        )
    except (ValueError, TypeError, pyarrow.ArrowException) as exc:
        raise InputError(
            f"split asks for {value!r} in the column {column!r}, which holds {stored}: ask for one "
            "of its values"
        ) from exc
    return pyarrow.dataset.field(column) == wanted


def _regroup(batches: Iterator[Arrow], size: int, rows: Array | None) -> Iterator[Arrow]:
    """Yield batches as tables of ``size`` rows, the last one shorter; only ``rows`` if given."""
    arrow = arrow_library()
    start, pending = 0, None
    for batch in batches:
        part = arrow.Table.from_batches([batch])
        if rows is not None:
            first, last = np.searchsorted(rows, (start, start + batch.num_rows))
            part = part.take(rows[first:last] - start)
        start += batch.num_rows
        pending = part if pending is None else arrow.concat_tables([pending, part])
        while pending.num_rows >= size:
            yield pending.slice(0, size)
            pending = pending.slice(size)
    if pending is not None and pending.num_rows:
        yield pending


# ---- Parquet ----


class ParquetFile(File):
    """A Parquet file, or a folder of Parquet files with the same columns."""

    def __init__(self, path: Path, split: Split | None) -> None:
        arrow_library()
        import pyarrow.dataset

        self.path = path
        # page by page, and with the pages' checksums where there are any: a damaged file is an
        # error, not other numbers
        reading = pyarrow.dataset.ParquetFragmentScanOptions(
            use_buffered_stream=True, pre_buffer=False, page_checksum_verification=True
        )
        with self._errors_named():
            file_format = pyarrow.dataset.ParquetFileFormat(default_fragment_scan_options=reading)
            self._dataset = pyarrow.dataset.dataset(sorted(parquet_files(path)), format=file_format)
            self.names = [name for name in self._dataset.schema.names if not INDEX.match(name)]
            for name in {*self.names} & {*ARROW_COLUMNS}:  # Arrow would not find the file's own
                raise InputError(
                    f"{str(path)!r} has a column {name!r}, a name that the Parquet reader uses "
                    "itself: rename it"
                )
            for fragment in self._dataset.get_fragments():
                self._check_schema(Path(fragment.path), fragment.physical_schema)
            self._where = None if split is None else rows_where(self, split)
            self.n_rows = self._dataset.count_rows(filter=self._where)

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        """Raise errors of the reader as an InputError that names the file."""
        try:
            yield
        except InputError:
            raise
        except (OSError, ValueError, arrow_library().ArrowException) as exc:
            raise InputError(
                f"{str(self.path)!r} cannot be read as Parquet: {one_line(exc)}"
            ) from exc

    def _check_schema(self, file: Path, schema: Arrow) -> None:
        """Refuse a file of a folder that has other columns or types than the rest.

        Otherwise Arrow would fill what a file lacks with missing values, and convert types.
        """
        expected = {field.name: field.type for field in self._dataset.schema}
        found = {field.name: field.type for field in schema}
        for column in [*expected, *found]:
            if expected.get(column) != found.get(column):
                inside = file.is_relative_to(self.path)
                name = str(file.relative_to(self.path)) if inside else file.name
                raise InputError(
                    f"{str(self.path)!r}: the column {column!r} is "
                    f"{found.get(column, 'nothing')} in {name!r}, elsewhere "
                    f"{expected.get(column, 'nothing')}: give all files the same columns"
                )

    def arrow_type(self, name: str) -> Arrow:
        return self._dataset.schema.field(name).type

    def arrow(self, names: Sequence[str]) -> Arrow:
        with self._errors_named():
            return self._dataset.to_table(columns=list(names), filter=self._where)

    def _arrow_batches(self, names: Sequence[str], size: int) -> Iterator[Arrow]:
        # row group by row group: a scan of the whole table reads ahead of the batches' use, as far
        # as memory goes
        options = {
            "schema": self._dataset.schema,
            "columns": list(names),
            "filter": self._where,
            "batch_size": min(size, READ_AT_ONCE),
        }
        with self._errors_named():
            for fragment in self._dataset.get_fragments(filter=self._where):
                for group in fragment.split_by_row_group(filter=self._where):
                    yield from group.to_batches(**options, batch_readahead=0, fragment_readahead=0)


def parquet_files(path: Path) -> list[str]:
    """Return the files of a table; in a folder, those whose names begin with neither . nor _."""
    if not path.is_dir():
        return [str(path)]
    inside = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
    found = [
        str(path / file)
        for file in inside
        if not any(part.startswith((".", "_")) for part in file.parts)
    ]
    if not found:
        raise InputError(f"{str(path)!r} has no files: give a folder of Parquet files")
    return found
