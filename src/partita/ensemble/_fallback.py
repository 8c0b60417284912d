"""The full model behind a vote: one estimator on all columns, for rows where a vote proves little.

Whoever owns one column may own all that it says, so no certificate may depend on its scores. It
reads what the submodels read, and nothing of it reaches a submodel: it is fitted after them.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .._support import Array, run_each
from ..errors import InputError, SubmodelWarning
from ..tables import Table, one_row
from ._ballots import class_scores
from ._failures import fit_one, score_one
from ._joint_training import trains_jointly
from ._plan import Plan
from ._soundness import shares_a_generator, wants_integers

NAME = "the fallback (of all columns)"


def check_fallback(estimator: Any) -> None:
    """Refuse what is no classifier of its own."""
    name = type(estimator).__name__
    if is_regressor(estimator):
        raise InputError(f"fallback {name} is a regressor: give a classifier")
    if trains_jointly(estimator):
        raise InputError(
            f"fallback {name} trains submodels for sets of columns: give a classifier that learns "
            "from all columns"
        )


def fit_fallback(
    estimator: Any, plan: Plan, table: Table, y: Array, fit_params: dict[str, Any]
) -> Any:
    """Fit a clone of the estimator on all columns; a FixedVote where it fails and may.

    It is seeded and held to one thread as a submodel is. Under label attacks it learns from all
    rows whose label is known: the attacker may own it anyway.
    """
    whole = replace(
        plan,
        estimator=estimator,
        columns=[list(range(table.n_columns))],
        names=[NAME],
        label_attacks="rows" if plan.label_attacks else None,
        serial=shares_a_generator(estimator),
        as_integers=wants_integers(estimator),
        fit_params=fit_params,
    )
    owner = np.zeros(table.n_rows, dtype=np.int64) if plan.label_attacks else None
    job = whole.fit_arguments(table, y, owner, 0)
    (fitted,) = run_each(fit_one, [job], 1, 1, "", 0, whole.serial)
    return fitted


def fallback_scores(ensemble: Any, table: Table, rows: Array | None = None) -> Array:
    """Return the fallback's score for every class, as float32 (rows, classes).

    Rows on which it fails get the fixed vote where ``on_failure`` allows that.
    """
    n_rows = table.n_rows if rows is None else len(rows)
    X = table.take_all(rows)
    fixed, may_fail = ensemble.fixed_ballot_, ensemble.on_failure == "vote"
    score = _score(ensemble)
    job = (score, ensemble.fallback_model_, X, one_row, n_rows, fixed, NAME, may_fail)
    ((scores, failure),) = run_each(score_one, [job], 1, 1, "", 0)
    if failure:
        warnings.warn(f"{failure}; they get a fixed vote", SubmodelWarning, stacklevel=4)
    return np.asarray(scores, dtype=np.float32)


def _score(ensemble: Any) -> Callable[..., Array]:
    as_integers = wants_integers(ensemble.fallback)
    classes = np.arange(len(ensemble.classes_)) if as_integers else ensemble.classes_
    return partial(class_scores, classes=classes)
