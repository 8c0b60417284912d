"""Tables that are not files on this machine: standard input, and addresses such as https:// and s3:// (through fsspec).

They are copied to a temporary folder first and read from there, so that what is hashed is what is
read, and a table that changes meanwhile stays one table. The copy is removed when the work is done.
"""

import errno
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from ..errors import InputError, MissingExtraError, PartitaError
from ._arrow import first_line

STDIN = "-"
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?=://)")
# what fsspec needs beside itself
BACKENDS = {
    "http": ("aiohttp", "partita[remote]"),
    "https": ("aiohttp", "partita[remote]"),
    "s3": ("s3fs", "s3fs"),
    "gs": ("gcsfs", "gcsfs"),
}
PATIENCE = 60  # seconds without a byte
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_local(data: Any) -> bool:
    """Whether this is a path on this machine, not standard input or an address."""
    return str(data) != STDIN and (SCHEME.match(str(data)) or ["file"])[0].lower() == "file"


@contextmanager
def local_copy(data: Any, argument: str = "data") -> Iterator[Path]:
    """A path at which a table can be read as long as the block lasts.

    Parameters
    ----------
    data : str or path
        A path, which is given back as it is; ``-``, standard input, which must be CSV; or an address: ``file://``, ``https://``,
        ``s3://`` or any other that fsspec knows.
    argument : str, default="data"
        What it is called in messages.

    Yields
    ------
    Path
        The file itself, or a temporary copy of it.
    """
    text = str(data)
    scheme = SCHEME.match(text)
    if is_local(text):
        yield Path(data) if scheme is None else _path_of(text, argument)
        return
    with tempfile.TemporaryDirectory(prefix="partita-") as folder:
        try:
            path = (
                _from_standard_input(Path(folder))
                if text == STDIN
                else _downloaded(text, argument, Path(folder))
            )
        except OSError as exc:
            if isinstance(exc, PartitaError):
                raise
            raise InputError(
                f"{argument} {_shown(text)!r} cannot be copied to {folder!r} "
                f"({exc.strerror or exc}): make room, or set TMPDIR to a place "
                "that has it"
            ) from exc
        yield path


def _path_of(address: str, argument: str) -> Path:
    parts = urlsplit(address)
    if parts.netloc not in ("", "localhost"):
        raise InputError(
            f"{argument} {address!r} is on another machine, {parts.netloc!r}: give a path on this "
            "one, file:///folder/table.csv"
        )
    return Path(url2pathname(parts.path))


def _from_standard_input(folder: Path) -> Path:
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


def _downloaded(address: str, argument: str, folder: Path) -> Path:
    """A copy of a file, or of a folder of Parquet files, in this folder."""
    files, place = _file_system(address, argument)
    name = re.sub(r"[^\w.-]", "_", PurePosixPath(unquote(urlsplit(address).path)).name)[-100:]
    try:
        if not _is_web(address) and files.isdir(place):
            return _folder_of(files, place, folder / (name.strip(".") or "table"))
        if not re.search(r"\.(csv(\.\w+)?|parquet|pq)$", name.lower()):
            raise InputError(
                f"{argument} {_shown(address)!r} is neither .csv nor .parquet: give a table in "
                "one of the two"
            )
        files.get_file(place, str(folder / name))
    except PartitaError:
        raise
    except ImportError as exc:
        raise _missing(address) from exc
    except Exception as exc:  # every file system has errors of its own
        if isinstance(exc, OSError) and exc.errno in NO_ROOM:
            raise
        raise InputError(
            f"{argument} {_shown(address)!r} could not be read: {_reason(exc, address)}"
        ) from exc
    return folder / name


def _folder_of(files: Any, place: str, folder: Path) -> Path:
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


def _file_system(address: str, argument: str) -> tuple[Any, str]:
    try:
        import fsspec.core
    except ImportError as exc:
        raise MissingExtraError(
            "fsspec", f"reading {_scheme(address)}:// addresses", "partita[remote]"
        ) from exc
    try:
        options = _web_options() if _is_web(address) else {}
        files, place = fsspec.core.url_to_fs(address, **options)
    except ImportError as exc:
        raise _missing(address) from exc
    except (ValueError, OSError) as exc:
        cure = "give a path, or an address such as https:// or s3://"
        raise InputError(
            f"{argument} {_shown(address)!r} could not be read ({_reason(exc, address)}): {cure}"
        ) from exc
    return files, str(place)


def _web_options() -> dict[str, Any]:
    """No limit on how long a download may take, as long as something comes; proxies as the
    environment says."""
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=None, sock_connect=PATIENCE, sock_read=PATIENCE)
    return {"client_kwargs": {"trust_env": True, "timeout": timeout}}


def _missing(address: str) -> MissingExtraError:
    scheme = _scheme(address)
    library, install = BACKENDS.get(scheme, ("another library", f"fsspec[{scheme}]"))
    return MissingExtraError(library, f"reading {scheme}:// addresses", install)


def _is_web(address: str) -> bool:
    return _scheme(address) in ("http", "https")


def _scheme(address: str) -> str:
    return address.partition("://")[0].lower()


def _shown(address: str) -> str:
    """An address without what may be secret: a password, or the query that a link was signed
    with."""
    parts = urlsplit(address)
    if not parts.netloc:
        return address
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _reason(exc: BaseException, address: str) -> str:
    status = getattr(exc, "status", None)
    if status is not None:
        return f"the server answers {status} {getattr(exc, 'message', '')}".strip()
    if isinstance(exc, FileNotFoundError):
        return "there is no such file"
    return first_line(exc).replace(address, _shown(address))
