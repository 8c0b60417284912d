"""One run of a partition ensemble: train, then certify under every rule from the same ballots.

Where sets overlap, a column that two submodels read may turn both: certificates count columns, not
submodels.
"""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from .._support.types import Array
from ..certificates import Certificates
from ..ensemble import FeaturePartitionClassifier, FeaturePartitionRegressor
from ..partition import Informed, Partition
from ..patches import certify_patches, certify_rectangles
from ..rules import Median, Rule
from . import _submodels as submodels
from ._baseline_runs import AREA, SQUARE, correct_radii, patch_shares
from ._data import RunData
from ._rules import LABEL_RULES, TUNED_STRETCH, VALUE_RULES
from ._runs import Run, RunResult, radius_counts

STRETCHES = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
TUNING_RADII = (0, 1, 2, 3)  # the stretch with the best mean certified accuracy at these is chosen
FOLDS = 3


def run_partition(run: Run, data: RunData, unfinished: Path) -> RunResult:
    """A partition ensemble, certified under every rule."""
    started = time.perf_counter()
    model = new_ensemble(run, data, unfinished).fit(data.X_train, data.y_train)
    fitted = time.perf_counter()
    ballots = model.ballots(data.X_test)
    proofs, first_rule = {}, None
    for name, rule in (LABEL_RULES if data.bounds is None else VALUE_RULES).items():
        proofs[name] = _certify(rule, model, data, ballots)
        first_rule = first_rule or time.perf_counter()
    assert first_rule is not None
    result: RunResult = {}
    if run.setting.data == "ames_raw":
        stretch = _tune_stretch(run, data, model.partition_)
        proofs[TUNED_STRETCH] = _certify(Median(stretch=stretch), model, data, ballots)
        result["chosen_stretch"] = stretch
    if run.setting.patches:
        result["patches"] = _patches(model, data, ballots)
    return {
        "fit_seconds": round(fitted - started, 3),
        "submodel_seconds": round((fitted - started) / len(model.partition_), 4),
        # computing the ballots, and the first rule
        "row_seconds": float(f"{(first_rule - fitted) / len(data.y_test):.3g}"),
        "radii": {name: radius_counts(correct_radii(own, data)) for name, own in proofs.items()},
        **result,
    }


def new_ensemble(run: Run, data: RunData, unfinished: Path, partition: Any = None) -> Any:
    """The ensemble of a run, not fitted."""
    setting, kind = run.setting, str(run.details["submodel"])
    if partition is None:
        partition = (
            setting.partition
            if data.reference is None
            else Informed(*data.reference, exchanges=run.details["exchanges"])
        )
    shared = {
        "partition": partition,
        "spread": setting.spread,
        "random_state": run.seed,
        "image_shape": data.image_shape,
    }
    if not isinstance(partition, Partition):
        shared["n_submodels"] = setting.count
    settings = run.details["settings"]
    if data.bounds is not None:
        make = submodels.linear_regressor if kind == "linear" else submodels.boosting_regressor
        return FeaturePartitionRegressor(make(settings), **shared)
    assert data.image_shape is not None
    estimator = (
        submodels.network(settings, data.image_shape, setting.count, unfinished)
        if kind == "network"
        else submodels.boosting_classifier(settings)
    )
    return FeaturePartitionClassifier(estimator, **shared)


def _certify(rule: Rule, model: Any, data: RunData, ballots: Any) -> Certificates:
    """Certificates of the ballots under a rule, in units of the ensemble."""
    rule = rule.resolve(data.y_train, getattr(model, "classes_", np.empty(0)))
    ballots = replace(model._decided_by_rule(np.asarray(ballots)), rule=rule)
    if isinstance(rule, Median):
        assert data.bounds is not None
        return rule.certify(ballots, *data.bounds(data.y_test))
    return _with_labels(rule.certify(ballots), model)


def _with_labels(proof: Certificates, model: Any) -> Certificates:
    return replace(proof, prediction=model.classes_[proof.prediction])


def _tune_stretch(run: Run, data: RunData, partition: Partition) -> float:
    """The stretch that is best on held-out training rows; the rows to certify are not used."""
    assert data.bounds is not None
    votes = np.empty((len(data.y_train), len(partition)))
    centres = np.empty(len(data.y_train))
    for learn, held in KFold(FOLDS, shuffle=True, random_state=run.seed).split(data.y_train):
        model = new_ensemble(run, data, Path(), partition)
        model.fit(data.X_train.iloc[learn], data.y_train[learn])
        votes[held], centres[held] = model.ballots(data.X_train.iloc[held]), model.rule_.centre
    lower, upper = data.bounds(data.y_train)

    def certified(stretch: float) -> float:
        rule = Median(stretch, 0.0)
        proof = rule.certify(votes - centres[:, None], lower - centres, upper - centres)
        return float(np.mean([np.mean(proof.radius >= r) for r in TUNING_RADII]))

    return max(STRETCHES, key=certified)


def _patches(model: Any, data: RunData, ballots: Array) -> dict[str, dict[str, float]]:
    """The shares of images, in %, that survive a square and rectangles, under each rule."""
    assert data.image_shape is not None
    shares = {}
    for name, rule in LABEL_RULES.items():
        rule = rule.resolve(data.y_train, model.classes_)
        square = certify_patches(ballots, model.partition_, data.image_shape, SQUARE, rule)
        rectangles = certify_rectangles(ballots, model.partition_, data.image_shape, AREA, rule)
        shares[name] = patch_shares(
            _with_labels(square, model),
            [_with_labels(proof, model) for proof in rectangles.values()],
            data,
        )
    return shares
