"""Packages through the npm client, which finds its registry itself.

It works in a temporary folder, its own cache included, and runs no script of a package.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ._fetch_limits import FetchError, FetchLimits
from ._package_client import only_file, run_client, temporary_folder

VIEW_SECONDS = 20.0
WHOLE_SECONDS = 900.0
OPTIONS = (
    "--ignore-scripts",
    "--no-update-notifier",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=1000",
)


def check_registry(package: str) -> None:
    """Raise FetchError unless npm is installed and its registry has the package.

    ``npm pack`` itself would wait long before it gives up.
    """
    with temporary_folder("npm") as folder:
        _run_npm(["view", package, "version"], folder, FetchLimits("npm", 2**26, VIEW_SECONDS))


@contextmanager
def download_package(package: str, most_bytes: int) -> Iterator[Path]:
    """A package's .tgz file, for as long as the block lasts."""
    with temporary_folder("npm") as folder:
        # npm keeps a second copy in its cache, which is in the folder too
        limits = FetchLimits(f"npm pack {package}", 3 * most_bytes, WHOLE_SECONDS)
        _run_npm(["pack", package], folder, limits)
        yield only_file(folder, "*.tgz", most_bytes, "npm pack")


def _run_npm(arguments: Sequence[str], folder: Path, limits: FetchLimits) -> None:
    client = shutil.which("npm")
    if client is None:
        raise FetchError("npm is not installed")
    options = (
        f"--cache={folder / 'cache'}",
        *OPTIONS,
        f"--fetch-timeout={int(limits.seconds * 1000)}",
    )
    status, output = run_client("npm", [client, *arguments, *options], folder, limits)
    if status:
        code = re.search(r"^npm (?:error|ERR!) code (\S+)", output, re.MULTILINE)
        cause = code[1] if code else f"exit status {status}"
        raise FetchError(f"npm {arguments[0]} failed ({cause})")
