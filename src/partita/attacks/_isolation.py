"""Is every submodel a function of its own columns, the labels and its seed? Tried, not assumed.

Rows are predicted in other batches, the model is fitted again in several ways, and units are
rewritten in rows and in training: submodels that a change does not reach must be the same to the
last bit. Which rows are predicted together may move the last bits of a submodel's scores, since
products of matrices are rounded by their shape, but no more than that, nor a prediction or its
radius. What the other rows *hold* must not move a single bit.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from .._support import Array, Estimator, TableLike
from ..ensemble import FEW_ROWS, FittedEnsemble, were_trained_jointly
from ..partition import Partition
from ..tables import is_missing
from ._attacked_table import AttackedTable, Changes, unless_refused
from ._claims import Claims
from ._evasion import unrefused_ballots, with_failures
from ._findings import Check
from ._values import (
    DAMAGES,
    FAMILIES,
    ONE_CELL,
    damage,
    hostile_columns,
    mixtures,
    n_variants,
    poison,
    values_of,
)

SAME_BATCH = "a row's ballots are the same alone and in a batch"
BATCH_CURE = "compute nothing from the rows of a batch; learn it in fit"
CURE = (
    "find what in the estimator reaches beyond its own columns, or is not seeded: until then the "
    "radius means nothing"
)
ROWS = 12  # that are predicted again
# of them beside a hostile row: a submodel that fails on it predicts each alone, which takes long
ROWS_BESIDE = 6
ENOUGH_ROWS = 8  # to see a submodel move
MOST_UNITS = 8  # that are rewritten in training, one at a time: fitting takes long
TABLES = 2  # with each kind of hostile values in training
# of scores and of values, relative to their size
ROUNDING = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9}

Trial = tuple[Array, Callable[[], object]]  # honest ballots, and how to get those to compare


def check_rows(claims: Claims, table: AttackedTable, seed: int) -> Iterator[Check]:
    """Predict the rows in other batches, and with some units rewritten; needs no training data."""
    model, reach = claims.model, claims.reach
    rng = np.random.default_rng(seed)
    yield check_row_isolation(claims, table, rng)
    for unit in one_unit_per_submodel(reach, rng):
        columns = model.units_.columns[unit]
        rewritten = table.table(poison("permutation", table, columns, np.empty(0), rng))
        again = partial(model.ballots, rewritten)
        name = f"{_unit_name(model, unit)} rewritten in the rows moves no other submodel"
        yield compare_ballots(name, model, claims.ballots, again, ~reach[unit])
    few = table.take(np.arange(min(ENOUGH_ROWS, table.n_rows)))
    lenient = with_failures(model, "vote")

    def hostile(family: str, units: list[int]) -> Iterator[Trial]:
        # the same rows and types, rewritten with themselves
        column = model.units_.columns[units[0]][0]
        honest = np.asarray(lenient.ballots(few.table({column: few.columns[column]})))
        for changes in _hostile_rows(family, few, claims, units, rng):
            yield honest, partial(lenient.ballots, few.table(changes))

    yield from _hostile_checks(claims, FAMILIES, hostile, "the rows", rng)


def check_unchanged(claims: Claims, table: AttackedTable) -> Check:
    """Compare the model's ballots after all attacks, which are written into copies."""
    again = partial(claims.model.ballots, table.table())
    name = "the model says the same after all attacks"
    return compare_ballots(name, claims.model, claims.ballots, again)


