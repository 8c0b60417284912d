"""One thread per submodel and one core per thread, with the same result whatever ``n_jobs`` is.

Libraries underneath (BLAS, OpenMP, boosting) are held to a single thread meanwhile: that avoids
oversubscription, and rounding must not depend on the number of cores.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from threading import Lock, RLock
from typing import TypeVar

import joblib
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from threadpoolctl import ThreadpoolController

from .screen import Progress
from .values import Estimator

Config = Mapping[str, object]  # scikit-learn's settings
Result = TypeVar("Result")

THREAD_PARAMETERS = ("n_jobs", "num_threads", "nthread", "thread_count")


def run_each(
    function: Callable[..., Result],
    jobs: Iterable[tuple[object, ...]],
    n_jobs: int | None,
    total: int,
    verb: str,
    verbose: int,
    serial: bool = False,
) -> Iterator[Result]:
    """Yield ``function(*job)`` for each job, in order, computed in threads.

    Parameters
    ----------
    function : callable
        What to run.
    jobs : iterable of tuples
        The arguments of each call.
    n_jobs : int or None
        How many run at once; None: as many as there are cores. A joblib ``parallel_config`` around
        the call chooses another backend.
    total : int
        How many jobs there are, for the progress.
    verb : str
        What the function does to a submodel, as a participle: ``"fitted"``.
    verbose : int
        Above 0: progress on standard error.
    serial : bool, default=False
        One at a time in the whole process, for work that draws from a generator of which a process
        has only one.
    """
    config = get_config()
    with _blas_on_one_thread(), _warning_filters_restored():
        if serial:
            results: Iterable[Result] = (_run_exclusively(config, function, *job) for job in jobs)
        else:
            backend, _ = get_active_backend(prefer="threads")
            # Ray's backend has no results before all are there
            return_as = "generator" if backend.supports_return_generator else "list"
            results = Parallel(n_jobs=_workers(n_jobs), prefer="threads", return_as=return_as)(
                delayed(on_one_thread)(config, function, *job) for job in jobs
            )
        yield from Progress(verb, total, "submodels").over(results) if verbose else results


@contextmanager
def _warning_filters_restored() -> Iterator[None]:
    """Put the process's warning filters back: forests set them in every thread, one after another.

    The last one to restore them may restore those of another thread.
    """
    before = warnings.filters
    try:
        yield
    finally:
        warnings.filters = before


_SHARED_GENERATOR = RLock()  # for all ensembles of the process, whichever thread fits them


def exclusive(needed: bool) -> AbstractContextManager[object]:
    """Return a block that waits for all others like it in the process, where ``needed``."""
    return _SHARED_GENERATOR if needed else nullcontext()


def _run_exclusively(config: Config, function: Callable[..., Result], *job: object) -> Result:
    with exclusive(True):
        return on_one_thread(config, function, *job)


def one_thread_settings(estimator: Estimator) -> dict[str, int]:
    """Return the parameters that hold an estimator and its parts to one thread.

    None means one thread in scikit-learn already, but all cores elsewhere.
    """
    params = estimator.get_params()
    settings = {}
    for name, value in params.items():
        owner, _, parameter = name.rpartition("__")
        in_sklearn = type(params[owner] if owner else estimator).__module__.startswith("sklearn.")
        if parameter in THREAD_PARAMETERS and not (value is None and in_sklearn):
            settings[name] = 1
    return settings


def on_one_thread(config: Config, function: Callable[..., Result], *job: object) -> Result:
    """Run ``function(*job)`` under scikit-learn's ``config`` with the libraries on one thread."""
    # scikit-learn's settings belong to a thread. Its own Parallel hands them on too, but with them
    # the warning filters, which belong to the process: threads that set and restore those at the
    # same time may leave none behind.
    with (
        config_context(**config),
        _blas_on_one_thread(),
        _controller(len(sys.modules)).limit(limits=1, user_api="openmp"),
    ):
        return function(*job)  # OpenMP counts threads for each calling thread


class _BlasLimit:
    """BLAS has one setting per process: the first user limits it, the last one restores it."""

    lock = Lock()
    n_users = 0
    lift = ExitStack()


@contextmanager
def _blas_on_one_thread() -> Iterator[None]:
    with _BlasLimit.lock:
        if not _BlasLimit.n_users:
            limit = _controller(len(sys.modules)).limit(limits=1, user_api="blas")
            _BlasLimit.lift.enter_context(limit)
        _BlasLimit.n_users += 1
    try:
        yield
    finally:
        with _BlasLimit.lock:
            _BlasLimit.n_users -= 1
            if not _BlasLimit.n_users:
                _BlasLimit.lift.close()


@cache
def _controller(n_modules: int) -> ThreadpoolController:
    """Return the thread pools of the libraries so far; searched again only after an import."""
    return ThreadpoolController()


def _workers(n_jobs: int | None) -> int | None:
    """Return how many threads; None: all cores, unless joblib's context or an outer loop decides.

    The submodels give up the threads that boosting libraries take by default, so the ensemble takes
    them instead.
    """
    backend, context = get_active_backend(prefer="threads")
    if n_jobs is None and context in (None, 1) and not backend.nesting_level:
        return int(joblib.cpu_count())
    return n_jobs
