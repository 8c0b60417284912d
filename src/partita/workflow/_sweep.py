"""Many settings on held-out rows: what each radius costs, and which setting is best for it."""

import hashlib
import json
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from .._support.atomic import write_whole
from .._support.types import Array
from ..ensemble._ballots import has_scores
from ..ensemble._soundness import is_balanced
from ..errors import EmptyProofWarning, InputError
from ..metrics import certified_accuracy_curve, median_radius
from ..partition._units import choose_units
from ..rules import Rule
from ..rules._bounds import bounds_around
from ..tables._open import sha256_of
from ._certified_rows import Answers
from ._held_out import HeldOut, check_share, hold_out
from ._recipes import code_of, named_estimator
from ._recommend import (
    Score,
    best,
    in_words,
    is_nearly_constant,
    recommended,
    reference,
    why_no_more,
)
from ._tally import failures_of
from ._workflow import Training, choose_rule

__all__ = ["Grid", "Trial", "best", "in_words", "read_sweep", "sweep", "sweep_file"]


SUBMODELS = (1, 3, 5, 11, 21, 31, 51)  # 1: one model on all columns, for comparison
# what a sweep keeps of one number of submodels until it is done
PART = r"submodels-\d{4,}-[0-9a-f]{16}\.json"
RULES = ("plurality", "runoff", "tournament")
MARGINS = (0.0, 0.5, 2.0)
PRIORS = (0.0, 0.5, 0.9, 0.99, 1.0)
STRETCHES = (1.0, 1.15, 1.3, 1.5)
TUNED = (
    "The settings were chosen on {rows}. If an attacker could write there, a radius holds given "
    "these choices, and does not cover an "
    "attacker who made you choose others."
)
IF_TRUSTED = " If nobody could, say so where you publish a radius: 'settings tuned on a trusted reference, {file}'."


@dataclass(frozen=True)
class Grid:
    """The settings to try.

    Attributes
    ----------
    submodels : sequence of int, optional
        Numbers of submodels; None: the usual ones, as far as there are units.
    rules : sequence of str
        Some of plurality, runoff and tournament.
    margins, priors, offsets : sequences of float
        For the tournament. An offset is a multiple of the log shares of the labels; none are tried
        unless they are given.
    stretches : sequence of float
        For targets of numbers.
    """

    submodels: Sequence[int] | None = None
    rules: Sequence[str] = RULES
    margins: Sequence[float] = MARGINS
    priors: Sequence[float] = PRIORS
    stretches: Sequence[float] = STRETCHES
    offsets: Sequence[float] = ()

    @classmethod
    def of(
        cls,
        submodels: str | None,
        rules: str | None,
        margins: str | None,
        priors: str | None,
        stretches: str | None,
        offsets: str | None = None,
    ) -> "Grid":
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
            _listed("offsets", offsets, float) or usual.offsets,
        )

    def options(self, of_values: bool) -> list[dict[str, Any]]:
        """Every rule with its settings, as the command line's options."""
        if of_values:
            if self.offsets:
                raise InputError(
                    "offsets are for labels, and the target holds numbers: use stretches"
                )
            return [{"rule": "median", "stretch": stretch} for stretch in self.stretches]
        plain: list[dict[str, Any]] = [
            {"rule": rule} for rule in self.rules if rule != "tournament"
        ]
        if "tournament" not in self.rules:
            return plain
        heads = [{"offset": offset} if offset else {} for offset in self.offsets] or [{}]
        tried = product(self.margins, self.priors, heads)
        return plain + [
            {"rule": "tournament", "margin": m, "prior": p, **head} for m, p, head in tried
        ]

    def sizes(self, n_units: int) -> list[int]:
        """How many submodels to try: those asked for, or the usual ones as far as there are
        units."""
        if self.submodels is None:
            most = n_units if n_units % 2 or n_units == 1 else n_units - 1
            return sorted(
                {size for size in SUBMODELS if size <= n_units}
                | ({most} if most < SUBMODELS[-1] else set())
            )
        too_many = [size for size in self.submodels if not 1 <= size <= n_units]
        if too_many or not self.submodels:
            raise InputError(
                f"submodels is {list(self.submodels)}: each must lie between 1 and {n_units}, the "
                "number of units"
            )
        return sorted(set(self.submodels))


