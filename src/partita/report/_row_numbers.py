"""The report's table of rows: prediction, radius, runner-up, critical units, deciding votes."""

import math
from typing import Any

import numpy as np

from .._support import Array, json_value
from ..workflow import CertifiedTable
from ._deciding_votes import deciding_votes
from ._suspects import Disagreement

MOST_VALUES = 50  # that are drawn in a row; of more, evenly many from the lowest to the highest


def row_numbers(
    certified: CertifiedTable,
    stated: CertifiedTable,
    right: Array | None,
    most: int,
    digits: int,
    disagreement: Disagreement | None = None,
) -> list[dict[str, Any]]:
    """The rows with the smallest radius, from there up; values without a radius come last.

    ``certified`` has the predictions, ``stated`` the certificates that the report is about, and
    ``disagreement`` what models say that leave units out, where the submodels do.
    """
    proof, critical, truth = stated.proof, stated.critical_units, certified.truth
    radius = np.zeros(len(certified), np.int64) if proof is None else proof.radius
    listed = np.argsort(np.where(radius < 0, np.iinfo(np.int64).max, radius), kind="stable")[:most]
    names = np.asarray(certified.model.units_.names, dtype=object)
    has_values = certified.model.task == "regression"
    shown = digits if has_values else None  # a label is shown to its last digit
    rows: list[dict[str, Any]] = []
    for i in listed.tolist():
        row: dict[str, Any] = {"row": i, "prediction": json_value(certified.prediction[i], shown)}
        if truth is not None:
            row["truth"] = json_value(truth[i], shown)
        if right is not None:
            row["right"] = bool(right[i])
        if proof is not None and critical is not None:
            runner_up = None if proof.runner_up is None else proof.runner_up[i]
            row["radius"] = int(radius[i]) if radius[i] >= 0 else None
            row["runner_up"] = json_value(runner_up, shown)
            row["critical_units"] = names[critical[:, i]].tolist() if radius[i] >= 0 else []
        row |= (
            _values(certified, i, digits, disagreement)
            if has_values
            else deciding_votes(certified, i, disagreement)
        )
        rows.append(row)
    return rows


def _values(
    certified: CertifiedTable, i: int, digits: int, disagreement: Disagreement | None
) -> dict[str, Any]:
    """Every submodel's value for row i, or every model's, and the interval for every r."""
    found: dict[str, Any] = {}
    if disagreement is None:
        own = certified.ballots[i : i + 1]
        votes = certified.model.votes(own)[0]
        if own.abstentions is not None:
            votes = votes[~own.abstentions.submodels[0]]
    else:
        votes, found = disagreement.votes[i], disagreement.row(i)
    values = np.sort(votes)
    if not len(values):  # all sources are silent
        values = certified.prediction[i : i + 1]
    if len(values) > MOST_VALUES:
        values = values[np.linspace(0, len(values) - 1, MOST_VALUES).round().astype(np.int64)]
    intervals = certified.intervals.values()
    return found | {
        "values": json_value(values, digits),
        "low": [outward(low[i], -1, digits) for low, _ in intervals],
        "high": [outward(high[i], 1, digits) for _, high in intervals],
    }


def outward(end: float, direction: int, digits: int) -> float | None:
    """An interval's end with a few digits, never inside of the true one; None: no end.

    ``direction``: -1 for the lower end, 1 for the upper.
    """
    if not math.isfinite(end) or end == 0:
        return 0.0 if end == 0 else None
    short = float(f"{end:.{digits}g}")
    if direction * (short - end) >= 0:
        return short
    step = 10.0 ** (math.floor(math.log10(abs(end))) - digits + 1)
    wider = float(f"{short + direction * step:.{digits}g}")
    return wider if math.isfinite(wider) else None
