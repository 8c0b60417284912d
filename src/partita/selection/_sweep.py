"""Many settings on held-out rows: what each radius costs, and which setting is best for it.

Submodels do not depend on the rule, so every number of submodels is fitted once and all rules are
certified on the same ballots. No held-out row is learnt from. With a trusted reference, both the
rows to learn from and the held-out rows are drawn from it, several times, and shares are means.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import get_config

from .. import __version__
from .._support import log, write_atomic
from ..ensemble import failure_banner, has_scores, is_balanced, is_nearly_constant
from ..errors import InputError
from ..metrics import certified_accuracy_curve, certified_class_curves, median_radius
from ..partition import choose_units
from ..rules import Rule
from ..tables import sha256_of
from ..workflow import (
    CHOSEN,
    ON_REFERENCE,
    ON_TRAINING,
    CertifiedTable,
    TrainingTable,
    code_hash,
    code_of,
    library_versions,
    named_estimator,
)
from ._held_out import HeldOut, parts_of
from ._recommend import Score, full_model_entry, one_label_from, recommended, why_no_more
from ._reference_splits import mean, mean_shares, mostly, without_warnings_of_trials
from ._sweep_grid import Grid, Trial

DEFAULT_TRIAL = Trial()


def sweep(
    training: TrainingTable,
    grid: Grid,
    trial: Trial = DEFAULT_TRIAL,
    parts: Path | None = None,
    jobs: int | None = None,
    verbose: int = 1,
) -> dict[str, Any]:
    """Fit every number of submodels on some rows, and certify others under every rule.

    ``partita sweep`` is this function on the command line. Where ``training`` has a trusted
    reference, settings are chosen on that alone; otherwise submodels learn from the table, which
    lets an attacker's column steer the choice, and proofs hold given the chosen settings.

    Parameters
    ----------
    training : TrainingTable
        The table.
    grid : Grid
        The settings to try. Every submodel is fitted once for each number of submodels, whatever
        the number of rules.
    trial : Trial, optional
        Which rows are held out, and what settings are compared by.
    parts : Path, optional
        A folder where each finished number of submodels is stored, so that a sweep that was
        interrupted can be resumed.
    jobs : int, optional
        Threads; None: all cores. Results do not depend on it.
    verbose : int, default=1
        0: no progress on standard error.

    Returns
    -------
    dict
        Plain data, as in sweep.json: ``settings`` has every curve; ``best`` the recommended setting
        for r = 0, 1, ..., as far as one beats ``constant``, the best constant answer;
        ``full_model`` is one model on all columns; ``one_label_from`` the radius from which no
        setting certifies a row of another label than the most common; ``warnings`` are texts.
        ``chosen`` is "on-training" or "on-reference", and ``tuned`` the sentence that goes with it.

    See Also
    --------
    search_rules : Choose a rule for an ensemble that is fitted already.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from partita.selection import sweep
    >>> from partita.selection._sweep_grid import Grid, Trial
    >>> from partita.workflow._training_table import open_training
    >>> path = tempfile.mkdtemp() + "/wine.parquet"
    >>> load_wine(as_frame=True).frame.to_parquet(path, index=False)
    >>> grid = Grid(submodels=[3, 5], rules=["plurality", "runoff"])
    >>> trial = Trial(estimator="sklearn.naive_bayes:GaussianNB")
    >>> found = sweep(open_training(path, "target"), grid, trial, verbose=0)
    >>> len(found["settings"])
    4
    """
    task = training.task
    trial.check(task)
    score = Score.parse(trial.score, task.name, task.default_score)
    reference = training.reference
    parts_of_rows = parts_of(training, trial.holdout, trial.last, trial.group, trial.seed)
    rows = parts_of_rows[0]
    training = replace(rows.training, reference=reference)
    score.check(task.label_counts(rows.truth))
    options = _possible_options(training, trial, task.rule_options(grid), verbose)
    rules = [task.rule(one["rule"], **_rule_settings(one)) for one in options]
    labels = np.asarray(list(task.label_counts(rows.y)))
    for rule in rules:  # before anything is fitted
        rule.check()
        rule.resolve(rows.y, labels)
    request = request_facts(training, trial, rows, options)
    units_file = training.units_file
    units = choose_units(units_file.units, training.table.names, units_file.trusted, None)
    settings = _all_settings(
        parts_of_rows, trial, rules, options, grid.sizes(len(units)), parts, request, jobs, verbose
    )
    constant = mean_shares(
        [
            task.best_constant(one.y, one.truth, trial.tolerance, trial.relative)
            for one in parts_of_rows
        ]
    )
    chosen = ON_TRAINING if reference is None else ON_REFERENCE
    best = recommended(settings, score, constant)
    return request | {
        "counts": settings[0]["counts"],
        "held_out": rows.table.n_rows,
        "learnt_from": rows.learn.n_rows,
        "held_out_how": rows.words,
        "score": score.name,
        "score_words": score.words,
        "constant": constant,
        "full_model": full_model_entry(settings, score),
        "best": best,
        "no_more": why_no_more(settings, score, constant, len(best)),
        "one_label_from": one_label_from(settings, constant),
        "nearly_constant": sum(one["nearly_constant"] and one["submodels"] > 1 for one in settings),
        "warnings": [*rows.warnings(), *_failure_warnings(settings)],
        "chosen": chosen,
        "tuned": CHOSEN[chosen],
        "settings": settings,
    }


def request_facts(
    training: TrainingTable, trial: Trial, rows: HeldOut, options: list[dict[str, Any]]
) -> dict[str, Any]:
    """Everything that the curves depend on; the score is not among it."""
    path, units_file = training.file.path, training.units_file
    choices = ("holdout", "last", "group", "score")
    return {
        "partita": __version__,
        "data": {"name": path.name, "sha256": sha256_of(path), "rows": training.file.n_rows},
        "csv": None if training.csv is None else training.csv.to_dict(),
        "target": training.target,
        "units": units_file.units,
        "trusted": units_file.trusted,
        "ignore": units_file.ignore,
        "reference": None if training.reference is None else training.reference.about(),
        **{name: value for name, value in asdict(trial).items() if name not in choices},
        "split": rows.about,
        "code": code_hash(trial.estimator),
        "task": training.task.name,
        "options": options,
    }


def result_key(training: TrainingTable, trial: Trial, request: dict[str, Any]) -> str:
    """A hash of the request, and of all else that its results depend on."""
    facts = {
        "request": request,
        "code": code_of(named_estimator(trial.estimator, training.task)),
        "versions": library_versions(),
        "config": get_config(),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def read_part(path: Path) -> Any:
    """A stored result; None where there is none, or none that can be read."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def _all_settings(
    rows: list[HeldOut],
    trial: Trial,
    rules: list[Rule],
    options: list[dict[str, Any]],
    sizes: list[int],
    parts: Path | None,
    request: dict[str, Any],
    jobs: int | None,
    verbose: int,
) -> list[dict[str, Any]]:
    """The curves of every setting; finished numbers of submodels are read from ``parts``."""
    key = result_key(rows[0].training, trial, request)
    settings: list[dict[str, Any]] = []
    for number, size in enumerate(sizes, start=1):
        part = None if parts is None else parts / f"submodels-{size:04d}-{key}.json"
        found = None if part is None else read_part(part)
        if verbose:
            name = f"{size} submodel{'s' * (size > 1)}"
            before = "" if found is None else ", finished by an earlier run"
            log(f"{name} ({number} of {len(sizes)}{before})")
        if found is None:
            every = [
                _settings_of_size(one, trial, rules, options, size, jobs, verbose) for one in rows
            ]
            found = [_mean_setting(same) for same in zip(*every, strict=True)]
            rows[0].training.check_unchanged()
            if part is not None:
                write_atomic(part, json.dumps(found).encode())
        settings += found
    return settings


