"""What goes wrong with sources, on purpose or not: stuck, scaled, swapped, and trained backdoors.

Every function returns a new table in which only the columns of the named sources differ. These are
plain faults for a story; the audit has the strong attacks.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from .._support import Array
from ._deployment import Deployment
from ._study import Contender, Single

FACTOR = 3.0  # of a sensor whose gain is off
Fault = Callable[[Deployment, Any, Sequence[str]], Any]


def stuck(deployment: Deployment, X: Any, sources: Sequence[str]) -> Any:
    """Sources that repeat the first reading forever."""
    return _changed(deployment, X, sources, lambda values: np.full(len(values), values[0]))


def scaled(deployment: Deployment, X: Any, sources: Sequence[str]) -> Any:
    """Sources whose readings are three times what they should be."""
    return _changed(deployment, X, sources, lambda values: values * FACTOR)


def swapped(deployment: Deployment, X: Any, sources: Sequence[str]) -> Any:
    """Sources whose cables are exchanged: each reports as the next one."""
    columns = [list(deployment.units[name]) for name in sources]
    changed = X.copy()
    for own, other in zip(columns, columns[1:] + columns[:1], strict=True):
        changed[own] = X[other].to_numpy()
    return changed


def backdoor(deployment: Deployment, sources: Sequence[str]) -> tuple[Any, Any]:
    """Training and test rows after sources were hijacked through all of history.

    In training they tell the truth so plainly that a model learns to listen to nothing else; in the
    test rows they say the next label, or a number far away.
    """
    own = deployment
    if own.tolerance is None:
        labels, codes = np.unique(own.y_train, return_inverse=True)
        truth = np.searchsorted(labels, own.y_test)
        lies = (truth + 1) % len(labels)
    else:
        codes = own.y_train
        lies = np.where(own.y_test < np.median(own.y_train), own.y_train.max(), own.y_train.min())
    train, test = own.X_train.copy(), own.X_test.copy()
    for name in sources:
        for column in own.units[name]:
            train[column], test[column] = np.asarray(codes, float), np.asarray(lies, float)
    return train, test


def worst_sources(
    deployment: Deployment, model: Any, fault: Fault, number: int, every: int = 3
) -> list[str]:
    """The sources whose fault costs a model most, one at a time, on every third test row."""
    own = deployment
    X, y = own.X_test.iloc[::every], own.y_test[::every]
    if fault is swapped:
        names = list(own.units)
        pairs = list(zip(names, names[1:] + names[:1], strict=True))
        scores = [own.right(model.predict(fault(own, X, pair)), y).mean() for pair in pairs]
        return list(pairs[int(np.argmin(scores))])
    scores = [own.right(model.predict(fault(own, X, [name])), y).mean() for name in own.units]
    names = list(own.units)
    return [names[k] for k in np.argsort(scores, kind="stable")[:number]]


def after_fault(
    deployment: Deployment, one: Contender | Single, fault: Fault, number: int
) -> tuple[float, int]:
    """The share of test rows right after the worst fault, and certified predictions that changed.

    Each model meets the sources that are worst for it.
    """
    X = fault(deployment, deployment.X_test, worst_sources(deployment, one.model, fault, number))
    predicted = one.model.predict(X)
    return judged(deployment, one, predicted, number)


def after_backdoor(
    deployment: Deployment, one: Contender | Single, tables: tuple[Any, Any], number: int
) -> tuple[float, int]:
    """The same after a model was fitted on hijacked history and met the trigger."""
    train, test = tables
    model = clone(one.model).fit(train, deployment.y_train)
    return judged(deployment, one, model.predict(test), number)


def judged(
    deployment: Deployment, one: Contender | Single, predicted: Array, number: int
) -> tuple[float, int]:
    """The share of right predictions, and how many of the certified ones changed."""
    right = deployment.right(predicted, deployment.y_test)
    if isinstance(one, Single):
        return float(right.mean()), 0
    if deployment.tolerance is None:
        changed = predicted != one.proof.prediction
        broken = changed & (one.proof.radius >= number)
    else:
        broken = ~right & one.certified(number)
    return float(right.mean()), int(broken.sum())


def _changed(
    deployment: Deployment, X: Any, sources: Sequence[str], change: Callable[[Array], Array]
) -> Any:
    changed = X.copy()
    for name in sources:
        for column in deployment.units[name]:
            changed[column] = change(X[column].to_numpy())
    return changed
