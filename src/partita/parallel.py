"""A thread per submodel, one thread for each: never oversubscribed, and the same result whatever ``n_jobs`` is."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import joblib
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from threadpoolctl import ThreadpoolController

THREAD_SETTINGS = ("n_jobs", "num_threads", "nthread", "thread_count")


def run_each(
    function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], n_jobs: int | None, total: int, doing: str, verbose: int
) -> Iterator[Any]:
    """``function(*job)`` for every job, in order, in threads (or on the backend of a joblib ``parallel_config``)."""
    home, config = os.getpid(), get_config()
    with _controller(len(sys.modules)).limit(limits=1, user_api="blas"):  # BLAS has one setting for the process: made once, here
        results = Parallel(n_jobs=_workers(n_jobs), prefer="threads", return_as="generator")(
            delayed(_on_one_thread)(home, config, function, job) for job in jobs
        )
        yield from _told(results, total, doing) if verbose else results


def one_thread_settings(estimator: Any) -> dict[str, int]:
    """The settings that keep an estimator and its parts on one thread; None is one already in scikit-learn, all cores elsewhere."""
    params = estimator.get_params()
    settings = {}
    for name, value in params.items():
        owner, _, setting = name.rpartition("__")
        in_sklearn = type(params[owner] if owner else estimator).__module__.startswith("sklearn.")
        if setting in THREAD_SETTINGS and not (value is None and in_sklearn):
            settings[name] = 1
    return settings


def _on_one_thread(home: int, config: dict[str, Any], function: Callable[..., Any], job: tuple[Any, ...]) -> Any:
    # scikit-learn's settings belong to a thread. Its own Parallel hands them on too, but with them the warning filters, which belong to the
    # process: threads that set and restore those at the same time may leave none behind.
    with config_context(**config), _one_thread(home):
        return function(*job)


@contextmanager
def _one_thread(home: int) -> Iterator[None]:
    """OpenMP counts threads for each calling thread, so its limit is set by the worker; in another process BLAS is limited too."""
    with _controller(len(sys.modules)).limit(limits=1, user_api="openmp" if os.getpid() == home else None):
        yield


@cache
def _controller(n_modules: int) -> ThreadpoolController:
    """The thread pools of the libraries loaded so far; looking for them again is needed only after an import."""
    return ThreadpoolController()


def _workers(n_jobs: int | None) -> int | None:
    """None: all cores, unless a joblib context or an outer parallel loop says otherwise.

    The submodels give up the threads that boosting libraries take by default, so the ensemble takes them instead.
    """
    backend, context = get_active_backend(prefer="threads")
    if n_jobs is None and context in (None, 1) and not backend.nesting_level:
        return int(joblib.cpu_count())
    return n_jobs


def _told(results: Iterable[Any], total: int, doing: str) -> Iterator[Any]:
    """Pass results on and say on standard error how far the work is, at most every two seconds."""
    started = told = time.monotonic()
    for done, result in enumerate(results, start=1):
        yield result
        now = time.monotonic()
        if now - told >= 2 or done == total:
            told = now
            left = (now - started) / done * (total - done)
            print(f"partita: {doing} {done} of {total} submodels, {now - started:.0f} s so far, about {left:.0f} s left", file=sys.stderr)
