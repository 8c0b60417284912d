"""Repeating an attack that broke a certificate, from the audit's JSON."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from .._support import Array
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ._poisoning import CHOICE
from ._table import AttackedTable

# JSON has these as texts; in columns that hold anything a NaN is a missing value
NON_FINITE = {"nan": None, "inf": np.inf, "-inf": -np.inf}


def replay(
    broken: Mapping[str, Any],
    model: FittedEnsemble,
    X: Any,
    X_train: Any = None,
    y_train: Any = None,
    *,
    choose: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """Repeat an attack, and return what the model predicts for the row after it.

    Parameters
    ----------
    broken : mapping
        One of the entries under "broken" in an audit's JSON.
    model : FeaturePartitionClassifier or FeaturePartitionRegressor
        The fitted ensemble.
    X : array-like or DataFrame of shape (n_samples, n_features)
        The table whose row was attacked.
    X_train : array-like or DataFrame of shape (n_train, n_features), optional
        The training data, for attacks that rewrote it.
    y_train : array-like of shape (n_train,), optional
        Its labels or values.
    choose : callable, optional
        How settings were chosen, as :func:`audit` takes it; for attacks on the choice.

    Returns
    -------
    label or float
        The prediction after the attack; it was certified to be ``broken["before"]``, or within the
        tolerance of it.

    Raises
    ------
    InputError
        If the training data or ``choose`` is needed and missing, or a column is not in the table.

    See Also
    --------
    audit : Finds what can be repeated.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.attacks import replay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, y)
    >>> attack = {"row": 0, "labels": [], "row_values": {"2": 6.0}, "training_values": {}}
    >>> int(replay(attack, clf, X))
    0
    """
    rewrites_training = broken["training_values"] or broken["labels"]
    if rewrites_training and X_train is None:
        raise InputError("X_train is missing: this attack rewrote the training data")
    is_choice = broken.get("attack") == CHOICE
    if is_choice and choose is None:
        raise InputError("choose is missing: after this attack, settings were chosen again")
    row = AttackedTable(X).take(np.array([int(broken["row"])]))
    if rewrites_training:
        training, changes = AttackedTable(X_train), dict(broken["training_values"])
        y = np.asarray(changes.pop("y", y_train))
        attacked = training.table(_columns(training, changes))
        if is_choice and choose is not None:
            model = choose(attacked, y)
        model = clone(model).fit(attacked, y)
    values = {name: [value] for name, value in broken["row_values"].items()}
    return model.predict(row.table(_columns(row, values)))[0]


def _columns(table: AttackedTable, changes: Mapping[str, Any]) -> dict[int, Array]:
    """Values as JSON gave them, in the types of their columns."""
    columns = {}
    for name, values in changes.items():
        if name not in table.names:
            raise InputError(
                f"X lacks the column {name!r} that the attack rewrote: give the table that was "
                "audited"
            )
        column = table.names.index(name)
        if table.is_bytes(column):
            columns[column] = np.asarray(values, dtype=np.uint8)
        elif table.is_numeric(column) and all(map(_is_number, values)):
            columns[column] = np.array([float(value) for value in values])
        else:
            objects = np.empty(len(values), dtype=object)
            objects[:] = [
                NON_FINITE.get(value, value) if isinstance(value, str) else value
                for value in values
            ]
            columns[column] = objects
    return columns


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and value in NON_FINITE)
