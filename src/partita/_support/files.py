"""Files: written completely or not at all, and TOML files that users write.

Content goes into a temporary file beside its destination, which is renamed at the end: a reader or
a crash never meets half a file.
"""

import os
import secrets
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import InputError
from .values import one_line


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


def read_toml(path: Any, where: str) -> dict[str, Any]:
    """Read a .toml file; ``where`` names it in errors."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise InputError(f"{where} does not exist: give a .toml file") from exc
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as exc:
        raise InputError(f"{where} cannot be read as TOML: {one_line(exc)}") from exc
