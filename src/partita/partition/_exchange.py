"""Exchange units between submodels as long as the submodels get better on trusted rows.

Looks at reference rows that the user declares trusted, and at nothing else. Runs on one thread, so
the result does not depend on the number of cores.
"""

from collections.abc import Sequence

import numpy as np
from sklearn import get_config

from .._support import Array, Progress, on_one_thread
from ._partition import Partition

ROWS_PER_CATEGORY = 8  # a rarer category is ignored
PENALTY = 1 / 30  # of the linear model, per row
MOVES = 0.25  # the share of trials that move a unit instead of exchanging two
LEAST_GAIN = 1e-9  # a smaller gain may be rounding, which must not decide


def exchange_units(
    sets: Partition, features: Sequence[Array], target: Array, n_exchanges: int, verbose: int = 0
) -> Partition:
    """A partition whose submodels predict the reference rows better than those of ``sets``.

    A linear model on its units' features stands in for a submodel; its score is the share of the
    target's variance that it explains on rows left out, one by one. Pairs of units, chosen by a
    fixed seed, change places (or one moves); what does not help is undone.

    Parameters
    ----------
    sets : Partition
        Where to start.
    features : sequence of arrays of shape (n_rows, k)
        For each unit, its columns as :func:`linear_features` makes them.
    target : array of shape (n_rows, k)
        Values, or an indicator of each label.
    n_exchanges : int
        How many trials.
    verbose : int, default=0
        Above 0: progress on standard error.

    Returns
    -------
    Partition
        The improved sets; each keeps at least one unit.
    """
    if len(sets) < 2:
        return sets
    improved: Partition = on_one_thread(
        get_config(), _exchange_units, sets, features, target, n_exchanges, verbose
    )
    return improved


def _exchange_units(
    sets: Partition, features: Sequence[Array], target: Array, n_exchanges: int, verbose: int
) -> Partition:
    rng = np.random.default_rng(0)
    features = [np.asfortranarray(own) for own in features]  # a unit's columns lie in one piece
    scores: dict[tuple[int, ...], float] = {}  # with few units, the same sets are tried often

    def score(units: list[int]) -> float:
        key = tuple(sorted(units))
        if key not in scores:
            scores[key] = explained_variance(features, key, target)
        return scores[key]

    chosen = [list(units) for units in sets]
    with Progress("tried", n_exchanges, "exchanges", enabled=bool(verbose)) as progress:
        for trial in range(n_exchanges):
            a, b = rng.choice(len(chosen), size=2, replace=False).tolist()
            one, other = list(chosen[a]), list(chosen[b])
            i, j = int(rng.integers(len(one))), int(rng.integers(len(other)))
            if rng.random() >= MOVES:
                one[i], other[j] = other[j], one[i]
            elif len(one) > 1:
                other.append(one.pop(i))
            if score(one) + score(other) > score(chosen[a]) + score(chosen[b]) + LEAST_GAIN:
                chosen[a], chosen[b] = one, other
            progress.update(trial + 1)
    return Partition(chosen)


def explained_variance(features: Sequence[Array], units: Sequence[int], target: Array) -> float:
    """The share of the target's variance that a linear model on these units explains.

    Each row is predicted by a model that did not see it.
    """
    X = np.concatenate([features[unit].T for unit in units])
    y = target - target.mean(axis=0)
    residual, leverage = _ridge(X, y, PENALTY * len(y))
    residual /= (1 - np.minimum(leverage + 1 / len(y), 0.9))[:, None]
    return float(1 - (residual**2).sum() / max((y**2).sum(), np.finfo(float).tiny))


def _ridge(X: Array, y: Array, penalty: float) -> tuple[Array, Array]:
    """The residuals of a ridge regression, and the leverage of each row.

    ``X`` has the shape (n_columns, n_rows).
    """
    n_columns, n_rows = X.shape
    if n_columns > n_rows:  # the same from the products of rows, of which there are fewer
        inverse = np.linalg.inv(X.T @ X + penalty * np.eye(n_rows))
        return penalty * (inverse @ y), 1 - penalty * np.diag(inverse)
    root = np.linalg.cholesky(X @ X.T + penalty * np.eye(n_columns))
    Z = np.linalg.inv(root) @ X  # the predictions are Z.T @ Z @ y
    return y - Z.T @ (Z @ y), np.einsum("ij,ij->j", Z, Z)


def linear_features(values: Array, are_codes: bool) -> Array:
    """A column for a linear model, standardised.

    A column of numbers becomes the number, its rank and the rank's square; a column of codes an
    indicator of each category that is not rare.
    """
    if are_codes:
        categories, counts = np.unique(values, return_counts=True)
        frequent = categories[counts >= ROWS_PER_CATEGORY]
        columns = [(values == category).astype(float) for category in frequent]
        columns = columns or [np.zeros(len(values))]
    else:
        rank = np.searchsorted(np.sort(values), values, side="left") / len(values)
        with np.errstate(over="ignore", invalid="ignore"):
            standardised = np.nan_to_num((values - values.mean()) / (values.std() or 1.0))
        columns = [np.clip(standardised, -4, 4), rank, (rank - 0.5) ** 2]
    X = np.column_stack(columns)
    X = X - X.mean(axis=0)
    deviation = X.std(axis=0)
    return np.asarray(X / np.where(deviation > 1e-9, deviation, 1.0))