def check_training(
    claims: Claims, rows: AttackedTable, training: AttackedTable, y: Array, seed: int
) -> Iterator[Check]:
    """Fit again in several ways, and with some units rewritten, unless training is trusted."""
    model, X, reach = claims.model, training.table(), claims.reach

    def compare(name: str, again: Callable[[], object], which: Array | None = None) -> Check:
        return compare_ballots(name, model, claims.ballots, again, which)

    def refit(table: TableLike, **settings: object) -> Callable[[], Array]:
        return partial(_fit_and_score, clone(model).set_params(**settings), table, y, rows.table())

    yield compare("the model is what fitting on this training table gives", refit(X))
    for n_jobs in (1, 2):
        yield compare(f"fitted again with n_jobs={n_jobs}", refit(X, n_jobs=n_jobs))
    yield compare("fitted in another process", partial(_elsewhere, refit(X, n_jobs=1)))
    if model.trusts_training:  # one model saw all units
        return
    jointly = were_trained_jointly(model.estimators_)
    if isinstance(model.partition_, Partition) and not model.units_.trusted and not jointly:
        reordered = partial(_fit_reordered, model, training, y, rows, seed)
        yield compare("fitted with the columns in another order", reordered)
    rng, codes = np.random.default_rng(seed), np.unique(y, return_inverse=True)[1].astype(float)
    for unit in rng.permutation(one_unit_per_submodel(reach, rng))[:MOST_UNITS].tolist():
        columns = model.units_.columns[unit]
        table = training.table(poison("label", training, columns, codes, rng))
        name = f"{_unit_name(model, unit)} rewritten in training moves no other submodel"
        yield compare(name, refit(table), ~reach[unit])
    lenient = {} if jointly else {"on_failure": "vote"}

    def hostile(kind: str, units: list[int]) -> Iterator[Trial]:
        changes: Changes = {}
        for unit in units:
            changes |= damage(kind, training, model.units_.columns[unit], rng)
        if changes:
            yield claims.ballots, refit(training.table(changes), **lenient)

    yield from _hostile_checks(claims, DAMAGES, hostile, "training", rng, TABLES)
    yield compare("fitted again after hostile values", refit(X))


def compare_ballots(
    name: str,
    model: FittedEnsemble,
    honest: Array,
    again: Callable[[], object],
    which: Array | None = None,
    refusable: bool = False,
) -> Check:
    """Compare these submodels' ballots with the honest ones, bit for bit."""
    try:
        found = unless_refused(again) if refusable else again()
        ballots = honest if found is None else np.asarray(found)
    except MemoryError:  # says nothing about the model
        raise
    except Exception as exc:
        return Check(name, f"it fails: {type(exc).__name__}: {exc}")
    if ballots.shape != honest.shape:
        return Check(name, f"there are ballots of shape {ballots.shape} instead of {honest.shape}")
    same = (ballots == honest) | (np.isnan(ballots) & np.isnan(honest))
    moved = ~same.reshape(*honest.shape[:2], -1).all(axis=2)
    submodels = np.flatnonzero(moved.any(axis=0) & (True if which is None else which))
    if not len(submodels):
        return Check(name)
    return Check(name, f"{_moved_text(model, moved, submodels)}: {CURE}")


def _moved_text(model: FittedEnsemble, moved: Array, submodels: Array) -> str:
    first = int(submodels[0])
    return (
        f"{model.describe(first)} says something else in {moved[:, first].mean():.0%} of rows "
        f"({len(submodels)} submodels do)"
    )


def _hostile_checks(
    claims: Claims,
    kinds: Sequence[str],
    hostile: Callable[[str, list[int]], Iterator[Trial]],
    where: str,
    rng: np.random.Generator,
    most: int = 3,
) -> Iterator[Check]:
    """Write each kind of hostile values into a third of the submodels, and compare the others.

    Where a submodel refuses the table, that is an error and not a changed prediction.
    """
    for kind in kinds:
        checks = [
            compare_ballots("", claims.model, honest, again, safe, refusable=True)
            for units, safe in islice(units_by_thirds(claims.reach, rng), most)
            for honest, again in hostile(kind, units)
        ]
        if checks:
            verb = "moves" if kind == ONE_CELL else "move"
            problem = next((check.problem for check in checks if check.problem), "")
            yield Check(f"{kind} in {where} {verb} no other submodel", problem)


def _unit_name(model: FittedEnsemble, unit: int) -> str:
    """Return a unit's name for people: "column 'age'"."""
    return f"{model.units_.kind[:-1]} {model.units_.names[unit]!r}"


def units_by_thirds(reach: Array, rng: np.random.Generator) -> Iterator[tuple[list[int], Array]]:
    """Yield, three times, units of about a third of the submodels, and the submodels not reached.

    So three tables show whether anything gets from one submodel into another, however many there
    are. Not more than a third, because an ensemble whose submodels mostly fail is refused.
    """
    order = rng.permutation(reach.shape[1])
    for part in np.array_split(order, 3):
        safe = ~np.isin(np.arange(len(order)), part)
        units = np.flatnonzero(reach.any(axis=1) & ~reach[:, safe].any(axis=1))
        if not len(units) and len(part):
            # sets that overlap: one unit of the part, and the submodels that it does not reach
            units = np.flatnonzero(reach[:, part].any(axis=1))[:1]
            safe = ~np.asarray(reach[units].any(axis=0))
        if len(units) and safe.any():
            yield [int(unit) for unit in units], safe


