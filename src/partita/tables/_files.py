"""Tables by their path or URL: open one, recognise one that has changed, write one.

A full hash reads everything. For Parquet files that are too large for that, a hash of their footers
stands in: it changes with nearly every honest rewrite, and the times of change tell the others.
Neither proves anything about a forger.

Tables that are not files on this machine (standard input, and URLs, through fsspec) are copied to a
temporary folder first and read from there, so that what is hashed is what is read, and a table that
changes meanwhile stays one table. The copy is removed when the work is done. Messages must never
show what may be secret in a URL: a password, or the query of a signed link.
"""

import errno
import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from .._support import JsonObject, PathLike, one_line, open_atomic, require
from ..errors import InputError, MissingExtraError, PartitaError
from ._arrow import Arrow, CsvFile, CsvOptions, File, ParquetFile, Split, parquet_files

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


# ---- standard input and URLs ----

FileSystem: TypeAlias = Any  # of fsspec, which has no type information

STDIN = "-"
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?=://)")
# the library that fsspec needs for a scheme, and how to install it
BACKENDS = {
    "http": ("aiohttp", "partita[remote]"),
    "https": ("aiohttp", "partita[remote]"),
    "s3": ("s3fs", "s3fs"),
    "gs": ("gcsfs", "gcsfs"),
}
STALL_SECONDS = 60  # without a byte
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# Where each temporary copy came from. An error is reported after its copy is gone, so entries stay.
_COPIES: dict[str, str] = {}


def is_local(data: PathLike) -> bool:
    """Return whether this is a path on this machine, not standard input or a URL of another."""
    return str(data) != STDIN and (SCHEME.match(str(data)) or ["file"])[0].lower() == "file"


@contextmanager
def local_copy(data: PathLike, argument: str = "data") -> Iterator[Path]:
    """Yield a path at which a table can be read while the block lasts.

    Parameters
    ----------
    data : str or path
        A path, which is returned as it is; ``-``, standard input, which must be CSV; or a URL:
        ``file://``, ``https://``, ``s3://`` or any other that fsspec knows.
    argument : str, default="data"
        What messages call it.

    Yields
    ------
    Path
        The file itself, or a temporary copy of it.
    """
    text = str(data)
    if is_local(text):
        yield Path(data) if SCHEME.match(text) is None else _path_of(text, argument)
        return
    with tempfile.TemporaryDirectory(prefix="partita-") as folder:
        try:
            if text == STDIN:
                path = _copy_stdin(Path(folder))
            else:
                path = _download(text, argument, Path(folder))
        except PartitaError:
            raise
        except OSError as exc:
            raise InputError(
                f"{argument} {_without_secrets(text)!r} cannot be copied to {folder!r} "
                f"({exc.strerror or exc}): make room, or set TMPDIR to a place that has it"
            ) from exc
        _COPIES[str(path)] = _without_secrets(text)
        yield path


def name_origins(message: str) -> str:
    """Return a message in which every temporary copy goes by where it came from."""
    for copy, origin in _COPIES.items():
        message = message.replace(copy, origin)
    return message


def _path_of(url: str, argument: str) -> Path:
    """Return the path of a file:// URL."""
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise InputError(
            f"{argument} {url!r} is on another machine, {parts.netloc!r}: give a path on this "
            "one, file:///folder/table.csv"
        )
    return Path(url2pathname(parts.path))


def _copy_stdin(folder: Path) -> Path:
    path = folder / "stdin.csv"
    if sys.stdin is None:
        raise InputError(
            "data is '-', but standard input is closed: give a file, or send it a table"
        )
    with path.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    with path.open("rb") as copy:
        if copy.read(4) == b"PAR1":
            raise InputError(
                "data is '-', and standard input holds Parquet, not CSV: give the file itself"
            )
    return path


def _download(url: str, argument: str, folder: Path) -> Path:
    """Copy a file, or a folder of Parquet files, into this folder."""
    files, place = _file_system(url, argument)
    name = re.sub(r"[^\w.-]", "_", PurePosixPath(unquote(urlsplit(url).path)).name)[-100:]
    try:
        if not _is_web(url) and files.isdir(place):
            return _download_folder(files, place, folder / (name.strip(".") or "table"))
        if not re.search(r"\.(csv(\.\w+)?|parquet|pq)$", name.lower()):
            raise InputError(
                f"{argument} {_without_secrets(url)!r} is neither .csv nor .parquet: give a table "
                "in one of the two"
            )
        files.get_file(place, str(folder / name))
    except PartitaError:
        raise
    except ImportError as exc:
        raise _missing_backend(url) from exc
    except Exception as exc:  # every file system has errors of its own
        if isinstance(exc, OSError) and exc.errno in DISK_FULL:
            raise
        raise InputError(
            f"{argument} {_without_secrets(url)!r} could not be read: {_reason(exc, url)}"
        ) from exc
    return folder / name


def _download_folder(files: FileSystem, place: str, folder: Path) -> Path:
    folder.mkdir()
    for found in files.find(place):
        inside = PurePosixPath(found).relative_to(PurePosixPath(place))
        if ".." in inside.parts:
            raise InputError(
                f"data {place!r} holds a file named {str(inside)!r}, which would lie outside its "
                "folder: rename it"
            )
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        files.get_file(found, str(folder / inside))
    return folder


def _file_system(url: str, argument: str) -> tuple[FileSystem, str]:
    """Return fsspec's file system for a URL, and the path within it."""
    fsspec = require("fsspec.core", f"reading {_scheme(url)}:// addresses", "partita[remote]")
    options: JsonObject = {}
    try:
        if _is_web(url):
            import aiohttp

            # no limit on a download while bytes arrive; proxies from the environment
            limits = dict.fromkeys(("sock_connect", "sock_read"), STALL_SECONDS)
            timeout = aiohttp.ClientTimeout(total=None, **limits)
            options["client_kwargs"] = {"trust_env": True, "timeout": timeout}
        files, place = fsspec.url_to_fs(url, **options)
    except ImportError as exc:
        raise _missing_backend(url) from exc
    except (ValueError, OSError) as exc:
        raise InputError(
            f"{argument} {_without_secrets(url)!r} could not be read ({_reason(exc, url)}): give a "
            "path, or an address such as https:// or s3://"
        ) from exc
    return files, str(place)


def _missing_backend(url: str) -> MissingExtraError:
    scheme = _scheme(url)
    library, install = BACKENDS.get(scheme, ("another library", f"fsspec[{scheme}]"))
    return MissingExtraError(library, f"reading {scheme}:// addresses", install)


def _is_web(url: str) -> bool:
    return _scheme(url) in ("http", "https")


def _scheme(url: str) -> str:
    return url.partition("://")[0].lower()


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    if not parts.netloc:
        return url
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _reason(exc: BaseException, url: str) -> str:
    """Say why a URL could not be read, in one line and without secrets."""
    status = getattr(exc, "status", None)
    if status is not None:
        return f"the server answers {status} {getattr(exc, 'message', '')}".strip()
    if isinstance(exc, FileNotFoundError):
        return "there is no such file"
    return one_line(exc).replace(url, _without_secrets(url))