def _possible_options(
    training: TrainingTable, trial: Trial, options: list[dict[str, Any]], verbose: int
) -> list[dict[str, Any]]:
    """The settings that ``partita fit`` would accept with this estimator."""
    estimator = named_estimator(trial.estimator, training.task)
    if estimator is None:
        return options
    limits: list[tuple[str, Callable[[dict[str, Any]], bool]]] = []
    if not has_scores(estimator):
        limits.append(
            (
                "rules that compare scores, which it does not have",
                lambda one: one["rule"] in ("plurality", "median"),
            )
        )
    if is_balanced(estimator):
        limits.append(
            (
                "priors above 0, since it weighs its classes by their shares already",
                lambda one: not one.get("prior"),
            )
        )
    for what, is_allowed in limits:
        fewer = [one for one in options if is_allowed(one)]
        if not fewer:
            raise InputError(
                f"estimator {trial.estimator!r} goes with none of the settings: it does not take "
                f"{what}"
            )
        if len(fewer) < len(options) and verbose:
            log(f"left out for {trial.estimator!r}: {what}")
        options = fewer
    return options


def _settings_of_size(
    rows: HeldOut,
    trial: Trial,
    rules: list[Rule],
    options: list[dict[str, Any]],
    size: int,
    jobs: int | None,
    verbose: int,
) -> list[dict[str, Any]]:
    """The curves of every rule for one number of submodels."""
    with without_warnings_of_trials():  # the sweep judges each rule below
        ensemble = rows.training.ensemble(trial.estimator, rules[0], size, trial.seed, verbose)
        ensemble.set_params(n_jobs=jobs).fit(rows.learn, rows.y)
    ballots = CertifiedTable.of(ensemble, rows.table, trial.tolerance, trial.relative, rows.truth)
    classes = getattr(ensemble, "classes_", np.empty(0))
    return [
        {"submodels": size, "options": option}
        | _curves(ballots.under(rule.resolve(rows.y, classes)), rows)
        for rule, option in zip(rules, options, strict=True)
    ]


