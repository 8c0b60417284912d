"""Packages through pip, which finds its index itself.

It works in a temporary folder and downloads wheels only: to look at any other kind of package it
would run the package's code.
"""

import importlib.util
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ._fetch_limits import FetchError, FetchLimits
from ._package_client import only_file, run_client, temporary_folder

STALL_SECONDS = 10
WHOLE_SECONDS = 600.0
OPTIONS = (
    "--no-deps",
    "--only-binary=:all:",
    "--quiet",
    "--no-input",
    "--disable-pip-version-check",
    "--no-cache-dir",
    "--retries=1",
    f"--timeout={STALL_SECONDS}",
    "--dest=.",
)


@contextmanager
def download_wheel(package: str, most_bytes: int) -> Iterator[Path]:
    """A package's .whl file, without its dependencies, for as long as the block lasts."""
    with temporary_folder("pip") as folder:
        # pip keeps a second copy in the folder for temporary files, which is this one too
        limits = FetchLimits(f"pip download {package}", 3 * most_bytes, WHOLE_SECONDS)
        command = [*_client(), "download", *OPTIONS, package]
        env = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
        status, output = run_client("pip", command, folder, limits, env)
        if status:
            errors = re.findall(r"^ERROR: (.+)$", output, re.MULTILINE)
            cause = errors[-1].strip()[:200] if errors else f"exit status {status}"
            raise FetchError(f"pip download failed ({cause})")
        yield only_file(folder, "*.whl", most_bytes, "pip download")


def _client() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip")  # any Python's will do: nothing is installed
    if found is None:
        raise FetchError("pip is not installed")
    return [found]
