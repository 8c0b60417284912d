"""Find the sources that are silent when a row is predicted.

A submodel abstains if any of its units is silent: what it would see is not what it learnt from. It
is not scored, so that an estimator without a notion of missing values need not fail. Silence is
declared by the caller, once for all rows or row by row, or it is read from the values: a unit is
silent where all of its columns are missing. What an attacker can write into a unit must decide
about that unit's silence alone.
"""

from collections.abc import Iterator, Sequence
from numbers import Integral

import numpy as np
import scipy.sparse

from .._support import Array, TableLike
from ..ballots import Abstentions
from ..errors import InputError
from ..partition import LeaveOut, Units
from ..tables import (
    CompletedFile,
    FileTable,
    Table,
    is_missing,
    mask_columns,
    open_table,
    with_absent_columns,
)
from ._protocol import FittedEnsemble

DETECT = "detect"


def completed(model: FittedEnsemble, X: TableLike, silent: object) -> TableLike:
    """Return X with the columns that it lacks, all missing, if their units may be silent.

    Of a file, the columns of silent units are not read: a cell of another kind would be an error.
    """
    known = declared_units(silent, model.units_)
    if isinstance(X, FileTable) and known:
        kinds = {name: X.kinds[name] for name in columns_that_may_lack(model, silent)}
        return FileTable(CompletedFile(X.file, kinds), X.kinds, X.rows)
    names = getattr(model, "feature_names_in_", None)
    if names is None or isinstance(X, Table):
        return X
    may_lack = columns_that_may_lack(model, silent)
    return with_absent_columns(X, [str(name) for name in names], may_lack, model.numeric_)


def columns_that_may_lack(model: FittedEnsemble, silent: object) -> list[str]:
    """Return the columns that a table need not have: those of units that may be silent."""
    known = declared_units(silent, model.units_)
    units = range(len(model.units_)) if known is None else known
    columns = {column for unit in units for column in model.units_.columns[unit]}
    return [str(model.feature_names_in_[column]) for column in sorted(columns)]


def read_silence(model: FittedEnsemble, table: Table, silent: object) -> Abstentions:
    """Return which submodels abstain in the rows of a table.

    Parameters
    ----------
    model : FittedEnsemble
        The model.
    table : Table
        The rows.
    silent : "detect", list of units, or array of bool (n_samples, n_units)
        Which units are silent: those whose columns are all missing in a row, the same in all
        rows, or row by row.
    """
    detected, units = _is_detect(silent), model.units_
    known = declared_units(silent, units)
    if known is None:
        quiet = detect_silence(table, units) if detected else _mask(silent, table.n_rows, units)
    else:
        quiet = np.zeros((table.n_rows, len(units)), dtype=bool)
        quiet[:, known] = True
    default, groups, sets = np.asarray(model.fixed_ballot_), None, model.partition_
    if isinstance(sets, LeaveOut):
        groups = quiet @ sets.groups.incidence()
        sees = np.array([[g not in out for out in sets.left_out] for g in range(len(sets.groups))])
        abstains = groups @ sees
    else:
        abstains = quiet @ np.asarray(sets.incidence())
    return Abstentions(np.asarray(abstains), default, detected, groups, quiet)


def _is_detect(silent: object) -> bool:
    return isinstance(silent, str) and silent == DETECT


def declared_units(silent: object, units: Units) -> list[int] | None:
    """Return the positions of units that are silent in all rows; None where rows may differ."""
    if _is_detect(silent) or (isinstance(silent, np.ndarray) and silent.ndim == 2):
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


def _position(one: object, units: Units) -> int:
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


def _mask(silent: object, n_rows: int, units: Units) -> Array:
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


def without_silent_cells(
    model: FittedEnsemble, table: Table, abstentions: Abstentions, instead: float
) -> Iterator[tuple[Array, Table]]:
    """Yield rows with the same silent units, and these without what stands in those units.

    Numbers are replaced by ``instead``, anything else is missing.
    """
    assert abstentions.units is not None
    patterns, own = np.unique(abstentions.units, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        rows = np.flatnonzero(own.ravel() == k)
        silent = [j for unit in np.flatnonzero(pattern) for j in model.units_.columns[unit]]
        numeric = [model.numeric_[j] and j in silent for j in range(table.n_columns)]
        yield rows, open_table(mask_columns(table.take_all(rows), silent, numeric, instead=instead))


def by_rows(parts: Sequence[tuple[Array, Array]]) -> Array:
    """Return the scores of all rows, from those of some rows each."""
    order = np.concatenate([rows for rows, _ in parts])
    return np.asarray(np.concatenate([scores for _, scores in parts])[np.argsort(order)])
