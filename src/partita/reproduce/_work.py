"""One table from start to end: what is missing is run, the rest is read, and JSON and a picture are
written."""

import contextlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .._support.atomic import write_whole
from ..datasets._cache import cache_folder
from ..errors import InputError, PartitaError
from ._cells import answered, settings_of
from ._runs import Found, Run, keep, kept
from ._sizes import check_size, plan
from ._tables import Table, table

STAND_INS = {
    "digits": "scikit-learn's digits stand in for the images",
    "diabetes": "scikit-learn's diabetes data stand in for the tables",
}


def reproduce(
    name: str, size: str = "laptop", out: Any = "partita-reproduce", cache: Any = None
) -> dict[str, Any]:
    """Run what a table of the paper needs, and put the paper's numbers, ours and the differences
    side by side.

    What is done is kept in ``out``, and not done again: tables share runs, and an interrupted call
    goes on where it stopped.

    Parameters
    ----------
    name : str
        A table ("25"), a figure ("figure3"), or "ames" for what goes beyond the paper there.
    size : "smoke", "laptop" or "full", default="laptop"
        Seconds on data that scikit-learn ships; minutes on two cores; or as in the paper, on a GPU
        for images.
    out : path, default="partita-reproduce"
        A folder. The table goes to ``SIZE/NAME.json`` and ``SIZE/NAME.png`` there, each run to
        ``SIZE/runs``.
    cache : path, default=None
        Where data are kept, as in the loaders.

    Returns
    -------
    dict
        What the JSON file holds: ``cells``, and how they came about.
    """
    from ._figures import picture

    asked = table(name)
    check_size(size)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out {str(folder)!r} is a file: give a folder")
    folder = folder / size
    runs = runs_of(asked, size)
    found = _carried_out(asked, size, runs, folder, None if cache is None else Path(cache))
    content = as_json(asked, size, runs, found)
    write_whole(folder / f"{asked.name}.png", picture(content["title"], content["cells"]))
    write_whole(folder / f"{asked.name}.json", written(content))
    return content


def runs_of(asked: Table, size: str) -> list[Run]:
    """The runs that a table needs at a size, each once."""
    runs = [
        run for setting in settings_of(asked.asks) for run in plan(size, setting.data).runs(setting)
    ]
    return list({run.name: run for run in runs}.values())


def as_json(
    asked: Table, size: str, runs: Sequence[Run], found: dict[str, Found | str]
) -> dict[str, Any]:
    """The table as its file holds it."""
    done = [result for result in found.values() if not isinstance(result, str)]
    stand_ins = sorted({run.details["stand_in"] for run in runs if run.details["stand_in"]})
    return {
        "table": asked.name,
        "title": asked.title,
        "size": size,
        "command": command(asked.name, size),
        "note": asked.note,
        "stand_ins": [STAND_INS[name] for name in stand_ins],
        "machine": sorted({result["machine"] for result in done}),
        "seconds": round(sum(result["seconds"] for result in done)),
        "resumed": any(result.get("resumed", False) for result in done),
        "how": how(runs, found),
        "cells": [
            answered(ask, lambda setting: plan(size, setting.data).runs(setting), found)
            for ask in asked.asks
        ],
    }


def how(runs: Sequence[Run], found: dict[str, Found | str]) -> list[str]:
    """How it was run, a sentence for each data set and method."""
    said: dict[tuple[str, str], dict[str, dict[Any, None]]] = {}
    for run in runs:
        result = found[run.name]
        if isinstance(result, str) or run.setting.method == "constant":
            continue
        own = said.setdefault(
            (run.setting.data, run.setting.method),
            {"models": {}, "train": {}, "test": {}, "seeds": {}},
        )
        own["models"][
            run.details.get("submodel")
            or f"{run.details['model']} model, {run.details['draws']:,} draws"
        ] = None
        own["seeds"][run.seed] = None
        for part in ("train", "test"):
            own[part][result["rows"][part]] = None
    return [
        f"{data}, {method}: {', '.join(own['models'])}; {_range(own['train'])} rows to learn "
        f"from, {_range(own['test'])} to certify; "
        f"{len(own['seeds'])} seed{'s' if len(own['seeds']) > 1 else ''}"
        for (data, method), own in said.items()
    ]


