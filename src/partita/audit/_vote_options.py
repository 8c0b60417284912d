"""What an attacker who owns one unit of a row can make its submodels say, found by trying."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._support.types import Array
from ..ensemble._failures import FixedVote
from ..errors import PartitaError, SoundnessError
from ._attacked_table import Cells
from ._candidates import evading

REFUSALS = (PartitaError, ValueError, TypeError, ArithmeticError)  # how a submodel refuses a value


@dataclass(frozen=True)
class Option:
    """One way of rewriting a unit in all rows, and what its submodels then say of every row."""

    family: str
    changes: dict[int, Array]  # by column
    ballots: Array  # (rows, submodels of the unit, ...)
    refused: bool = False  # the submodels fail on such values and cast their fixed vote


def explore(model: Any, cells: Cells, rng: np.random.Generator) -> list[list[Option]]:
    """For every unit, the options that were tried. Units that share no submodel are tried in the
    same table, to save time.

    A submodel that refuses a value casts its fixed vote, which needs no asking; with
    ``on_failure="raise"`` it raises, and such a value is no option: an error is not a changed
    prediction."""
    reach = np.asarray(model.partition_.incidence())
    found: list[list[Option]] = [[] for _ in range(len(model.units_))]
    strict = with_failures(model, "raise")
    first = cells.rows(np.array([0]))
    for batch in _apart(reach):
        candidates = [list(evading(cells, model.units_.columns[unit], rng)) for unit in batch]
        for k in range(max(map(len, candidates))):
            tried = {
                unit: own[k][1] for unit, own in zip(batch, candidates, strict=True) if k < len(own)
            }
            families = {
                unit: own[k][0] for unit, own in zip(batch, candidates, strict=True) if k < len(own)
            }
            ballots = _asked(strict, cells, tried)
            refusing: set[int] = set()
            if (
                ballots is None
            ):  # some submodel refuses such values: find out which, by the first row alone
                refused = _refusing(
                    strict, first, {unit: _first(changes) for unit, changes in tried.items()}
                )
                refusing = {unit for unit in tried if (refused & reach[unit]).any()}
                rest = {unit: own for unit, own in tried.items() if unit not in refusing}
                ballots = _asked(strict, cells, rest) if rest else None
            for unit, changes in tried.items():
                own = None
                if unit in refusing and model.on_failure == "vote":
                    own = np.broadcast_to(
                        model.fixed_ballot_,
                        (cells.n_rows, int(reach[unit].sum()), *np.shape(model.fixed_ballot_)),
                    )
                elif (
                    unit not in refusing
                ):  # where other rows are refused than the first, each unit is asked alone
                    said = ballots if ballots is not None else _asked(model, cells, {unit: changes})
                    own = None if said is None else said[:, reach[unit]]
                if own is not None:
                    found[unit].append(Option(families[unit], changes, own, unit in refusing))
    return found


def with_failures(model: Any, on_failure: str) -> Any:
    """The same fitted model with another ``on_failure``; as it is where all submodels are trained
    at once and cannot vote."""
    if hasattr(model.estimators_, "scores"):
        return model
    other = copy(model)
    other.on_failure = on_failure
    return other


def _refusing(model: Any, cells: Cells, tried: dict[int, dict[int, Array]]) -> Array:
    """Which submodels refuse the rewritten table; all of them where they are trained, and asked, at
    once."""
    table = unless_refused(partial(model._open, reset=False), cells.table(_changes(tried)))
    if table is None or hasattr(model.estimators_, "scores"):
        return np.ones(len(model.estimators_), dtype=bool)
    return np.array(
        [_refuses(model, submodel, table, t) for t, submodel in enumerate(model.estimators_)]
    )


def _refuses(model: Any, submodel: Any, table: Any, t: int) -> bool:
    if isinstance(submodel, FixedVote):
        return False
    try:
        model._score()(submodel, table.take(model._columns(t)))
    except Exception:  # whatever it raises: see score_one
        return True
    return False


def _changes(tried: dict[int, dict[int, Array]]) -> dict[int, Array]:
    return {column: values for own in tried.values() for column, values in own.items()}


def _first(changes: dict[int, Array]) -> dict[int, Array]:
    return {column: values[:1] for column, values in changes.items()}


def _asked(model: Any, cells: Cells, tried: dict[int, dict[int, Array]]) -> Array | None:
    """The ballots of the rewritten table; None where a submodel refuses it."""
    ballots: Array | None = unless_refused(model.ballots, cells.table(_changes(tried)))
    return ballots


def unless_refused(work: Callable[..., Any], *given: Any) -> Any:
    """What the work gives; None where a submodel refuses the values that it is shown."""
    try:
        return work(*given)
    except SoundnessError:
        raise
    except REFUSALS:
        return None


def _apart(reach: Array) -> list[list[int]]:
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


def apart_first(order: Array, reach: Array, r: int) -> list[int]:
    """The first r units in this order that share no submodel; then any."""
    chosen: list[int] = []
    touched = np.zeros(reach.shape[1], dtype=bool)
    for unit in order:
        if len(chosen) < r and not (touched & reach[unit]).any():
            touched |= reach[unit]
            chosen.append(int(unit))
    return chosen + [int(unit) for unit in order if int(unit) not in chosen][: r - len(chosen)]
