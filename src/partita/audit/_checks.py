"""Checks that look for what would void the proof by trying it out."""

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._support.strictness import warn_or_raise
from .._support.types import Array
from ..ensemble._base import FeaturePartitionEnsemble
from ..errors import InputError, SoundnessError
from ..tables._encoding import table_columns
from ..tables._table import open_table

DROPS = (
    "step {step!r} drops rows because of a value in column {column!r}, so whoever owns that "
    "column chooses the training rows of every "
    "submodel: keep the rows, and fill gaps inside the submodels' estimator"
)
MIXES = (
    "step {step!r} lets column {column!r} reach several submodels, because it computes from "
    "several columns at once: put it into the "
    "submodels' estimator, where every submodel fits its own"
)
SPREADS = (
    "step {step!r} makes several columns of {column!r}, which went to different submodels: name "
    "them as one unit (units=...), or put the "
    "step into the submodels' estimator"
)


def check_deterministic(ensemble: Any, X: Any, y: Any, strict: bool = False) -> list[str]:
    """Fit twice, with different numbers of threads, and compare every submodel's ballots.

    Returns what was found, one sentence a submodel; warns of each (SoundnessWarning), or refuses
    with ``strict=True``."""
    if not isinstance(ensemble, FeaturePartitionEnsemble):
        raise InputError(
            f"ensemble is a {type(ensemble).__name__}: give a FeaturePartitionClassifier or "
            "FeaturePartitionRegressor"
        )
    try:
        first, second = (clone(ensemble).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    except SoundnessError as exc:  # fit has seen it already, by fitting some submodels again
        return _told([str(exc)], strict)
    one, two = first.ballots(X), second.ballots(X)
    differ = (one != two).reshape(*one.shape[:2], -1).any(axis=2)
    found = [
        f"{first.describe(t)} gives other votes when it is fitted again on the same columns "
        f"({differ[:, t].mean():.0%} of rows): "
        "seed everything random in the estimator, or the radius means nothing"
        for t in np.flatnonzero(differ.any(axis=0))
    ]
    return _told(found, strict)


def check_pipeline(pipeline: Any, X: Any, y: Any, strict: bool = False) -> list[str]:
    """Change one column at a time, fit the steps before the ensemble again, and see what else
    changes.

    A step that mixes columns (a PCA, a scaling by row, a selection of features), or drops rows
    because of a value, lets one column reach several submodels, which the ensemble itself cannot
    see. Returns what was found, one sentence a step; warns of each (SoundnessWarning), or refuses
    with ``strict=True``.

    Parameters
    ----------
    pipeline : Pipeline whose last step is a FeaturePartitionClassifier or FeaturePartitionRegressor
    X, y : training data; a sample of it is enough
    """
    if not isinstance(pipeline, Pipeline) or not isinstance(
        pipeline.steps[-1][1], FeaturePartitionEnsemble
    ):
        raise InputError(
            "pipeline must be a scikit-learn Pipeline whose last step is a "
            "FeaturePartitionClassifier or ...Regressor"
        )
    if scipy.sparse.issparse(X):
        raise InputError("X is sparse: give check_pipeline a dense sample")
    steps = [
        (name, step) for name, step in pipeline.steps[:-1] if step not in (None, "passthrough")
    ]
    if not steps:
        return []
    honest = _run(steps, X, y)
    if honest[-1] is None:
        raise InputError(
            "pipeline fails on X as it is: check_pipeline needs a table that it can be fitted on"
        )
    columns = range(open_table(X).n_columns)
    shuffled = [_run(steps, _with_column(X, column, _shuffled), y) for column in columns]
    gapped = [_run(steps, _with_column(X, column, _one_missing), y) for column in columns]
    found: dict[tuple[str, str], str] = {}
    for column in columns:
        for k, (name, _) in enumerate(steps):
            if any(
                _n_rows(run[k]) not in (None, _n_rows(honest[k]))
                for run in (shuffled[column], gapped[column])
            ):
                found.setdefault((name, "rows"), DROPS.format(step=name, column=_name(X, column)))
    owners = _owners(pipeline, X, y)
    touched = [
        [_differences(before, after) for before, after in zip(honest, run, strict=True)]
        for run in shuffled
    ]
    for column in columns:
        if len({owners[c] for c in touched[column][-1] if c in owners}) > 1:
            others = [touched[other] for other in columns if other != column]
            mixing = [
                k
                for k in range(len(steps))
                if any(touched[column][k] & other[k] for other in others)
            ]
            name = steps[mixing[0] if mixing else -1][0]
            found.setdefault(
                (name, "mixes"),
                (MIXES if mixing else SPREADS).format(step=name, column=_name(X, column)),
            )
    return _told(list(found.values()), strict)


def _told(found: list[str], strict: bool) -> list[str]:
    for message in found:
        warn_or_raise(message, strict)
    return found


def _run(steps: list[tuple[str, Any]], X: Any, y: Any) -> list[list[Array] | None]:
    """The columns of the table after each step; None from a step on that refuses the table (a
    crash, not a leak)."""
    tables: list[list[Array] | None] = [None] * len(steps)
    for k, (_, step) in enumerate(steps):
        try:
            X = clone(step).fit_transform(X, y)
            tables[k] = _columns(X)
        except MemoryError:
            raise
        except Exception:
            break
    return tables


def _n_rows(table: list[Array] | None) -> int | None:
    return len(table[0]) if table else None


def _columns(X: Any) -> list[Array]:
    table = open_table(X)
    return [
        table_columns(part.toarray() if hasattr(part := table.take([c]), "toarray") else part)[0]
        for c in range(table.n_columns)
    ]


def _differences(before: list[Array] | None, after: list[Array] | None) -> set[int]:
    """The columns that changed; all of them where the table's shape did, none where the step
    failed."""
    if before is None or after is None:
        return set()
    if len(before) != len(after) or (before and len(before[0]) != len(after[0])):
        return set(range(max(len(before), len(after))))
    return {
        c for c, (one, two) in enumerate(zip(before, after, strict=True)) if not _same(one, two)
    }


def _same(one: Array, two: Array) -> bool:
    if (
        one.dtype.kind == "f" and two.dtype.kind == "f"
    ):  # up to rounding, which may follow the layout of the damaged copy in memory
        return bool(np.allclose(one, two, rtol=1e-9, atol=1e-12, equal_nan=True))
    return [str(value) for value in one] == [str(value) for value in two]


def _owners(pipeline: Pipeline, X: Any, y: Any) -> dict[int, tuple[int, ...]]:
    """The submodels that each column of the ensemble's table reaches (trusted columns are left
    out)."""
    ensemble = clone(pipeline).fit(X, y).steps[-1][1]
    reach = ensemble.partition_.incidence()
    return {
        c: tuple(np.flatnonzero(reach[unit]))
        for unit, columns in enumerate(ensemble.units_.columns)
        for c in columns
    }


def _with_column(X: Any, column: int, damage: Any) -> Any:
    """A copy of the table with one column damaged."""
    if hasattr(X, "iloc"):
        copy = X.copy()
        copy[copy.columns[column]] = damage(copy.iloc[:, column].to_numpy())
        return copy
    if hasattr(X, "with_columns"):
        return X.with_columns(
            type(X[:, column])(X.columns[column], damage(X[:, column].to_numpy()))
        )
    copy = np.array(X, dtype=object if np.asarray(X).dtype.kind in "OUS" else float)
    copy[:, column] = damage(copy[:, column])
    return copy


def _shuffled(values: Array) -> Array:
    """The values in another order, and numbers stretched as well."""
    moved = np.roll(values, 1)[::-1]
    return moved * 3 + 1 if np.asarray(values).dtype.kind in "fiu" else moved


def _one_missing(values: Array) -> Array:
    gap = np.array(values, dtype=float if np.asarray(values).dtype.kind in "fiu" else object)
    gap[0] = np.nan if gap.dtype.kind == "f" else None
    return gap


def _name(X: Any, column: int) -> str:
    return str(list(X.columns)[column]) if hasattr(X, "columns") else str(column)
