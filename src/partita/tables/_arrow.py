"""Tables that Arrow reads: columns by their kinds, and tables in Parquet and CSV files.

Parquet is read by column, so that a submodel never loads what it does not own. Types in CSV are
guessed for a training table only; new rows are read by the kinds of training.
"""

import codecs
import gzip
import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from .._support import Array, TableLike, one_line, require
from ..errors import InputError
from ._table import (
    BOOLEAN,
    NUMBER,
    TEXT,
    TIME,
    CellError,
    Table,
    empty_frame,
    pandas_frame,
    read_cells,
)

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


# ---- CSV: how it is written, and advice about a file that is written in another way ----

NOT_FOR_FILES = ("idna", "punycode", "undefined")  # encodings that Python knows, but not of files
HEAD_BYTES = 2**16  # read from a file that gives advice
HEAD_ROWS = 1000
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WITH_COMMA = r"[+-]?\d+,\d+"
A_NUMBER = r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*"
MOSTLY = 0.95  # a text column with a larger share of numbers was meant to be one of numbers


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is written; None means the usual: commas, decimal points, UTF-8.

    Parameters
    ----------
    sep : str, optional
        What separates cells: one character, such as ``;``. The two characters ``\\t`` stand for a
        tab.
    decimal : str, optional
        The decimal sign: ``.`` or ``,``.
    encoding : str, optional
        Such as ``utf-8``, ``utf-16``, ``latin-1`` or ``cp1252``.

    See Also
    --------
    partita.tables.open_file : Takes these options as ``csv``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from partita.tables import CsvOptions, open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("größe;ort\\n1,5;Köln\\n", encoding="cp1252")
    ...     file = open_file(Path(folder, "t.csv"), csv=CsvOptions(";", ",", "cp1252"))
    >>> file.target("größe").tolist()
    [1.5]
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def with_fallback(self, stored: object) -> "CsvOptions":
        """Fill the options that are None from those that a stored model remembers.

        Parameters
        ----------
        stored : mapping or None
            What :meth:`to_dict` returned when the model was fitted.

        Returns
        -------
        CsvOptions
            These options where given, the stored ones elsewhere.
        """
        known = stored if isinstance(stored, Mapping) else {}
        return CsvOptions(
            **{
                name: known.get(name) if value is None else value
                for name, value in asdict(self).items()
            }
        )

    def to_dict(self) -> dict[str, str] | None:
        """Return the options that are not None, for a stored model to remember.

        Returns
        -------
        dict or None
            None if no option is given.
        """
        return {name: value for name, value in asdict(self).items() if value is not None} or None

    def resolve(self) -> tuple[str, str, str]:
        """Check the options and fill in the usual ones.

        Returns
        -------
        tuple of str
            Separator, decimal sign and encoding.

        Raises
        ------
        InputError
            If one of them is not valid, or the first two are the same.
        """
        sep = "," if self.sep is None else "\t" if self.sep == "\\t" else self.sep
        decimal = "." if self.decimal is None else self.decimal
        encoding = "utf-8" if self.encoding is None else self.encoding
        if not (isinstance(sep, str) and len(sep) == 1 and sep.isascii() and sep not in '\r\n"'):
            raise InputError(
                f"sep is {self.sep!r}: give one character, such as ';', or '\\t' for a tab"
            )
        if decimal not in (".", ","):
            raise InputError(f"decimal is {self.decimal!r}: give '.' or ','")
        if decimal == sep:
            raise InputError(
                f"sep and decimal are both {sep!r}, so cells and fractions cannot be told apart: "
                "give another --sep, such as ';', or another --decimal"
            )
        if not _is_file_encoding(encoding):
            raise InputError(
                f"encoding is {self.encoding!r}, which is not known: give one such as utf-8, "
                "utf-16, latin-1 or cp1252"
            )
        return sep, decimal, encoding


def _is_file_encoding(encoding: str) -> bool:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError):
        return False
    return codec.name not in NOT_FOR_FILES and getattr(codec, "_is_text_encoding", True)


