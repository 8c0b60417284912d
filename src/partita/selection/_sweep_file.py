"""sweep.json and sweep.png: writing what a sweep found, and reading it again.

A sweep.json may come from anybody, so all that is read from it is checked.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._support import write_atomic
from ..errors import InputError
from ..workflow import TASKS, TrainingTable
from ._recommend import Score, best, recommended
from ._sweep import DEFAULT_TRIAL, sweep
from ._sweep_figure import plot_sweep
from ._sweep_grid import Grid, Trial

# what a sweep stores of one number of submodels until it is finished
PART = re.compile(r"submodels-\d{4,}-[0-9a-f]{16}\.json")


def sweep_file(
    training: TrainingTable,
    grid: Grid,
    out: Any,
    trial: Trial = DEFAULT_TRIAL,
    jobs: int | None = None,
    verbose: int = 1,
) -> dict[str, Any]:
    """Sweep, and write sweep.json and sweep.png into a folder.

    After an interruption, the same call resumes: what is finished is not done again.
    """
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out {str(folder)!r} is a file: give a folder")
    found = sweep(training, grid, trial, folder, jobs, verbose)
    write_atomic(folder / "sweep.png", plot_sweep(found))
    write_atomic(folder / "sweep.json", json.dumps(found, indent=1, allow_nan=False).encode())
    for part in folder.glob("submodels-*.json"):
        if PART.fullmatch(part.name):
            part.unlink()
    return found


def read_sweep(path: Any) -> dict[str, Any]:
    """Read the sweep.json of an earlier sweep.

    Parameters
    ----------
    path : str or path
        The file, or the folder that ``partita sweep`` wrote.

    Returns
    -------
    dict
        ``held_out``, ``target``, ``settings``, ``score`` (a Score), ``constant`` (None in a file of
        an earlier version) and ``best``: what is recommended for r = 0, 1, ...
    """
    place = Path(path)
    place = place / "sweep.json" if place.is_dir() else place
    if not place.is_file():
        raise InputError(
            f"sweep {str(place)!r} does not exist: give the sweep.json that partita sweep wrote"
        )
    try:
        return _checked(json.loads(place.read_bytes()))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as exc:
        raise InputError(
            f"sweep {str(place)!r} is not a sweep.json of partita sweep: {type(exc).__name__}"
        ) from exc


def _checked(found: Any) -> dict[str, Any]:
    """What the report uses of a sweep.json; any error means that it is not one."""
    settings = list(found["settings"])
    task = TASKS["regression" if found.get("task") == "regression" else "classification"]
    score = Score.parse(str(found.get("score", "accuracy")), task.name, task.default_score)
    for one in settings:
        _check_curves(
            [one["curve"], one.get("balanced") or []]
            + [
                curve
                for name in ("recall", "precision")
                for curve in (one.get(name) or {}).values()
            ]
        )
        if not isinstance(one["submodels"], int):
            raise TypeError("a number of submodels is not an integer")
    constant = found.get("constant")
    if constant is not None:
        shares = {name: constant[name] for name in ("accuracy", "balanced")}
        _check_curves([[share] for share in shares.values() if share is not None])
        constant = {"answer": constant["answer"], **shares}
    if not settings:
        raise ValueError("no settings")
    best(settings, score)  # fails if a setting lacks what the score needs
    return {
        "held_out": int(found["held_out"]),
        "target": str(found["target"]),
        "settings": settings,
        "score": score,
        "constant": constant,
        "best": recommended(settings, score, constant),
    }


def _check_curves(curves: Sequence[Any]) -> None:
    """Refuse what is not a falling list of shares."""
    for one in curves:
        curve = np.asarray(one, dtype=float)
        is_share = (curve >= 0) & (curve <= 1)
        if curve.ndim != 1 or not is_share.all() or not (np.diff(curve) <= 0).all():
            raise ValueError("a curve is not valid")
