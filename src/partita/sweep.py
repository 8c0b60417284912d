"""Many settings on held-out rows: how much accuracy each radius costs, and which setting is best for it."""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from . import __version__
from .answers import Answers
from .atomic import write_whole
from .errors import InputError
from .files import sha256_of
from .metrics import certified_accuracy_curve, median_radius
from .recipes import code_of
from .rules import Rule
from .units import choose_units
from .workflow import Training, choose_rule

Array = NDArray[Any]

SUBMODELS = (5, 11, 21, 31, 51)
PART = r"submodels-\d{4,}-[0-9a-f]{16}\.json"  # what a sweep keeps of one number of submodels until it is done
RULES = ("plurality", "runoff", "tournament")
MARGINS = (0.0, 0.5, 2.0)
PRIORS = (0.0, 0.5)
STRETCHES = (1.0, 1.15, 1.3, 1.5)


@dataclass(frozen=True)
class Grid:
    """The settings to try. ``margins`` and ``priors`` are for the tournament, ``stretches`` for regression; ``submodels`` None: as fits."""

    submodels: Sequence[int] | None = None
    rules: Sequence[str] = RULES
    margins: Sequence[float] = MARGINS
    priors: Sequence[float] = PRIORS
    stretches: Sequence[float] = STRETCHES

    @classmethod
    def of(cls, submodels: str | None, rules: str | None, margins: str | None, priors: str | None, stretches: str | None) -> "Grid":
        """The settings that lists such as "5,11,21" name; None: the usual ones."""
        usual = cls()
        for rule in _listed("rules", rules, str) or ():
            if rule not in RULES:
                raise InputError(f"rules names {rule!r}: give some of {', '.join(RULES)}")
        return cls(
            _listed("submodels", submodels, int),
            _listed("rules", rules, str) or usual.rules,
            _listed("margins", margins, float) or usual.margins,
            _listed("priors", priors, float) or usual.priors,
            _listed("stretches", stretches, float) or usual.stretches,
        )

    def options(self, of_values: bool) -> list[dict[str, Any]]:
        """Every rule with its settings, as the command line's options."""
        if of_values:
            return [{"rule": "median", "stretch": stretch} for stretch in self.stretches]
        plain = [{"rule": rule} for rule in self.rules if rule != "tournament"]
        if "tournament" not in self.rules:
            return plain
        return plain + [{"rule": "tournament", "margin": m, "prior": p} for m, p in product(self.margins, self.priors)]

    def sizes(self, n_units: int) -> list[int]:
        """How many submodels to try: those asked for, or the usual ones as far as there are units."""
        if self.submodels is None:
            most = n_units if n_units % 2 or n_units == 1 else n_units - 1
            return sorted({size for size in SUBMODELS if size <= n_units} | ({most} if most < SUBMODELS[-1] else set()))
        too_many = [size for size in self.submodels if not 1 <= size <= n_units]
        if too_many or not self.submodels:
            raise InputError(f"submodels is {list(self.submodels)}: each must lie between 1 and {n_units}, the number of units")
        return sorted(set(self.submodels))


@dataclass(frozen=True)
class Trial:
    """How every setting is tried: what each submodel is, the share of rows held out, the seed, and for numbers what counts as right."""

    estimator: str = "hgb"
    holdout: float = 0.25
    seed: int = 0
    tolerance: float | None = None
    relative: float | None = None

    def check(self, of_values: bool) -> None:
        if of_values and (self.tolerance is None) == (self.relative is None):
            raise InputError("the target holds numbers: say with tolerance or relative (one of them) what counts as right")
        if not of_values and (self.tolerance is not None or self.relative is not None):
            raise InputError("tolerance and relative are for targets of numbers, and this one holds labels: leave them out")
        if not 0 < self.holdout < 1:
            raise InputError(f"holdout is {self.holdout}: it must lie between 0 and 1, the share of rows to certify on")


USUAL = Trial()


def sweep(training: Training, grid: Grid, trial: Trial = USUAL, parts: Path | None = None) -> dict[str, Any]:
    """Fit every number of submodels on most rows, and certify the others under every rule.

    ``parts`` is a folder where each finished number of submodels is kept, so that a sweep that was interrupted can go on.
    """
    trial.check(training.of_values)
    learn, held = _split(training, trial)
    options = grid.options(training.of_values)
    rules = [choose_rule(one["rule"], training.of_values, **_numbers(one)) for one in options]
    for rule in rules:
        rule.check()
    n_units = len(choose_units(training.said.units, training.table.names, training.said.trusted, None))
    asked = {
        "partita": __version__,
        "data": {"name": training.file.path.name, "sha256": sha256_of(training.file.path), "rows": training.file.n_rows},
        "target": training.target,
        "units": training.said.units,
        "trusted": training.said.trusted,
        "ignore": training.said.ignore,
        **asdict(trial),
        "code": code_of(trial.estimator),
        "task": "regression" if training.of_values else "classification",
        "options": options,
    }
    key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    settings: list[dict[str, Any]] = []
    sizes = grid.sizes(n_units)
    for done, size in enumerate(sizes):
        kept = None if parts is None else parts / f"submodels-{size:04d}-{key[:16]}.json"
        if kept is not None and kept.is_file():
            print(f"partita: {size} submodels were done before ({done + 1} of {len(sizes)})", file=sys.stderr)
            settings += json.loads(kept.read_bytes())
            continue
        print(f"partita: {size} submodels ({done + 1} of {len(sizes)})", file=sys.stderr)
        found = _certified(training, trial, rules, options, size, learn, held)
        if kept is not None:
            write_whole(kept, json.dumps(found).encode())
        settings += found
    counted = settings[0]["counts"]
    return asked | {"counts": counted, "held_out": len(held), "learnt_from": len(learn), "settings": settings, "best": best(settings)}


