"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_whole(file: Path, content: bytes) -> None:
    """Written beside its place and renamed, so that a crash leaves no half file."""
    with opened_whole(file) as out:
        out.write(content)


@contextmanager
def opened_whole(file: Path) -> Iterator[BinaryIO]:
    """The same for what is written bit by bit: the file is there when the block ends, and not at
    all if it fails."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, place = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        Path(place).chmod(0o666 & ~_mask())
        Path(place).replace(file)
    except BaseException:
        Path(place).unlink(missing_ok=True)
        raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
