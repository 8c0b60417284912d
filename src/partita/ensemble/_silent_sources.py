"""Sources that are silent when a row is predicted: which, and the ballots without them.

A submodel abstains if any of its units is silent: what it would see is not what it learnt from. It
is not even asked, so that an estimator without a notion of missing values need not fail. Whoever is
silent is either declared by the caller, once for all rows or row by row, or read from the values:
a unit is silent where all of its columns are missing. What an attacker can write into a unit must
decide about that unit's silence alone.
"""

import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from .._support.parallel import run_each
from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError, SubmodelWarning
from ..partition._leave_out import LeaveOut
from ..partition._units import Units
from ..rules._silenced import silenced
from ..rules._silenced_pools import SilencedPools
from ..rules._statements import BoundStatement, Statement
from ..silence import Silence
from ..tables._absent import CompletedFile, with_absent_columns
from ..tables._file import FileTable
from ..tables._masking import mask_columns
from ..tables._memory import one_row, open_table
from ..tables._missing import is_missing
from ..tables._table import Table
from ._ballots import FLOOR
from ._failures import score_one
from ._joint_training import joint_ballots, were_trained_jointly
from ._scoring import FEW_ROWS

DETECT = "detect"


@dataclass(frozen=True, eq=False)
class Heard:
    """Ballots without those of silent sources, and the model that decides by the rest.

    Without silence it holds the model and all ballots as they are.
    """

    model: Any
    table: Table
    ballots: Array
    spoken: Any = None  # the model as it was fitted
    units: Array | None = None  # bool (rows, units): silent
    abstains: Array | None = None  # bool (rows, submodels)

    def fallback_scores(self) -> Array | None:
        """Return the fallback's scores: where silence was declared, its cells are missing."""
        model = self.model if self.spoken is None else self.spoken
        if self.units is None or self.model.rule_.detected or not model._gate():
            scores: Array | None = model._fallback_scores(self.table)
            return scores
        parts = _without_silent_cells(model, self.table, self.units, np.nan)
        return _by_rows([(rows, model._fallback_scores(part)) for rows, part in parts])

    def with_cost(
        self, proof: Certificates, statement: Statement | None = None, fallback: Any = None
    ) -> Certificates:
        """Return certificates that say what was silent, and what that cost at most."""
        if self.units is None or self.abstains is None:
            return proof
        names = self.spoken.units_.names
        abstained = self.abstains.sum(axis=1)
        without = np.array(proof.radius)
        rows = np.flatnonzero(abstained)
        if len(rows):
            without[rows] = np.maximum(
                without[rows], self._at_best(proof, rows, statement, fallback)
            )
        silence = Silence(
            self.units,
            tuple(names),
            abstained,
            self.abstains.shape[1],
            np.asarray(proof.radius),
            without,
            self.model.rule_.detected,
        )
        return replace(proof, silence=silence)

    def _at_best(
        self, proof: Certificates, rows: Array, statement: Statement | None, fallback: Any
    ) -> Array:
        """Return the radius that these rows would have if silent submodels sided with them."""
        rule = self.model.rule_
        if isinstance(rule, SilencedPools):
            return np.full(len(rows), rule.radius)
        assert self.abstains is not None
        ballots, gone = self.ballots[rows], self.abstains[rows]
        scores = None if fallback is None else fallback[rows]
        if isinstance(statement, BoundStatement):
            centre, stretch = self.spoken.rule_.centre or 0.0, self.spoken.rule_.stretch
            value = centre + (proof.prediction[rows] - centre) / stretch
            filled = np.where(gone, value[:, None], ballots)
            again = self.spoken._certificates(filled, statement.take(rows))
            return np.asarray(again.radius)
        classes = self.spoken.classes_
        sided = np.where(classes == proof.prediction[rows, None], 0, FLOOR)
        filled = np.where(gone[:, :, None], sided[:, None], ballots).astype(ballots.dtype)
        if rule.needs_labels:
            again = self.spoken._certify_labels(
                self.table, filled, proof.prediction[rows], "bound", 10.0
            )
            return np.asarray(again.radius)
        again = self.spoken._certificates(filled, statement, fallback=scores)
        return np.asarray(np.where(again.prediction == proof.prediction[rows], again.radius, 0))


def hear(model: Any, X: Any, silent: Any = None) -> Heard:
    """Ask the submodels that are not silent about every row.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array-like, DataFrame or Table
        The rows. With ``silent``, a frame may lack columns of silent units.
    silent : None, "detect", list of units, or array of bool (n_samples, n_units)
        Which units are silent: none, those whose columns are all missing in a row, the same in all
        rows, or row by row.
    """
    if silent is None:
        return Heard(model, *model._ballots(X))
    check_is_fitted(model, "estimators_")
    detected = isinstance(silent, str) and silent == DETECT
    units: Units = model.units_
    known = None if detected else declared_units(silent, units)
    table = model._open(_completed(model, X, known), reset=False)
    if known is None:
        quiet = detect_silence(table, units) if detected else _mask(silent, table.n_rows, units)
    else:
        quiet = np.zeros((table.n_rows, len(units)), dtype=bool)
        quiet[:, known] = True
    abstains = quiet @ np.asarray(model.partition_.incidence())
    if isinstance(model.partition_, LeaveOut):
        abstains = _members_that_see(model.partition_, quiet)
    ballots = _heard_ballots(model, table, quiet, abstains)
    ballots[abstains] = np.nan
    if isinstance(model.partition_, LeaveOut):
        ballots = _with_flags(ballots, model.partition_, quiet)
    muted = copy(model)
    muted.rule_ = silenced(model.rule_, detected, np.asarray(model.fixed_ballot_))
    return Heard(muted, table, ballots, model, quiet, abstains)


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


def _completed(model: Any, X: Any, known: list[int] | None) -> Any:
    """Return X with the columns that it lacks, all missing, if their units may be silent.

    Of a file, the columns of silent units are not read: a cell of another kind would be an error.
    """
    names = getattr(model, "feature_names_in_", None)
    if isinstance(X, FileTable) and known:
        kinds = {name: X.kinds[name] for name in columns_that_may_lack(model, known)}
        return FileTable(CompletedFile(X.file, kinds), X.kinds, X.rows)
    if names is None or isinstance(X, Table):
        return X
    may_lack = columns_that_may_lack(model, DETECT if known is None else known)
    return with_absent_columns(X, [str(name) for name in names], may_lack, model.numeric_)


def _members_that_see(sets: LeaveOut, quiet: Array) -> Array:
    """Return which members see a group with a silent unit."""
    silent_groups = quiet @ sets.groups.incidence()
    sees = np.array([[g not in out for out in sets.left_out] for g in range(len(sets.groups))])
    return np.asarray(silent_groups @ sees)


def _with_flags(ballots: Array, sets: LeaveOut, quiet: Array) -> Array:
    """Append an entry for each group, NaN where it is silent, as ``SilencedPools`` reads it."""
    silent = quiet @ sets.groups.incidence()
    flags = np.zeros((len(ballots), len(sets.groups), *ballots.shape[2:]), ballots.dtype)
    flags[silent] = np.nan
    return np.concatenate([ballots, flags], axis=1)


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


def _heard_ballots(model: Any, table: Table, quiet: Array, abstains: Array) -> Array:
    """Return the ballots of submodels that are heard; anything where they abstain."""
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
            model.estimators_[0 if model._trusts_training else t],
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