def _range(numbers: Iterable[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def written(content: dict[str, Any]) -> bytes:
    """JSON with a line for each cell."""
    head = json.dumps(
        content | {"cells": []}, indent=1, allow_nan=False, ensure_ascii=False
    ).removesuffix("[]\n}")
    lines = ",\n  ".join(
        json.dumps(cell, allow_nan=False, ensure_ascii=False) for cell in content["cells"]
    )
    return f"{head}[\n  {lines}\n ]\n}}\n".encode()


def command(name: str, size: str) -> str:
    return f"partita reproduce {name} --size {size}"


def _carried_out(
    asked: Table, size: str, runs: Sequence[Run], folder: Path, cache: Path | None
) -> dict[str, Found | str]:
    """What every run found, or why it could not be run; those not done before are done now."""
    found: dict[str, Found | str] = {}
    for run in runs:
        done_before = kept(folder / "runs", run)
        if done_before is not None:
            found[run.name] = done_before
    found |= {
        run.name: why
        for run in runs
        if run.name not in found and (why := _out_of_reach(run, cache))
    }
    before = sum(not isinstance(result, str) for result in found.values())
    missing = [run for run in runs if run.name not in found]
    left = sum(plan(size, run.setting.data).estimate(run) for run in missing)
    said = f", {before} of them done before" if before else ""
    runs_said = f"{len(runs)} run{'' if len(runs) == 1 else 's'}{said}"
    _tell(
        f"{asked.title}, size {size}: {runs_said}; "
        f"{f'about {_duration(left)}' if missing else 'nothing to do'}"
    )
    for why in sorted({result for result in found.values() if isinstance(result, str)}):
        _tell(f"some runs are left out: {why}")
    refused: dict[str, str] = {}
    pace = _Pace(left)
    for done, run in enumerate(missing, start=1):
        estimate = plan(size, run.setting.data).estimate(run)
        data = run.details["stand_in"] or run.setting.data
        if data not in refused:
            _tell(f"run {done} of {len(missing)}, about {_duration(pace.left)} left: {run}")
            try:
                found[run.name] = _one(run, folder, cache)
            except _NoDataError as exc:
                refused[data] = str(exc)
                _tell(f"{data} is left out: {exc}")
        if data in refused:
            found[run.name] = refused[data]
        pace.done(estimate)
    return found


def _out_of_reach(run: Run, cache: Path | None) -> str | None:
    """Why a run cannot be done on this machine, as far as that is known before it starts."""
    from ._rows import check_own_files

    try:
        check_own_files(run, cache)
    except InputError as exc:
        return _for_others(exc, cache)
    if "network" not in (run.details.get("submodel"), run.details.get("model")):
        return None
    try:
        import torch
    except ImportError:
        return "networks need PyTorch: pip install 'partita[torch]'"
    return (
        None if torch.cuda.is_available() else "networks of this size wait for a machine with a GPU"
    )


class _NoDataError(Exception):
    """The data of a run cannot be had."""


def _one(run: Run, folder: Path, cache: Path | None) -> Found:
    from ._measure import measure
    from ._rows import rows_of

    unfinished = folder / "unfinished" / run.name
    try:
        rows = rows_of(run, cache)
    except (PartitaError, OSError) as exc:
        raise _NoDataError(_for_others(exc, cache)) from exc
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    resumed = unfinished.exists() or unfinished.with_suffix(".pt").exists()
    started = time.perf_counter()
    found = measure(run, rows, unfinished)
    if resumed:  # how long it took before it was interrupted is not known
        found = {"resumed": True} | {
            name: value for name, value in found.items() if not name.endswith("_seconds")
        }
    found["seconds"] = round(time.perf_counter() - started, 2)
    keep(folder / "runs", run, found)
    unfinished.with_suffix(".pt").unlink(missing_ok=True)
    shutil.rmtree(unfinished, ignore_errors=True)
    with contextlib.suppress(OSError):  # another run may be at work there
        unfinished.parent.rmdir()
    return {"asked": run.asked, **found}


def _for_others(exc: Exception, cache: Path | None) -> str:
    """What went wrong, in one line without this machine's folders: results are for others, too."""
    return " ".join(str(exc).split()).replace(str(cache_folder(cache)), "CACHE")


class _Pace:
    """How long the rest takes: the estimates, corrected by how long what is done took."""

    def __init__(self, total: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._started = clock, clock()
        self._total, self._rest, self._past = total, total, 0.0

    @property
    def left(self) -> float:
        taken, doubt = (
            self._clock() - self._started,
            self._total / 10,
        )  # the first few runs say little
        return self._rest * (taken + doubt) / (self._past + doubt) if self._total else 0.0

    def done(self, estimate: float) -> None:
        self._rest -= estimate
        self._past += estimate


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _tell(text: str) -> None:
    print(f"partita: {text}", file=sys.stderr, flush=True)
