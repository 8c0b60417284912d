"""Packages through pip, which often reaches a package index where nothing else is reachable.

pip finds its index itself. It works in a temporary folder and fetches wheels alone: to look at any
other kind of package it would run the package's code."""

import importlib.util
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ._package_client import run, temporary_folder
from ._progress import Progress, SourceError

STALL_S = 10
WHOLE_S = 600.0
QUIET = (
    "--quiet",
    "--no-input",
    "--disable-pip-version-check",
    "--no-cache-dir",
    "--retries=1",
    f"--timeout={STALL_S}",
)


@contextmanager
def wheel(package: str, limit: int) -> Iterator[Path]:
    """A package's .whl file, without what it depends on, for as long as the context lasts."""
    with temporary_folder("pip") as folder:
        command = [
            *_client(),
            "download",
            "--no-deps",
            "--only-binary=:all:",
            *QUIET,
            "--dest=.",
            package,
        ]
        progress = Progress(
            f"pip download {package}, in its folder", 3 * limit, WHOLE_S
        )  # it holds a second copy
        status, said = run(
            "pip",
            command,
            folder,
            progress,
            env=dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder)),
        )
        if status:
            told = re.findall(r"^ERROR: (.+)$", said, re.MULTILINE)
            raise SourceError(
                "pip download failed "
                f"({told[-1].strip()[:200] if told else f'exit status {status}'})"
            )
        files = [
            file for file in folder.glob("*.whl") if file.is_file() and file.stat().st_size <= limit
        ]
        if len(files) != 1:
            raise SourceError("pip download left no .whl file of a size that can be right")
        yield files[0]


def _client() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip")  # any Python's will do: nothing is installed
    if found is None:
        raise SourceError("pip is not installed")
    return [found]
