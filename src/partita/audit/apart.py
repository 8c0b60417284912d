"""Is every submodel a function of its own columns, the labels and its seed, and always the same one? Tried out, not assumed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from ..partition import Partition
from .candidates import poisoned
from .cells import Cells

Array = NDArray[Any]

CURE = "find what in the estimator reaches beyond its own columns, or is not seeded: until then the radius means nothing"


@dataclass(frozen=True)
class Check:
    """Something that was tried, and what was wrong ("" if nothing)."""

    name: str
    found: str


def checks(model: Any, cells: Cells, training: Cells, y: Array, seed: int) -> Iterator[Check]:
    """Fit again in several ways, and with one unit changed."""
    honest = np.asarray(model.ballots(cells.table()))
    yield _same("the model is what fitting on this training table gives", model, honest, partial(_ballots, model, training, y, cells))
    for jobs in (1, 2):
        yield _same(f"fitted again with n_jobs={jobs}", model, honest, partial(_ballots, model, training, y, cells, jobs))
    yield _same("fitted in another process", model, honest, partial(_elsewhere, model, training, y, cells))
    if isinstance(model.partition_, Partition) and not model.units_.trusted and not hasattr(model.estimators_, "scores"):
        yield _same("fitted with the columns in another order", model, honest, partial(_shuffled, model, training, y, cells, seed))
    rng = np.random.default_rng(seed)
    reach = np.asarray(model.partition_.incidence())
    codes = np.unique(y, return_inverse=True)[1].astype(float)
    for unit in _one_of_each(reach, rng):
        columns = model.units_.columns[unit]
        others = ~reach[unit]
        name = f"{model.units_.kind[:-1]} {model.units_.names[unit]!r}"
        table = training.table({column: poisoned("label", training, column, codes, rng) for column in columns})
        yield _same(
            f"{name} rewritten in training moves no other submodel",
            model,
            honest,
            partial(_fit_and_ask, clone(model), table, y, cells.table()),
            others,
        )
        asked = cells.table({column: poisoned("permutation", cells, column, np.empty(0), rng) for column in columns})
        yield _same(
            f"{name} rewritten in the rows moves no other submodel",
            model,
            honest,
            partial(model.ballots, asked),
            others,
        )


def _same(name: str, model: Any, honest: Array, again: Callable[[], Array], which: Array | None = None) -> Check:
    """Compare the ballots of these submodels bit for bit."""
    try:
        ballots = again()
    except Exception as exc:
        return Check(name, f"it fails: {type(exc).__name__}: {exc}")
    if ballots.shape != honest.shape:
        return Check(name, f"there are ballots of shape {ballots.shape} instead of {honest.shape}")
    moved = ~((ballots == honest) | (np.isnan(ballots) & np.isnan(honest))).reshape(*honest.shape[:2], -1).all(axis=2)
    touched = np.flatnonzero(moved.any(axis=0) & (True if which is None else which))
    if not len(touched):
        return Check(name, "")
    first = int(touched[0])
    return Check(
        name, f"{model.describe(first)} says something else in {moved[:, first].mean():.0%} of rows ({len(touched)} submodels do): {CURE}"
    )


def _ballots(model: Any, training: Cells, y: Array, cells: Cells, n_jobs: int | None = None) -> Array:
    again = clone(model)
    if n_jobs is not None:
        again.set_params(n_jobs=n_jobs)
    return np.asarray(again.fit(training.table(), y).ballots(cells.table()))


def _elsewhere(model: Any, training: Cells, y: Array, cells: Cells) -> Array:
    """In a new process, which shares no memory, generator or cache with this one."""
    job = delayed(_fit_and_ask)(clone(model).set_params(n_jobs=1), training.table(), y, cells.table())
    return np.asarray(Parallel(n_jobs=2, backend="loky")([job])[0])


def _fit_and_ask(model: Any, X: Any, y: Array, asked: Any) -> Array:
    return np.asarray(model.fit(X, y).ballots(asked))


def _shuffled(model: Any, training: Cells, y: Array, cells: Cells, seed: int) -> Array:
    """The columns dealt into the table anew. Each submodel's own columns keep their order, since an estimator may break ties by it."""
    own = [model._columns(t) for t in range(len(model.estimators_))]
    order = _mixed(own, seed)
    place = {column: k for k, column in enumerate(order)}
    sets = [[place[column] for column in columns] for columns in own]
    units = {name: [place[column] for column in columns] for name, columns in zip(model.units_.names, model.units_.columns, strict=True)}

    def named(positions: list[int]) -> list[Any]:
        return [training.names[order[k]] if training.is_frame else k for k in positions]

    again = clone(model).set_params(
        partition=list(map(named, sets)), units={name: named(positions) for name, positions in units.items()}, image_shape=None
    )
    return np.asarray(again.fit(training.reordered(order).table(), y).ballots(cells.reordered(order).table()))


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
    return sorted({int(rng.choice(np.flatnonzero(reach[:, t]))) for t in range(reach.shape[1]) if reach[:, t].any()})
