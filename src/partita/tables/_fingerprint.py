"""How to tell whether a table in a file is the same one: hashes, and times of change.

A full hash reads everything. For Parquet files that are too large for that, a hash of their footers
stands in: it changes with nearly every honest rewrite, and the times of change tell the others.
Neither proves anything about a forger.
"""

import hashlib
from pathlib import Path
from typing import Any

from ..errors import InputError
from ._parquet import parquet_files

BLOCK = 2**22  # bytes


def sha256_of(path: Any) -> str:
    """The SHA-256 of a file's content; of a folder, that of its files' names and contents."""
    place = Path(path)
    digest = hashlib.sha256()
    if place.is_dir():
        for file in sorted(file for file in place.rglob("*") if file.is_file()):
            digest.update(f"{file.relative_to(place)} {sha256_of(file)}\n".encode())
        return digest.hexdigest()
    with place.open("rb") as content:
        while block := content.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def footers_of(path: Any) -> str:
    """A hash of the names, sizes and footers of a table's Parquet files.

    A footer holds the place and the range of every column, so a rewritten table has another.
    """
    place = Path(path)
    digest = hashlib.sha256()
    for file in sorted(map(Path, parquet_files(place))):
        size = file.stat().st_size
        with file.open("rb") as content:
            content.seek(max(0, size - 8))
            length = int.from_bytes(content.read(4), "little")
            content.seek(max(0, size - 8 - length))
            footer = hashlib.sha256(content.read()).hexdigest()
        name = file.relative_to(place) if place.is_dir() else file.name
        digest.update(f"{name} {size} {footer}\n".encode())
    return digest.hexdigest()


def changes_of(path: Any) -> str:
    """A hash of the names and sizes of a table's files, and of when each was last written.

    Times count in microseconds, which file systems agree on.
    """
    place = Path(path)
    digest = hashlib.sha256()
    for file in sorted(map(Path, parquet_files(place))):
        facts = file.stat()
        name = file.relative_to(place) if place.is_dir() else file.name
        digest.update(f"{name} {facts.st_size} {facts.st_mtime_ns // 1000}\n".encode())
    return digest.hexdigest()


def check_unchanged(path: Any, changes: str) -> None:
    """Refuse a table whose files are no longer those of :func:`changes_of`."""
    if changes_of(path) != changes:
        raise InputError(
            f"data {str(path)!r} has changed since it was opened, and results of two tables would "
            "be mixed: leave it as it is, and run the same again"
        )
