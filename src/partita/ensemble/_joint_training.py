"""Estimators that train all their submodels at once, such as networks on a GPU.

An estimator may have ``fit_submodels(X, y, columns, seeds)``: it is then called once, with the
whole table, the columns of every submodel and a seed for each, instead of being cloned and fitted
for every submodel. It returns a sequence with one submodel for each set of columns, whose
``scores(X)`` gives log-probabilities (rows, submodels, classes) in the order of its ``classes_``.

Isolating the submodels is then the estimator's part of the proof: a submodel's scores may depend on
its own columns, the labels and its seed alone, to the last bit.
"""

from typing import Any

import numpy as np

from .._support import Array
from ..errors import InputError, SubmodelError
from ..tables import Table
from ._ballots import scores_as_ballots


def trains_jointly(estimator: Any) -> bool:
    """Whether the estimator trains all submodels at once."""
    return hasattr(estimator, "fit_submodels")


def were_trained_jointly(submodels: Any) -> bool:
    """Whether these fitted submodels came from such an estimator."""
    return hasattr(submodels, "scores")


def check_joint_settings(ensemble: Any, estimator: Any, sample_weight: Any) -> None:
    """Refuse settings that joint training cannot honour."""
    name = type(estimator).__name__
    if sample_weight is not None:
        raise InputError(
            f"sample_weight cannot reach {name}, which trains all submodels at once: leave it out"
        )
    if ensemble.label_attacks:
        raise InputError(
            f"label_attacks is not supported with {name}, which trains all submodels on the same "
            "labels: leave it out"
        )
    if ensemble.on_failure == "vote":
        raise InputError(
            f"on_failure='vote' is not supported with {name}, which trains all submodels at once: "
            "use 'raise'"
        )


def fit_jointly(estimator: Any, table: Table, y: Array, columns: list[list[int]], seed: int) -> Any:
    """Fit one submodel on each set of columns, in one call."""
    seeds = [
        int(np.random.SeedSequence(seed, spawn_key=(t,)).generate_state(1)[0] >> 1)
        for t in range(len(columns))
    ]
    name = type(estimator).__name__
    try:
        fitted = estimator.fit_submodels(table.take_all(), y.copy(), columns, seeds)
    except InputError:
        raise
    except Exception as exc:
        raise SubmodelError(f"{name} could not fit its {len(columns)} submodels: {exc}") from exc
    if len(fitted) != len(columns):
        raise SubmodelError(
            f"{name} gave {len(fitted)} submodels for {len(columns)} sets of columns: one for "
            "each is needed"
        )
    return fitted


def joint_ballots(submodels: Any, table: Table, classes: Array) -> Array:
    """Return every submodel's score for every class: float32 (rows, submodels, classes)."""
    scores = np.asarray(submodels.scores(table.take_all()))
    return scores_as_ballots(scores, np.asarray(submodels.classes_), classes)
