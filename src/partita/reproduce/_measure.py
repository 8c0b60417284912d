"""One run: train, certify under every rule from the same ballots, and tell what came out."""

import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from .. import __version__
from .._support.types import Array
from ..certificates import Certificates
from ..ensemble._classifier import FeaturePartitionClassifier
from ..ensemble._regressor import FeaturePartitionRegressor
from ..partition._informed import Informed
from ..partition._partition import Partition
from ..patches import certify_patches, certify_rectangles
from ..rules import Median, Rule
from . import _baseline_runs as others
from . import _submodels as submodels
from ._baseline_runs import AREA, SQUARE, safe_radii, survived
from ._rows import Rows
from ._runs import Found, Run, tally
from ._voting import CHOSEN, OF_LABELS, OF_VALUES

STRETCHES = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
CHOSEN_AT = (
    0,
    1,
    2,
    3,
)  # the stretch with the highest certified accuracy, on average over these radii
FOLDS = 3


def measure(run: Run, rows: Rows, unfinished: Path) -> Found:
    """Do a run. ``unfinished`` is a place for what a network has learnt so far, so that an
    interrupted run goes on."""
    methods: dict[str, Callable[[Run, Rows, Path], Found]] = {
        "partition": _partition,
        "ablation": others.ablation,
        "smoothing": others.smoothing,
        "constant": others.constant,
    }
    found = methods[run.setting.method](run, rows, unfinished)
    return {
        "rows": {"train": len(rows.y_train), "test": len(rows.y_test)},
        "machine": machine(),
        "partita": __version__,
        **found,
    }


def machine() -> str:
    """What this is run on, in words."""
    torch = sys.modules.get("torch")
    gpu = (
        f", {torch.cuda.get_device_name()}"
        if torch is not None and torch.cuda.is_available()
        else ""
    )
    return f"{os.cpu_count()} cores, {platform.machine()}{gpu}"


def _partition(run: Run, rows: Rows, unfinished: Path) -> Found:
    started = time.perf_counter()
    model = _ensemble(run, rows, unfinished).fit(rows.X_train, rows.y_train)
    fitted = time.perf_counter()
    ballots = model.ballots(rows.X_test)
    proofs, certified = {}, 0.0
    for name, rule in (OF_LABELS if rows.bounds is None else OF_VALUES).items():
        proofs[name] = _proof(rule, model, rows, ballots)
        certified = (
            certified or time.perf_counter() - fitted
        )  # asking the submodels, and the first rule
    chosen = {}
    if run.setting.data == "ames_raw":
        stretch = _chosen_stretch(run, rows, model.partition_)
        proofs[CHOSEN] = _proof(Median(stretch=stretch), model, rows, ballots)
        chosen = {"chosen_stretch": stretch}
    return {
        "fit_seconds": round(fitted - started, 3),
        "submodel_seconds": round((fitted - started) / len(model.partition_), 4),
        "row_seconds": float(f"{certified / len(rows.y_test):.3g}"),
        "radii": {name: tally(safe_radii(proof, rows)) for name, proof in proofs.items()},
        **chosen,
        **({"patches": _patches(model, rows, ballots)} if run.setting.patches else {}),
    }


def _ensemble(run: Run, rows: Rows, unfinished: Path, partition: Any = None) -> Any:
    """The model of a run, not fitted."""
    one, kind = run.setting, str(run.details["submodel"])
    if partition is None:
        partition = (
            one.partition
            if rows.reference is None
            else Informed(*rows.reference, exchanges=run.details["exchanges"])
        )
    shared = {
        "partition": partition,
        "spread": one.spread,
        "random_state": run.seed,
        "image_shape": rows.image_shape,
    }
    if not isinstance(partition, Partition):
        shared["n_submodels"] = one.count
    settings = run.details["settings"]
    if rows.bounds is not None:
        make = submodels.linear_of_values if kind == "linear" else submodels.boosting_of_values
        return FeaturePartitionRegressor(make(settings), **shared)
    assert rows.image_shape is not None
    if kind == "network":
        return FeaturePartitionClassifier(
            submodels.network(settings, rows.image_shape, one.count, unfinished), **shared
        )
    return FeaturePartitionClassifier(submodels.boosting_of_labels(settings), **shared)


def _proof(rule: Rule, model: Any, rows: Rows, ballots: Array) -> Certificates:
    rule, over = (
        rule.filled(rows.y_train, getattr(model, "classes_", np.empty(0))),
        model._over("bound", 1.0),
    )
    if isinstance(rule, Median):
        assert rows.bounds is not None
        return rule.certify(ballots, *rows.bounds(rows.y_test), **over)
    return _labelled(rule.certify(ballots, **over), model)


def _labelled(proof: Certificates, model: Any) -> Certificates:
    return replace(proof, prediction=model.classes_[proof.prediction])


def _chosen_stretch(run: Run, rows: Rows, partition: Partition) -> float:
    """The stretch that is best on training rows that were left out in turn; the rows to certify are
    not looked at."""
    assert rows.bounds is not None
    votes = np.empty((len(rows.y_train), len(partition)))
    centres = np.empty(len(rows.y_train))
    for learn, held in KFold(FOLDS, shuffle=True, random_state=run.seed).split(rows.y_train):
        model = _ensemble(run, rows, Path(), partition).fit(
            rows.X_train.iloc[learn], rows.y_train[learn]
        )
        votes[held], centres[held] = model.ballots(rows.X_train.iloc[held]), model.rule_.centre
    lower, upper = rows.bounds(rows.y_train)

    def certified(stretch: float) -> float:
        radius = (
            Median(stretch, 0.0)
            .certify(votes - centres[:, None], lower - centres, upper - centres)
            .radius
        )
        return float(np.mean([np.mean(radius >= r) for r in CHOSEN_AT]))

    return max(STRETCHES, key=certified)


def _patches(model: Any, rows: Rows, ballots: Array) -> dict[str, dict[str, float]]:
    """The share of images, in %, that survive a square of 5 x 5, and the worst and the best
    rectangle of 24 pixels."""
    assert rows.image_shape is not None
    shares = {}
    for name, rule in OF_LABELS.items():
        rule = rule.filled(rows.y_train, model.classes_)
        square = certify_patches(ballots, model.partition_, rows.image_shape, SQUARE, rule)
        others = certify_rectangles(ballots, model.partition_, rows.image_shape, AREA, rule)
        shares[name] = survived(
            _labelled(square, model), [_labelled(proof, model) for proof in others.values()], rows
        )
    return shares
