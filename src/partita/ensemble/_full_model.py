"""One model on all columns, for comparison: what the vote gives up for its proofs.

It proves nothing itself, and no certificate may depend on it.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from .._support import Array, exclusive
from ..tables import Table
from ._failures import FixedVote, fit_one
from ._plan import seeds
from ._soundness import wants_integers


def fit_full_model(ensemble: Any, X: Any, y: Any) -> Any:
    """Fit the ensemble's estimator on all columns; None where it fails."""
    settings = {"label_attacks": None, "on_failure": "vote", "strict": False, "fallback": None}
    whole = clone(ensemble)
    whole.set_params(**{name: settings[name] for name in settings if name in whole.get_params()})
    table, target, plan = whole._plan(X, y)
    plan = replace(plan, columns=[list(range(table.n_columns))], names=["the model on all columns"])
    _, *arguments = plan.fit_arguments(table, target, None, 0)
    submodel = clone(plan.estimator)
    submodel.set_params(**seeds(submodel, plan.seed, 0))
    with exclusive(plan.serial):
        fitted = fit_one(submodel, *arguments)  # with all threads: nothing is proven of it
    return None if isinstance(fitted, FixedVote) else fitted


def full_predictions(ensemble: Any, table: Table) -> Array | None:
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
