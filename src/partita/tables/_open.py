"""Tables in files: CSV and Parquet."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from ._csv import CsvFile, CsvOptions
from ._file import File, FileTable, LoadedFile, Split, frame_of
from ._parquet import ParquetFile, footers_of, last_change_of

__all__ = [
    "CsvOptions",
    "File",
    "FileTable",
    "LoadedFile",
    "Split",
    "footers_of",
    "frame_of",
    "last_change_of",
    "open_file",
    "sha256_of",
]

HASHED_AT_ONCE = 2**22


def open_file(
    path: Any,
    argument: str = "data",
    kinds: Mapping[str, str] | None = None,
    split: Split | None = None,
    csv: CsvOptions | None = None,
) -> File:
    """Look at a table in a file.

    Parameters
    ----------
    path : str or path
        A .csv, .csv.gz or .parquet file, or a folder of Parquet files.
    argument : str, default="data"
        What the path is called in messages.
    kinds : mapping of str to str, optional
        How a CSV file's columns are read; by default as they look.
    split : (column, value), optional
        Only the rows that have this value count.
    csv : CsvOptions, optional
        How a CSV file is written; Parquet needs no options.

    Returns
    -------
    File
        The table, of which a Parquet file's columns are not read yet.
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"{argument} {str(place)!r} does not exist: give a .csv or .parquet file")
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if place.is_dir() or suffixes[-1:] in ([".parquet"], [".pq"]):
        file: File = ParquetFile(place, split)
    elif ".csv" in suffixes[-2:]:
        file = CsvFile(place, kinds, split, csv)
    else:
        raise InputError(
            f"{argument} {str(place)!r} is neither .csv nor .parquet: give a table in one of the "
            "two"
        )
    twice = next((name for name in file.names if file.names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"{argument} {str(place)!r} has two columns named {twice!r}: rename one, so that each "
            "can be told apart"
        )
    if split is not None and not file.n_rows:
        raise InputError(
            f"split asks for {split[1]!r} in the column {split[0]!r}, which no row of "
            f"{str(place)!r} has: ask for another"
        )
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
