"""Tables in Parquet: read by column, so that a submodel never loads what it does not own."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ._arrow import arrow_library, first_line
from ._file import File, Split, rows_where

READ_AT_ONCE = 2**16  # rows
ARROWS_OWN = (
    "__fragment_index",
    "__batch_index",
    "__last_in_fragment",
    "__filename",
)  # columns that Arrow adds when it reads files


class ParquetFile(File):
    def __init__(self, path: Path, split: Split | None) -> None:
        arrow_library()
        import pyarrow.dataset

        # page by page, and with the pages' checksums where there are any: a damaged file is an
        # error, not other numbers
        reading = pyarrow.dataset.ParquetFragmentScanOptions(
            use_buffered_stream=True, pre_buffer=False, page_checksum_verification=True
        )
        self.path = path
        try:
            form = pyarrow.dataset.ParquetFileFormat(default_fragment_scan_options=reading)
            self._dataset = pyarrow.dataset.dataset(sorted(_parquet_files(path)), format=form)
            self.names = list(self._dataset.schema.names)
            self._check_names()
            for part in self._dataset.get_fragments():
                self._check_alike(Path(part.path), part.physical_schema)
            self._where = None if split is None else rows_where(self, split)
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
        """All files of a folder have the same columns: what one lacks would be filled with gaps,
        what has another type changed."""
        first = {field.name: field.type for field in self._dataset.schema}
        other = {field.name: field.type for field in schema}
        for column in [*first, *other]:
            if first.get(column) != other.get(column):
                name = (
                    str(file.relative_to(self.path))
                    if file.is_relative_to(self.path)
                    else file.name
                )
                found = f"{other.get(column, 'nothing')}, elsewhere {first.get(column, 'nothing')}"
                raise InputError(
                    f"{str(self.path)!r}: the column {column!r} is {found} in {name!r}: make all "
                    "files alike"
                )

    def arrow_type(self, name: str) -> Any:
        return self._dataset.schema.field(name).type

    def arrow(self, names: Sequence[str]) -> Any:
        try:
            return self._dataset.to_table(columns=list(names), filter=self._where)
        except (OSError, ValueError, arrow_library().ArrowException) as exc:
            raise self._unreadable(exc) from exc

    def _arrow_batches(self, names: Sequence[str], most: int) -> Iterator[Any]:
        # row group by row group: a scan of the whole table reads ahead of whoever takes the
        # batches, as far as memory goes
        asked = {
            "schema": self._dataset.schema,
            "columns": list(names),
            "filter": self._where,
            "batch_size": min(most, READ_AT_ONCE),
        }
        try:
            for file in self._dataset.get_fragments(filter=self._where):
                for group in file.split_by_row_group(filter=self._where):
                    yield from group.to_batches(**asked, batch_readahead=0, fragment_readahead=0)
        except (OSError, ValueError, arrow_library().ArrowException) as exc:
            raise self._unreadable(exc) from exc


def _parquet_files(path: Path) -> list[str]:
    """The files of a table, a folder's in the order of their names; those whose name begins with a
    dot or an underline are none."""
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


def footers_of(path: Any) -> str:
    """A hash of what Parquet files say of themselves: names, sizes, and footers, which hold the
    place and range of every column."""
    place = Path(path)
    digest = hashlib.sha256()
    for file in sorted(map(Path, _parquet_files(place))):
        size = file.stat().st_size
        with file.open("rb") as content:
            content.seek(max(0, size - 8))
            length = int.from_bytes(content.read(4), "little")
            content.seek(max(0, size - 8 - length))
            footer = hashlib.sha256(content.read()).hexdigest()
        digest.update(
            f"{file.relative_to(place) if place.is_dir() else file.name} {size} {footer}\n".encode()
        )
    return digest.hexdigest()


def last_change_of(path: Any) -> int:
    """When a file, or the last of a folder's files, was last written, in nanoseconds."""
    return max(Path(file).stat().st_mtime_ns for file in _parquet_files(Path(path)))
