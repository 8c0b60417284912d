"""Tables in files: CSV and Parquet. Parquet is read by column, so a submodel never loads what it does not own."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, MissingExtraError
from .kinds import BOOLEAN, NUMBER, TEXT, TIME, CellError, cells
from .sources import Table

Array = NDArray[Any]

HASHED_AT_ONCE = 2**22


class File:
    """A table in a file: the names and kinds of its columns, its rows, and a way to read some of the columns."""

    path: Path
    names: list[str]
    n_rows: int

    def kind(self, name: str) -> str:
        """What the column holds; an error where it holds something that cannot be read."""
        kind = _kind(_arrow(), self.arrow_type(name))
        if kind is None:
            found = self.arrow_type(name)
            raise InputError(f"column {name!r} of {str(self.path)!r} holds {found}, which is not read: make it a number, a time or a text")
        return kind

    def arrow_type(self, name: str) -> Any:
        raise NotImplementedError

    def arrow(self, names: Sequence[str]) -> Any:
        """These columns as an Arrow table."""
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
        arrow = _arrow()
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
            return np.asarray(_listed(column.cast(arrow.string()), name), dtype=object)
        if kind == TIME:
            return _column(column, kind, name)
        as_floats = arrow.types.is_decimal(column.type)
        return np.asarray(_floats(column, kind, name) if as_floats else column.to_numpy())

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
        return frame_of({name: _column(part.column(name), self.kinds[name], name) for name in names})


def frame_of(columns: Mapping[str, Array]) -> Any:
    """A pandas frame of these columns, in their own types: pandas may not guess a type from the texts that happen to be there."""
    pandas = _pandas()
    return pandas.DataFrame({name: pandas.Series(values, dtype=values.dtype) for name, values in columns.items()})


def open_file(path: Any, argument: str = "data", kinds: Mapping[str, str] | None = None) -> File:
    """Look at a table in a file. ``kinds``: how a CSV file's columns are to be read; None: as they look."""
    place = Path(path)
    if not place.exists():
        raise InputError(f"{argument} {str(place)!r} does not exist: give a .csv or .parquet file")
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if place.is_dir() or suffixes[-1:] in ([".parquet"], [".pq"]):
        file: File = _ParquetFile(place)
    elif ".csv" in suffixes[-2:]:
        file = _CsvFile(place, kinds)
    else:
        raise InputError(f"{argument} {str(place)!r} is neither .csv nor .parquet: give a table in one of the two")
    twice = next((name for name in file.names if file.names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{argument} {str(place)!r} has two columns named {twice!r}: rename one, so that each can be told apart")
    return file


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
    def __init__(self, path: Path) -> None:
        _arrow()
        import pyarrow.dataset

        self.path = path
        try:
            self._dataset = pyarrow.dataset.dataset(path, format="parquet")
            self.names = list(self._dataset.schema.names)
            self.n_rows = self._dataset.count_rows()
            files = {Path(part.path).name: part.physical_schema for part in self._dataset.get_fragments()}
        except (OSError, ValueError, pyarrow.ArrowException) as exc:
            raise InputError(f"{str(path)!r} cannot be read as Parquet: {_first_line(exc)}") from exc
        for name, schema in files.items():
            self._check_alike(name, schema)

    def _check_alike(self, name: str, schema: Any) -> None:
        """All files of a folder have the same columns: what one lacks would be filled with gaps, what has another type changed."""
        first = {field.name: field.type for field in self._dataset.schema}
        other = {field.name: field.type for field in schema}
        for column in [*first, *other]:
            if first.get(column) != other.get(column):
                found = f"{other.get(column, 'nothing')}, elsewhere {first.get(column, 'nothing')}"
                raise InputError(f"{str(self.path)!r}: the column {column!r} is {found} in {name!r}: make all files alike")

    def arrow_type(self, name: str) -> Any:
        return self._dataset.schema.field(name).type

    def arrow(self, names: Sequence[str]) -> Any:
        try:
            return self._dataset.to_table(columns=list(names))
        except (OSError, ValueError, _arrow().ArrowException) as exc:
            raise InputError(f"{str(self.path)!r} cannot be read as Parquet: {_first_line(exc)}") from exc


class _CsvFile(File):
    """A CSV file is read once, as a whole."""

    def __init__(self, path: Path, kinds: Mapping[str, str] | None) -> None:
        self.path = path
        arrow = _arrow()
        wanted = {NUMBER: arrow.float64(), BOOLEAN: arrow.bool_(), TIME: arrow.string(), TEXT: arrow.string()}
        types = {name: wanted[kind] for name, kind in (kinds or {}).items()}
        try:
            self._table = self._read(types)
            self._times = {
                field.name for field in self._table.schema if arrow.types.is_timestamp(field.type) or arrow.types.is_date(field.type)
            }
            # a time is read cell by cell, now as later; a time of day is no moment and stays a text
            texts = self._times | {field.name for field in self._table.schema if arrow.types.is_time(field.type)}
            if texts:
                self._table = self._read(types | dict.fromkeys(texts, arrow.string()))
            self.names, self.n_rows = list(self._table.column_names), self._table.num_rows
        except (OSError, ValueError, arrow.ArrowException) as exc:
            if "conversion error" in str(exc):
                self._name_bad_cell(kinds or {})
            raise InputError(f"{str(path)!r} cannot be read as CSV: {_first_line(exc)}") from exc

    def kind(self, name: str) -> str:
        return TIME if name in self._times else super().kind(name)

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
            texts = self._read({name: _arrow().string() for name in kinds})
            columns = {
                name: texts.column(name).to_pylist()
                for name, kind in kinds.items()
                if kind in (NUMBER, BOOLEAN) and name in texts.column_names
            }
        except (OSError, ValueError, _arrow().ArrowException):
            return
        for name, values in columns.items():
            for row, value in enumerate(values):
                if value is not None and not _reads_as(value.strip(), kinds[name]):
                    raise CellError(row, name, kinds[name], value)

    def arrow_type(self, name: str) -> Any:
        return self._table.schema.field(name).type

    def arrow(self, names: Sequence[str]) -> Any:
        return self._table.select(list(names))


def _reads_as(text: str, kind: str) -> bool:
    if kind == BOOLEAN:
        return text.lower() in ("true", "false", "0", "1")
    try:
        float(text)
    except ValueError:
        return False
    return True


def _kind(arrow: Any, data_type: Any) -> str | None:
    types = arrow.types
    if types.is_dictionary(data_type):
        data_type = data_type.value_type
    if types.is_integer(data_type) or types.is_floating(data_type) or types.is_decimal(data_type) or types.is_null(data_type):
        return NUMBER
    if types.is_boolean(data_type):
        return BOOLEAN
    if types.is_timestamp(data_type) or types.is_date(data_type):
        return TIME
    return TEXT if str(data_type) in ("string", "large_string", "string_view") else None


def _column(column: Any, kind: str, name: str) -> Array:
    """A column as floats with NaN for gaps, or as texts with NaN for gaps."""
    arrow = _arrow()
    found = _kind(arrow, column.type)
    empty = arrow.types.is_null(column.type)
    if kind == TEXT:
        if found != TEXT and not empty:
            raise InputError(f"column {name!r} holds {column.type} where the model was fitted with texts: store it as text")
        return cells(_listed(column, name), TEXT, name)
    if kind == TIME and found == TEXT:
        return cells(_listed(column, name), TIME, name)
    matches = found == TIME if kind == TIME else found in (NUMBER, BOOLEAN)
    if not matches and not empty:
        present = column.drop_null()
        if len(present):
            row = int(np.argmax(column.is_valid().to_numpy()))
            raise CellError(row, name, kind, present[0].as_py())
    return _floats(column, kind, name)


def _listed(column: Any, name: str) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError as exc:
        raise InputError(f"column {name!r} holds bytes that are no text in UTF-8: store the table as UTF-8") from exc


def _floats(column: Any, kind: str, name: str) -> Array:
    arrow = _arrow()
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind == TIME and not arrow.types.is_null(column.type):
        if arrow.types.is_date32(column.type):
            return np.asarray(column.cast(arrow.int32()).cast(arrow.float64()).to_numpy() * 86400.0)
        unit = 1e3 if arrow.types.is_date64(column.type) else {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit]
        return np.asarray(column.cast(arrow.int64()).cast(arrow.float64(), safe=False).to_numpy() / unit)
    values: Array = column.cast(arrow.float64(), safe=False).to_numpy()
    if kind == BOOLEAN and not np.isin(values[~np.isnan(values)], (0, 1)).all():
        row = int(np.argmax(~np.isnan(values) & ~np.isin(values, (0, 1))))
        raise CellError(row, name, kind, float(values[row]))
    return np.array(values)


def _some(names: list[str]) -> str:
    return "it has " + ", ".join(map(repr, names[:6])) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _first_line(exc: BaseException) -> str:
    return (str(exc).strip() or type(exc).__name__).splitlines()[0][:200]


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError as exc:
        raise MissingExtraError("pyarrow", "reading tables from files", "partita[cli]") from exc
    return pyarrow


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as exc:
        raise MissingExtraError("pandas", "reading tables from files", "partita[cli]") from exc
    return pandas
