"""Files that are written completely or not at all.

Content goes into a temporary file beside its destination, which is renamed at the end: a reader or
a crash never meets half a file.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_atomic(file: Path, content: bytes) -> None:
    """Write a file in one step, making its folder if need be."""
    with open_atomic(file) as out:
        out.write(content)


@contextmanager
def open_atomic(file: Path) -> Iterator[BinaryIO]:
    """Open a file to write piece by piece; it appears when the block ends without an error."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(file)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
