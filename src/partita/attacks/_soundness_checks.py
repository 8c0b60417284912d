"""Checks before a fit: pipeline steps that mix columns, and estimators that are not deterministic.

The steps before the ensemble are fitted on damaged tables and compared; nothing is assumed of them.
"""

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._support import Array, Estimator, TableLike, warn_or_raise
from ..ensemble import Ensemble
from ..errors import InputError, SoundnessError
from ._attacked_table import AttackedTable

DROPS_ROWS = (
    "step {step!r} drops rows because of a value in column {column!r}, so the owner of that "
    "column chooses the training rows of every submodel: keep the rows, and fill missing values "
    "inside the submodels' estimator"
)
MIXES_COLUMNS = (
    "step {step!r} lets column {column!r} reach several submodels, because it computes from "
    "several columns at once: put it into the submodels' estimator, where every submodel fits its "
    "own"
)
SPREADS_COLUMN = (
    "step {step!r} makes several columns of {column!r}, which went to different submodels: name "
    "them as one unit (units=...), or put the step into the submodels' estimator"
)

Columns = list[Array] | None  # of a transformed table; None where a step refuses it


def check_pipeline(
    pipeline: Estimator, X: TableLike, y: TableLike, strict: bool = False
) -> list[str]:
    """Change one column at a time, fit the steps before the ensemble again, and compare.

    A step that mixes columns (a PCA, a scaling by row, a selection of features), or drops rows
    because of a value, lets one column reach several submodels, which the ensemble itself cannot
    see.

    Parameters
    ----------
    pipeline : Pipeline
        Its last step is a FeaturePartitionClassifier or FeaturePartitionRegressor; it need not be
        fitted.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Training data, not sparse; a sample of it is enough.
    y : array-like of shape (n_samples,)
        Its labels or values.
    strict : bool, default=False
        Raise SoundnessError for the first problem instead of a SoundnessWarning for each.

    Returns
    -------
    list of str
        One sentence for each problem; empty if all is well.

    See Also
    --------
    check_deterministic : Look for estimators that are not deterministic.

    References
    ----------
    Theory, section 1: preprocessing must be fitted inside a submodel, on its columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.attacks import check_pipeline
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3)
    >>> check_pipeline(make_pipeline(StandardScaler(), clf), *load_iris(return_X_y=True))
    []
    """
    if not isinstance(pipeline, Pipeline) or not isinstance(pipeline.steps[-1][1], Ensemble):
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
    honest = _transformed(steps, X, y)
    if honest[-1] is None:
        raise InputError(
            "pipeline fails on X as it is: check_pipeline needs a table that it can be fitted on"
        )
    table = AttackedTable(X)
    columns = range(len(table.columns))
    shuffled, incomplete = (
        [_transformed(steps, table.table({c: change(table.columns[c])}), y) for c in columns]
        for change in (_shuffle, _remove_one)
    )
    problems: dict[tuple[str, str], str] = {}  # by step and kind, the first column's
    for column in columns:
        for k, (name, _) in enumerate(steps):
            counts = {_n_rows(run[k]) for run in (shuffled[column], incomplete[column])}
            if counts - {None, _n_rows(honest[k])}:
                text = DROPS_ROWS.format(step=name, column=table.names[column])
                problems.setdefault((name, "rows"), text)
    owners = _submodels_by_column(pipeline, X, y)
    changed = [
        [_changed_columns(before, after) for before, after in zip(honest, run, strict=True)]
        for run in shuffled
    ]
    for column in columns:
        if len({owners[c] for c in changed[column][-1] if c in owners}) > 1:
            mixing = [
                k
                for k in range(len(steps))
                if any(changed[column][k] & changed[one][k] for one in columns if one != column)
            ]
            name = steps[mixing[0] if mixing else -1][0]
            text = MIXES_COLUMNS if mixing else SPREADS_COLUMN
            text = text.format(step=name, column=table.names[column])
            problems.setdefault((name, "mixes"), text)
    for problem in problems.values():
        warn_or_raise(problem, strict)
    return list(problems.values())


