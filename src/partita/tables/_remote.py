"""Tables that are not files on this machine: standard input, and URLs (through fsspec).

They are copied to a temporary folder first and read from there, so that what is hashed is what is
read, and a table that changes meanwhile stays one table. The copy is removed when the work is done.
Messages must never show what may be secret in a URL: a password, or the query of a signed link.
"""

import errno
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from .._support import JsonObject, PathLike, one_line, require
from ..errors import InputError, MissingExtraError, PartitaError

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