def sweep_file(training: Training, grid: Grid, out: Any, trial: Trial = USUAL) -> dict[str, Any]:
    """Sweep, and write sweep.json and sweep.png into a folder; what is done when it is interrupted is not done again."""
    from .plot import plot_sweep

    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out {str(folder)!r} is a file: give a folder")
    found = sweep(training, grid, trial, parts=folder)
    write_whole(folder / "sweep.png", plot_sweep(found))
    write_whole(folder / "sweep.json", json.dumps(found, indent=1, allow_nan=False).encode())
    for part in folder.glob("submodels-*.json"):
        if re.fullmatch(PART, part.name):
            part.unlink()
    return found


def read_sweep(path: Any) -> dict[str, Any]:
    """The sweep.json of an earlier sweep."""
    place = Path(path)
    place = place / "sweep.json" if place.is_dir() else place
    if not place.is_file():
        raise InputError(f"sweep {str(place)!r} does not exist: give the sweep.json that partita sweep wrote")
    try:
        found = json.loads(place.read_bytes())
        curves = [np.asarray(one["curve"], dtype=float) for one in found["settings"]]
        if not all(((curve >= 0) & (curve <= 1)).all() and (np.diff(curve) <= 0).all() for curve in curves):
            raise ValueError("a curve that is none")
        best(found["settings"])
        return {"held_out": int(found["held_out"]), "target": str(found["target"]), "settings": list(found["settings"])}
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as exc:
        raise InputError(f"sweep {str(place)!r} is no sweep.json of partita sweep: {type(exc).__name__}") from exc


def best(settings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For every radius the setting with the highest certified accuracy (the first of equals), as far as anything is certified."""
    length = max(len(one["curve"]) for one in settings)
    table = np.stack([np.pad(one["curve"], (0, length - len(one["curve"]))) for one in settings])
    chosen = table.argmax(axis=0)
    return [
        {"radius": r, "accuracy": float(table[k, r]), "fit": in_words(settings[k])}
        for r, k in enumerate(chosen.tolist())
        if table[k, r] > 0
    ]


def in_words(one: Mapping[str, Any]) -> str:
    """A setting as the options of partita fit."""
    said = [f"--submodels {one['submodels']}"]
    said += [f"--{name} {value:g}" if isinstance(value, float) else f"--{name} {value}" for name, value in one["options"].items()]
    return " ".join(word for word in said if word not in ("--margin 0", "--prior 0", "--stretch 1", "--rule median"))


def _certified(
    training: Training, trial: Trial, rules: list[Rule], options: list[dict[str, Any]], size: int, learn: Array, held: Array
) -> list[dict[str, Any]]:
    """The curve of every rule for one number of submodels."""
    ensemble = training.ensemble(trial.estimator, rules[0], size, trial.seed).fit(training.table.only(learn), training.y[learn])
    answers = Answers(ensemble, training.table.only(held), trial.tolerance, trial.relative)
    truth, classes = training.y[held], getattr(ensemble, "classes_", np.empty(0))
    found = []
    for rule, said in zip(rules, options, strict=True):
        answers = answers.under(rule.filled(training.y[learn], classes))
        proof = answers.proof_of_truth(truth)
        assert proof is not None
        curve, middle = certified_accuracy_curve(truth, proof), median_radius(truth, proof)
        found.append(
            {
                "submodels": size,
                "options": said,
                "curve": curve.accuracy.tolist(),
                "median": middle if np.isfinite(middle) else None,
                "counts": {"what": proof.counts.what, "total": proof.counts.total},
            }
        )
    return found


def _split(training: Training, trial: Trial) -> tuple[Array, Array]:
    """Rows to learn from and rows to certify, each label in both where it can be."""
    labels = None if training.of_values else training.y
    if labels is not None and np.unique(labels, return_counts=True)[1].min() < 2:
        labels = None
    try:
        learn, held = train_test_split(np.arange(training.table.n_rows), test_size=trial.holdout, random_state=trial.seed, stratify=labels)
    except ValueError as exc:
        raise InputError(f"the table has {training.table.n_rows} rows, too few to hold out {trial.holdout:g} of them: {exc}") from exc
    if not training.of_values and len(np.unique(training.y[learn])) < 2:
        raise InputError("the rows to learn from hold one label only: give more rows, or a smaller holdout")
    return np.sort(learn), np.sort(held)


def _listed(name: str, text: str | None, read: Callable[[str], Any]) -> list[Any] | None:
    if text is None:
        return None
    try:
        return [read(part.strip()) for part in text.split(",")]
    except ValueError as exc:
        raise InputError(
            f"{name} is {text!r}: give numbers with commas between them, such as {'5,11,21' if read is int else '0,0.5'}"
        ) from exc


def _numbers(option: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in option.items() if name != "rule"}
