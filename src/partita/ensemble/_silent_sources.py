"""Find the sources that are silent when a row is predicted, and score the rows without them.

A submodel abstains if any of its units is silent: what it would see is not what it learnt from. It
is not scored, so that an estimator without a notion of missing values need not fail. Silence is
declared by the caller, once for all rows or row by row, or it is read from the values: a unit is
silent where all of its columns are missing. What an attacker can write into a unit must decide
about that unit's silence alone.
"""

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse

from .._support import Array, run_each
from ..ballots import Abstentions
from ..errors import InputError, SubmodelWarning
from ..partition import LeaveOut, Units
from ..tables import (
    CompletedFile,
    FileTable,
    Table,
    is_missing,
    mask_columns,
    one_row,
    open_table,
    with_absent_columns,
)
from ._failures import score_one
from ._joint_training import joint_ballots, were_trained_jointly
from ._scoring import FEW_ROWS

DETECT = "detect"


def completed(model: Any, X: Any, silent: Any) -> Any:
    """Return X with the columns that it lacks, all missing, if their units may be silent.

    Of a file, the columns of silent units are not read: a cell of another kind would be an error.
    """
    detected = isinstance(silent, str) and silent == DETECT
    known = None if detected else declared_units(silent, model.units_)
    names = getattr(model, "feature_names_in_", None)
    if isinstance(X, FileTable) and known:
        kinds = {name: X.kinds[name] for name in columns_that_may_lack(model, known)}
        return FileTable(CompletedFile(X.file, kinds), X.kinds, X.rows)
    if names is None or isinstance(X, Table):
        return X
    may_lack = columns_that_may_lack(model, DETECT if known is None else known)
    return with_absent_columns(X, [str(name) for name in names], may_lack, model.numeric_)


def read_silence(model: Any, table: Table, silent: Any) -> Abstentions:
    """Return which submodels abstain in the rows of a table.

    Parameters
    ----------
    model : estimator
        Fitted.
    table : Table
        The rows.
    silent : "detect", list of units, or array of bool (n_samples, n_units)
        Which units are silent: those whose columns are all missing in a row, the same in all
        rows, or row by row.
    """
    detected = isinstance(silent, str) and silent == DETECT
    units: Units = model.units_
    known = None if detected else declared_units(silent, units)
    if known is None:
        quiet = detect_silence(table, units) if detected else _mask(silent, table.n_rows, units)
    else:
        quiet = np.zeros((table.n_rows, len(units)), dtype=bool)
        quiet[:, known] = True
    default, groups = np.asarray(model.fixed_ballot_), None
    if isinstance(model.partition_, LeaveOut):
        groups = quiet @ model.partition_.groups.incidence()
        abstains = _members_that_see(model.partition_, groups)
    else:
        abstains = quiet @ np.asarray(model.partition_.incidence())
    return Abstentions(np.asarray(abstains), default, detected, groups, quiet)


def declared_units(silent: Any, units: Units) -> list[int] | None:
    """Return the positions of units that are silent in all rows; None for a mask of rows."""
    if isinstance(silent, np.ndarray) and silent.ndim == 2:
        return None
    if isinstance(silent, str) or not isinstance(silent, Sequence | set | frozenset | np.ndarray):
        raise InputError(
            f"silent is {silent!r}: give a list of {units.kind}, such as "
            f"[{units.names[0]!r}], 'detect', or an array of truth values of shape (rows, units)"
        )
    listed = silent.tolist() if isinstance(silent, np.ndarray) else list(silent)
    if listed and all(isinstance(one, list | tuple) for one in listed):
        return None
    return sorted({_position(one, units) for one in listed})


def _position(one: Any, units: Units) -> int:
    if isinstance(one, str):
        if one in units.names:
            return units.names.index(one)
        shown = ", ".join(map(repr, units.names[:5])) + (", ..." if len(units) > 5 else "")
        raise InputError(
            f"silent names {one!r}, which is not among the {units.kind} of the model: it has "
            f"{shown}"
        )
    if isinstance(one, Integral) and not isinstance(one, bool | np.bool_):
        if 0 <= int(one) < len(units):
            return int(one)
        raise InputError(
            f"silent holds {one}: the model has {len(units)} {units.kind}, numbered from 0"
        )
    raise InputError(f"silent holds {one!r}: give names or positions of {units.kind}")


def columns_that_may_lack(model: Any, silent: Any) -> list[str]:
    """Return the columns that a table need not have: those of units that may be silent."""
    units: Units = model.units_
    known = None
    if not (isinstance(silent, str) and silent == DETECT):
        known = declared_units(silent, units)
    allowed = range(len(units)) if known is None else known
    columns = {column for unit in allowed for column in units.columns[unit]}
    return [str(model.feature_names_in_[column]) for column in sorted(columns)]


