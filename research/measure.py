"""One run: train, then certify the same ballots under every rule.

A partition ensemble, or a defence the paper compares with: randomized ablation, de-randomized
smoothing, or always the same prediction. Where sets overlap, a column that two submodels read may
turn both: certificates count columns, not submodels.
"""

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from partita import __version__
from partita._support import Array
from partita.ballots import Ballots
from partita.baselines import (
    ConstantClassifier,
    ConstantRegressor,
    RandomizedAblationClassifier,
    RandomizedAblationRegressor,
    SmoothingClassifier,
)
from partita.baselines._ablation_bounds import certify_votes
from partita.certificates import Certificates
from partita.ensemble import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.partition import Informed, Partition, pixels
from partita.patches import certify_patches, certify_rectangles
from partita.rules import Median, Rule

from . import submodels
from .data import RunData
from .resumable_ablation import prepare, votes_by_parts
from .runs import LABEL_RULES, TUNED_STRETCH, VALUE_RULES, Run, RunResult, radius_counts
from .submodels import ablated_linear, ablated_network

CONDITIONS = {"levine-feizi": "LF'20b", "jia": "Jia'22b"}
SQUARE, AREA = (5, 5), 24


def correct_radii(proof: Certificates, data: RunData) -> Array:
    """The radius of every row, -1 where the prediction is wrong."""
    radius = np.maximum(proof.radius, -1)
    return (
        radius if data.bounds is not None else np.where(proof.prediction == data.y_test, radius, -1)
    )


def patch_shares(
    square: Certificates, rectangles: Sequence[Certificates], data: RunData
) -> dict[str, float]:
    """The shares of images, in %, that survive the square, the worst and the best rectangle."""
    shares = [
        round(100 * float(np.mean(correct_radii(proof, data) >= 1)), 3)
        for proof in (square, *rectangles)
    ]
    return {"square": shares[0], "worst": min(shares[1:]), "best": max(shares[1:])}


def run_ablation(run: Run, data: RunData, unfinished: Path) -> RunResult:
    """Randomized ablation, certified under both conditions."""
    draws = run.details["draws"]
    shared = {
        "keep": run.setting.count,
        "n_certify": draws,
        "random_state": run.seed,
        "n_select": min(1000, draws),
    }
    started = time.perf_counter()
    if data.bounds is not None:
        radii, fitted = _ablated_values(run, data, shared)
    else:
        radii, fitted = _ablated_labels(run, data, shared, unfinished)
    certified = time.perf_counter()
    return {
        "fit_seconds": round(fitted - started, 3),
        "row_seconds": float(f"{(certified - fitted) / len(data.y_test):.3g}"),
        "radii": {name: radius_counts(own) for name, own in radii.items()},
    }


def _ablated_values(
    run: Run, data: RunData, shared: dict[str, Any]
) -> tuple[dict[str, Array], float]:
    """Radii by condition, and when the model was fitted."""
    assert data.bounds is not None
    X_train, X_test, low, high = _numeric_tables(data)
    model = RandomizedAblationRegressor(
        ablated_linear(),
        low=low,
        high=high,
        epochs=run.details["settings"]["epochs"],
        batch_size=2**20,
        **shared,
    )
    model.fit(X_train, data.y_train)
    fitted = time.perf_counter()
    lower, upper = data.bounds(data.y_test)
    proof = model.certify(X_test, lower=lower, upper=upper)
    # for values both conditions are one
    return dict.fromkeys(CONDITIONS.values(), correct_radii(proof, data)), fitted


def _ablated_labels(
    run: Run, data: RunData, shared: dict[str, Any], unfinished: Path
) -> tuple[dict[str, Array], float]:
    """Radii by condition, and when the model was fitted."""
    assert data.image_shape is not None
    shared = shared | {"units": pixels(data.image_shape)}
    settings = run.details["settings"]
    if "network" in settings:
        label, votes, model, fitted = _network_votes(run, data, unfinished, shared)
    else:
        model = RandomizedAblationClassifier(epochs=settings["epochs"], **shared)
        model.fit(data.X_train, data.y_train)
        fitted = time.perf_counter()
        label, votes = model.predict(data.X_test), model.votes(data.X_test)
    position = np.searchsorted(model.classes_, label)
    radii = {}
    for method, name in CONDITIONS.items():
        radius, _ = certify_votes(
            votes, position, len(model.units_), model.keep_, model.alpha, method
        )
        radii[name] = np.where(label == data.y_test, np.maximum(radius, -1), -1)
    return radii, fitted


