"""Estimators that train all their submodels at once.

An estimator may have ``fit_submodels(X, y, columns, seeds)``: it is then called once, with the
whole table, the columns of every submodel and a seed for each, instead of being cloned and fitted
for every submodel. It returns a sequence with one submodel for each set of columns, whose
``scores(X)`` gives log-probabilities (rows, submodels, classes) in the order of its ``classes_``.

Keeping the submodels apart is then the estimator's part of the proof: what a submodel says may
depend on its own columns, the labels and its seed alone, to the last bit."""

from typing import Any

import numpy as np

from .._support.types import Array
from ..errors import InputError, SubmodelError
from ..tables._table import Table
from ._ballots import placed


def trains_together(estimator: Any) -> bool:
    return hasattr(estimator, "fit_submodels")


def check_together(ensemble: Any, estimator: Any, sample_weight: Any) -> None:
    """What cannot be promised when all submodels are trained in one go."""
    name = type(estimator).__name__
    if sample_weight is not None:
        raise InputError(
            f"sample_weight cannot reach {name}, which trains all submodels at once: leave it out"
        )
    if ensemble.label_attacks:
        raise InputError(
            f"label_attacks cannot be had with {name}, which trains all submodels on the same "
            "labels: leave it out"
        )
    if ensemble.on_failure == "vote":
        raise InputError(
            f"on_failure='vote' cannot be had with {name}, which trains all submodels at once: "
            "use 'raise'"
        )


def fit_together(
    estimator: Any, table: Table, y: Array, columns: list[list[int]], seed: int
) -> Any:
    """The submodels for these sets of columns."""
    seeds = [
        int(np.random.SeedSequence(seed, spawn_key=(t,)).generate_state(1)[0] >> 1)
        for t in range(len(columns))
    ]
    try:
        fitted = estimator.fit_submodels(
            table.take(list(range(table.n_columns))), y.copy(), columns, seeds
        )
    except InputError:
        raise
    except Exception as exc:
        raise SubmodelError(
            f"{type(estimator).__name__} could not fit its {len(columns)} submodels: {exc}"
        ) from exc
    if len(fitted) != len(columns):
        raise SubmodelError(
            f"{type(estimator).__name__} gave {len(fitted)} submodels for {len(columns)} sets of "
            "columns: one for each is needed"
        )
    return fitted


def ballots_together(submodels: Any, table: Table, classes: Array) -> Array:
    """Every submodel's score for every class: float32 (rows, submodels, classes)."""
    scores = np.asarray(submodels.scores(table.take(list(range(table.n_columns)))))
    return placed(scores, np.asarray(submodels.classes_), classes)
