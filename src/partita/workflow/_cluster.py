"""Work on a Dask cluster: one task per submodel, on whichever worker is free.

A worker that dies has its task retried by another. Workers must have the same libraries: others may
fit other submodels from the same columns.
"""

import ctypes
import gc
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

from sklearn import get_config

from .. import __version__
from .._support import JsonObject, log, on_one_thread, require
from ..errors import InputError, PartitaError, SubmodelError

Client: TypeAlias = Any  # of distributed, which has no types
LIBRARIES = ("numpy", "scikit-learn", "scipy", "skops", "pyarrow", "pandas", "lightgbm")
PATIENCE = 10  # seconds to wait for a scheduler, and for its first worker
CHECK_EVERY = 5  # seconds between checks whether there are workers


def library_versions() -> dict[str, str | None]:
    """Return what submodels depend on beside their data."""
    found: dict[str, str | None] = {
        "partita": __version__,
        "python": ".".join(map(str, sys.version_info[:2])),
    }
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = None
    return found


@contextmanager
def connect(cluster: object) -> Iterator[Client]:
    """Connect to a cluster that has workers, by its scheduler's address or by a client."""
    distributed = _distributed()
    if isinstance(cluster, distributed.Client):
        _check_workers(cluster)
        yield cluster
        return
    try:
        _check_address(cluster)
        client = distributed.Client(cluster, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as exc:
        raise InputError(
            f"cluster {cluster!r} cannot be reached: give the address of a Dask scheduler, "
            "tcp://HOST:PORT"
        ) from exc
    with client:
        _check_workers(client)
        yield client


def _check_address(address: Any) -> None:
    """Raise an error where nothing listens.

    A client that finds no scheduler would print a traceback once more when it is collected.
    """
    found = re.fullmatch(r"(?:(\w+)://)?\[?(.+?)\]?:(\d+)/?", address)
    if found is None:
        raise ValueError("not an address")
    if found[1] in (None, "tcp", "tls"):
        socket.create_connection((found[2], int(found[3])), PATIENCE).close()


def run_on_cluster(
    client: Client, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield ``function(*job)`` for every job on a cluster's workers, in the order they finish."""
    distributed, config, expected = _distributed(), get_config(), library_versions()
    futures = [
        client.submit(_task, config, expected, function, job, pure=False, retries=0) for job in jobs
    ]
    pending = distributed.as_completed(futures, loop=client.loop)
    checked_at, no_workers = time.monotonic(), False
    try:
        while not pending.is_empty():
            for finished in pending.next_batch(block=False):
                yield _result(distributed, finished)
            time.sleep(0.05)
            if time.monotonic() - checked_at > CHECK_EVERY:
                checked_at, no_workers = time.monotonic(), _log_lost_workers(client, no_workers)
    finally:
        if client.status == "running":
            client.cancel(futures)


def _task(
    config: JsonObject,
    expected: dict[str, str | None],
    function: Callable[..., Any],
    job: tuple[Any, ...],
) -> Any:
    """Run a job on a worker, if it has the same libraries."""
    here = library_versions()
    for library, wanted in expected.items():
        if here[library] != wanted:
            raise InputError(
                f"a worker has {library} {here[library]}, and {wanted} is needed: install the "
                "same on all workers"
            )
    try:
        return on_one_thread(config, function, *job)
    finally:
        _trim_memory()


def _trim_memory() -> None:
    """Return freed memory to the system: glibc keeps it in fragments, and a worker would grow."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def _result(distributed: Any, finished: Any) -> Any:
    """Return what a task returned; a failure of the cluster becomes one sentence."""
    try:
        return finished.result()
    except PartitaError:
        raise
    except CancelledError as exc:
        raise SubmodelError(
            "the cluster's scheduler is gone: finished submodels are stored, so start it and run "
            "the same again"
        ) from exc
    except distributed.KilledWorker as exc:
        raise SubmodelError(
            f"{exc.allowed_failures + 1} worker(s) died over the same submodel: give the workers "
            "more memory, or fewer threads each"
        ) from exc
    except MemoryError as exc:
        raise SubmodelError(
            "a submodel needs more memory than its worker has: give the workers more, or fewer "
            "threads each"
        ) from exc
    except (ImportError, RuntimeError) as exc:
        if isinstance(exc.__cause__, ImportError) or isinstance(exc, ImportError):
            raise InputError(
                f"a worker cannot import what the task needs ({exc.__cause__ or exc}): install it "
                "on all workers"
            ) from exc
        raise


def _log_lost_workers(client: Client, already_logged: bool) -> bool:
    """Return whether all workers are gone, and log it once. The work resumes when one comes."""
    no_workers = client.status == "running" and not client.nthreads()
    if no_workers and not already_logged:
        log(
            "no workers are left; the fit resumes when one comes: dask worker "
            f"{client.scheduler.address}"
        )
    return no_workers


def _check_workers(client: Client) -> None:
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as exc:
        raise InputError(
            f"cluster {address} has no workers: start some, dask worker {address}"
        ) from exc


def _distributed() -> Any:
    return require("distributed", "a fit on a cluster", "partita[cluster]")