@dataclass(frozen=True)
class Trial:
    """How every setting is tried.

    Attributes
    ----------
    estimator : str
        What each submodel is.
    holdout : float or path, optional
        The share of rows held out at random (None: a quarter, unless ``last`` or ``group`` is
        given), or another table.
    seed : int
        Decides the split, the partition, and every submodel's seed.
    tolerance, relative : float, optional
        For numbers: what counts as right.
    last : float, optional
        Hold out the last share of the rows, in the order of the table.
    group : str, optional
        A column: rows that share its value are never split.
    score : str, optional
        What settings are compared by: accuracy, balanced (the usual one for labels) or
        recall:LABEL.
    """

    estimator: str = "hgb"
    holdout: float | str | Path | None = None
    seed: int = 0
    tolerance: float | None = None
    relative: float | None = None
    last: float | None = None
    group: str | None = None
    score: str | None = None

    def check(self, of_values: bool) -> None:
        """Refuse what does not go together, before anything is fitted."""
        if of_values and (self.tolerance is None) == (self.relative is None):
            raise InputError(
                "the target holds numbers: say with tolerance or relative (one of them) what "
                "counts as right"
            )
        if not of_values and (self.tolerance is not None or self.relative is not None):
            raise InputError(
                "tolerance and relative are for targets of numbers, and this one holds labels: "
                "leave them out"
            )
        for name, share in (("holdout", self.holdout), ("last", self.last)):
            if isinstance(share, int | float):
                check_share(name, share)


USUAL = Trial()


def sweep(
    training: Training,
    grid: Grid,
    trial: Trial = USUAL,
    parts: Path | None = None,
    jobs: int | None = None,
    verbose: int = 1,
) -> dict[str, Any]:
    """Fit every number of submodels on some rows, and certify others under every rule.

    Parameters
    ----------
    training : Training
        The table.
    grid : Grid
        The settings to try. Every submodel is fitted once for each number of submodels, whatever
        the number of rules.
    trial : Trial
        Which rows are held out, and what settings are compared by.
    parts : path, optional
        A folder where each finished number of submodels is kept, so that a sweep that was
        interrupted can go on.
    jobs : int, optional
        Threads; None: all cores. Results do not depend on it.
    verbose : int, default=1
        0: no progress on standard error.

    Returns
    -------
    dict
        Plain data, as in sweep.json: ``settings`` has every curve; ``best`` the recommended setting
        for r = 0, 1, ..., as far as one beats ``constant``, the best constant answer;
        ``full_model`` is one model on all columns; ``warnings`` are texts.
    """
    trial.check(training.of_values)
    score = Score.of(trial.score, training.of_values)
    rows = hold_out(training, trial.holdout, trial.last, trial.group, trial.seed)
    training = rows.training
    labels = [] if training.of_values else np.unique(rows.truth).tolist()
    score.check(labels)
    options = _possible(training, trial, grid.options(training.of_values), verbose)
    rules = [choose_rule(one["rule"], training.of_values, **_numbers(one)) for one in options]
    for rule in rules:
        rule.check()
    n_units = len(
        choose_units(training.said.units, training.table.names, training.said.trusted, None)
    )
    asked = {
        "partita": __version__,
        "data": {
            "name": training.file.path.name,
            "sha256": sha256_of(training.file.path),
            "rows": training.file.n_rows,
        },
        "csv": None if training.csv is None else training.csv.to_dict(),
        "target": training.target,
        "units": training.said.units,
        "trusted": training.said.trusted,
        "ignore": training.said.ignore,
        "reference": None if training.reference is None else training.reference.about(),
        **{
            name: value
            for name, value in asdict(trial).items()
            if name not in ("holdout", "last", "group", "score")
        },
        "split": rows.about,
        "code": code_of(trial.estimator),
        "task": "regression" if training.of_values else "classification",
        "options": options,
    }
    # The score is not part of the key: what is kept does not depend on it.
    key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    settings: list[dict[str, Any]] = []
    sizes = grid.sizes(n_units)
    for done, size in enumerate(sizes):
        kept = None if parts is None else parts / f"submodels-{size:04d}-{key[:16]}.json"
        name = f"{size} submodel{'s' * (size > 1)}"
        if kept is not None and kept.is_file():
            _tell(f"{name} were done before ({done + 1} of {len(sizes)})", verbose)
            settings += json.loads(kept.read_bytes())
            continue
        _tell(f"{name} ({done + 1} of {len(sizes)})", verbose)
        found = _certified(rows, trial, rules, options, size, jobs, verbose)
        if kept is not None:
            write_whole(kept, json.dumps(found).encode())
        settings += found
    constant = _constant(rows, trial)
    chosen = recommended(settings, score, constant)
    more = why_no_more(settings, score, constant, len(chosen))
    where = "rows of the table itself" if rows.about["kind"] != "file" else rows.words
    file = "" if rows.about["kind"] != "file" else IF_TRUSTED.format(file=rows.about["name"])
    return asked | {
        "counts": settings[0]["counts"],
        "held_out": rows.table.n_rows,
        "learnt_from": rows.learn.n_rows,
        "held_out_how": rows.words,
        "score": score.name,
        "score_words": score.words,
        "constant": constant,
        "full_model": reference(settings, score),
        "best": chosen,
        "no_more": more,
        "nearly_constant": sum(one["nearly_constant"] and one["submodels"] > 1 for one in settings),
        "warnings": [*rows.warnings(), *_failures(settings)],
        "tuned": TUNED.format(rows=where) + file,
        "settings": settings,
    }


