"""Models on all columns: one behind a vote that proves little, and one for comparison.

Whoever owns one column may own all that such a model says, so no certificate may depend on its
scores. It reads what the submodels read, and nothing of it reaches a submodel: it is fitted after
them.
"""

from dataclasses import replace

import numpy as np
from sklearn.base import clone, is_regressor

from .._support import Array, Estimator, TableLike, exclusive, run_each
from ..errors import InputError
from ..tables import Table
from ._plan import Plan, seeds, trains_jointly
from ._protocol import FittedEnsemble
from ._soundness import shares_a_generator, wants_integers
from ._submodels import FixedVote, fit_one

FALLBACK = "the fallback (of all columns)"


def check_fallback(estimator: Estimator) -> None:
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
    estimator: Estimator, plan: Plan, table: Table, y: Array, fit_params: dict[str, Array]
) -> Estimator:
    """Fit a clone of the estimator on all columns; a FixedVote where it fails and may.

    It is seeded and held to one thread as a submodel is. Under label attacks it learns from all
    rows whose label is known: the attacker may own it anyway.
    """
    whole = replace(
        plan,
        estimator=estimator,
        columns=[list(range(table.n_columns))],
        names=[FALLBACK],
        label_attacks="rows" if plan.label_attacks else None,
        serial=shares_a_generator(estimator),
        as_integers=wants_integers(estimator),
        fit_params=fit_params,
    )
    owner = np.zeros(table.n_rows, dtype=np.int64) if plan.label_attacks else None
    job = whole.fit_arguments(table, y, owner, 0)
    (fitted,) = run_each(fit_one, [job], 1, 1, "", 0, whole.serial)
    return fitted


def fit_full_model(ensemble: Estimator, X: TableLike, y: object) -> Estimator:
    """Fit the ensemble's estimator on all columns; None where it fails."""
    settings = {"label_attacks": None, "on_failure": "vote", "strict": False, "fallback": None}
    whole = clone(ensemble)
    whole.set_params(**{name: settings[name] for name in settings if name in whole.get_params()})
    table, target, plan = whole.plan(X, y)
    plan = replace(plan, columns=[list(range(table.n_columns))], names=["the model on all columns"])
    _, *arguments = plan.fit_arguments(table, target, None, 0)
    submodel = clone(plan.estimator)
    submodel.set_params(**seeds(submodel, plan.seed, 0))
    with exclusive(plan.serial):
        fitted = fit_one(submodel, *arguments)  # with all threads: nothing is proven of it
    return None if isinstance(fitted, FixedVote) else fitted


def full_predictions(ensemble: FittedEnsemble, table: Table) -> Array | None:
    """Return the full model's predictions; None where there is no such model or it fails."""
    model = getattr(ensemble, "full_model_", None)
    model = ensemble.full_member if model is None else model
    if model is None or isinstance(model, FixedVote):
        return None
    try:
        predicted = np.asarray(model.predict(table.take_all()))
    except MemoryError:
        raise
    except Exception:  # it is for comparison only
        return None
    if hasattr(ensemble, "classes_") and wants_integers(model):
        return np.asarray(ensemble.classes_[predicted.astype(np.int64)])
    return predicted
