"""Is every submodel a function of its own columns, the labels and its seed? Tried, not assumed.

The model is fitted again in several ways, and with some units rewritten; submodels that the change
does not reach must be the same to the last bit.
"""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from .._support import Array
from ..ensemble import FittedEnsemble, were_trained_jointly
from ..partition import Partition
from ._claims import Claims
from ._findings import Check
from ._submodel_isolation import (
    ballots_or_honest,
    compare_ballots,
    first_problem,
    one_unit_per_submodel,
    unit_name,
    units_by_thirds,
)
from ._table import AttackedTable
from ._values import DAMAGES, ONE_CELL, damage, poisoned_column

MOST_UNITS = 8  # that are rewritten in training, one at a time: fitting takes long
TABLES = 2  # with each kind of hostile values in training


def check_training(
    claims: Claims, rows: AttackedTable, training: AttackedTable, y: Array, seed: int
) -> Iterator[Check]:
    """Fit again in several ways, and with some units rewritten, unless training is trusted."""
    model = claims.model
    compare = partial(_compare_fit, claims, rows, y=y)
    yield compare("the model is what fitting on this training table gives", model, training.table())
    for n_jobs in (1, 2):
        other = clone(model).set_params(n_jobs=n_jobs)
        yield compare(f"fitted again with n_jobs={n_jobs}", other, training.table())
    yield compare_ballots(
        "fitted in another process",
        model,
        claims.ballots,
        partial(_fit_elsewhere, model, training.table(), y, rows.table()),
    )
    if model.trusts_training:  # one model saw all units
        return
    jointly = were_trained_jointly(model.estimators_)
    if isinstance(model.partition_, Partition) and not model.units_.trusted and not jointly:
        yield compare_ballots(
            "fitted with the columns in another order",
            model,
            claims.ballots,
            partial(_fit_reordered, model, training, y, rows, seed),
        )
    yield from _rewritten_units(claims, rows, training, y, seed)
    yield compare("fitted again after hostile values", model, training.table())


def _rewritten_units(
    claims: Claims, rows: AttackedTable, training: AttackedTable, y: Array, seed: int
) -> Iterator[Check]:
    """Units that become a function of the label, one at a time; then hostile values in many."""
    model, rng = claims.model, np.random.default_rng(seed)
    reach = np.asarray(model.partition_.incidence())
    codes = np.unique(y, return_inverse=True)[1].astype(float)
    for unit in rng.permutation(one_unit_per_submodel(reach, rng))[:MOST_UNITS].tolist():
        table = training.table(
            {
                column: poisoned_column("label", training, column, codes, rng)
                for column in model.units_.columns[unit]
            }
        )
        name = f"{unit_name(model, unit)} rewritten in training moves no other submodel"
        yield _compare_fit(claims, rows, name, model, table, ~reach[unit], y=y)
    lenient = clone(model)
    if not were_trained_jointly(model.estimators_):
        lenient.set_params(on_failure="vote")
    for kind in DAMAGES:
        checks = []
        for units, safe in islice(units_by_thirds(reach, rng), TABLES):
            changes: dict[int, Array] = {}
            for unit in units:
                changes |= damage(kind, training, model.units_.columns[unit], rng)
            if changes:
                table = training.table(changes)
                again = partial(
                    ballots_or_honest,
                    _fit_and_score,
                    clone(lenient),
                    table,
                    y,
                    rows.table(),
                    claims.ballots,
                )
                checks.append(compare_ballots("", model, claims.ballots, again, safe))
        if checks:
            verb = "moves" if kind == ONE_CELL else "move"
            yield first_problem(f"{kind} in training {verb} no other submodel", checks)


def _compare_fit(
    claims: Claims,
    rows: AttackedTable,
    name: str,
    model: FittedEnsemble,
    training: Any,
    which: Array | None = None,
    *,
    y: Array,
) -> Check:
    """Fit a clone on a training table, and compare these submodels' ballots."""
    again = partial(_fit_and_score, clone(model), training, y, rows.table())
    return compare_ballots(name, claims.model, claims.ballots, again, which)


def _fit_and_score(model: Any, X: Any, y: Array, rows: Any) -> Array:
    return np.asarray(model.fit(X, y).ballots(rows))


def _fit_elsewhere(model: Any, training: Any, y: Array, rows: Any) -> Array:
    """In a new process, which shares no memory, generator or cache with this one."""
    job = delayed(_fit_and_score)(clone(model).set_params(n_jobs=1), training, y, rows)
    return np.asarray(Parallel(n_jobs=2, backend="loky")([job])[0])


def _fit_reordered(
    model: FittedEnsemble, training: AttackedTable, y: Array, rows: AttackedTable, seed: int
) -> Array:
    """With the columns of the table in another order.

    Each submodel's own columns keep their order, since an estimator may break ties by it.
    """
    own = [model.columns_of(t) for t in range(len(model.estimators_))]
    order = _interleaved(own, seed)
    place = {column: k for k, column in enumerate(order)}

    def names_of(columns: Any) -> list[Any]:
        positions = [place[column] for column in columns]
        return [training.labels[order[k]] if training.is_frame else k for k in positions]

    units = dict(zip(model.units_.names, map(names_of, model.units_.columns), strict=True))
    again = clone(model).set_params(
        partition=list(map(names_of, own)), units=units, image_shape=None
    )
    return _fit_and_score(
        again, training.reordered(order).table(), y, rows.reordered(order).table()
    )


def _interleaved(sets: list[list[int]], seed: int) -> list[int]:
    """All columns in a random order that keeps the order within each set."""
    rng = np.random.default_rng(seed)
    left = [list(columns) for columns in sets]
    order: list[int] = []
    while any(left):
        t = int(rng.choice([t for t, columns in enumerate(left) if columns]))
        order.append(left[t].pop(0))
    return order