def one_unit_per_submodel(reach: Array, rng: np.random.Generator) -> list[int]:
    """Return one unit of every submodel."""
    return sorted({int(rng.choice(np.flatnonzero(own))) for own in reach.T if own.any()})


def _hostile_rows(
    family: str, table: AttackedTable, claims: Claims, units: list[int], rng: np.random.Generator
) -> Iterator[Changes]:
    """Yield values of the family in all columns of these units; then in one column of each."""
    columns = claims.columns_of(units)
    for variant in range(n_variants(family, table, columns)):
        yield hostile_columns(family, variant, table, columns)
    mixed: Changes = {}
    for unit in units:
        for own, changes in mixtures(table, claims.model.units_.columns[unit], rng):
            mixed |= changes if own == family else {}
    if mixed:
        yield mixed


def _fit_and_score(model: Estimator, X: TableLike, y: Array, rows: TableLike) -> Array:
    return np.asarray(model.fit(X, y).ballots(rows))


def _elsewhere(work: Callable[[], Array]) -> Array:
    """Work in a new process, which shares no memory, generator or cache with this one."""
    return np.asarray(Parallel(n_jobs=2, backend="loky")([delayed(work)()])[0])


def _fit_reordered(
    model: FittedEnsemble, training: AttackedTable, y: Array, rows: AttackedTable, seed: int
) -> Array:
    """Fit with the columns of the table in another order.

    Each submodel's own columns keep their order, since an estimator may break ties by it.
    """
    own = [model.columns_of(t) for t in range(len(model.estimators_))]
    order = _interleaved(own, seed)
    place = {column: k for k, column in enumerate(order)}

    def names_of(columns: Sequence[int]) -> list[object]:
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
    """Return all columns in a random order that keeps the order within each set."""
    rng = np.random.default_rng(seed)
    left = [list(columns) for columns in sets]
    order: list[int] = []
    while any(left):
        t = int(rng.choice([t for t, columns in enumerate(left) if columns]))
        order.append(left[t].pop(0))
    return order


def check_row_isolation(claims: Claims, table: AttackedTable, rng: np.random.Generator) -> Check:
    """Predict some rows again, in other batches, and compare with the ballots among all rows."""
    chosen = np.sort(rng.permutation(table.n_rows)[:ROWS])
    problems = chain(
        _in_other_batches(claims, table, chosen, rng),
        _beside_hostile_rows(claims, table, chosen[:ROWS_BESIDE], rng),
    )
    problem = next(filter(None, problems), "")
    return Check(SAME_BATCH, f"{problem}: {BATCH_CURE}" if problem else "")


def _in_other_batches(
    claims: Claims, table: AttackedTable, chosen: Array, rng: np.random.Generator
) -> Iterator[str]:
    """Predict alone, in other orders, twice, and in a batch large enough for several threads."""
    batches: list[tuple[str, Array]] = [(f"row {row} alone", np.array([row])) for row in chosen]
    batches += [
        ("the same rows in reversed order", np.arange(table.n_rows)[::-1]),
        ("the same rows in another order", rng.permutation(table.n_rows)),
        ("some of the rows", chosen),
        ("every row twice", np.repeat(chosen, 2)),
        ("one row many times", np.full(len(chosen), chosen[0])),
        (f"{FEW_ROWS} rows", np.resize(chosen, FEW_ROWS)),
    ]
    for how, rows in batches:
        try:
            ballots = np.asarray(claims.model.ballots(table.take(rows).table()))
        except MemoryError:  # says nothing about the model
            raise
        except Exception as exc:
            yield f"predicting {how}, it fails: {type(exc).__name__}: {exc}"
            continue
        yield compare_batches(claims, claims.ballots[rows], ballots, f"predicting {how}")


