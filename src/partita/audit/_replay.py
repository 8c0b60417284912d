"""Doing again what broke, from a reproducer."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from .._support.types import Array
from ..errors import InputError
from ._attacked_table import Cells

WORDS = {
    "nan": None,
    "inf": np.inf,
    "-inf": -np.inf,
}  # what JSON has in words, in columns that hold anything


def replay(
    broken: Mapping[str, Any], model: Any, X: Any, X_train: Any = None, y_train: Any = None
) -> Any:
    """What the model says of the row after the attack; it was certified to say
    ``broken["before"]``.

    Parameters
    ----------
    broken : one of the entries under "broken" in an audit's JSON
    model : the fitted ensemble
    X : the table whose row was attacked
    X_train, y_train : the training data, for attacks that rewrote it
    """
    if (broken["training"] or broken["labels"]) and X_train is None:
        raise InputError("X_train is missing: this attack rewrote the training data")
    row = Cells(X).rows(np.array([int(broken["row"])]))
    if broken["training"] or broken["labels"]:
        training, changes = Cells(X_train), dict(broken["training"])
        y = np.asarray(changes.pop("y", y_train))
        model = clone(model).fit(training.table(_columns(training, changes)), y)
    return model.predict(
        row.table(_columns(row, {name: [value] for name, value in broken["written"].items()}))
    )[0]


def _columns(cells: Cells, changes: Mapping[str, Any]) -> dict[int, Array]:
    """Values as JSON gave them, in the kinds of their columns."""
    found = {}
    for name, values in changes.items():
        if name not in cells.names:
            raise InputError(
                f"X lacks the column {name!r} that the attack rewrote: give the table that was "
                "audited"
            )
        column = cells.names.index(name)
        if cells.of_bytes(column):
            found[column] = np.asarray(values, dtype=np.uint8)
        elif cells.of_numbers(column) and all(map(_is_number, values)):
            found[column] = np.array([float(value) for value in values])
        else:
            found[column] = np.array(
                [WORDS.get(value, value) for value in values] + [None], dtype=object
            )[:-1]
    return found


def _is_number(value: Any) -> bool:
    """Also in the words in which JSON has what it does not hold."""
    return isinstance(value, int | float) or value in ("nan", "inf", "-inf")
