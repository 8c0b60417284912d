"""What an attacker who owns one unit of a row can make its submodels say, found by trying.

A submodel that refuses a value is an error, or a fixed vote, and not a changed prediction.
"""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from .._support import Array
from ..ensemble import FittedEnsemble, were_trained_jointly
from ..errors import PartitaError, SoundnessError
from ._table import AttackedTable
from ._values import HONEST, evasion_candidates

REFUSALS = (PartitaError, ValueError, TypeError, ArithmeticError)  # how a submodel refuses a value

Changes = dict[int, Array]  # new values by column
Round = dict[int, tuple[str, Changes]]  # what several units try at once, and its family


@dataclass(frozen=True)
class VoteOption:
    """One way of rewriting a unit in all rows, and what its submodels then say of every row."""

    family: str
    changes: Changes
    ballots: Array  # (rows, submodels of the unit, ...)
    refused: bool = False  # the submodels fail on such values and cast their fixed vote


def find_options(
    model: FittedEnsemble, table: AttackedTable, rng: np.random.Generator
) -> list[list[VoteOption]]:
    """For every unit, the options that were tried.

    Units that share no submodel are tried in the same table, and values of one family below each
    other, to save time. A submodel that refuses a value casts its fixed vote, which needs no
    prediction; with ``on_failure="raise"`` it raises, and such a value is no option.
    """
    reach = np.asarray(model.partition_.incidence())
    options: list[list[VoteOption]] = [[] for _ in range(len(model.units_))]
    strict = with_failures(model, "raise")
    first_row = table.take(np.array([0]))
    for units in _disjoint_groups(reach):
        candidates = {
            unit: list(evasion_candidates(table, model.units_.columns[unit], rng)) for unit in units
        }
        rounds = [
            {unit: own[k] for unit, own in candidates.items() if k < len(own)}
            for k in range(max(map(len, candidates.values())))
        ]
        for stack in _stacks(rounds):
            changes = [{unit: own for unit, (_, own) in tried.items()} for tried in stack]
            stacked = _try_below_each_other(strict, table, changes) if len(stack) > 1 else None
            for k, tried in enumerate(stack):
                if stacked is None:
                    ballots, refusing = _try_together(strict, table, first_row, changes[k], reach)
                else:
                    ballots, refusing = stacked[k], set()
                for unit, (family, own) in tried.items():
                    unit_ballots = _unit_ballots(model, table, unit, own, ballots, refusing, reach)
                    if unit_ballots is not None:
                        option = VoteOption(family, own, unit_ballots, unit in refusing)
                        options[unit].append(option)
    return options


def _stacks(rounds: list[Round]) -> Iterator[list[Round]]:
    """Rounds of the same families and types, which are refused together or not at all."""

    def kind(tried: Round) -> tuple[Any, ...]:
        families = {family for family, _ in tried.values()}
        types = {(column, new.dtype) for _, own in tried.values() for column, new in own.items()}
        return families - set(HONEST), types

    for _, stack in groupby(rounds, kind):
        yield list(stack)


def _try_below_each_other(
    strict: Any, table: AttackedTable, changes: list[dict[int, Changes]]
) -> list[Array] | None:
    """The ballots of every round, from one table with all of them; None where it is refused."""
    rows = table.take(np.tile(np.arange(table.n_rows), len(changes)))
    merged = [_merged(own) for own in changes]
    columns = {
        column: np.concatenate([own.get(column, table.columns[column]) for own in merged])
        for column in {column for own in merged for column in own}
    }
    ballots = unless_refused(strict.ballots, rows.table(columns))
    return None if ballots is None else np.split(np.asarray(ballots), len(changes))


def _unit_ballots(
    model: FittedEnsemble,
    table: AttackedTable,
    unit: int,
    changes: Changes,
    ballots: Array | None,
    refusing: set[int],
    reach: Array,
) -> Array | None:
    """What a rewritten unit's submodels say of every row; None where that is no option."""
    if unit in refusing:
        if model.on_failure != "vote":
            return None
        fixed = np.asarray(model.fixed_ballot_)
        return np.broadcast_to(fixed, (table.n_rows, int(reach[unit].sum()), *fixed.shape))
    if ballots is None:  # other rows are refused than the first: each unit is tried alone
        ballots = _ballots(model, table, {unit: changes})
    return None if ballots is None else ballots[:, reach[unit]]


def _try_together(
    strict: Any,
    table: AttackedTable,
    first_row: AttackedTable,
    changes: dict[int, Changes],
    reach: Array,
) -> tuple[Array | None, set[int]]:
    """The ballots of several rewritten units, and the units whose submodels refuse them.

    The ballots are None where a submodel refuses other rows than the first.
    """
    ballots = _ballots(strict, table, changes)
    if ballots is not None:
        return ballots, set()
    # some submodel refuses such values: find out which, by the first row alone
    heads = {
        unit: {column: values[:1] for column, values in own.items()}
        for unit, own in changes.items()
    }
    refused = _refusing_submodels(strict, first_row, heads)
    refusing = {unit for unit in changes if (refused & reach[unit]).any()}
    rest = {unit: own for unit, own in changes.items() if unit not in refusing}
    return (_ballots(strict, table, rest) if rest else None), refusing


def with_failures(model: FittedEnsemble, on_failure: str) -> Any:
    """The same fitted model with another ``on_failure``.

    Unchanged where all submodels are trained jointly, which cannot vote for failures.
    """
    if were_trained_jointly(model.estimators_):
        return model
    other = copy(model)
    other.on_failure = on_failure
    return other


def _refusing_submodels(
    model: FittedEnsemble, table: AttackedTable, changes: dict[int, Changes]
) -> Array:
    """Which submodels refuse the rewritten table; all of them where they are trained jointly."""
    rows = unless_refused(model.read, table.table(_merged(changes)))
    if rows is None or were_trained_jointly(model.estimators_):
        return np.ones(len(model.partition_), dtype=bool)
    return model.refusing(rows)


def _merged(changes: dict[int, Changes]) -> Changes:
    return {column: values for own in changes.values() for column, values in own.items()}


def _ballots(
    model: FittedEnsemble, table: AttackedTable, changes: dict[int, Changes]
) -> Array | None:
    """The ballots of the rewritten table; None where a submodel refuses it."""
    ballots: Array | None = unless_refused(model.ballots, table.table(_merged(changes)))
    return ballots


def unless_refused(work: Callable[..., Any], *given: Any) -> Any:
    """What the work returns; None where a submodel refuses the values that it is given."""
    try:
        return work(*given)
    except SoundnessError:
        raise
    except REFUSALS:
        return None


def _disjoint_groups(reach: Array) -> list[list[int]]:
    """All units, in groups in which no two reach the same submodel."""
    groups: list[tuple[Array, list[int]]] = []
    for unit, own in enumerate(reach):
        for touched, members in groups:
            if not (touched & own).any():
                touched |= own
                members.append(unit)
                break
        else:
            groups.append((own.copy(), [unit]))
    return [members for _, members in groups]


def disjoint_first(order: Array, reach: Array, r: int) -> list[int]:
    """The first r units in this order that share no submodel; then any."""
    chosen: list[int] = []
    touched = np.zeros(reach.shape[1], dtype=bool)
    for unit in order:
        if len(chosen) < r and not (touched & reach[unit]).any():
            touched |= reach[unit]
            chosen.append(int(unit))
    return chosen + [int(unit) for unit in order if int(unit) not in chosen][: r - len(chosen)]
