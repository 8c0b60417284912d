"""Is every submodel a function of its own columns, the labels and its seed, and always the same
one? Tried out, not assumed."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from .._support.types import Array
from ..partition._partition import Partition
from ._attacked_table import Cells
from ._candidates import poisoned
from ._claims import Question
from ._findings import Check
from ._hostile_values import (
    DAMAGES,
    FAMILIES,
    ONE_CELL,
    damaged,
    mixtures,
    rewritten,
    ways,
)
from ._row_isolation import check_alone
from ._vote_options import unless_refused, with_failures

FEW = 8  # rows are enough to see a submodel move
UNITS = 8  # that are rewritten in training, one at a time: fitting takes long
TABLES = 2  # with each kind of hostile values in training
CURE = "find what in the estimator reaches beyond its own columns, or is not seeded: until then the radius means nothing"


def checks_of_rows(question: Question, cells: Cells, seed: int) -> Iterator[Check]:
    """Rows in other company, and with some units rewritten. Needs no training data."""
    model, honest = question.model, question.ballots
    rng = np.random.default_rng(seed)
    yield check_alone(question, cells, rng)
    reach = np.asarray(model.partition_.incidence())
    for unit in _one_of_each(reach, rng):
        table = cells.table(
            {
                column: poisoned("permutation", cells, column, np.empty(0), rng)
                for column in model.units_.columns[unit]
            }
        )
        yield _same(
            f"{_name(model, unit)} rewritten in the rows moves no other submodel",
            model,
            honest,
            partial(model.ballots, table),
            ~reach[unit],
        )
    few = cells.rows(np.arange(min(FEW, cells.n_rows)))
    lenient = with_failures(model, "vote")
    for family in FAMILIES:
        watched = []
        for units, safe in _parts(reach, rng):
            column = model.units_.columns[units[0]][0]
            usual = np.asarray(
                lenient.ballots(few.table({column: few.columns[column]}))
            )  # as many rows, and of the same types
            watched += [
                _same("", model, usual, partial(_asked, lenient, few.table(changes), usual), safe)
                for changes in _hostile_rows(family, few, model, units, rng)
            ]
        if watched:
            yield _first_found(f"{family} in the rows move no other submodel", watched)


def checks_of_training(
    question: Question, cells: Cells, training: Cells, y: Array, seed: int
) -> Iterator[Check]:
    """Fit again in several ways, and with some units rewritten."""
    model, honest = question.model, question.ballots
    yield _same(
        "the model is what fitting on this training table gives",
        model,
        honest,
        partial(_ballots, model, training, y, cells),
    )
    for jobs in (1, 2):
        yield _same(
            f"fitted again with n_jobs={jobs}",
            model,
            honest,
            partial(_ballots, model, training, y, cells, jobs),
        )
    yield _same(
        "fitted in another process", model, honest, partial(_elsewhere, model, training, y, cells)
    )
    if (
        isinstance(model.partition_, Partition)
        and not model.units_.trusted
        and not hasattr(model.estimators_, "scores")
    ):
        yield _same(
            "fitted with the columns in another order",
            model,
            honest,
            partial(_shuffled, model, training, y, cells, seed),
        )
    rng = np.random.default_rng(seed)
    reach = np.asarray(model.partition_.incidence())
    codes = np.unique(y, return_inverse=True)[1].astype(float)
    for unit in rng.permutation(_one_of_each(reach, rng))[:UNITS].tolist():
        table = training.table(
            {
                column: poisoned("label", training, column, codes, rng)
                for column in model.units_.columns[unit]
            }
        )
        again = partial(_fit_and_ask, clone(model), table, y, cells.table())
        yield _same(
            f"{_name(model, unit)} rewritten in training moves no other submodel",
            model,
            honest,
            again,
            ~reach[unit],
        )
    lenient = (
        clone(model)
        if hasattr(model.estimators_, "scores")
        else clone(model).set_params(on_failure="vote")
    )
    for kind in DAMAGES:
        watched = []
        for units, safe in islice(_parts(reach, rng), TABLES):
            changes: dict[int, Array] = {}
            for unit in units:
                changes |= damaged(kind, training, model.units_.columns[unit], rng)
            if changes:
                again = partial(
                    _fit_unless_refused,
                    clone(lenient),
                    training.table(changes),
                    y,
                    cells.table(),
                    honest,
                )
                watched.append(_same("", model, honest, again, safe))
        if watched:
            yield _first_found(
                f"{kind} in training {'moves' if kind == ONE_CELL else 'move'} no other submodel",
                watched,
            )
    yield _same(
        "fitted again after hostile values",
        model,
        honest,
        partial(_ballots, model, training, y, cells),
    )


def same_as_before(question: Question, cells: Cells) -> Check:
    """Whatever was written into copies of the rows and of the training table, the model must be
    what it was."""
    return _same(
        "the model says the same after all attacks",
        question.model,
        question.ballots,
        partial(question.model.ballots, cells.table()),
    )


def _name(model: Any, unit: int) -> str:
    return f"{model.units_.kind[:-1]} {model.units_.names[unit]!r}"


def _first_found(name: str, watched: list[Check]) -> Check:
    return Check(name, next((check.found for check in watched if check.found), ""))


def _parts(reach: Array, rng: np.random.Generator) -> Iterator[tuple[list[int], Array]]:
    """Units to rewrite, those of about a third of the submodels, and the submodels that they do not
    reach; three times.

    So three tables show whether anything gets from one submodel into another, however many there
    are. Not more than a third: an ensemble whose submodels mostly fail is refused."""
    order = rng.permutation(reach.shape[1])
    for part in np.array_split(order, 3):
        safe = ~np.isin(np.arange(len(order)), part)
        units = np.flatnonzero(reach.any(axis=1) & ~reach[:, safe].any(axis=1))
        if not len(units) and len(
            part
        ):  # sets that overlap: a unit of the part, and what it does not reach
            units = np.flatnonzero(reach[:, part].any(axis=1))[:1]
            safe = ~np.asarray(reach[units].any(axis=0))
        if len(units) and safe.any():
            yield [int(unit) for unit in units], safe


def _hostile_rows(
    family: str, cells: Cells, model: Any, units: list[int], rng: np.random.Generator
) -> Iterator[dict[int, Array]]:
    """All columns of these units with values of the family; then one column of each of several
    columns."""
    columns = [column for unit in units for column in model.units_.columns[unit]]
    for way in range(ways(family, cells, columns)):
        yield rewritten(family, way, cells, columns)
    mixed: dict[int, Array] = {}
    for unit in units:
        for own, changes in mixtures(cells, model.units_.columns[unit], rng):
            mixed |= changes if own == family else {}
    if mixed:
        yield mixed


def _asked(model: Any, table: Any, honest: Array) -> Array:
    """The ballots; the honest ones where a submodel refuses the table, which is an error and no
    changed prediction."""
    ballots = unless_refused(model.ballots, table)
    return honest if ballots is None else np.asarray(ballots)


def _fit_unless_refused(model: Any, X: Any, y: Array, asked: Any, honest: Array) -> Array:
    ballots = unless_refused(_fit_and_ask, model, X, y, asked)
    return honest if ballots is None else np.asarray(ballots)


def _same(
    name: str, model: Any, honest: Array, again: Callable[[], Array], which: Array | None = None
) -> Check:
    """Compare the ballots of these submodels bit for bit."""
    try:
        ballots = again()
    except Exception as exc:
        return Check(name, f"it fails: {type(exc).__name__}: {exc}")
    if ballots.shape != honest.shape:
        return Check(name, f"there are ballots of shape {ballots.shape} instead of {honest.shape}")
    moved = ~((ballots == honest) | (np.isnan(ballots) & np.isnan(honest))).reshape(
        *honest.shape[:2], -1
    ).all(axis=2)
    touched = np.flatnonzero(moved.any(axis=0) & (True if which is None else which))
    if not len(touched):
        return Check(name, "")
    first = int(touched[0])
    return Check(
        name,
        f"{model.describe(first)} says something else in {moved[:, first].mean():.0%} of rows "
        f"({len(touched)} submodels do): {CURE}",
    )


def _ballots(
    model: Any, training: Cells, y: Array, cells: Cells, n_jobs: int | None = None
) -> Array:
    again = clone(model)
    if n_jobs is not None:
        again.set_params(n_jobs=n_jobs)
    return np.asarray(again.fit(training.table(), y).ballots(cells.table()))


def _elsewhere(model: Any, training: Cells, y: Array, cells: Cells) -> Array:
    """In a new process, which shares no memory, generator or cache with this one."""
    job = delayed(_fit_and_ask)(
        clone(model).set_params(n_jobs=1), training.table(), y, cells.table()
    )
    return np.asarray(Parallel(n_jobs=2, backend="loky")([job])[0])


def _fit_and_ask(model: Any, X: Any, y: Array, asked: Any) -> Array:
    return np.asarray(model.fit(X, y).ballots(asked))


def _shuffled(model: Any, training: Cells, y: Array, cells: Cells, seed: int) -> Array:
    """The columns dealt into the table anew. Each submodel's own columns keep their order, since an
    estimator may break ties by it."""
    own = [model._columns(t) for t in range(len(model.estimators_))]
    order = _mixed(own, seed)
    place = {column: k for k, column in enumerate(order)}
    sets = [[place[column] for column in columns] for columns in own]
    units = {
        name: [place[column] for column in columns]
        for name, columns in zip(model.units_.names, model.units_.columns, strict=True)
    }

    def named(positions: list[int]) -> list[Any]:
        return [training.labels[order[k]] if training.is_frame else k for k in positions]

    again = clone(model).set_params(
        partition=list(map(named, sets)),
        units={name: named(positions) for name, positions in units.items()},
        image_shape=None,
    )
    return np.asarray(
        again.fit(training.reordered(order).table(), y).ballots(cells.reordered(order).table())
    )


def _mixed(own: list[list[int]], seed: int) -> list[int]:
    rng = np.random.default_rng(seed)
    left = [list(columns) for columns in own]
    order: list[int] = []
    while any(left):
        t = int(rng.choice([t for t, columns in enumerate(left) if columns]))
        order.append(left[t].pop(0))
    return order


def _one_of_each(reach: Array, rng: np.random.Generator) -> list[int]:
    """For every submodel one of its units."""
    return sorted(
        {
            int(rng.choice(np.flatnonzero(reach[:, t])))
            for t in range(reach.shape[1])
            if reach[:, t].any()
        }
    )
