"""Files that may be damaged or hostile, read in memory: archives, Parquet and CSV.

Never more bytes than expected, never a member that was not asked for, and nothing written to disk.
"""

import csv
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import IO, Protocol, cast

import numpy as np

from .._support import Array, one_line, require
from ._content import FetchError

READ_AT_ONCE = 2**20
FAILURES = (
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,  # encryption, an unknown compression, and too deep nesting are such
)


# ---- archives ----


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class _Bounded:
    """A stream that refuses to give more than a number of bytes."""

    def __init__(self, stream: _Readable, most_bytes: int) -> None:
        self._stream, self._most_bytes, self._left = stream, most_bytes, most_bytes

    def read(self, size: int = -1, /) -> bytes:
        wanted = self._left + 1 if size < 0 else min(size, self._left + 1)
        content = self._stream.read(wanted)
        self._left -= len(content)
        if self._left < 0:
            raise _too_large(self._most_bytes)
        return content


def _too_large(most_bytes: int) -> FetchError:
    return FetchError(f"unpacks to more than the {most_bytes:,} bytes expected at most")


@contextmanager
def _valid(kind: str) -> Iterator[None]:
    """Raise the errors of a reader as one FetchError."""
    try:
        yield
    except FAILURES as exc:
        raise FetchError(f"not a valid {kind}: {one_line(exc)}") from exc


def gunzip(content: bytes, most_bytes: int) -> bytes:
    """Return the content of a gzip file."""
    with _valid("gzip file"), gzip.GzipFile(fileobj=io.BytesIO(content)) as unpacked:
        return _Bounded(unpacked, most_bytes).read()


def unxz(content: bytes, most_bytes: int) -> bytes:
    """Return the content of an xz file."""
    with _valid("xz file"), lzma.LZMAFile(io.BytesIO(content)) as unpacked:
        return _Bounded(unpacked, most_bytes).read()


def zip_member(content: bytes, name: str, most_bytes: int) -> bytes:
    """Return the file of this exact name in a .zip or .whl archive."""
    with _valid("zip archive"), zipfile.ZipFile(io.BytesIO(content)) as archive:
        if name not in archive.namelist():
            raise _absent(name)
        with archive.open(name) as member:
            return _Bounded(member, most_bytes).read()


def zip_files(content: bytes, names: Collection[str], most_bytes: int) -> dict[str, bytes]:
    """Return the files of these names in a .zip archive, in any folder or an archive inside."""
    with _valid("zip archive"):
        found = _named_files(content, names, most_bytes, inner=True)
    for name in names:
        if name not in found:
            raise _absent(name)
    return found


def _absent(name: str) -> FetchError:
    return FetchError(f"there is no file {name} in the archive")


def _named_files(
    content: bytes, names: Collection[str], most_bytes: int, inner: bool
) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            name = PurePosixPath(member.filename).name
            if name in names or (inner and name.endswith(".zip")):
                with archive.open(member) as file:
                    unpacked = _Bounded(file, most_bytes).read()
                if name in names:
                    found[name] = unpacked
                else:
                    found |= _named_files(unpacked, names, most_bytes, inner=False)
    return found


def tar_members(content: bytes, names: Collection[str], most_bytes: int) -> dict[str, bytes]:
    """Return the plain files of these exact names in a .tar.gz archive, in one pass.

    Everything else in it is skipped, links and odd paths too.
    """
    found: dict[str, bytes] = {}
    # of a file's methods, tarfile's stream needs only read
    unpacked = gzip.GzipFile(fileobj=io.BytesIO(content))
    bounded = cast(IO[bytes], _Bounded(unpacked, most_bytes))
    with (
        _valid(".tar.gz archive"),
        tarfile.open(fileobj=bounded, mode="r|", bufsize=READ_AT_ONCE) as archive,
    ):
        for member in archive:
            # not left to the stream, which would skip through whatever size a member claims
            if member.size > most_bytes:
                raise _too_large(most_bytes)
            if member.name in names and member.isreg() and member.name not in found:
                body = archive.extractfile(member)
                if body is not None:
                    found[member.name] = body.read()
            if len(found) == len(names):
                return found
    raise _absent(next(name for name in names if name not in found))


# ---- CSV: equal tables are equal bytes and have one hash ----


def write_csv(names: Sequence[str], columns: Iterable[Iterable[str]]) -> bytes:
    """Write columns of strings as CSV: commas, quotes only where needed, nothing where missing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


def read_csv(content: bytes) -> dict[str, list[str]]:
    """Return the cells of a CSV file as strings, column by column."""
    try:
        header, *rows = csv.reader(
            io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True
        )
    except (ValueError, csv.Error) as exc:
        raise FetchError(f"not a valid CSV file: {one_line(exc)}") from exc
    if any(len(row) != len(header) for row in rows):
        raise FetchError(f"not a valid CSV file with {len(header)} cells in every row")
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def number_text(value: float) -> str:
    """Return the shortest text of a number that gives it back, without a point if it is whole."""
    if np.isnan(value):
        return ""
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


def floats(texts: Mapping[str, Sequence[object] | Array], what: str = "") -> dict[str, Array]:
    """Return columns as numbers; FetchError where a cell is none."""
    try:
        return {name: np.array(cells, dtype=np.float64) for name, cells in texts.items()}
    except (TypeError, ValueError) as exc:
        raise FetchError(f"{what or 'not all of its cells are numbers'}: {one_line(exc)}") from exc


def cell_values(texts: Sequence[str], as_text: bool = False) -> Array:
    """Return a column's cells: floats, or strings; NaN where missing."""
    if not as_text:
        with suppress(ValueError):
            return np.array([float(text or "nan") for text in texts])
    return np.array([text or np.nan for text in texts], dtype=object)


def missing_cells(values: Array) -> Array:
    """Return which cells hold no value."""
    from ..tables import is_missing

    return np.array([is_missing(value) for value in values])


# ---- Parquet ----


def read_parquet(content: bytes, what: str, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Return columns of a Parquet file, all of them by default."""
    purpose = f"reading {what} from Parquet"
    pyarrow = require("pyarrow", purpose, "partita[cli]")
    parquet = require("pyarrow.parquet", purpose, "partita[cli]")
    try:
        table = parquet.read_table(io.BytesIO(content), columns=names)
        return {name: table.column(name).to_numpy() for name in names or table.column_names}
    except (OSError, ValueError, KeyError, pyarrow.ArrowException) as exc:
        raise FetchError(f"not a Parquet file of {what}: {one_line(exc)}") from exc
