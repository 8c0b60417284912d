"""Carrying out runs: what is missing is run, one or several at a time; the rest is read.

A finished run is written at once, so that an interrupted call resumes after the last of them.
"""

import contextlib
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from partita._support import log, require
from partita.datasets import cache_folder
from partita.errors import InputError, MissingExtraError, PartitaError

from .runs import Run, RunResult, read_result, write_result
from .sizes import plan_for

NO_GPU = "networks of this size wait for a machine with a GPU"


def carry_out(
    title: str,
    size: str,
    runs: Sequence[Run],
    folder: Path,
    cache: Path | None,
    n_jobs: int = 1,
    measured: Collection[str] = (),
) -> dict[str, RunResult | str]:
    """By a run's name, what it found, or why it was not run.

    ``n_jobs`` runs are carried out at a time, each in a process of its own if there are several.
    Those ``measured`` by an earlier call are not repeated, even if their files are gone.
    """
    results: dict[str, RunResult | str] = {}
    finished, out_of_reach = 0, []
    for run in runs:
        stored = read_result(folder / "runs", run)
        if stored is not None or run.name in measured:
            finished += 1
            results[run.name] = "measured earlier" if stored is None else stored
        elif reason := _out_of_reach(run, cache):
            out_of_reach.append(reason)
            results[run.name] = reason
    missing = [run for run in runs if run.name not in results]
    pace = Pace(sum(_estimate(size, run) for run in missing), n_jobs)
    counted = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
    before = f", {finished} of them done before" if finished else ""
    rest = f"about {duration(pace.left)}" if missing else "nothing to do"
    log(f"{title}, size {size}: {counted}{before}; {rest}")
    for reason in sorted(set(out_of_reach)):
        log(f"some runs are left out: {reason}")
    for run, result in _attempt_all(missing, folder, cache, pace, n_jobs):
        results[run.name] = result
        pace.done(_estimate(size, run))
    return results


def _attempt_all(
    runs: Sequence[Run], folder: Path, cache: Path | None, pace: "Pace", n_jobs: int
) -> Iterator[tuple[Run, RunResult | str]]:
    """Runs as they end, each with what it found, or why its data are not available."""
    unavailable: dict[str, str] = {}  # data, and why

    def jobs() -> Iterator[Any]:
        """Runs are handed out as earlier ones end, so those of missing data are not started."""
        for number, run in enumerate(runs, start=1):
            if _data_of(run) not in unavailable:
                log(f"run {number} of {len(runs)}, about {duration(pace.left)} left: {run}")
                yield delayed(_attempt)(run, folder, cache)

    started = set()
    parallel = Parallel(
        min(n_jobs, max(1, len(runs))),
        prefer="processes",
        return_as="generator_unordered",
        pre_dispatch="n_jobs",
    )
    for run, result in parallel(jobs()):
        started.add(run.name)
        if isinstance(result, str) and _data_of(run) not in unavailable:
            unavailable[_data_of(run)] = result
            log(f"{_data_of(run)} is left out: {result}")
        yield run, result
    yield from ((run, unavailable[_data_of(run)]) for run in runs if run.name not in started)


def _data_of(run: Run) -> str:
    """The data that a run reads."""
    return str(run.details["stand_in"] or run.setting.data)


def _attempt(run: Run, folder: Path, cache: Path | None) -> tuple[Run, RunResult | str]:
    """A run and what it found, or why its data are not available."""
    try:
        return run, run_once(run, folder, cache)
    except _NoDataError as exc:
        return run, str(exc)


def _estimate(size: str, run: Run) -> float:
    return plan_for(size, run.setting.data).estimate(run)


def _out_of_reach(run: Run, cache: Path | None) -> str | None:
    """Why a run cannot be done on this machine, as far as that is known before it starts."""
    from .data import check_own_files

    try:
        check_own_files(run, cache)
    except InputError as exc:
        return _without_folders(exc, cache)
    if "network" not in (run.details.get("submodel"), run.details.get("model")):
        return None
    try:
        torch = require("torch", "a network", "partita[torch]")
    except MissingExtraError as exc:
        return str(exc)
    return None if torch.cuda.is_available() else NO_GPU


class _NoDataError(Exception):
    """The data of a run are not available."""


def run_once(run: Run, folder: Path, cache: Path | None) -> RunResult:
    """Load a run's data, measure, write the result, and remove checkpoints."""
    from .data import load_run_data
    from .measure import measure

    unfinished = folder / "unfinished" / run.name
    network = unfinished.with_suffix(".pt")
    try:
        data = load_run_data(run, cache)
    except (PartitaError, OSError) as exc:
        raise _NoDataError(_without_folders(exc, cache)) from exc
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    resumed = unfinished.exists() or network.exists()
    started = time.perf_counter()
    result = measure(run, data, unfinished)
    if resumed:  # how long it took before the interruption is not known
        result = {"resumed": True} | {
            name: value for name, value in result.items() if not name.endswith("_seconds")
        }
    result["seconds"] = round(time.perf_counter() - started, 2)
    content = write_result(folder / "runs", run, result)
    network.unlink(missing_ok=True)
    shutil.rmtree(unfinished, ignore_errors=True)
    with contextlib.suppress(OSError):  # another run may be at work there
        unfinished.parent.rmdir()
    return content


def _without_folders(exc: Exception, cache: Path | None) -> str:
    """What went wrong, in one line without this machine's folders: results are for others, too."""
    return " ".join(str(exc).split()).replace(str(cache_folder(cache)), "CACHE")


class Pace:
    """How long the rest takes: the estimates, corrected by how long the finished part took."""

    def __init__(
        self, total: float, n_jobs: int = 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._started, self._n_jobs = clock, clock(), n_jobs
        self._total, self._rest, self._past = total, total, 0.0

    @property
    def left(self) -> float:
        if not self._total:
            return 0.0
        prior = self._total / 10  # the first few runs say little
        elapsed = self._clock() - self._started
        return self._rest * (elapsed + prior / self._n_jobs) / (self._past + prior)

    def done(self, estimate: float) -> None:
        """A run that was estimated so is finished."""
        self._rest -= estimate
        self._past += estimate


def duration(seconds: float) -> str:
    """Seconds in a unit that people like."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
