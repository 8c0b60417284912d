"""Loaded submodels against the manifest: their columns, their labels, and what they answer with.

A manifest that was edited may deal other columns to the submodels than they were fitted on, and
count units that way. What submodels know of themselves is compared here; two submodels without
column names and with equally many columns look alike.
"""

from typing import Any

import numpy as np

from ..ensemble import LeaveOutEnsemble, TableEstimator, were_trained_jointly
from ..errors import StoreError
from ._layout import MANIFEST


def check_submodels(model: Any) -> None:
    """Refuse submodels that are not those of the manifest's columns, labels and settings."""
    everything = list(range(model.n_features_in_))
    for part in ("full_model_", "fallback_model_"):
        _check_columns(model, getattr(model, part, None), everything)
    if were_trained_jointly(model.estimators_):  # their facts are compared when they are read
        return
    leaves_out = isinstance(model, LeaveOutEnsemble)
    masked = leaves_out and model.trusts_training
    for t, submodel in enumerate(model.estimators_):
        _check_columns(model, submodel, everything if masked else model.columns_of(t))
        _check_labels(model, submodel)
    if leaves_out:
        if model.fits_full_member and model.rule_.as_probabilities != hasattr(
            model.unfitted_submodel(), "predict_proba"
        ):
            raise _contradiction("probabilities do not go with its estimator")
        return
    model.check_rule(model.rule_, model.unfitted_submodel())


def _check_columns(model: Any, submodel: Any, columns: list[int]) -> None:
    """Compare the number of columns that a submodel was fitted on, and their names if it has any.

    LightGBM counts columns that have no names, and writes an underscore for a space.
    """
    known = _learnt(submodel, "n_features_in_")
    if known is not None and known != len(columns):
        raise _contradiction(
            f"a submodel was fitted on {known} columns, and the partition gives it {len(columns)}"
        )
    codes = getattr(submodel, "codes_", None) if isinstance(submodel, TableEstimator) else None
    if codes is not None and any(
        own and model.numeric_[column]  # no codes: a column without values
        for own, column in zip(codes, columns, strict=True)
    ):
        raise _contradiction("the partition gives a submodel numbers where it learnt texts")
    names, own = getattr(model, "feature_names_in_", None), _learnt(submodel, "feature_names_in_")
    if names is None or own is None:
        return
    found, expected = (
        [str(name).replace(" ", "_") for name in some]
        for some in (own, [names[column] for column in columns])
    )
    counted = found == [f"Column_{k}" for k in range(len(found))]
    if found != expected and not counted and {*map(str, own)} <= {*map(str, names)}:
        raise _contradiction("the partition gives a submodel other columns than it was fitted on")


def _check_labels(model: Any, submodel: Any) -> None:
    """Refuse a submodel that votes for labels which the model does not have."""
    known = _learnt(submodel, "classes_")
    if known is None or not hasattr(model, "classes_"):
        return
    try:
        foreign = not np.isin(np.asarray(known), model.submodel_classes).all()
    except (TypeError, ValueError):  # texts and numbers
        foreign = True
    if foreign:
        raise _contradiction("a submodel votes for labels that are not the model's")


def _learnt(submodel: Any, name: str) -> Any:
    """What a submodel learnt; None where it does not say."""
    try:
        return getattr(submodel, name, None)
    except Exception:  # a property of somebody's estimator
        return None


def _contradiction(what: str) -> StoreError:
    return StoreError(
        f"{MANIFEST} and the files disagree, the model was changed or damaged: {what}"
    )
