"""Does what a submodel says of a row depend on its own columns alone? Tried, not assumed.

Nothing here needs training data. Ballots are compared bit for bit.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .._support import Array
from ..ensemble import FittedEnsemble
from ._claims import Claims
from ._findings import Check
from ._row_isolation import check_row_isolation
from ._table import AttackedTable
from ._values import FAMILIES, hostile_columns, mixtures, n_variants, poisoned_column
from ._vote_options import unless_refused, with_failures

FEW_ROWS = 8  # are enough to see a submodel move
CURE = (
    "find what in the estimator reaches beyond its own columns, or is not seeded: until then the "
    "radius means nothing"
)


def check_rows(claims: Claims, table: AttackedTable, seed: int) -> Iterator[Check]:
    """Predict the rows in other batches, and with some units rewritten."""
    model = claims.model
    rng = np.random.default_rng(seed)
    yield check_row_isolation(claims, table, rng)
    reach = np.asarray(model.partition_.incidence())
    for unit in one_unit_per_submodel(reach, rng):
        rewritten = table.table(
            {
                column: poisoned_column("permutation", table, column, np.empty(0), rng)
                for column in model.units_.columns[unit]
            }
        )
        yield compare_ballots(
            f"{unit_name(model, unit)} rewritten in the rows moves no other submodel",
            model,
            claims.ballots,
            partial(model.ballots, rewritten),
            ~reach[unit],
        )
    few = table.take(np.arange(min(FEW_ROWS, table.n_rows)))
    lenient = with_failures(model, "vote")
    for family in FAMILIES:
        checks = []
        for units, safe in units_by_thirds(reach, rng):
            # the same rows and types, rewritten with themselves
            column = model.units_.columns[units[0]][0]
            honest = np.asarray(lenient.ballots(few.table({column: few.columns[column]})))
            for changes in _hostile_rows(family, few, model, units, rng):
                again = partial(ballots_or_honest, lenient.ballots, few.table(changes), honest)
                checks.append(compare_ballots("", model, honest, again, safe))
        if checks:
            yield first_problem(f"{family} in the rows move no other submodel", checks)


def check_unchanged(claims: Claims, table: AttackedTable) -> Check:
    """Attacks write into copies, so after all of them the model must predict what it did."""
    return compare_ballots(
        "the model says the same after all attacks",
        claims.model,
        claims.ballots,
        partial(claims.model.ballots, table.table()),
    )


def unit_name(model: FittedEnsemble, unit: int) -> str:
    """A unit as people call it: "column 'age'"."""
    return f"{model.units_.kind[:-1]} {model.units_.names[unit]!r}"


def first_problem(name: str, checks: list[Check]) -> Check:
    """Several checks as one."""
    return Check(name, next((check.problem for check in checks if check.problem), ""))


def units_by_thirds(reach: Array, rng: np.random.Generator) -> Iterator[tuple[list[int], Array]]:
    """Three times, units of about a third of the submodels, and the submodels they do not reach.

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
    """For every submodel one of its units."""
    units = {
        int(rng.choice(np.flatnonzero(reach[:, t])))
        for t in range(reach.shape[1])
        if reach[:, t].any()
    }
    return sorted(units)


def _hostile_rows(
    family: str,
    table: AttackedTable,
    model: FittedEnsemble,
    units: list[int],
    rng: np.random.Generator,
) -> Iterator[dict[int, Array]]:
    """All columns of these units with values of the family; then one column of each unit."""
    columns = [column for unit in units for column in model.units_.columns[unit]]
    for variant in range(n_variants(family, table, columns)):
        yield hostile_columns(family, variant, table, columns)
    mixed: dict[int, Array] = {}
    for unit in units:
        for own, changes in mixtures(table, model.units_.columns[unit], rng):
            mixed |= changes if own == family else {}
    if mixed:
        yield mixed


def ballots_or_honest(work: Callable[..., Any], *given: Any) -> Array:
    """Ballots; the honest ones, given last, where a submodel refuses the table.

    A refusal is an error, and not a changed prediction.
    """
    *arguments, honest = given
    ballots = unless_refused(work, *arguments)
    return np.asarray(honest if ballots is None else ballots)


def compare_ballots(
    name: str,
    model: FittedEnsemble,
    honest: Array,
    again: Callable[[], Any],
    which: Array | None = None,
) -> Check:
    """Compare these submodels' ballots with the honest ones, bit for bit."""
    try:
        ballots = again()
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
    first = int(submodels[0])
    return Check(
        name,
        f"{model.describe(first)} says something else in {moved[:, first].mean():.0%} of rows "
        f"({len(submodels)} submodels do): {CURE}",
    )
