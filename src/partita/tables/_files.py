"""Tables in files: open one by its format, recognise one that has changed, write one.

A full hash reads everything. For Parquet files that are too large for that, a hash of their footers
stands in: it changes with nearly every honest rewrite, and the times of change tell the others.
Neither proves anything about a forger.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .._support import PathLike, one_line, open_atomic
from ..errors import InputError, PartitaError
from ._arrow import Arrow, File, ParquetFile, Split, parquet_files
from ._csv import CsvFile, CsvOptions

Columns = Mapping[str, object]  # by name, as arrays or lists


def open_file(
    path: PathLike,
    argument: str = "data",
    kinds: Mapping[str, str] | None = None,
    split: Split | None = None,
    csv: CsvOptions | None = None,
) -> File:
    """Open a table in a CSV or Parquet file.

    Parameters
    ----------
    path : str or path
        A .csv, .csv.gz or .parquet file, or a folder of Parquet files.
    argument : str, default="data"
        What messages call the path.
    kinds : mapping of str to str, optional
        What the columns of a CSV file hold: "number", "boolean", "time" or "text". By default it is
        guessed from the cells; give a fitted model's ``kinds_`` to read new rows as the training
        rows were read.
    split : (column, value), optional
        Keep only the rows with this value in this column.
    csv : CsvOptions, optional
        How a CSV file is written. Parquet needs no options.

    Returns
    -------
    File
        The table: ``names``, ``n_rows``, ``kind(name)``, ``target(name)``, and ``table(kinds)``,
        which makes the ``X`` for fit and certify. A CSV file is read once; of a Parquet file, each
        submodel reads its own columns when it needs them.

    Raises
    ------
    InputError
        If there is no such file, it is not a table, or no row is left by ``split``.
    MissingExtraError
        If pandas or pyarrow is not installed.

    See Also
    --------
    partita.tables.open_table : A table from an array or a frame in memory.
    partita.fit_parquet : Fit from a table that is larger than memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from partita.tables import open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("price,colour,y\\n1.5,red,0\\n,blue,1\\n")
    ...     file = open_file(Path(folder, "t.csv"))
    >>> {name: file.kind(name) for name in file.names}
    {'price': 'number', 'colour': 'text', 'y': 'number'}
    >>> X = file.table({"price": "number", "colour": "text"})
    >>> X.take([0])["price"].tolist()
    [1.5, nan]
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
    duplicate = next((name for name in file.names if file.names.count(name) > 1), None)
    if duplicate is not None:
        raise InputError(
            f"{argument} {str(place)!r} has two columns named {duplicate!r}: rename one, so that "
            "each can be told apart"
        )
    if split is not None and not file.n_rows:
        raise InputError(
            f"split asks for {split[1]!r} in the column {split[0]!r}, which no row of "
            f"{str(place)!r} has: ask for another"
        )
    return file


# ---- whether a table is still the same ----


def sha256_of(path: PathLike) -> str:
    """Return a file's SHA-256; of a folder, that of its files' names and contents."""
    place = Path(path)
    if place.is_dir():
        return _sha256_of_each(place, filter(Path.is_file, place.rglob("*")), sha256_of)
    with place.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def footers_of(path: PathLike) -> str:
    """Return a hash of the names, sizes and footers of a table's Parquet files.

    A footer holds the place and the range of every column, so a rewritten table has another.
    """

    def footer_of(file: Path) -> str:
        size = file.stat().st_size
        with file.open("rb") as content:
            content.seek(max(0, size - 8))
            length = int.from_bytes(content.read(4), "little")
            content.seek(max(0, size - 8 - length))
            return f"{size} {hashlib.sha256(content.read()).hexdigest()}"

    return _sha256_of_each(Path(path), map(Path, parquet_files(Path(path))), footer_of)