def _network_votes(
    run: Run, data: RunData, unfinished: Path, shared: dict[str, Any]
) -> tuple[Array, Array, Any, float]:
    """Labels, votes, the model, and when it was fitted.

    An interrupted run resumes with the network and the votes that it has.
    """
    assert data.image_shape is not None
    settings, file = run.details["settings"], prepare(unfinished, run)
    network = ablated_network(settings, data.image_shape, file)
    model = RandomizedAblationClassifier(network, epochs=settings["epochs"], verbose=1, **shared)
    model.fit(data.X_train, data.y_train)
    fitted = time.perf_counter()
    return *votes_by_parts(model, data.X_test, unfinished), model, fitted


def _numeric_tables(data: RunData) -> tuple[Array, Array, Array, Array]:
    """Training and test rows as numbers without missing values, and each column's range.

    Ranges and codes come from the training rows, which ablation trusts.
    """
    tables = []
    for X in (data.X_train, data.X_test):
        columns = []
        for name in X.columns:
            own, column = data.X_train[name], X[name]
            if own.dtype == object or str(own.dtype) in ("string", "str"):
                texts = sorted(set(own.dropna().astype(str)))
                codes = {text: k for k, text in enumerate(texts)}
                columns.append([codes.get(str(value), -1) for value in column])
            else:
                columns.append(column.fillna(own.median()).to_numpy(dtype=float))
        tables.append(np.nan_to_num(np.column_stack(columns)))
    low, high = tables[0].min(axis=0), tables[0].max(axis=0)
    return tables[0], tables[1], low, np.where(high > low, high, low + 1)


def run_smoothing(run: Run, data: RunData, unfinished: Path) -> RunResult:
    """De-randomized smoothing, certified against a square and all rectangles of one area."""
    assert data.image_shape is not None
    settings = run.details["settings"]
    estimator = None
    if "network" in settings:
        file = unfinished.with_suffix(".pt")
        estimator = ablated_network(settings, data.image_shape, file)
    started = time.perf_counter()
    model = SmoothingClassifier(
        data.image_shape,
        kind="column",
        size=run.setting.count,
        estimator=estimator,
        epochs=settings["epochs"],
    ).fit(data.X_train, data.y_train)
    fitted = time.perf_counter()
    height, width, _ = data.image_shape
    shapes = [
        (tall, AREA // tall)
        for tall in range(1, AREA + 1)
        if AREA % tall == 0 and tall <= height and AREA // tall <= width
    ]
    rectangles = [model.certify(data.X_test, patch=shape) for shape in shapes]
    square = model.certify(data.X_test, patch=SQUARE)
    return {
        "fit_seconds": round(fitted - started, 3),
        "radii": {},
        "patches": {"columns": patch_shares(square, rectangles, data)},
    }


def run_constant(run: Run, data: RunData, unfinished: Path) -> RunResult:
    """Always the same prediction."""
    if data.bounds is None:
        proof = ConstantClassifier().fit(data.X_train, data.y_train).certify(data.X_test)
    else:
        lower, upper = data.bounds(data.y_test)
        model = ConstantRegressor().fit(data.X_train, data.y_train)
        proof = model.certify(data.X_test, lower=lower, upper=upper)
    return {"radii": {"always": radius_counts(correct_radii(proof, data))}}


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


def _certify(rule: Rule, model: Any, data: RunData, ballots: Ballots) -> Certificates:
    """Certificates of the ballots under a rule, in units of the ensemble."""
    rule = rule.resolve(data.y_train, getattr(model, "classes_", np.empty(0)))
    ballots = replace(ballots, rule=rule)
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


def _patches(model: Any, data: RunData, ballots: Ballots) -> dict[str, dict[str, float]]:
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


METHODS: dict[str, Callable[[Run, RunData, Path], RunResult]] = {
    "partition": run_partition,
    "ablation": run_ablation,
    "smoothing": run_smoothing,
    "constant": run_constant,
}


def measure(run: Run, data: RunData, unfinished: Path) -> RunResult:
    """Train and certify; ``unfinished`` is where networks keep their checkpoints."""
    result = METHODS[run.setting.method](run, data, unfinished)
    return {
        "rows": {"train": len(data.y_train), "test": len(data.y_test)},
        "machine": machine(),
        "partita": __version__,
        **result,
    }


def machine() -> str:
    """What this runs on: cores, architecture and, once PyTorch is imported, the GPU."""
    torch = sys.modules.get("torch")
    has_gpu = torch is not None and torch.cuda.is_available()
    gpu = f", {torch.cuda.get_device_name()}" if torch is not None and has_gpu else ""
    return f"{os.cpu_count()} cores, {platform.machine()}{gpu}"