def sweep_file(
    training: Training,
    grid: Grid,
    out: Any,
    trial: Trial = USUAL,
    jobs: int | None = None,
    verbose: int = 1,
) -> dict[str, Any]:
    """Sweep, and write sweep.json and sweep.png into a folder; what is done when it is interrupted
    is not done again."""
    from ._sweep_figure import plot_sweep

    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out {str(folder)!r} is a file: give a folder")
    found = sweep(training, grid, trial, folder, jobs, verbose)
    write_whole(folder / "sweep.png", plot_sweep(found))
    write_whole(folder / "sweep.json", json.dumps(found, indent=1, allow_nan=False).encode())
    for part in folder.glob("submodels-*.json"):
        if re.fullmatch(PART, part.name):
            part.unlink()
    return found


def read_sweep(path: Any) -> dict[str, Any]:
    """The sweep.json of an earlier sweep, checked.

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
        found = json.loads(place.read_bytes())
        settings = list(found["settings"])
        score = Score.of(str(found.get("score", "accuracy")), found.get("task") == "regression")
        for one in settings:
            _check_curves(
                [one["curve"], one.get("balanced") or [], *(one.get("recall") or {}).values()]
            )
            if not isinstance(one["submodels"], int):
                raise TypeError("a number of submodels that is none")
        constant = found.get("constant")
        if constant is not None:
            shares = {name: constant[name] for name in ("accuracy", "balanced")}
            _check_curves([[share] for share in shares.values() if share is not None])
            constant = {"answer": constant["answer"], **shares}
        if not settings:
            raise ValueError("no settings")
        best(settings, score)
        return {
            "held_out": int(found["held_out"]),
            "target": str(found["target"]),
            "settings": settings,
            "score": score,
            "constant": constant,
            "best": recommended(settings, score, constant),
        }
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as exc:
        raise InputError(
            f"sweep {str(place)!r} is no sweep.json of partita sweep: {type(exc).__name__}"
        ) from exc


def _tell(text: str, verbose: int) -> None:
    if verbose:
        print(f"partita: {text}", file=sys.stderr)


def _check_curves(curves: Sequence[Any]) -> None:
    for one in curves:
        curve = np.asarray(one, dtype=float)
        if (
            curve.ndim != 1
            or not ((curve >= 0) & (curve <= 1)).all()
            or not (np.diff(curve) <= 0).all()
        ):
            raise ValueError("a curve that is none")


def _possible(
    training: Training, trial: Trial, options: list[dict[str, Any]], verbose: int
) -> list[dict[str, Any]]:
    """The settings that partita fit would take with this estimator."""
    estimator = named_estimator(trial.estimator, training.of_values)
    if estimator is None or training.of_values:
        return options
    left_out: list[tuple[str, Callable[[dict[str, Any]], bool]]] = []
    if not has_scores(estimator):
        left_out.append(
            (
                "rules that compare scores, which it does not have",
                lambda one: one["rule"] == "plurality",
            )
        )
    if is_balanced(estimator):
        left_out.append(
            (
                "priors above 0, since it weighs its classes by their shares already",
                lambda one: not one.get("prior"),
            )
        )
    for what, keeps in left_out:
        fewer = [one for one in options if keeps(one)]
        if not fewer:
            raise InputError(
                f"estimator {trial.estimator!r} goes with none of the settings: it does not take "
                f"{what}"
            )
        if len(fewer) < len(options):
            _tell(f"left out for {trial.estimator!r}: {what}", verbose)
        options = fewer
    return options


def _certified(
    rows: HeldOut,
    trial: Trial,
    rules: list[Rule],
    options: list[dict[str, Any]],
    size: int,
    jobs: int | None,
    verbose: int,
) -> list[dict[str, Any]]:
    """The curves of every rule for one number of submodels."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", EmptyProofWarning
        )  # of one rule of many; the sweep judges each of them below
        ensemble = rows.training.ensemble(trial.estimator, rules[0], size, trial.seed, verbose)
        ensemble.set_params(n_jobs=jobs).fit(rows.learn, rows.y)
    answers = Answers(ensemble, rows.table, trial.tolerance, trial.relative)
    truth, classes = rows.truth, getattr(ensemble, "classes_", np.empty(0))
    found = []
    for rule, said in zip(rules, options, strict=True):
        answers = answers.under(rule.filled(rows.y, classes))
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
                "failed": failures_of(ensemble),
            }
            | _by_label(
                answers,
                np.where(proof.correct(truth), proof.radius, -1),
                truth,
                len(curve.accuracy),
            )
        )
    return found


