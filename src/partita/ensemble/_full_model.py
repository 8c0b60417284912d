"""One model on all columns, for comparison: what the vote gives up for its proofs.

It proves nothing itself, and no certificate may depend on it.
"""

from typing import Any

import numpy as np
from sklearn.base import clone

from .._support.parallel import run_each
from .._support.types import Array
from ..tables._table import Table
from ._failures import FixedVote, fit_one
from ._soundness import wants_integers


def fit_full_model(ensemble: Any, X: Any, y: Any) -> Any:
    """Fit the ensemble's estimator on all columns; None where it fails."""
    settings = {
        "n_submodels": 1,
        "partition": "random",
        "spread": 1,
        "label_attacks": None,
        "on_failure": "vote",
        "strict": False,
    }
    settings |= {} if ensemble._task == "regression" else {"fallback": None}
    whole = clone(ensemble).set_params(**settings)
    table, target, plan = whole._plan(X, y)
    (fitted,) = run_each(
        fit_one, [plan.fit_arguments(table, target, None, 0)], 1, 1, "", 0, plan.serial
    )
    return None if isinstance(fitted, FixedVote) else fitted


def full_predictions(ensemble: Any, table: Table) -> Array | None:
    """Return the full model's predictions; None where there is no such model or it fails."""
    model = getattr(ensemble, "full_model_", None)
    if model is None:
        return None
    try:
        predicted = np.asarray(model.predict(table.take(list(range(table.n_columns)))))
    except MemoryError:
        raise
    except Exception:  # it is for comparison only
        return None
    if hasattr(ensemble, "classes_") and wants_integers(model):
        return np.asarray(ensemble.classes_[predicted.astype(np.int64)])
    return predicted
