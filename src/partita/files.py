"""Tables in files: CSV and Parquet. Parquet is read by column, so a submodel never loads what it does not own."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrow_columns import arrow_library, column_values, first_line, floats, kind_of, listed
from .errors import InputError, MissingExtraError
from .kinds import BOOLEAN, NUMBER, TEXT, TIME, CellError
from .sources import Table

Array = NDArray[Any]

Split = tuple[str, Any]  # a column, and the value it has in the rows that are meant

HASHED_AT_ONCE = 2**22
READ_AT_ONCE = 2**16  # rows
ARROWS_OWN = ("__fragment_index", "__batch_index", "__last_in_fragment", "__filename")  # columns that Arrow adds when it reads files


class File:
    """A table in a file: the names and kinds of its columns, its rows, and a way to read some of the columns."""

    path: Path
    names: list[str]
    n_rows: int
    first_row: int = 0  # where it begins, if it is a piece of a larger table
    times: Collection[str] = ()  # columns of texts that are times

    def kind(self, name: str) -> str:
        """What the column holds; an error where it holds something that cannot be read."""
        kind = TIME if name in self.times else kind_of(self.arrow_type(name))
        if kind is None:
            found = self.arrow_type(name)
            raise InputError(f"column {name!r} of {str(self.path)!r} holds {found}, which is not read: make it a number, a time or a text")
        return kind

    def arrow_type(self, name: str) -> Any:
        raise NotImplementedError

    def arrow(self, names: Sequence[str]) -> Any:
        """These columns as an Arrow table."""
        raise NotImplementedError

    def pieces(self, names: Sequence[str], most: int, rows: Array | None = None) -> Iterator["LoadedFile"]:
        """These columns piece by piece, ``most`` rows each but for the last. ``rows``: these alone, ascending."""
        start = 0
        for table in _pieces(self._arrow_batches(names, most), most, rows):
            yield LoadedFile(self.path, table, start, self.times)
            start += table.num_rows

    def _arrow_batches(self, names: Sequence[str], most: int) -> Iterator[Any]:
        """These columns as Arrow batches of at most so many rows, in the order of the rows."""
        raise NotImplementedError

    def check_has(self, name: str, argument: str) -> None:
        if name in self.names:
            return
        hint = (
            f": it has one column, {self.names[0]!r}; are they separated by commas?" if len(self.names) == 1 else f": {_some(self.names)}"
        )
        raise InputError(f"{argument} names the column {name!r}, which {str(self.path)!r} does not have{hint}")

    def target(self, name: str) -> Array:
        """A column of labels or values, as it is; an error where it has gaps."""
        arrow = arrow_library()
        kind = self.kind(name)
        column = self.arrow([name]).column(name)
        if arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        gaps = column.is_null(nan_is_null=True).to_numpy()
        if gaps.any():
            raise InputError(
                f"the target {name!r} has {gaps.sum()} gap(s), the first in row {int(np.argmax(gaps))}: leave out the rows without one"
            )
        if kind == TEXT:
            return np.asarray(listed(column.cast(arrow.string()), name), dtype=object)
        if kind == TIME:
            return column_values(column, kind, name)
        as_floats = arrow.types.is_decimal(column.type)
        return np.asarray(floats(column, kind, name) if as_floats else column.to_numpy())

    def has_gaps(self, name: str) -> bool:
        return bool(self.arrow([name]).column(name).is_null(nan_is_null=True).to_numpy().any())

    def table(self, kinds: Mapping[str, str]) -> "FileTable":
        """The columns named in ``kinds``, in their order, each to be read by its kind."""
        return FileTable(self, dict(kinds))


class FileTable(Table):
    """Some columns of a file, as a table for fit and certify."""

    kinds: dict[str, str]

    def __init__(self, file: File, kinds: dict[str, str], rows: Array | None = None) -> None:
        self.file, self.kinds, self.rows = file, kinds, rows
        self.names = list(kinds)
        self.n_rows, self.n_columns = file.n_rows if rows is None else len(rows), len(kinds)
        self.header = _pandas().DataFrame(columns=self.names, dtype=object)  # an empty frame with the columns' names
        if self.n_rows == 0:
            raise InputError(f"{str(file.path)!r} has no rows: give a table with at least one")
        if self.n_columns == 0:
            raise InputError(f"{str(file.path)!r} has no columns to learn from: give a table with at least one beside the target")

    def only(self, rows: Array) -> "FileTable":
        """The same table, of these rows alone."""
        return FileTable(self.file, self.kinds, rows if self.rows is None else self.rows[rows])

    def take(self, columns: list[int], rows: Array | None = None) -> Any:
        names = [self.names[column] for column in columns]
        part = self.file.arrow(names)
        chosen = rows if self.rows is None else self.rows if rows is None else self.rows[rows]
        if chosen is not None:
            part = part.take(chosen)
        first_row = self.file.first_row
        return frame_of({name: column_values(part.column(name), self.kinds[name], name, first_row) for name in names})

    def batches(self, columns: list[int], most: int, rows: Array | None = None) -> Iterator[Any]:
        names = [self.names[column] for column in columns]
        chosen = rows if self.rows is None else self.rows if rows is None else self.rows[rows]
        for piece in self.file.pieces(names, most, chosen):
            yield piece.table({name: self.kinds[name] for name in names}).take(list(range(len(names))))


def frame_of(columns: Mapping[str, Array]) -> Any:
    """A pandas frame of these columns, in their own types: pandas may not guess a type from the texts that happen to be there."""
    pandas = _pandas()
    return pandas.DataFrame({name: pandas.Series(values, dtype=values.dtype) for name, values in columns.items()})


def open_file(path: Any, argument: str = "data", kinds: Mapping[str, str] | None = None, split: Split | None = None) -> File:
    """Look at a table in a file.

    ``kinds``: how a CSV file's columns are to be read; None: as they look. ``split``: a column and a value; only rows that have it count.
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"{argument} {str(place)!r} does not exist: give a .csv or .parquet file")
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if place.is_dir() or suffixes[-1:] in ([".parquet"], [".pq"]):
        file: File = _ParquetFile(place, split)
    elif ".csv" in suffixes[-2:]:
        file = _CsvFile(place, kinds, split)
    else:
        raise InputError(f"{argument} {str(place)!r} is neither .csv nor .parquet: give a table in one of the two")
    twice = next((name for name in file.names if file.names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{argument} {str(place)!r} has two columns named {twice!r}: rename one, so that each can be told apart")
    if split is not None and not file.n_rows:
        raise InputError(f"split asks for {split[1]!r} in the column {split[0]!r}, which no row of {str(place)!r} has: ask for another")
    return file


def footers_of(path: Any) -> str:
    """A hash of what Parquet files say of themselves: names, sizes, and footers, which hold the place and range of every column."""
    place = Path(path)
    digest = hashlib.sha256()
    for file in sorted(map(Path, _parquet_files(place))):
        size = file.stat().st_size
        with file.open("rb") as content:
            content.seek(max(0, size - 8))
            length = int.from_bytes(content.read(4), "little")
            content.seek(max(0, size - 8 - length))
            footer = hashlib.sha256(content.read()).hexdigest()
        digest.update(f"{file.relative_to(place) if place.is_dir() else file.name} {size} {footer}\n".encode())
    return digest.hexdigest()


def last_change_of(path: Any) -> int:
    """When a file, or the last of a folder's files, was last written, in nanoseconds."""
    return max(Path(file).stat().st_mtime_ns for file in _parquet_files(Path(path)))


def sha256_of(path: Any) -> str:
    """The hash of a file's content; of a folder, that of its files' names and contents."""
    place = Path(path)
    digest = hashlib.sha256()
    if place.is_dir():
        for file in sorted(file for file in place.rglob("*") if file.is_file()):
            digest.update(f"{file.relative_to(place)} {sha256_of(file)}\n".encode())
        return digest.hexdigest()
    with place.open("rb") as content:
        while block := content.read(HASHED_AT_ONCE):
            digest.update(block)
    return digest.hexdigest()


class _ParquetFile(File):
    def __init__(self, path: Path, split: Split | None) -> None:
        arrow_library()
        import pyarrow.dataset

        # page by page, and with the pages' checksums where there are any: a damaged file is an error, not other numbers
        reading = pyarrow.dataset.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False, page_checksum_verification=True)
        self.path = path
        try:
            form = pyarrow.dataset.ParquetFileFormat(default_fragment_scan_options=reading)
            self._dataset = pyarrow.dataset.dataset(sorted(_parquet_files(path)), format=form)
            self.names = list(self._dataset.schema.names)
            self._check_names()
            for part in self._dataset.get_fragments():
                self._check_alike(Path(part.path), part.physical_schema)
            self._where = None if split is None else _where(self, split)
            self.n_rows = self._dataset.count_rows(filter=self._where)
        except (OSError, ValueError, pyarrow.ArrowException) as exc:
            raise self._unreadable(exc) from exc

    def _unreadable(self, exc: BaseException) -> InputError:
        if isinstance(exc, InputError):
            return exc
        return InputError(f"{str(self.path)!r} cannot be read as Parquet: {first_line(exc)}")

    def _check_names(self) -> None:
        """Arrow finds no column that is named like one of those it adds to a table itself."""
        for name in self.names:
            if name in ARROWS_OWN:
                why = "a name that the library that reads Parquet uses itself"
                raise InputError(f"{str(self.path)!r} has a column {name!r}, {why}: rename it")

    def _check_alike(self, file: Path, schema: Any) -> None:
        """All files of a folder have the same columns: what one lacks would be filled with gaps, what has another type changed."""
        first = {field.name: field.type for field in self._dataset.schema}
        other = {field.name: field.type for field in schema}
        for column in [*first, *other]:
            if first.get(column) != other.get(column):
                name = str(file.relative_to(self.path)) if file.is_relative_to(self.path) else file.name
                found = f"{other.get(column, 'nothing')}, elsewhere {first.get(column, 'nothing')}"
                raise InputError(f"{str(self.path)!r}: the column {column!r} is {found} in {name!r}: make all files alike")

    def arrow_type(self, name: str) -> Any:
        return self._dataset.schema.field(name).type

    def arrow(self, names: Sequence[str]) -> Any:
        try:
            return self._dataset.to_table(columns=list(names), filter=self._where)
        except (OSError, ValueError, arrow_library().ArrowException) as exc:
            raise self._unreadable(exc) from exc

    def _arrow_batches(self, names: Sequence[str], most: int) -> Iterator[Any]:
        # row group by row group: a scan of the whole table reads ahead of whoever takes the batches, as far as memory goes
        asked = {"schema": self._dataset.schema, "columns": list(names), "filter": self._where, "batch_size": min(most, READ_AT_ONCE)}
        try:
            for file in self._dataset.get_fragments(filter=self._where):
                for group in file.split_by_row_group(filter=self._where):
                    yield from group.to_batches(**asked, batch_readahead=0, fragment_readahead=0)
        except (OSError, ValueError, arrow_library().ArrowException) as exc:
            raise self._unreadable(exc) from exc


def _parquet_files(path: Path) -> list[str]:
    """The files of a table, a folder's in the order of their names; those whose name begins with a dot or an underline are none."""
    if not path.is_dir():
        return [str(path)]
    inside = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
    found = [str(path / file) for file in inside if not any(part.startswith((".", "_")) for part in file.parts)]
    if not found:
        raise InputError(f"{str(path)!r} has no files: give a folder of Parquet files")
    return found


class LoadedFile(File):
    """A table from a file, or a piece of it, in memory."""

    def __init__(self, path: Path, table: Any, first_row: int = 0, times: Collection[str] = ()) -> None:
        self.path, self._table, self.first_row, self.times = path, table, first_row, times
        self.names, self.n_rows = list(table.column_names), table.num_rows

    def arrow_type(self, name: str) -> Any:
        return self._table.schema.field(name).type

    def arrow(self, names: Sequence[str]) -> Any:
        return self._table.select(list(names))

    def _arrow_batches(self, names: Sequence[str], most: int) -> Iterator[Any]:
        return iter(self.arrow(names).to_batches(max_chunksize=most))


class _CsvFile(LoadedFile):
    """A CSV file is read once, as a whole."""

    def __init__(self, path: Path, kinds: Mapping[str, str] | None, split: Split | None) -> None:
        self.path = path
        arrow = arrow_library()
        wanted = {NUMBER: arrow.float64(), BOOLEAN: arrow.bool_(), TIME: arrow.string(), TEXT: arrow.string()}
        types = {name: wanted[kind] for name, kind in (kinds or {}).items()}
        try:
            table = self._read(types)
            times = {field.name for field in table.schema if arrow.types.is_timestamp(field.type) or arrow.types.is_date(field.type)}
            # a time is read cell by cell, now as later; a time of day is no moment and stays a text
            texts = times | {field.name for field in table.schema if arrow.types.is_time(field.type)}
            if texts:
                table = self._read(types | dict.fromkeys(texts, arrow.string()))
            super().__init__(path, table, times=times)
            if split is not None:
                super().__init__(path, table.filter(_where(self, split)), times=times)
        except InputError:
            raise
        except (OSError, ValueError, arrow.ArrowException) as exc:
            if "conversion error" in str(exc):
                self._name_bad_cell(kinds or {})
            raise InputError(f"{str(path)!r} cannot be read as CSV: {first_line(exc)}") from exc

    def _read(self, types: dict[str, Any]) -> Any:
        import pyarrow.csv

        return pyarrow.csv.read_csv(
            self.path,
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False),
        )

    def _name_bad_cell(self, kinds: Mapping[str, str]) -> None:
        """Say which cell it is that cannot be read by its column's kind."""
        try:
            texts = self._read({name: arrow_library().string() for name in kinds})
            columns = {
                name: texts.column(name).to_pylist()
                for name, kind in kinds.items()
                if kind in (NUMBER, BOOLEAN) and name in texts.column_names
            }
        except (OSError, ValueError, arrow_library().ArrowException):
            return
        for name, values in columns.items():
            for row, value in enumerate(values):
                if value is not None and not _reads_as(value.strip(), kinds[name]):
                    raise CellError(row, name, kinds[name], value)


