"""Exchanging units between submodels as long as the submodels get better on rows that the user
declares trusted."""

from collections.abc import Sequence

import numpy as np
from sklearn import get_config

from .._support.parallel import on_one_thread
from .._support.progress import Progress
from .._support.types import Array
from ._partition import Partition

ROWS_A_KIND = 8  # a text that is rarer is not looked at
PENALTY = 1 / 30  # of the linear model, a row
MOVES = 0.25  # the share of trials that move a unit instead of exchanging two
LEAST_GAIN = 1e-9  # a smaller gain may be rounding, which must not decide


def exchanged(
    sets: Partition, features: Sequence[Array], target: Array, n_exchanges: int, verbose: int = 0
) -> Partition:
    """A partition whose submodels predict the reference rows better on average than those of
    ``sets``.

    What stands for a submodel is a linear model on its units' ``features`` (one array (rows, k) a
    unit), and how good it is, the share of the target's variance it explains on rows left out, one
    by one. Pairs of units, chosen by a fixed seed, change places (or one moves); what does not help
    is undone. Only the reference rows are looked at.

    It runs on one thread, so the result does not depend on the number of cores.

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
    verbose : int, default=0
        1: progress on standard error.

    Returns
    -------
    Partition
    """
    if len(sets) < 2:
        return sets
    found: Partition = on_one_thread(
        get_config(), _exchanged, sets, features, target, n_exchanges, verbose
    )
    return found


def _exchanged(
    sets: Partition, features: Sequence[Array], target: Array, n_exchanges: int, verbose: int
) -> Partition:
    rng = np.random.default_rng(0)
    features = [np.asfortranarray(own) for own in features]  # a unit's columns lie in one piece
    known: dict[
        tuple[int, ...], float
    ] = {}  # with few units the same sets are tried again and again

    def worth_of(units: list[int]) -> float:
        key = tuple(sorted(units))
        if key not in known:
            known[key] = explained(features, key, target)
        return known[key]

    chosen = [list(units) for units in sets]
    progress = Progress("tried", n_exchanges, "exchanges")
    for trial in range(n_exchanges):
        a, b = rng.choice(len(chosen), size=2, replace=False).tolist()
        one, other = list(chosen[a]), list(chosen[b])
        i, j = int(rng.integers(len(one))), int(rng.integers(len(other)))
        if rng.random() >= MOVES:
            one[i], other[j] = other[j], one[i]
        elif len(one) > 1:
            other.append(one.pop(i))
        if worth_of(one) + worth_of(other) > worth_of(chosen[a]) + worth_of(chosen[b]) + LEAST_GAIN:
            chosen[a], chosen[b] = one, other
        if verbose:
            progress.update(trial + 1)
    return Partition(chosen)


def explained(features: Sequence[Array], units: Sequence[int], target: Array) -> float:
    """The share of the target's variance that a linear model on these units explains on rows left
    out, one by one."""
    X = np.concatenate([features[unit].T for unit in units])
    y = target - target.mean(axis=0)
    missed, own = _ridge(X, y, PENALTY * len(y))
    missed /= (1 - np.minimum(own + 1 / len(y), 0.9))[:, None]
    return float(1 - (missed**2).sum() / max((y**2).sum(), np.finfo(float).tiny))


def _ridge(X: Array, y: Array, penalty: float) -> tuple[Array, Array]:
    """What a ridge regression misses of each target, and how far it follows the row's own target.

    ``X`` has the shape (columns, rows).
    """
    n_columns, n_rows = X.shape
    if n_columns > n_rows:  # the same from the products of rows, of which there are fewer
        inverse = np.linalg.inv(X.T @ X + penalty * np.eye(n_rows))
        return penalty * (inverse @ y), 1 - penalty * np.diag(inverse)
    root = np.linalg.cholesky(X @ X.T + penalty * np.eye(n_columns))
    Z = np.linalg.inv(root) @ X  # the predictions are Z.T @ Z @ y
    return y - Z.T @ (Z @ y), np.einsum("ij,ij->j", Z, Z)


def features_of(values: Array, are_codes: bool) -> Array:
    """A column for a linear model: a number, its rank and the rank's square; or an indicator of
    each kind that is not rare. Scaled."""
    if are_codes:
        kinds, counts = np.unique(values, return_counts=True)
        columns = [(values == kind).astype(float) for kind in kinds[counts >= ROWS_A_KIND]] or [
            np.zeros(len(values))
        ]
    else:
        rank = np.searchsorted(np.sort(values), values, side="left") / len(values)
        with np.errstate(over="ignore", invalid="ignore"):
            plain = np.nan_to_num((values - values.mean()) / (values.std() or 1.0))
        columns = [np.clip(plain, -4, 4), rank, (rank - 0.5) ** 2]
    X = np.column_stack(columns)
    X = X - X.mean(axis=0)
    deviation = X.std(axis=0)
    return np.asarray(X / np.where(deviation > 1e-9, deviation, 1.0))
