"""Reading compressed files that may be damaged or hostile: in memory, never more than was asked
for, nothing put on disk."""

import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Collection
from typing import IO, Any, Protocol

from ._progress import SourceError, reason

AT_ONCE = 2**20
BROKEN = (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, RecursionError)


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class _Bounded:
    """A stream that refuses to give more than a number of bytes."""

    def __init__(self, stream: _Readable, limit: int) -> None:
        self._stream, self._limit, self._left = stream, limit, limit

    def read(self, size: int = -1, /) -> bytes:
        wanted = self._left + 1 if size < 0 else min(size, self._left + 1)
        content = self._stream.read(wanted)
        self._left -= len(content)
        if self._left < 0:
            raise SourceError(_too_much(self._limit))
        return content


def _too_much(limit: int) -> str:
    return f"it unpacks to more than {limit:,} bytes, which cannot be right"


def gunzip(file: IO[bytes], limit: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=file) as unpacked:
            return _Bounded(unpacked, limit).read()
    except BROKEN as exc:
        raise SourceError(f"it is no whole gzip file: {reason(exc)}") from exc


def tar_members(file: IO[bytes], names: Collection[str], limit: int) -> dict[str, bytes]:
    """The plain files of these exact names in a .tar.gz, in one pass; whatever else is in there,
    links and odd paths too, is passed by."""
    found: dict[str, bytes] = {}
    try:
        bounded: Any = _Bounded(
            gzip.GzipFile(fileobj=file), limit
        )  # of a file's methods, a stream of tar needs read alone
        with tarfile.open(fileobj=bounded, mode="r|", bufsize=AT_ONCE) as archive:
            for member in archive:
                if (
                    member.size > limit
                    # not left to the stream, which counts its way through whatever size a member
                    # claims
                ):
                    raise SourceError(_too_much(limit))
                if member.name in names and member.isreg() and member.name not in found:
                    content = archive.extractfile(member)
                    if content is not None:
                        found[member.name] = content.read()
                if len(found) == len(names):
                    return found
    except BROKEN as exc:
        raise SourceError(f"it is no whole .tar.gz archive: {reason(exc)}") from exc
    missing = next(name for name in names if name not in found)
    raise SourceError(f"there is no file {missing} in the archive")


def zip_member(file: IO[bytes], name: str, limit: int) -> bytes:
    """The file of this exact name in a .zip or .whl."""
    try:
        with zipfile.ZipFile(file) as archive, archive.open(name) as member:
            return _Bounded(member, limit).read()
    except KeyError:
        raise SourceError(f"there is no file {name} in the archive") from None
    except (
        *BROKEN,
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
    ) as exc:  # the last two: packed in a strange way, or encrypted
        raise SourceError(f"it is no whole zip archive: {reason(exc)}") from exc


def unxz(content: bytes, limit: int) -> bytes:
    try:
        with lzma.LZMAFile(io.BytesIO(content)) as unpacked:
            return _Bounded(unpacked, limit).read()
    except (*BROKEN, lzma.LZMAError) as exc:
        raise SourceError(f"it is no whole xz file: {reason(exc)}") from exc
