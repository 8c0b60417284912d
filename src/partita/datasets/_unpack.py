"""Compressed files that may be damaged or hostile, unpacked in memory.

Never more bytes than expected, never a member that was not asked for, and nothing written to disk.
"""

import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import IO, Any, Protocol

from ._fetch_limits import FetchError, reason

READ_AT_ONCE = 2**20
FAILURES = (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, RecursionError)


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


def gunzip(file: IO[bytes], most_bytes: int) -> bytes:
    """The content of a gzip file."""
    try:
        with gzip.GzipFile(fileobj=file) as unpacked:
            return _Bounded(unpacked, most_bytes).read()
    except FAILURES as exc:
        raise FetchError(f"not a valid gzip file: {reason(exc)}") from exc


def unxz(content: bytes, most_bytes: int) -> bytes:
    """The content of an xz file."""
    try:
        with lzma.LZMAFile(io.BytesIO(content)) as unpacked:
            return _Bounded(unpacked, most_bytes).read()
    except (*FAILURES, lzma.LZMAError) as exc:
        raise FetchError(f"not a valid xz file: {reason(exc)}") from exc


def zip_member(file: IO[bytes], name: str, most_bytes: int) -> bytes:
    """The file of this exact name in a .zip or .whl archive."""
    try:
        with zipfile.ZipFile(file) as archive, archive.open(name) as member:
            return _Bounded(member, most_bytes).read()
    except KeyError:
        raise FetchError(f"there is no file {name} in the archive") from None
    # the last two: an unknown compression, or encryption
    except (*FAILURES, zipfile.BadZipFile, NotImplementedError, RuntimeError) as exc:
        raise FetchError(f"not a valid zip archive: {reason(exc)}") from exc


def zip_files(content: bytes, names: Collection[str], most_bytes: int) -> dict[str, bytes]:
    """The files of these names in a .zip archive, in any folder, or in an archive inside it."""
    try:
        found = _named_files(content, names, most_bytes, inner=True)
    except (*FAILURES, zipfile.BadZipFile, NotImplementedError, RuntimeError) as exc:
        raise FetchError(f"not a valid zip archive: {reason(exc)}") from exc
    absent = next((name for name in names if name not in found), None)
    if absent is not None:
        raise FetchError(f"there is no file {absent} in the archive")
    return found


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


def tar_members(file: IO[bytes], names: Collection[str], most_bytes: int) -> dict[str, bytes]:
    """The plain files of these exact names in a .tar.gz archive, in one pass.

    Everything else in it is skipped, links and odd paths too.
    """
    found: dict[str, bytes] = {}
    try:
        # of a file's methods, tarfile's stream needs only read
        bounded: Any = _Bounded(gzip.GzipFile(fileobj=file), most_bytes)
        with tarfile.open(fileobj=bounded, mode="r|", bufsize=READ_AT_ONCE) as archive:
            for member in archive:
                # not left to the stream, which would skip through whatever size a member claims
                if member.size > most_bytes:
                    raise _too_large(most_bytes)
                if member.name in names and member.isreg() and member.name not in found:
                    content = archive.extractfile(member)
                    if content is not None:
                        found[member.name] = content.read()
                if len(found) == len(names):
                    return found
    except FAILURES as exc:
        raise FetchError(f"not a valid .tar.gz archive: {reason(exc)}") from exc
    absent = next(name for name in names if name not in found)
    raise FetchError(f"there is no file {absent} in the archive")