def _mask(silent: Any, n_rows: int, units: Units) -> Array:
    mask = np.asarray(silent)
    if mask.dtype != np.bool_ or mask.shape != (n_rows, len(units)):
        raise InputError(
            f"silent has shape {mask.shape} and holds {mask.dtype}: a mask must be bool of shape "
            f"({n_rows}, {len(units)}), a truth value for each row and each of the {units.kind}"
        )
    return mask.copy()


def detect_silence(table: Table, units: Units) -> Array:
    """Return which units are silent in which rows: all of their columns are missing there."""
    quiet = np.ones((table.n_rows, len(units)), dtype=bool)
    for u, columns in enumerate(units.columns):
        for column in columns:
            if not quiet[:, u].any():
                break
            if scipy.sparse.issparse(table.take([column], np.zeros(1, np.int64))):
                raise InputError(
                    "silent='detect' looks for missing values, which a sparse matrix has none of: "
                    "name the silent units, or give X.toarray()"
                )
            quiet[:, u] &= _missing(table.read([column])[0])
    return quiet


def _missing(column: Array) -> Array:
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    return np.array([is_missing(cell) for cell in column], dtype=bool)


def _members_that_see(sets: LeaveOut, silent_groups: Array) -> Array:
    """Return which members see a silent group."""
    sees = np.array([[g not in out for out in sets.left_out] for g in range(len(sets.groups))])
    return np.asarray(silent_groups @ sees)


def scores_of_voters(model: Any, table: Table, abstentions: Abstentions) -> Array:
    """Return the scores of the submodels that vote; 0 where they abstain."""
    scores = _scores_of_voters(model, table, abstentions)
    scores[abstentions.submodels] = 0
    return scores


def fallback_beside_silence(model: Any, table: Table, abstentions: Abstentions) -> Array | None:
    """Return the fallback's scores: where silence was declared, its cells are missing."""
    assert abstentions.units is not None
    if abstentions.detected or not model.gate_:
        scores: Array | None = model._fallback_scores(table)
        return scores
    parts = _without_silent_cells(model, table, abstentions.units, np.nan)
    return _by_rows([(rows, model._fallback_scores(part)) for rows, part in parts])


def _without_silent_cells(
    model: Any, table: Table, quiet: Array, instead: float
) -> Iterator[tuple[Array, Table]]:
    """Yield rows with the same silent units, and these without what stands in those units.

    Numbers are replaced by ``instead``, anything else is missing.
    """
    patterns, own = np.unique(quiet, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        rows = np.flatnonzero(own.ravel() == k)
        silent = [j for unit in np.flatnonzero(pattern) for j in model.units_.columns[unit]]
        numeric = [model.numeric_[j] and j in silent for j in range(table.n_columns)]
        yield rows, open_table(mask_columns(table.take_all(rows), silent, numeric, instead=instead))


def _by_rows(parts: list[tuple[Array, Array]]) -> Array:
    """Return the scores of all rows, from those of some rows each."""
    order = np.concatenate([rows for rows, _ in parts])
    return np.asarray(np.concatenate([scores for _, scores in parts])[np.argsort(order)])


def _scores_of_voters(model: Any, table: Table, abstentions: Abstentions) -> Array:
    """Return the scores of the submodels that vote; anything where they abstain."""
    quiet, abstains = abstentions.units, abstentions.submodels
    assert quiet is not None
    if were_trained_jointly(model.estimators_):
        # asked about whole rows: with a number where a source is silent, as not all read NaN
        parts = _without_silent_cells(model, table, quiet, 0.0)
        ask = partial(joint_ballots, model.estimators_, classes=model.classes_)
        return _by_rows([(rows, ask(table=part)) for rows, part in parts])
    together = model._scores_together(table)
    if together is not None:
        return np.array(together)
    fixed = np.asarray(model.fixed_ballot_)
    ballots = np.zeros((*abstains.shape, *fixed.shape), fixed.dtype)
    if fixed.ndim == 0:
        ballots = ballots.astype(np.float64)
    score, may_fail = model._score(), model.on_failure == "vote"
    asked = [np.flatnonzero(~own) for own in abstains.T]
    submodels = [t for t, rows in enumerate(asked) if len(rows)]
    rows_of = model._rows_of_submodels(table)
    jobs = (
        (
            score,
            model.estimators_[0 if model.trusts_training else t],
            rows_of(t, None if len(asked[t]) == table.n_rows else asked[t]),
            one_row,
            len(asked[t]),
            model.fixed_ballot_,
            model.describe(t),
            may_fail,
        )
        for t in submodels
    )
    n_jobs = model.n_jobs if table.n_rows >= FEW_ROWS else 1
    verbose = max(0, model.verbose - 1)
    scored = run_each(score_one, jobs, n_jobs, len(submodels), "scored", verbose)
    for t, (scores, failure) in zip(submodels, scored, strict=True):
        if failure:
            warnings.warn(f"{failure}; they get a fixed vote", SubmodelWarning, stacklevel=5)
        ballots[asked[t], t] = scores
    return ballots
