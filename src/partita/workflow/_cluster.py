"""Work on a Dask cluster: one task a submodel, on whichever worker is free; a worker that dies has
its task done by another."""

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
from typing import Any

from sklearn import get_config

from .. import __version__
from .._support.parallel import on_one_thread
from ..errors import InputError, MissingExtraError, PartitaError, SubmodelError

LIBRARIES = ("numpy", "scikit-learn", "scipy", "skops", "pyarrow", "pandas", "lightgbm")
PATIENCE = 10  # seconds to wait for a scheduler, and for its first worker
LOOK_EVERY = 5  # seconds between looks at whether there are workers


def versions() -> dict[str, str | None]:
    """What submodels depend on beside their data."""
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
def connected(cluster: Any) -> Iterator[Any]:
    """A client of a cluster that has workers. ``cluster``: the address of its scheduler, or a
    client."""
    distributed = _distributed()
    if isinstance(cluster, distributed.Client):
        _check_workers(cluster)
        yield cluster
        return
    try:
        _knock(cluster)
        client = distributed.Client(cluster, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as exc:
        raise InputError(
            f"cluster {cluster!r} cannot be reached: give the address of a Dask scheduler, "
            "tcp://HOST:PORT"
        ) from exc
    with client:
        _check_workers(client)
        yield client


def _knock(address: Any) -> None:
    """An error where nobody listens: a client that finds no scheduler complains once more when it
    is thrown away, in a traceback."""
    found = re.fullmatch(r"(?:(\w+)://)?\[?(.+?)\]?:(\d+)/?", address)
    if found is None:
        raise ValueError("no address")
    if found[1] in (None, "tcp", "tls"):
        socket.create_connection((found[2], int(found[3])), PATIENCE).close()


def run_on_cluster(
    client: Any, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """``function(*job)`` for every job, on the workers of a cluster, in the order in which they are
    done."""
    distributed, config, expected = _distributed(), get_config(), versions()
    futures = [
        client.submit(_task, config, expected, function, job, pure=False, retries=0) for job in jobs
    ]
    waiting = distributed.as_completed(futures, loop=client.loop)
    looked, alone = time.monotonic(), False
    try:
        while not waiting.is_empty():
            for done in waiting.next_batch(block=False):
                yield _result(distributed, done)
            time.sleep(0.05)
            if time.monotonic() - looked > LOOK_EVERY:
                looked, alone = time.monotonic(), _tell_if_alone(client, alone)
    finally:
        if client.status == "running":
            client.cancel(futures)


def _task(
    config: dict[str, Any],
    expected: dict[str, str | None],
    function: Callable[..., Any],
    job: tuple[Any, ...],
) -> Any:
    """Runs on a worker, which must have the same libraries: others may fit other submodels from the
    same columns."""
    here = versions()
    for library, wanted in expected.items():
        if here[library] != wanted:
            raise InputError(
                f"a worker has {library} {here[library]}, and {wanted} is needed: install the "
                "same on all workers"
            )
    try:
        return on_one_thread(config, function, *job)
    finally:
        _give_back_memory()


def _give_back_memory() -> None:
    """What a task has freed goes back to the system: glibc keeps it, in pieces that the next task
    cannot all use, and a worker grows."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def _result(distributed: Any, done: Any) -> Any:
    try:
        return done.result()
    except PartitaError:
        raise
    except CancelledError as exc:
        raise SubmodelError(
            "the cluster's scheduler is gone: what is finished is kept, so start it and run the "
            "same again"
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


def _tell_if_alone(client: Any, told: bool) -> bool:
    """Say once that all workers are gone: the work goes on when one comes."""
    alone = client.status == "running" and not client.nthreads()
    if alone and not told:
        print(
            "partita: no workers are left, and it goes on when one comes: dask worker "
            f"{client.scheduler.address}",
            file=sys.stderr,
        )
    return alone


def _check_workers(client: Any) -> None:
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as exc:
        raise InputError(
            f"cluster {address} has no workers: start some, dask worker {address}"
        ) from exc


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as exc:
        raise MissingExtraError("distributed", "a fit on a cluster", "partita[cluster]") from exc
    return distributed
