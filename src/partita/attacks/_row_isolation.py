"""Does what a submodel says of a row depend on the other rows of the batch? Tried, not assumed.

Which rows are predicted together, and in which order, may move the last bits of a submodel's
scores, since products of matrices are rounded by their shape. It must not move more than that, nor
change a prediction or its radius. What the other rows *hold* must not move a single bit.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from .._support import Array
from ..ensemble import FEW_ROWS, FittedEnsemble
from ..tables import is_missing
from ._claims import Claims
from ._findings import Check
from ._table import AttackedTable
from ._values import FAMILIES, hostile_columns, n_variants, values_of
from ._vote_options import unless_refused, with_failures

NAME = "a row's ballots are the same alone and in a batch"
CURE = "compute nothing from the rows of a batch; learn it in fit"
ROWS = 12  # that are predicted again
# of them beside a hostile row: a submodel that fails on it predicts each alone, which takes long
ROWS_BESIDE = 6
# of scores and of values, relative to their size
ROUNDING = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9}


def check_row_isolation(claims: Claims, table: AttackedTable, rng: np.random.Generator) -> Check:
    """Predict some rows again, in other batches, and compare with the ballots among all rows."""
    chosen = np.sort(rng.permutation(table.n_rows)[:ROWS])
    problems = chain(
        _in_other_batches(claims, table, chosen, rng),
        _beside_hostile_rows(claims, table, chosen[:ROWS_BESIDE], rng),
    )
    problem = next(filter(None, problems), "")
    return Check(NAME, f"{problem}: {CURE}" if problem else "")


def _in_other_batches(
    claims: Claims, table: AttackedTable, chosen: Array, rng: np.random.Generator
) -> Iterator[str]:
    """Alone, in other orders, twice, and in a batch that is large enough for several threads."""
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
    """One more row with hostile values, before the others or after them.

    In all columns, or in one column of every submodel. Compared with the same batch in which that
    row is honest: no bit may move. Where a submodel fails on the row, it predicts every row alone,
    so that rounding may.
    """
    model = claims.model
    all_columns = [column for columns in model.units_.columns for column in columns]
    lenient, strict = (with_failures(model, on_failure) for on_failure in ("vote", "raise"))
    for first in (True, False):
        rows = np.concatenate([chosen[:1], chosen] if first else [chosen, chosen[-1:]])
        batch = table.take(rows)
        place = np.array([0 if first else len(chosen)])
        neighbours = np.delete(np.arange(len(rows)), place)
        where = "all columns" if first else "one column of each submodel"
        honest: dict[tuple[Any, ...], Any] = {}
        for family in FAMILIES:
            for variant in range(n_variants(family, table, all_columns)):
                columns = all_columns if first else _one_column_each(model, family, table, rng)
                changes = hostile_columns(family, variant, batch, columns, place)
                # the same types: they are part of the schema, which is trusted
                types = tuple((column, values.dtype) for column, values in changes.items())
                if types not in honest:
                    own = {column: batch.columns[column].astype(dtype) for column, dtype in types}
                    honest[types] = unless_refused(strict.ballots, batch.table(own))
                before, attacked = honest[types], batch.table(changes)
                ballots = None if before is None else unless_refused(strict.ballots, attacked)
                exact = ballots is not None
                if not exact:
                    before = claims.ballots[rows]
                    ballots = unless_refused(lenient.ballots, attacked)
                if ballots is None:
                    continue  # it refuses the batch: an error, not a changed prediction
                value = _value_text(family, variant, table, columns)
                how = f"predicted beside a row with {value} in {where}"
                yield compare_batches(claims, before[neighbours], ballots[neighbours], how, exact)


def _one_column_each(
    model: FittedEnsemble, family: str, table: AttackedTable, rng: np.random.Generator
) -> list[int]:
    """For every submodel one attackable column that can hold values of the family."""
    attackable = {column for columns in model.units_.columns for column in columns}
    chosen = set()
    for t in range(len(model.partition_)):
        if able := [
            column
            for column in model.columns_of(t)
            if column in attackable and values_of(family, table, column)
        ]:
            chosen.add(int(rng.choice(able)))
    return sorted(chosen)


def _value_text(family: str, variant: int, table: AttackedTable, columns: list[int]) -> str:
    """A hostile value, for people."""
    values = next((own for column in columns if (own := values_of(family, table, column))), [None])
    value = values[variant % len(values)]
    if is_missing(value):
        return "missing values"
    return f"{value[:30]!r}" if isinstance(value, str) else f"{value:g}"


def compare_batches(
    claims: Claims, before: Array, after: Array, how: str, exact: bool = False
) -> str:
    """What is wrong with the ballots after, compared with those before ("" if nothing).

    ``exact``: to the last bit; else up to rounding, as long as predictions and radii are the same.
    """
    if after.shape != before.shape:
        return f"{how}, there are ballots of shape {after.shape} instead of {before.shape}"
    rounding = ROUNDING[before.dtype]
    moved = _moved(before, after, 0.0 if exact else rounding, _scales(claims))
    if moved.any():
        submodels = np.flatnonzero(moved.any(axis=0))
        first = claims.model.describe(int(submodels[0]))
        share = moved[:, submodels[0]].mean()
        return (
            f"{how}, {first} says something else in {share:.0%} of rows "
            f"({len(submodels)} submodels do)"
        )
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
    """What each submodel's rounding is at least relative to."""
    sizes = np.abs(np.asarray(claims.ballots, dtype=np.float64))
    sizes = sizes.reshape(*claims.ballots.shape[:2], -1)
    # without the score of a class that was never seen
    largest = np.where(sizes < 1e30, sizes, 0.0).max(axis=(0, 2))
    return claims.goals.rounding_scale(largest)


def _moved(before: Array, after: Array, rounding: float, scales: Array) -> Array:
    """Which submodels' ballots differ by more than rounding, in which rows."""
    before, after = (
        np.asarray(own, dtype=np.float64).reshape(*own.shape[:2], -1) for own in (before, after)
    )
    scale = np.maximum(np.abs(before), scales[:, None])
    return np.asarray((np.abs(before - after) > rounding * scale).any(axis=2))
