"""The report's table of sources that contradict the outcome, beside what is usual.

These are hints for people, and no certificates. Nothing here knows HTML.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from .._support import json_value
from ..ensemble import FittedEnsemble
from ..rules import PooledRule
from ..watch import ReferenceRates, Watcher, evidence, source_names, source_units
from ..workflow import CertifiedTable

MOST_SOURCES = 200  # in the table


def watch_numbers(certified: CertifiedTable, usual: ReferenceRates | None) -> dict[str, Any] | None:
    """Which source contradicts how often; None where that has no meaning without usual rates.

    Rows are tested in their order. Rows in which a source is silent are left out.
    """
    model, ballots = certified.model, certified.ballots
    if certified.silent_units is not None:
        silent = certified.silent_units.any(axis=1)
        ballots = replace(ballots[~silent], abstentions=None)
    if not len(ballots):
        return None
    if usual is None:
        if isinstance(model.rule_, PooledRule) or not hasattr(model, "classes_"):
            return None  # suspects have a table of their own, and distances need thresholds
        lines, false_alarms, every = _without_usual(model, ballots), None, 1
    else:
        watcher = Watcher(model, usual)
        watcher.update(ballots)
        found = watcher.result
        lines = [one.to_dict() for one in found.sources[:-1]]
        false_alarms, every = found.false_alarms, found.every
    lines.sort(key=_most_changed_first)
    shown: dict[str, Any] = json_value(
        {
            "sources": lines[:MOST_SOURCES],
            "more": max(0, len(lines) - MOST_SOURCES),
            "rows": len(ballots),
            "every": every,
            "false_alarms": false_alarms,
            "usual_rows": None if usual is None else usual.rows,
            "alarms": [line["source"] for line in lines if line["alarm"] is not None],
        }
    )
    return shown


def _without_usual(model: FittedEnsemble, ballots: Any) -> list[dict[str, Any]]:
    found = evidence(model, ballots)
    counted = found.counted.sum(axis=0).tolist()
    contradictions = found.contradicts(np.zeros(len(counted))).sum(axis=0).tolist()
    units = source_units(model)
    return [
        {
            "source": name,
            "units": units[t],
            "counted": counted[t],
            "contradictions": contradictions[t],
            "rate": contradictions[t] / counted[t] if counted[t] else None,
            "usual": None,
            "alarm": None,
        }
        for t, name in enumerate(source_names(units))
    ]


def _most_changed_first(line: dict[str, Any]) -> tuple[bool, float]:
    return line["alarm"] is None, (line["usual"] or 0.0) - (line["rate"] or 0.0)
