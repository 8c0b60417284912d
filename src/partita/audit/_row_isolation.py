"""Does what a submodel says of a row depend on the other rows of the batch? Tried out, not assumed.

Which rows are asked together, and in which order, may move the last bits of a submodel's scores,
since products of matrices are rounded by their shape. It must not move more than that, nor change a
prediction or its radius. What the other rows *hold* must not move a single bit."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from .._support.types import Array
from ..ensemble._base import FEW_ROWS
from ._attacked_table import Cells
from ._claims import Question
from ._findings import Check
from ._hostile_values import FAMILIES, rewritten, values_of, ways
from ._vote_options import unless_refused, with_failures

NAME = "a row's ballots are the same alone and in a batch"
CURE = "compute nothing from the rows of a batch; learn it in fit"
ROWS = 12  # that are asked about again
# of them beside a hostile row: a submodel that fails on it is asked about each, which takes long
FEW = 6
ROUNDING = {
    np.dtype(np.float32): 1e-5,
    np.dtype(np.float64): 1e-9,
}  # of scores and of values, relative to their size


def check_alone(question: Question, cells: Cells, rng: np.random.Generator) -> Check:
    """Ask about some rows again, in other company, and compare with what was said of them among all
    rows."""
    chosen = np.sort(rng.permutation(cells.n_rows)[:ROWS])
    tried = chain(
        _in_company(question, cells, chosen, rng),
        _beside_hostile(question, cells, chosen[:FEW], rng),
    )
    found = next(filter(None, tried), "")
    return Check(NAME, f"{found}: {CURE}" if found else "")


def _in_company(
    question: Question, cells: Cells, chosen: Array, rng: np.random.Generator
) -> Iterator[str]:
    """Alone, in other orders, twice, and in a batch that is large enough for several threads."""
    companies: list[tuple[str, Array]] = [(f"row {row} alone", np.array([row])) for row in chosen]
    companies += [
        ("the same rows in reversed order", np.arange(cells.n_rows)[::-1]),
        ("the same rows in another order", rng.permutation(cells.n_rows)),
        ("some of the rows", chosen),
        ("every row twice", np.repeat(chosen, 2)),
        ("one row many times", np.full(len(chosen), chosen[0])),
        (f"{FEW_ROWS} rows", np.resize(chosen, FEW_ROWS)),
    ]
    for how, rows in companies:
        try:
            ballots = np.asarray(question.model.ballots(cells.rows(rows).table()))
        except Exception as exc:
            yield f"asked about {how}, it fails: {type(exc).__name__}: {exc}"
            continue
        yield compared(question, question.ballots[rows], ballots, f"asked about {how}")


def _beside_hostile(
    question: Question, cells: Cells, chosen: Array, rng: np.random.Generator
) -> Iterator[str]:
    """One more row, with hostile values in all columns or in one column of every submodel, before
    the others or after them.

    Compared with the same batch in which that row is honest: no bit may move. Where a submodel
    fails on the row, it is asked about every row alone, so that rounding may."""
    model = question.model
    everything = [column for columns in model.units_.columns for column in columns]
    lenient, strict = (with_failures(model, on_failure) for on_failure in ("vote", "raise"))
    for first in (True, False):
        rows = np.concatenate([chosen[:1], chosen] if first else [chosen, chosen[-1:]])
        company = cells.rows(rows)
        place = np.array([0 if first else len(chosen)])
        others = np.delete(np.arange(len(rows)), place)
        honest: dict[tuple[Any, ...], Any] = {}
        for family in FAMILIES:
            for way in range(ways(family, cells, everything)):
                columns = everything if first else _one_of_each(model, family, cells, rng)
                changes = rewritten(family, way, company, columns, place)
                types = tuple((column, values.dtype) for column, values in changes.items())
                if (
                    types not in honest
                ):  # the same types: they are part of the schema, which is trusted
                    own = {column: company.columns[column].astype(dtype) for column, dtype in types}
                    honest[types] = unless_refused(strict.ballots, company.table(own))
                before, table = honest[types], company.table(changes)
                ballots = None if before is None else unless_refused(strict.ballots, table)
                exact = ballots is not None
                if not exact:
                    before, ballots = question.ballots[rows], unless_refused(lenient.ballots, table)
                if ballots is None:
                    continue  # it refuses the batch: an error, not a changed prediction
                where = "all columns" if first else "one column of each submodel"
                how = f"asked beside a row with {_named(family, way, cells, columns)} in {where}"
                yield compared(question, before[others], ballots[others], how, exact)


def _one_of_each(model: Any, family: str, cells: Cells, rng: np.random.Generator) -> list[int]:
    """For every submodel one attackable column that can hold values of the family."""
    attackable = {column for columns in model.units_.columns for column in columns}
    chosen = set()
    for t in range(len(model.estimators_)):
        if able := [
            column
            for column in model._columns(t)
            if column in attackable and values_of(family, cells, column)
        ]:
            chosen.add(int(rng.choice(able)))
    return sorted(chosen)


def _named(family: str, way: int, cells: Cells, columns: list[int]) -> str:
    values = next((own for column in columns if (own := values_of(family, cells, column))), [None])
    value = values[way % len(values)]
    return (
        "gaps"
        if value is None or value != value
        else f"{value[:30]!r}"
        if isinstance(value, str)
        else f"{value:g}"
    )


def compared(question: Question, before: Array, after: Array, how: str, exact: bool = False) -> str:
    """What is wrong with the ballots after, compared with those before ("": nothing).

    ``exact``: to the last bit; else up to rounding, as long as predictions and radii are the same.
    """
    if after.shape != before.shape:
        return f"{how}, there are ballots of shape {after.shape} instead of {before.shape}"
    moved = _differ(before, after, 0.0 if exact else ROUNDING[before.dtype], _sizes(question))
    if moved.any():
        submodels = np.flatnonzero(moved.any(axis=0))
        first = question.model.describe(int(submodels[0]))
        share = moved[:, submodels[0]].mean()
        return f"{how}, {first} says something else in {share:.0%} of rows ({len(submodels)} submodels do)"
    if np.array_equal(before, after):
        return ""
    (prediction, radius), (other, other_radius) = (
        question.statement(before),
        question.statement(after),
    )
    rounding = ROUNDING[before.dtype] * np.abs(prediction).max() if question.of_values else 0
    kept = np.abs(prediction - other) <= rounding if question.of_values else prediction == other
    if not kept.all() or (radius != other_radius).any():
        return (
            f"{how}, a prediction or its radius changes, though the ballots differ by rounding only"
        )
    return ""


def _sizes(question: Question) -> Array:
    """How large each submodel's scores or values are: rounding is relative to it. Below 1, a
    log-probability counts as 1."""
    sizes = np.abs(np.asarray(question.ballots, dtype=np.float64)).reshape(
        *question.ballots.shape[:2], -1
    )
    largest = np.where(sizes < 1e30, sizes, 0.0).max(
        axis=(0, 2)
    )  # without the score of a class that was never seen
    return np.asarray(largest if question.of_values else np.minimum(largest, 1.0))


def _differ(before: Array, after: Array, rounding: float, sizes: Array) -> Array:
    """Which submodels' ballots differ by more than rounding, in which rows: bool (rows,
    submodels)."""
    before, after = (
        np.asarray(own, dtype=np.float64).reshape(*own.shape[:2], -1) for own in (before, after)
    )
    scale = np.maximum(np.abs(before), sizes[:, None])
    return np.asarray((np.abs(before - after) > rounding * scale).any(axis=2))