def _beside_hostile_rows(
    claims: Claims, table: AttackedTable, chosen: Array, rng: np.random.Generator
) -> Iterator[str]:
    """Predict with one more row of hostile values, before the others or after them.

    In all columns, or in one column of every submodel. Compared with the same batch in which that
    row is honest: no bit may move. Where a submodel fails on the row, it predicts every row alone,
    so that rounding may.
    """
    model = claims.model
    all_columns = claims.columns_of(range(len(model.units_)))
    lenient, strict = (with_failures(model, on_failure) for on_failure in ("vote", "raise"))
    for first in (True, False):
        rows = np.concatenate([chosen[:1], chosen] if first else [chosen, chosen[-1:]])
        batch = table.take(rows)
        place = np.array([0 if first else len(chosen)])
        neighbours = np.delete(np.arange(len(rows)), place)
        where = "all columns" if first else "one column of each submodel"
        honest: dict[tuple[object, ...], Array | None] = {}
        for family in FAMILIES:
            for variant in range(n_variants(family, table, all_columns)):
                columns = all_columns if first else _one_column_each(claims, family, table, rng)
                changes = hostile_columns(family, variant, batch, columns, place)
                # the same types: they are part of the schema, which is trusted
                types = tuple((column, values.dtype) for column, values in changes.items())
                if types not in honest:
                    own = {column: batch.columns[column].astype(dtype) for column, dtype in types}
                    honest[types] = unrefused_ballots(strict, batch.table(own))
                before, attacked = honest[types], batch.table(changes)
                ballots = None if before is None else unrefused_ballots(strict, attacked)
                exact = ballots is not None
                if before is None or ballots is None:
                    before, ballots = claims.ballots[rows], unrefused_ballots(lenient, attacked)
                if ballots is None:
                    continue  # it refuses the batch: an error, not a changed prediction
                value = _value_text(family, variant, table, columns)
                how = f"predicted beside a row with {value} in {where}"
                yield compare_batches(claims, before[neighbours], ballots[neighbours], how, exact)


def _one_column_each(
    claims: Claims, family: str, table: AttackedTable, rng: np.random.Generator
) -> list[int]:
    """Return for every submodel one attackable column that can hold values of the family."""
    model = claims.model
    attackable = set(claims.columns_of(range(len(model.units_))))
    chosen = set()
    for t in range(len(model.partition_)):
        own = [column for column in model.columns_of(t) if column in attackable]
        if able := [column for column in own if values_of(family, table, column)]:
            chosen.add(int(rng.choice(able)))
    return sorted(chosen)


def _value_text(family: str, variant: int, table: AttackedTable, columns: list[int]) -> str:
    """Return a hostile value, for people."""
    values = next((own for column in columns if (own := values_of(family, table, column))), [None])
    value = values[variant % len(values)]
    if is_missing(value):
        return "missing values"
    return f"{value[:30]!r}" if isinstance(value, str) else f"{value:g}"


def compare_batches(
    claims: Claims, before: Array, after: Array, how: str, exact: bool = False
) -> str:
    """Return what is wrong with the ballots after, compared with those before ("" if nothing).

    ``exact``: to the last bit; else up to rounding, as long as predictions and radii are the same.
    """
    if after.shape != before.shape:
        return f"{how}, there are ballots of shape {after.shape} instead of {before.shape}"
    rounding = ROUNDING[before.dtype]
    moved = _moved(before, after, 0.0 if exact else rounding, _scales(claims))
    if moved.any():
        return f"{how}, {_moved_text(claims.model, moved, np.flatnonzero(moved.any(axis=0)))}"
    if np.array_equal(before, after):
        return ""
    (prediction, radius), (other, other_radius) = claims.certify(before), claims.certify(after)
    same = claims.goals.same(prediction, other, rounding)
    if not same.all() or (radius != other_radius).any():
        return (
            f"{how}, a prediction or its radius changes, though the ballots differ by rounding only"
        )
    return ""


def _scales(claims: Claims) -> Array:
    """Return what each submodel's rounding is at least relative to."""
    sizes = np.abs(np.asarray(claims.ballots, dtype=np.float64))
    sizes = sizes.reshape(*claims.ballots.shape[:2], -1)
    # without the score of a class that was never seen
    largest = np.where(sizes < 1e30, sizes, 0.0).max(axis=(0, 2))
    return claims.goals.rounding_scale(largest)


def _moved(before: Array, after: Array, rounding: float, scales: Array) -> Array:
    """Return which submodels' ballots differ by more than rounding, in which rows."""
    before, after = (
        np.asarray(own, dtype=np.float64).reshape(*own.shape[:2], -1) for own in (before, after)
    )
    scale = np.maximum(np.abs(before), scales[:, None])
    return np.asarray((np.abs(before - after) > rounding * scale).any(axis=2))
