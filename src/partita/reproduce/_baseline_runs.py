"""One run of a defence the paper compares with: randomized ablation, de-randomized smoothing,
always the same answer."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from .._support.types import Array
from ..baselines import (
    ConstantClassifier,
    ConstantRegressor,
    RandomizedAblationClassifier,
    RandomizedAblationRegressor,
    SmoothingClassifier,
)
from ..baselines._ablation_bounds import certify_votes
from ..certificates import Certificates
from ..partition._units import pixels
from . import _submodels as submodels
from ._rows import Rows
from ._runs import Found, Run, tally

CONDITIONS = {"levine-feizi": "LF'20b", "jia": "Jia'22b"}
SQUARE, AREA = (5, 5), 24


def safe_radii(proof: Certificates, rows: Rows) -> Array:
    """The radius of every row, -1 where the prediction is wrong."""
    if rows.bounds is not None:
        return np.maximum(proof.radius, -1)
    return np.where(proof.prediction == rows.y_test, np.maximum(proof.radius, -1), -1)


def survived(square: Certificates, others: list[Certificates], rows: Rows) -> dict[str, float]:
    share = [
        round(100 * float(np.mean(safe_radii(proof, rows) >= 1)), 3) for proof in (square, *others)
    ]
    return {"square": share[0], "worst": min(share[1:]), "best": max(share[1:])}


def ablation(run: Run, rows: Rows, unfinished: Path) -> Found:
    shared: dict[str, Any] = {
        "keep": run.setting.count,
        "n_certify": run.details["draws"],
        "random_state": run.seed,
    }
    settings = run.details["settings"]
    shared["n_select"] = min(1000, run.details["draws"])
    started = time.perf_counter()
    if rows.bounds is not None:
        X_train, X_test, low, high = _scaled_by(rows)
        model = RandomizedAblationRegressor(
            submodels.ablated_linear(),
            low=low,
            high=high,
            epochs=settings["epochs"],
            batch_size=2**20,
            **shared,
        )
        model.fit(X_train, rows.y_train)
        fitted = time.perf_counter()
        lower, upper = rows.bounds(rows.y_test)
        proof = model.certify(X_test, lower=lower, upper=upper)
        certified = time.perf_counter()
        radii = dict.fromkeys(
            CONDITIONS.values(), tally(safe_radii(proof, rows))
        )  # for values both conditions are one
    else:
        assert rows.image_shape is not None
        shared["units"] = pixels(rows.image_shape)
        if "network" in settings:
            label, votes, model, fitted = _asked_network(run, rows, unfinished, shared)
        else:
            model = RandomizedAblationClassifier(epochs=settings["epochs"], **shared).fit(
                rows.X_train, rows.y_train
            )
            fitted = time.perf_counter()
            label, votes = model.predict(rows.X_test), model.votes(rows.X_test)
        radii = {}
        for method, name in CONDITIONS.items():
            radii[name] = tally(_ablation_radii(model, method, label, votes, rows))
        certified = time.perf_counter()
    return {
        "fit_seconds": round(fitted - started, 3),
        "row_seconds": float(f"{(certified - fitted) / len(rows.y_test):.3g}"),
        "radii": radii,
    }


def _asked_network(
    run: Run, rows: Rows, unfinished: Path, shared: dict[str, Any]
) -> tuple[Array, Array, Any, float]:
    """The labels, the votes, the model and when it had learnt; an interrupted run goes on with the
    network and the rows it has."""
    from ._resumable_ablation import NETWORK, KeptNetwork, begun, keep_network, votes_of

    settings, learnt = run.details["settings"], begun(unfinished, run)
    network = KeptNetwork(rows.image_shape, settings["network"], unfinished / NETWORK)
    model = RandomizedAblationClassifier(
        network, epochs=1 if learnt else settings["epochs"], verbose=1, **shared
    )
    model.fit(rows.X_train, rows.y_train)
    if not learnt:
        keep_network(model.estimator_, unfinished, run)
    fitted = time.perf_counter()
    return *votes_of(model, rows.X_test, unfinished), model, fitted


def _ablation_radii(model: Any, method: str, label: Array, votes: Array, rows: Rows) -> Array:
    """The radius of every row under one of the two conditions, -1 where it is wrong or not sure."""
    position = np.searchsorted(model.classes_, label)
    radius, _ = certify_votes(votes, position, len(model.units_), model.keep_, model.alpha, method)
    return np.where(label == rows.y_test, np.maximum(radius, -1), -1)


def _scaled_by(rows: Rows) -> tuple[Array, Array, Array, Array]:
    """The rows as numbers without gaps, and each column's least and greatest training value:
    ablation trusts the training rows."""
    tables = []
    for X in (rows.X_train, rows.X_test):
        columns = []
        for name in X.columns:
            own, other = rows.X_train[name], X[name]
            if own.dtype == object or str(own.dtype) in ("string", "str"):
                kinds = {value: k for k, value in enumerate(sorted(set(own.dropna().astype(str))))}
                columns.append([kinds.get(str(value), -1) for value in other])
            else:
                columns.append(other.fillna(own.median()).to_numpy(dtype=float))
        tables.append(np.nan_to_num(np.column_stack(columns)))
    low, high = tables[0].min(axis=0), tables[0].max(axis=0)
    return tables[0], tables[1], low, np.where(high > low, high, low + 1)


def smoothing(run: Run, rows: Rows, unfinished: Path) -> Found:
    assert rows.image_shape is not None
    settings = run.details["settings"]
    estimator = (
        submodels.ablated_network(settings["network"], rows.image_shape)
        if "network" in settings
        else None
    )
    started = time.perf_counter()
    shared = {
        "kind": "column",
        "size": run.setting.count,
        "estimator": estimator,
        "epochs": settings["epochs"],
    }
    model = SmoothingClassifier(rows.image_shape, **shared).fit(rows.X_train, rows.y_train)
    fitted = time.perf_counter()
    height, width, _ = rows.image_shape
    shapes = [
        (tall, AREA // tall)
        for tall in range(1, AREA + 1)
        if AREA % tall == 0 and tall <= height and AREA // tall <= width
    ]
    proofs = [model.certify(rows.X_test, patch=shape) for shape in shapes]
    patches = {"columns": survived(model.certify(rows.X_test, patch=SQUARE), proofs, rows)}
    return {"fit_seconds": round(fitted - started, 3), "radii": {}, "patches": patches}


def constant(run: Run, rows: Rows, unfinished: Path) -> Found:
    if rows.bounds is None:
        proof = ConstantClassifier().fit(rows.X_train, rows.y_train).certify(rows.X_test)
    else:
        lower, upper = rows.bounds(rows.y_test)
        proof = (
            ConstantRegressor()
            .fit(rows.X_train, rows.y_train)
            .certify(rows.X_test, lower=lower, upper=upper)
        )
    return {"radii": {"always": tally(safe_radii(proof, rows))}}