def _by_label(answers: Answers, radii: Array, truth: Array, length: int) -> dict[str, Any]:
    """The certified recall of every label at every radius, their mean, and whether the answers are
    nearly a constant."""
    if answers.of_values:
        return {"balanced": None, "recall": None, "predicted": None, "nearly_constant": False}
    labels, counts = np.unique(truth, return_counts=True)
    at_least = np.arange(length)
    recall = np.stack(
        [(radii[truth == label][:, None] >= at_least).mean(axis=0) for label in labels]
    )
    predicted, times = np.unique(answers.prediction, return_counts=True)
    share = float(times.max() / len(truth))
    return {
        "balanced": recall.mean(axis=0).tolist(),
        "recall": {
            str(label): shares.tolist()
            for label, shares in zip(labels.tolist(), recall, strict=True)
        },
        "predicted": {"label": predicted.tolist()[int(times.argmax())], "share": share},
        "nearly_constant": is_nearly_constant(share, float(counts.max() / len(truth))),
    }


def _constant(rows: HeldOut, trial: Trial) -> dict[str, Any]:
    """The best constant answer to the held-out rows; it is proven at every radius."""
    if rows.training.of_values:
        centre = float(np.median(rows.y))
        always = np.full(len(rows.truth), centre)
        low, high, _ = bounds_around(
            always, tolerance=trial.tolerance, relative=trial.relative, around=rows.truth
        )
        return {
            "answer": centre,
            "accuracy": float(np.mean((always >= low) & (always <= high))),
            "balanced": None,
        }
    labels, counts = np.unique(rows.truth, return_counts=True)
    answer = labels.tolist()[int(counts.argmax())]
    return {
        "answer": answer,
        "accuracy": float(counts.max() / len(rows.truth)),
        "balanced": 1 / len(labels),
    }


def _failures(settings: list[dict[str, Any]]) -> list[str]:
    failed = {one["submodels"]: one["failed"] for one in settings if one["failed"]}
    return [
        f"{count} of {size} submodels could not be fitted and cast a fixed vote."
        for size, count in failed.items()
    ]


def _listed(name: str, text: str | None, read: Callable[[str], Any]) -> list[Any] | None:
    if text is None:
        return None
    try:
        return [read(part.strip()) for part in text.split(",")]
    except ValueError as exc:
        raise InputError(
            f"{name} is {text!r}: give numbers with commas between them, such as "
            f"{'5,11,21' if read is int else '0,0.5'}"
        ) from exc


def _numbers(option: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in option.items() if name != "rule"}