class CsvFile(LoadedFile):
    """A CSV file, read once and as a whole."""

    def __init__(
        self,
        path: Path,
        kinds: Mapping[str, str] | None,
        split: Split | None,
        options: CsvOptions | None = None,
    ) -> None:
        self.path = path
        self._options = CsvOptions() if options is None else options
        self._sep, self._decimal, self._encoding = self._options.resolve()
        arrow = arrow_library()
        by_kind = {NUMBER: arrow.float64(), BOOLEAN: arrow.bool_()}
        types = {name: by_kind.get(kind, arrow.string()) for name, kind in (kinds or {}).items()}
        try:
            table = self._read(types)
            # times are read cell by cell, in training as later; a time of day is no moment and
            # stays a string
            as_strings = [field for field in table.schema if arrow.types.is_temporal(field.type)]
            times = {field.name for field in as_strings if not arrow.types.is_time(field.type)}
            if as_strings:
                table = self._read(types | {field.name: arrow.string() for field in as_strings})
            # Arrow reads strings that are not valid UTF-8 as bytes
            if any(arrow.types.is_binary(field.type) for field in table.schema):
                raise UnicodeError
            super().__init__(path, table, times=times)
            if split is not None:
                super().__init__(path, table.filter(rows_where(self, split)), times=times)
        except InputError:
            raise
        except (OSError, ValueError, arrow.ArrowException) as exc:
            if "conversion error" in str(exc):
                self._name_bad_cell(kinds or {})
            reason = one_line(exc)
            if isinstance(exc, UnicodeError) or "UTF8" in str(exc):
                reason = (
                    f"it is not valid {self._encoding}: add --encoding with the right one, such as "
                    "--encoding cp1252"
                )
            raise InputError(
                f"{str(path)!r} cannot be read as CSV: {self.advice or reason}"
            ) from exc
        if kinds is None:
            self._warn_of_texts(table)

    def _read(self, types: Mapping[str, Arrow]) -> Arrow:
        import pyarrow.csv

        return pyarrow.csv.read_csv(
            self.path,
            read_options=pyarrow.csv.ReadOptions(encoding=self._encoding),
            parse_options=pyarrow.csv.ParseOptions(delimiter=self._sep, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                decimal_point=self._decimal,
            ),
        )

    def _name_bad_cell(self, kinds: Mapping[str, str]) -> None:
        """Raise a CellError for the first cell that cannot be read by its column's kind."""
        try:
            as_strings = self._read({name: arrow_library().string() for name in kinds})
            columns = {
                name: as_strings.column(name).to_pylist()
                for name, kind in kinds.items()
                if kind in (NUMBER, BOOLEAN) and name in as_strings.column_names
            }
        except (OSError, ValueError, arrow_library().ArrowException):
            return
        for name, values in columns.items():
            for row, value in enumerate(values):
                if value is not None and not self._reads_as(value.strip(), kinds[name]):
                    raise CellError(row, name, kinds[name], value)

    def _reads_as(self, text: str, kind: str) -> bool:
        if kind == BOOLEAN:
            return text.lower() in ("true", "false", "0", "1")
        if self._decimal != ".":
            if "." in text:
                return False
            text = text.replace(self._decimal, ".")
        try:
            float(text)
        except ValueError:
            return False
        return True

    # ---- what may be wrong ----

    @property
    def advice(self) -> str:  # type: ignore[override]
        """Suggest the options that the file's first lines call for; empty where there are none."""
        head = self._head()
        if self._options.encoding is None and head.startswith(UTF_16):
            return "it is in UTF-16: add --encoding utf-16"
        lines = head.decode(self._encoding, "replace").splitlines()[:10]
        sep = _likely_separator(lines, self._sep)
        if sep is None:
            return ""
        shown = "\\t" if sep == "\t" else sep
        has_commas = self._options.decimal is None and any(
            re.fullmatch(WITH_COMMA, cell) for line in lines[1:] for cell in line.split(sep)
        )
        decimal = (
            " --decimal ','" if has_commas else " --decimal '.'" if sep == self._decimal else ""
        )
        return f"its columns look separated by '{shown}': add --sep '{shown}'{decimal}"

    def _head(self) -> bytes:
        """Return the file's first bytes; none if it is compressed in a way other than gzip."""
        suffix = self.path.suffix.lower()
        if suffix not in (".gz", ".csv"):
            return b""
        try:
            with self.path.open("rb") as file:
                return (gzip.GzipFile(fileobj=file) if suffix == ".gz" else file).read(HEAD_BYTES)
        except (OSError, EOFError):
            return b""

    def _warn_of_texts(self, table: Arrow) -> None:
        """Warn of columns that are text only because of decimal commas, or of a few odd cells."""
        import pyarrow.compute as compute

        def match(cells: Arrow, pattern: str) -> Arrow:
            return compute.match_substring_regex(cells, f"^{pattern}$")

        commas_unread = self._sep != "," and self._options.decimal is None
        for position, field in enumerate(table.schema):  # names may occur twice
            present = table.column(position).drop_null()
            if field.type != arrow_library().string() or not len(present):
                continue
            text = f"the column {field.name!r} of {str(self.path)!r} is read as text, but"
            head = present.slice(0, HEAD_ROWS)
            if commas_unread and compute.all(match(head, WITH_COMMA)).as_py():
                commas_unread = False  # one warning is enough
                warnings.warn(
                    f"{text} holds numbers with decimal commas: add --decimal ','", stacklevel=5
                )
            if compute.mean(match(head, A_NUMBER)).as_py() <= MOSTLY:
                continue
            strange = present.filter(compute.invert(match(present, A_NUMBER)))
            if 0 < len(strange) < (1 - MOSTLY) * len(present):
                warnings.warn(
                    f"{text} {len(present) - len(strange):,} of {len(present):,} cells are "
                    f"numbers; the first other cell is {strange[0].as_py()!r}: leave such cells "
                    "empty, unless it is meant to be text",
                    stacklevel=5,
                )


def _likely_separator(lines: list[str], given: str) -> str | None:
    """Return another separator than the given one, if the lines look as if it were theirs."""
    if not lines:
        return None

    def is_regular(sep: str) -> bool:
        return len({line.count(sep) for line in lines}) == 1 and sep in lines[0]

    others = [sep for sep in ",;\t|" if sep != given]
    if given not in lines[0]:
        best = max(others, key=lines[0].count)
        return best if best in lines[0] else None
    # the header may hold the given separator in a name
    regular = [sep for sep in others if is_regular(sep)]
    return max(regular, key=lines[0].count) if regular and not is_regular(given) else None
