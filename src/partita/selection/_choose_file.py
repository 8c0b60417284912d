"""choice.json and choice.png: ``partita sweep --radius`` on a table in a file.

After an interruption, the same call resumes: each ensemble that was judged is stored until all are.
"""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._support import json_value, write_atomic
from ..errors import InputError
from ..workflow import ON_REFERENCE, ON_TRAINING, TrainingTable
from ._choice import Choice
from ._choose import Part, choose_among
from ._choose_parts import ResultCache
from ._held_out import HeldOut, parts_of
from ._sweep import request_facts, result_key
from ._sweep_grid import Trial

PART = re.compile(r"candidate-\d{3}-[0-9a-f]{16}\.json")


@dataclass(frozen=True)
class Objective:
    """What ``partita sweep --radius`` asks for.

    Attributes
    ----------
    radius : int
        How many units an attacker may own.
    want : str
        What to recommend.
    submodels, groups : list of int, optional
        Sizes to try.
    """

    radius: int
    want: str = "certified"
    submodels: list[int] | None = None
    groups: list[int] | None = None


def choose_file(
    training: TrainingTable,
    objective: Objective,
    out: Any,
    trial: Trial,
    jobs: int | None = None,
    verbose: int = 1,
) -> tuple[Choice, HeldOut]:
    """Choose on held-out rows or on a reference, and write choice.json and choice.png."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out {str(folder)!r} is a file: give a folder")
    trial.check(training.task)
    parts = parts_of(training, trial.holdout, trial.last, trial.group, trial.seed)
    rows, training = parts[0], replace(parts[0].training, reference=training.reference)
    folds = []
    for one in parts:
        pair = (
            one.training.ensemble(
                trial.estimator, training.task.rule(None), "auto", trial.seed, verbose
            ),
            one.training.leave_out_ensemble(trial.estimator, objective.radius, trial.seed, verbose),
        )
        for ensemble in pair:
            ensemble.set_params(n_jobs=jobs)
        folds.append(Part(pair, (one.learn, one.y), (one.table, one.truth)))
    facts = request_facts(training, trial, rows, []) | {"radius": objective.radius}
    key = result_key(training, trial, facts)
    found = choose_among(
        folds,
        objective.radius,
        objective.want,
        trial.tolerance,
        trial.relative,
        objective.submodels,
        objective.groups,
        verbose,
        parts=ResultCache(folder, key, training.check_unchanged),
        fallback_name=trial.estimator,
        chosen=ON_TRAINING if training.reference is None else ON_REFERENCE,
    )
    content = facts | found.as_dict() | {"held_out_how": rows.words, "warnings": rows.warnings()}
    write_atomic(folder / "choice.png", found.png())
    text = json.dumps(json_value(content), indent=1)
    write_atomic(folder / "choice.json", text.encode())
    for part in folder.glob("candidate-*.json"):
        if PART.fullmatch(part.name):
            part.unlink()
    return found, rows
