"""Exchanging units between submodels as long as the submodels get better on rows that the user declares trusted."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .partition import Partition

Array = NDArray[Any]

ROWS_A_KIND = 8  # a text that is rarer is not looked at
PENALTY = 1 / 30  # of the linear model, a row
MOVES = 0.25  # the share of trials that move a unit instead of exchanging two


def exchanged(sets: Partition, features: Sequence[Array], target: Array, n_exchanges: int) -> Partition:
    """A partition whose submodels predict the reference rows better on average than those of ``sets``.

    What stands for a submodel is a linear model on its units' ``features`` (one array (rows, k) a unit), and how good it is, the share of
    the target's variance it explains on rows left out, one by one. Pairs of units, chosen by a fixed seed, change places (or one moves);
    what does not help is undone. Only the reference rows are looked at.

    Parameters
    ----------
    sets : Partition
        Where to start.
    features : list of arrays
        From ``features_of``.
    target : array of shape (rows, k)
        Values, or an indicator of each label.
    n_exchanges : int
        How many trials.
    """
    rng = np.random.default_rng(0)
    chosen = [list(units) for units in sets]
    worth = [explained(features, units, target) for units in chosen]
    for _ in range(n_exchanges):
        if len(chosen) < 2:
            break
        a, b = rng.choice(len(chosen), size=2, replace=False).tolist()
        one, other = list(chosen[a]), list(chosen[b])
        i, j = int(rng.integers(len(one))), int(rng.integers(len(other)))
        if rng.random() < MOVES:
            if len(one) == 1:
                continue
            other.append(one.pop(i))
        else:
            one[i], other[j] = other[j], one[i]
        new = explained(features, one, target), explained(features, other, target)
        if sum(new) > worth[a] + worth[b]:
            chosen[a], chosen[b], (worth[a], worth[b]) = one, other, new
    return Partition(chosen)


def explained(features: Sequence[Array], units: Sequence[int], target: Array) -> float:
    """The share of the target's variance that a linear model on these units explains on rows left out, one by one."""
    X = np.column_stack([features[unit] for unit in units])
    y = target - target.mean(axis=0)
    inverse = np.linalg.inv(X.T @ X + PENALTY * len(X) * np.eye(X.shape[1]))
    said = X @ (inverse @ (X.T @ y))
    own = np.einsum("ij,jk,ik->i", X, inverse, X) + 1 / len(X)  # how far a row's prediction follows its own target
    missed = (y - said) / (1 - np.minimum(own, 0.9))[:, None]
    return float(1 - (missed**2).sum() / max((y**2).sum(), np.finfo(float).tiny))


def features_of(values: Array, are_codes: bool) -> Array:
    """A column for a linear model: a number, its rank and the rank's square; or an indicator of each kind that is not rare. Scaled."""
    if are_codes:
        kinds, counts = np.unique(values, return_counts=True)
        columns = [(values == kind).astype(float) for kind in kinds[counts >= ROWS_A_KIND]] or [np.zeros(len(values))]
    else:
        rank = np.searchsorted(np.sort(values), values, side="left") / len(values)
        with np.errstate(over="ignore", invalid="ignore"):
            plain = np.nan_to_num((values - values.mean()) / (values.std() or 1.0))
        columns = [np.clip(plain, -4, 4), rank, (rank - 0.5) ** 2]
    X = np.column_stack(columns)
    X = X - X.mean(axis=0)
    deviation = X.std(axis=0)
    return np.asarray(X / np.where(deviation > 1e-9, deviation, 1.0))