def _reads_as(text: str, kind: str) -> bool:
    if kind == BOOLEAN:
        return text.lower() in ("true", "false", "0", "1")
    try:
        float(text)
    except ValueError:
        return False
    return True


def _where(file: File, split: Split) -> Any:
    """The rows in which a column has a value, as Arrow says it."""
    import pyarrow.dataset

    column, value = split
    file.check_has(column, "split")
    found = file.arrow_type(column)
    try:
        wanted = pyarrow.scalar(value).cast(found.value_type if pyarrow.types.is_dictionary(found) else found)
    except (ValueError, TypeError, pyarrow.ArrowException) as exc:
        raise InputError(f"split asks for {value!r} in the column {column!r}, which holds {found}: ask for one of its values") from exc
    return pyarrow.dataset.field(column) == wanted


def _pieces(batches: Iterator[Any], most: int, rows: Array | None) -> Iterator[Any]:
    """Arrow batches as tables of ``most`` rows, the last one shorter; ``rows``: these alone, ascending."""
    arrow = arrow_library()
    start, held = 0, None
    for batch in batches:
        part = arrow.Table.from_batches([batch])
        if rows is not None:
            here = rows[np.searchsorted(rows, start) : np.searchsorted(rows, start + batch.num_rows)]
            part = part.take(here - start)
        start += batch.num_rows
        held = part if held is None else arrow.concat_tables([held, part])
        while held.num_rows >= most:
            yield held.slice(0, most)
            held = held.slice(most)
    if held is not None and held.num_rows:
        yield held


def _some(names: list[str]) -> str:
    return "it has " + ", ".join(map(repr, names[:6])) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as exc:
        raise MissingExtraError("pandas", "reading tables from files", "partita[cli]") from exc
    return pandas