def _curves(certified: CertifiedTable, rows: HeldOut) -> dict[str, Any]:
    """What a sweep measures of one setting."""
    proof, truth = certified.against_truth.proof, rows.truth
    assert proof is not None
    curve, middle = certified_accuracy_curve(truth, proof).accuracy, median_radius(truth, proof)
    found = {
        "curve": curve.tolist(),
        "median": middle if np.isfinite(middle) else None,
        "counts": {"what": proof.counts.what, "total": proof.counts.total},
        "failed": len(certified.model.failures_),
    }
    predicted = rows.training.task.label_counts(certified.prediction)
    if not predicted:
        return found | {
            "balanced": None,
            "recall": None,
            "precision": None,
            "predicted": None,
            "nearly_constant": False,
        }
    classes = certified_class_curves(truth, proof)
    label, count = predicted.most_common(1)[0]
    commonest = max(rows.training.task.label_counts(truth).values())
    return found | {
        "balanced": np.mean([one.recall for one in classes.values()], axis=0).tolist(),
        "recall": {str(label): one.recall.tolist() for label, one in classes.items()},
        "precision": {str(label): one.precision.tolist() for label, one in classes.items()},
        "predicted": {"label": label, "share": count / len(truth)},
        "nearly_constant": is_nearly_constant(count / len(truth), commonest / len(truth)),
    }


def _mean_setting(same: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a sweep measured of one setting, with the means over several splits."""
    first = same[0]
    if len(same) == 1:
        return first
    found = first | {
        "curve": _mean_curve([one["curve"] for one in same]),
        "median": mean([one["median"] for one in same]),
        "failed": max(one["failed"] for one in same),
        "nearly_constant": mostly([one["nearly_constant"] for one in same]),
    }
    if first["balanced"] is None:
        return found
    for name in ("recall", "precision"):
        found[name] = {
            label: _mean_curve([one[name][label] for one in same]) for label in first[name]
        }
    share = mean([one["predicted"]["share"] for one in same])
    return found | {
        "balanced": _mean_curve([one["balanced"] for one in same]),
        "predicted": first["predicted"] | {"share": share},
    }


def _mean_curve(curves: Sequence[Sequence[float]]) -> list[float]:
    """The mean at every radius; a curve is 0 beyond its end."""
    length = max(map(len, curves))
    padded = [[*curve, *[0.0] * (length - len(curve))] for curve in curves]
    return [float(value) for value in np.mean(padded, axis=0)]


def _failure_warnings(settings: list[dict[str, Any]]) -> list[str]:
    failed = {one["submodels"]: one["failed"] for one in settings if one["failed"]}
    return [f"{text}." for size, count in failed.items() for text in failure_banner(count, size)]


def _rule_settings(option: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in option.items() if name != "rule"}