def _transformed(steps: list[tuple[str, Estimator]], X: TableLike, y: TableLike) -> list[Columns]:
    """Return the columns after each step; None from a step on that refuses the table.

    A refusal is a crash, not a leak.
    """
    tables: list[Columns] = [None] * len(steps)
    for k, (_, step) in enumerate(steps):
        try:
            X = clone(step).fit_transform(X, y)
            tables[k] = AttackedTable(X.toarray() if scipy.sparse.issparse(X) else X).columns
        except MemoryError:
            raise
        except Exception:
            break
    return tables


def _n_rows(columns: Columns) -> int | None:
    return len(columns[0]) if columns else None


def _changed_columns(before: Columns, after: Columns) -> set[int]:
    """Return the columns that changed; all where the shape did, none where the step failed."""
    if before is None or after is None:
        return set()
    if len(before) != len(after) or (before and len(before[0]) != len(after[0])):
        return set(range(max(len(before), len(after))))
    pairs = zip(before, after, strict=True)
    return {c for c, (one, other) in enumerate(pairs) if not _same(one, other)}


def _same(one: Array, other: Array) -> bool:
    if one.dtype.kind == "f" and other.dtype.kind == "f":
        # up to rounding, which may follow the layout of the damaged copy in memory
        return bool(np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True))
    return [str(value) for value in one] == [str(value) for value in other]


def _submodels_by_column(
    pipeline: Pipeline, X: TableLike, y: TableLike
) -> dict[int, tuple[int, ...]]:
    """Return the submodels that each untrusted column of the ensemble's table reaches."""
    ensemble = clone(pipeline).fit(X, y).steps[-1][1]
    reach = ensemble.partition_.incidence()
    return {
        c: tuple(np.flatnonzero(reach[unit]))
        for unit, columns in enumerate(ensemble.units_.columns)
        for c in columns
    }


def _shuffle(values: Array) -> Array:
    """Return the values in another order; numbers are stretched as well."""
    moved = np.roll(values, 1)[::-1]
    return moved * 3 + 1 if np.asarray(values).dtype.kind in "fiu" else moved


def _remove_one(values: Array) -> Array:
    """Return the values with the first one missing."""
    rest = np.array(values, dtype=float if np.asarray(values).dtype.kind in "fiu" else object)
    rest[0] = np.nan if rest.dtype.kind == "f" else None
    return rest


def check_deterministic(
    ensemble: Estimator, X: TableLike, y: TableLike, strict: bool = False
) -> list[str]:
    """Fit twice, with different numbers of threads, and compare every submodel's ballots.

    Parameters
    ----------
    ensemble : FeaturePartitionClassifier or FeaturePartitionRegressor
        It is cloned, and need not be fitted.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Training data; a sample of it is enough.
    y : array-like of shape (n_samples,)
        Its labels or values.
    strict : bool, default=False
        Raise SoundnessError for the first problem instead of a SoundnessWarning for each.

    Returns
    -------
    list of str
        One sentence for each submodel that differs; empty if all is well.

    See Also
    --------
    check_pipeline : Look for steps that mix columns.

    References
    ----------
    Theory, section 1: submodels must be deterministic.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.attacks import check_deterministic
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3)
    >>> check_deterministic(clf, *load_iris(return_X_y=True))
    []
    """
    if not isinstance(ensemble, Ensemble):
        raise InputError(
            f"ensemble is a {type(ensemble).__name__}: give a FeaturePartitionClassifier or "
            "FeaturePartitionRegressor"
        )
    try:
        first, second = (clone(ensemble).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    except SoundnessError as exc:  # fit has seen it already, by fitting some submodels again
        problems = [str(exc)]
    else:
        one, two = first.ballots(X), second.ballots(X)
        differ = (one != two).reshape(*one.shape[:2], -1).any(axis=2)
        problems = [
            f"{first.describe(t)} gives other votes when it is fitted again on the same columns "
            f"({differ[:, t].mean():.0%} of rows): seed everything random in the estimator, or "
            "the radius means nothing"
            for t in np.flatnonzero(differ.any(axis=0))
        ]
    for problem in problems:
        warn_or_raise(problem, strict)
    return problems
