"""Files that are written whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_whole(file: Path, content: bytes) -> None:
    """Written beside its place and renamed, so that a crash leaves no half file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, place = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
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
