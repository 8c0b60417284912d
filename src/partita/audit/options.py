"""What an attacker who owns one unit of a row can make its submodels say, found by trying."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import PartitaError
from .candidates import evading
from .cells import Cells

Array = NDArray[Any]


@dataclass(frozen=True)
class Option:
    """One way of rewriting a unit in all rows, and what its submodels then say of every row."""

    changes: dict[int, Array]  # by column
    ballots: Array  # (rows, submodels of the unit, ...)


def explore(model: Any, cells: Cells, rng: np.random.Generator) -> list[list[Option]]:
    """For every unit, the options that were tried. Units that share no submodel are tried in the same table, to save time."""
    reach = np.asarray(model.partition_.incidence())
    found: list[list[Option]] = [[] for _ in range(len(model.units_))]
    for batch in _apart(reach):
        ways = [list(evading(cells, model.units_.columns[unit], rng)) for unit in batch]
        for k in range(max(map(len, ways))):
            tried = {unit: own[k] for unit, own in zip(batch, ways, strict=True) if k < len(own)}
            said = _asked(model, cells, tried)
            if said is None:  # some submodel refuses such values: find out which
                said_alone = {unit: _asked(model, cells, {unit: changes}) for unit, changes in tried.items()}
            for unit, changes in tried.items():
                ballots = said if said is not None else said_alone[unit]
                if ballots is not None:
                    found[unit].append(Option(changes, ballots[:, reach[unit]]))
    return found


def _asked(model: Any, cells: Cells, tried: dict[int, dict[int, Array]]) -> Array | None:
    """The ballots of the rewritten table; None where a submodel refuses it."""
    try:
        return np.asarray(model.ballots(cells.table({column: values for own in tried.values() for column, values in own.items()})))
    except (PartitaError, ValueError, TypeError):
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
