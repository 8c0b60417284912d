"""A thread per submodel, one thread for each: never oversubscribed, and the same result whatever
``n_jobs`` is."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock, RLock
from typing import Any

import joblib
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from threadpoolctl import ThreadpoolController

from .progress import Progress

THREAD_SETTINGS = ("n_jobs", "num_threads", "nthread", "thread_count")


def run_each(
    function: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    total: int,
    doing: str,
    verbose: int,
    alone: bool = False,
) -> Iterator[Any]:
    """``function(*job)`` for every job, in order, in threads (or on the backend of a joblib
    ``parallel_config``).

    ``alone``: one at a time, for work that draws from a generator of which a process has only one.
    """
    config = get_config()
    if alone:
        with _blas_on_one_thread():
            results = (_alone(config, function, *job) for job in jobs)
            yield from Progress(doing, total, "submodels").over(results) if verbose else results
        return
    with _blas_on_one_thread():
        backend, _ = get_active_backend(prefer="threads")
        one_by_one = (
            "generator" if backend.supports_return_generator else "list"
        )  # Ray's has no results before all are there
        results = Parallel(n_jobs=_workers(n_jobs), prefer="threads", return_as=one_by_one)(
            delayed(on_one_thread)(config, function, *job) for job in jobs
        )
        yield from Progress(doing, total, "submodels").over(results) if verbose else results


_ALONE = RLock()  # for all ensembles of the process, whichever thread fits them


def one_at_a_time(alone: bool) -> AbstractContextManager[Any]:
    """What is done within waits for others in the process that do such work, if it shares a
    generator with them."""
    return _ALONE if alone else nullcontext()


def _alone(config: dict[str, Any], function: Callable[..., Any], *job: Any) -> Any:
    with one_at_a_time(True):
        return on_one_thread(config, function, *job)


def one_thread_settings(estimator: Any) -> dict[str, int]:
    """The settings that keep an estimator and its parts on one thread; None is one already in
    scikit-learn, all cores elsewhere."""
    params = estimator.get_params()
    settings = {}
    for name, value in params.items():
        owner, _, setting = name.rpartition("__")
        in_sklearn = type(params[owner] if owner else estimator).__module__.startswith("sklearn.")
        if setting in THREAD_SETTINGS and not (value is None and in_sklearn):
            settings[name] = 1
    return settings


def on_one_thread(config: dict[str, Any], function: Callable[..., Any], *job: Any) -> Any:
    """``function(*job)`` under scikit-learn's settings ``config``, on a single thread, in whichever
    thread or process this is."""
    # scikit-learn's settings belong to a thread. Its own Parallel hands them on too, but with them
    # the warning filters, which belong to the process: threads that set and restore those at the
    # same time may leave none behind.
    with (
        config_context(**config),
        _blas_on_one_thread(),
        _controller(len(sys.modules)).limit(limits=1, user_api="openmp"),
    ):
        return function(*job)  # OpenMP counts threads for each calling thread


class _Blas:
    """BLAS has one setting for the process: the first who needs it on one thread sets it, the last
    restores it."""

    lock = Lock()
    users = 0
    limit: Any = None


@contextmanager
def _blas_on_one_thread() -> Iterator[None]:
    with _Blas.lock:
        if not _Blas.users:
            _Blas.limit = _controller(len(sys.modules)).limit(limits=1, user_api="blas")
        _Blas.users += 1
    try:
        yield
    finally:
        with _Blas.lock:
            _Blas.users -= 1
            if not _Blas.users:
                _Blas.limit.restore_original_limits()


@cache
def _controller(n_modules: int) -> ThreadpoolController:
    """The thread pools of the libraries loaded so far; looking for them again is needed only after
    an import."""
    return ThreadpoolController()


def _workers(n_jobs: int | None) -> int | None:
    """None: all cores, unless a joblib context or an outer parallel loop says otherwise.

    The submodels give up the threads that boosting libraries take by default, so the ensemble takes
    them instead."""
    backend, context = get_active_backend(prefer="threads")
    if n_jobs is None and context in (None, 1) and not backend.nesting_level:
        return int(joblib.cpu_count())
    return n_jobs