def changes_of(path: PathLike) -> str:
    """Return a hash of the names and sizes of a table's files, and of when each was last written.

    Times count in microseconds, which file systems agree on.
    """

    def change_of(file: Path) -> str:
        facts = file.stat()
        return f"{facts.st_size} {facts.st_mtime_ns // 1000}"

    return _sha256_of_each(Path(path), map(Path, parquet_files(Path(path))), change_of)


def _sha256_of_each(place: Path, files: Iterable[Path], facts: Callable[[Path], str]) -> str:
    """Return a hash of files' names, relative to their folder, and of facts about each."""
    names = {file: file.relative_to(place) if place.is_dir() else file.name for file in files}
    lines = "".join(f"{names[file]} {facts(file)}\n" for file in sorted(names))
    return hashlib.sha256(lines.encode()).hexdigest()


def check_unchanged(path: PathLike, changes: str) -> None:
    """Refuse a table whose files are no longer those of :func:`changes_of`."""
    if changes_of(path) != changes:
        raise InputError(
            f"data {str(path)!r} has changed since it was opened, and results of two tables would "
            "be mixed: leave it as it is, and run the same again"
        )


# ---- writing ----


@contextmanager
def table_writer(out: PathLike) -> Iterator[Callable[[Columns], None]]:
    """Yield a function that adds rows to a file, which appears when the block ends well.

    All batches have the same columns. Lists in cells are joined with "; " in CSV.
    """
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    path = Path(out)
    check_writable(path)
    in_csv = path.suffix.lower() == ".csv"
    writer: Arrow = None
    schema: Arrow = None

    def write(columns: Columns) -> None:
        nonlocal writer, schema
        try:
            table = pyarrow.table(dict(columns))
            if in_csv:
                table = _without_lists(table)
            if writer is None:
                schema = table.schema
                kind = pyarrow.csv.CSVWriter if in_csv else pyarrow.parquet.ParquetWriter
                writer = writers.enter_context(kind(file, schema))
            writer.write_table(table.cast(schema))
        except (TypeError, pyarrow.ArrowException) as exc:
            raise InputError(
                f"out {str(path)!r} cannot hold these columns ({one_line(exc)}): write .parquet, "
                "or leave columns out"
            ) from exc

    try:
        with open_atomic(path) as file, ExitStack() as writers:
            yield write
    except OSError as exc:
        if isinstance(exc, PartitaError):
            raise
        raise InputError(
            f"out {str(path)!r} cannot be written ({exc.strerror or exc}): make room, or choose "
            "another place"
        ) from exc


def _without_lists(table: Arrow) -> Arrow:
    """Join each list to one string, since a CSV cell holds no list."""
    import pyarrow.compute

    for position, field in enumerate(table.schema):
        if pyarrow.types.is_list(field.type):
            strings = table.column(position).cast(pyarrow.list_(pyarrow.string()))
            joined = pyarrow.compute.binary_join(strings, "; ")
            table = table.set_column(position, field.name, joined)
    return table


def write_table(columns: Columns, out: PathLike) -> Path:
    """Write columns to a .parquet or .csv file in one step."""
    with table_writer(out) as write:
        write(columns)
    return Path(out)


def check_other_file(out: PathLike, data: PathLike) -> None:
    """Refuse to write over the table that is read."""
    path = Path(out)
    if path.exists() and Path(data).exists() and path.samefile(data):
        raise InputError(
            f"out {str(path)!r} is the table that is read, which would be lost: give another file"
        )


def check_writable(out: PathLike, suffixes: tuple[str, ...] = (".parquet", ".csv")) -> None:
    """Refuse, before any work is done, a path that cannot be written to."""
    path = Path(out)
    if path.suffix.lower() not in suffixes:
        raise InputError(f"out {str(path)!r} must end in {' or '.join(suffixes)}")
    if path.is_dir():
        raise InputError(f"out {str(path)!r} is a folder: give a file")
    above = next(parent for parent in path.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"out {str(path)!r} cannot be written: {str(above)!r} is not a folder")
