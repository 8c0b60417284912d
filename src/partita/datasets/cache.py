"""The folder where fetched data are kept: one .npz file for each data set."""

import io
import os
from pathlib import Path

import numpy as np

from ..atomic import write_whole
from ..errors import InputError
from .images import NAMES, Arrays, Exact
from .telling import SourceError, reason, say


def cache_folder(cache: str | os.PathLike[str] | None) -> Path:
    """The argument, or PARTITA_CACHE, or partita's folder among the user's caches."""
    chosen = cache if cache is not None else os.environ.get("PARTITA_CACHE") or None
    if chosen is None:
        common = Path(os.environ.get("XDG_CACHE_HOME", ""))  # the specification says to ignore a relative one
        folder = (common if common.is_absolute() else Path("~/.cache").expanduser()) / "partita"
    else:
        folder = Path(chosen).expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise InputError(f"cache {str(folder)!r} is a file: name a folder, which is made if need be")
    return folder


def kept_file(folder: Path, exact: Exact) -> Path:
    return folder / f"{exact.name}.npz"


def kept(folder: Path, exact: Exact) -> Arrays | None:
    """What an earlier call kept, if it is there and whole."""
    file = kept_file(folder, exact)
    if not file.exists():
        return None
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as content:  # numpy alone leaves a damaged zip open
            arrays = {name: content[name] for name in NAMES}
        exact.check(arrays)
    except Exception as exc:  # a damaged file makes zipfile and numpy raise nearly anything, and the cure is always the same
        say(f"{file} is damaged ({reason(exc)}): {exact.name} is fetched again")
        return None
    return arrays


def keep(folder: Path, exact: Exact, arrays: Arrays) -> None:
    """Not being able to keep the data is no reason to refuse them."""
    content = io.BytesIO()
    np.savez(content, X_train=arrays["X_train"], y_train=arrays["y_train"], X_test=arrays["X_test"], y_test=arrays["y_test"])
    file = kept_file(folder, exact)
    try:
        write_whole(file, content.getvalue())
    except OSError as exc:
        say(f"{exact.name} cannot be kept in {folder} ({reason(exc)}) and will be fetched again: set PARTITA_CACHE to another folder")
    else:
        say(f"{exact.name} is kept in {file}")


def placed(folder: Path, name: str, limit: int) -> Path:
    """A file that somebody put into the folder."""
    file = folder / name
    size = file.stat().st_size
    if size > limit:
        raise SourceError(f"{name} has {size:,} bytes, which cannot be right")
    return file
