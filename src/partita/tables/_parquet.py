"""Tables in Parquet: read by column, so that a submodel never loads what it does not own."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .._support import one_line
from ..errors import InputError
from ._arrow import arrow_library
from ._file import File, Split, rows_where

READ_AT_ONCE = 2**16  # rows
INDEX = re.compile(r"__index_level_\d+__$")  # how pandas stores an index without a name
# columns that Arrow adds to a table while it reads files
ARROW_COLUMNS = ("__fragment_index", "__batch_index", "__last_in_fragment", "__filename")


class ParquetFile(File):
    """A Parquet file, or a folder of Parquet files with the same columns."""

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
            file_format = pyarrow.dataset.ParquetFileFormat(default_fragment_scan_options=reading)
            self._dataset = pyarrow.dataset.dataset(sorted(parquet_files(path)), format=file_format)
            self.names = [name for name in self._dataset.schema.names if not INDEX.match(name)]
            self._check_names()
            for fragment in self._dataset.get_fragments():
                self._check_schema(Path(fragment.path), fragment.physical_schema)
            self._where = None if split is None else rows_where(self, split)
            self.n_rows = self._dataset.count_rows(filter=self._where)
        except (OSError, ValueError, pyarrow.ArrowException) as exc:
            raise self._unreadable(exc) from exc

    def _unreadable(self, exc: BaseException) -> InputError:
        if isinstance(exc, InputError):
            return exc
        return InputError(f"{str(self.path)!r} cannot be read as Parquet: {one_line(exc)}")

    def _check_names(self) -> None:
        """Arrow does not find a column that is named like one of those it adds itself."""
        for name in self.names:
            if name in ARROW_COLUMNS:
                raise InputError(
                    f"{str(self.path)!r} has a column {name!r}, a name that the Parquet reader "
                    "uses itself: rename it"
                )

    def _check_schema(self, file: Path, schema: Any) -> None:
        """All files of a folder need the same columns and types.

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

    def arrow_type(self, name: str) -> Any:
        return self._dataset.schema.field(name).type

    def arrow(self, names: Sequence[str]) -> Any:
        try:
            return self._dataset.to_table(columns=list(names), filter=self._where)
        except (OSError, ValueError, arrow_library().ArrowException) as exc:
            raise self._unreadable(exc) from exc

    def _arrow_batches(self, names: Sequence[str], size: int) -> Iterator[Any]:
        # row group by row group: a scan of the whole table reads ahead of whoever takes the
        # batches, as far as memory goes
        options = {
            "schema": self._dataset.schema,
            "columns": list(names),
            "filter": self._where,
            "batch_size": min(size, READ_AT_ONCE),
        }
        try:
            for fragment in self._dataset.get_fragments(filter=self._where):
                for group in fragment.split_by_row_group(filter=self._where):
                    yield from group.to_batches(**options, batch_readahead=0, fragment_readahead=0)
        except (OSError, ValueError, arrow_library().ArrowException) as exc:
            raise self._unreadable(exc) from exc


def parquet_files(path: Path) -> list[str]:
    """The files of a table; in a folder, all but those whose names begin with "." or "_"."""
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
