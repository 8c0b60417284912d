"""The report's table of units: how many predictions each could break alone, and how it votes."""

from typing import Any

import numpy as np

from .._support import Array
from ..rules import PooledRule
from ..workflow import CertifiedTable


def unit_numbers(stated: CertifiedTable, counted: Array | None) -> list[dict[str, Any]]:
    """The units, the most critical first.

    ``critical``: in how many of the counted rows (all, if None) a unit could break the statement
    alone; None where nothing is stated. ``agreement``: how often its submodels' votes fulfil the
    statement; where units are left out, the ``group`` of each is given instead.
    """
    model = stated.model
    critical = np.zeros(len(model.units_), np.int64)
    stated_rows = stated.critical_units is not None
    if stated.critical_units is not None:
        rows = stated.critical_units if counted is None else stated.critical_units & counted
        critical = rows.sum(axis=1)
    reach, agreement = np.asarray(model.partition_.incidence()), stated.agreement()
    shares = [_mean(agreement[submodels]) for submodels in reach]
    rule = stated.rule
    if isinstance(rule, PooledRule):  # nearly all members see each unit
        shares, groups = [None] * len(reach), rule.unit_groups().tolist()
    else:
        groups = [None] * len(reach)
    names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))
    order = sorted(
        range(len(model.units_)), key=lambda unit: (-critical[unit], -(shares[unit] or 0), unit)
    )
    return [
        {
            "name": model.units_.names[unit],
            "columns": [str(names[column]) for column in model.units_.columns[unit]],
            "submodels": np.flatnonzero(reach[unit]).tolist(),
            "group": groups[unit],
            "critical": int(critical[unit]) if stated_rows else None,
            "agreement": shares[unit],
        }
        for unit in order
    ]


def _mean(shares: Array) -> float | None:
    """The mean of the shares that are known; None where none is."""
    known = shares[~np.isnan(shares)]
    return float(known.mean()) if len(known) else None
