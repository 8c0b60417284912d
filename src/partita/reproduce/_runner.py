"""Carrying out runs: what is missing is run, one after the other; the rest is read.

A finished run is written at once, so that an interrupted call resumes after the last of them.
"""

import contextlib
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .._support.optional import require
from .._support.progress import log
from ..datasets._cache import cache_folder
from ..errors import InputError, MissingExtraError, PartitaError
from ._runs import Run, RunResult, read_result, write_result
from ._sizes import plan_for

NO_GPU = "networks of this size wait for a machine with a GPU"


def carry_out(
    title: str, size: str, runs: Sequence[Run], folder: Path, cache: Path | None
) -> dict[str, RunResult | str]:
    """By a run's name, what it found, or why it could not be run."""
    results: dict[str, RunResult | str] = {}
    for run in runs:
        stored = read_result(folder / "runs", run)
        if stored is not None:
            results[run.name] = stored
        elif reason := _out_of_reach(run, cache):
            results[run.name] = reason
    finished = sum(not isinstance(result, str) for result in results.values())
    missing = [run for run in runs if run.name not in results]
    pace = Pace(sum(_estimate(size, run) for run in missing))
    counted = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
    before = f", {finished} of them done before" if finished else ""
    rest = f"about {duration(pace.left)}" if missing else "nothing to do"
    log(f"{title}, size {size}: {counted}{before}; {rest}")
    for reason in sorted({result for result in results.values() if isinstance(result, str)}):
        log(f"some runs are left out: {reason}")
    unavailable: dict[str, str] = {}  # data, and why
    for number, run in enumerate(missing, start=1):
        data = run.details["stand_in"] or run.setting.data
        if data not in unavailable:
            log(f"run {number} of {len(missing)}, about {duration(pace.left)} left: {run}")
            try:
                results[run.name] = run_once(run, folder, cache)
            except _NoDataError as exc:
                unavailable[data] = str(exc)
                log(f"{data} is left out: {exc}")
        if data in unavailable:
            results[run.name] = unavailable[data]
        pace.done(_estimate(size, run))
    return results


def _estimate(size: str, run: Run) -> float:
    return plan_for(size, run.setting.data).estimate(run)


def _out_of_reach(run: Run, cache: Path | None) -> str | None:
    """Why a run cannot be done on this machine, as far as that is known before it starts."""
    from ._data import check_own_files

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
    from ._data import load_run_data
    from ._measure import measure

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

    def __init__(self, total: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._started = clock, clock()
        self._total, self._rest, self._past = total, total, 0.0

    @property
    def left(self) -> float:
        if not self._total:
            return 0.0
        prior = self._total / 10  # the first few runs say little
        elapsed = self._clock() - self._started
        return self._rest * (elapsed + prior) / (self._past + prior)

    def done(self, estimate: float) -> None:
        """A run that was estimated so is finished."""
        self._rest -= estimate
        self._past += estimate


def duration(seconds: float) -> str:
    """Seconds in a unit that people like."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
