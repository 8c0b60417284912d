"""How often sources were silent in certified rows, and what that cost, added up over pieces."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._certified_table import CertifiedTable

SHOWN_UNITS = 5  # silent units that are named


@dataclass
class SilenceCounts:
    """Counts over rows in which sources may be silent.

    Attributes
    ----------
    rows : int
        Rows in which a source is silent.
    units : Counter
        Rows by silent unit.
    abstained : int
        The most submodels that abstain in a row.
    radii, without : Counter
        Rows with silence by their radius, and by what it would be at best without the silence;
        empty where nothing is stated about rows.
    made_for : int
        How many sources a leave-out ensemble was made for; 0 for a partition.
    """

    rows: int = 0
    units: "Counter[str]" = field(default_factory=Counter)
    abstained: int = 0
    radii: "Counter[int]" = field(default_factory=Counter)
    without: "Counter[int]" = field(default_factory=Counter)
    made_for: int = 0

    @classmethod
    def of(cls, certified: CertifiedTable) -> "SilenceCounts | None":
        """Count the rows of a certified table; None where silence was not asked for."""
        abstentions = certified.ballots.abstentions
        if abstentions is None or abstentions.units is None:
            return None
        rows = np.asarray(abstentions.units.any(axis=1))
        per_unit = abstentions.units.sum(axis=0).tolist()
        names = certified.model.units_.names
        found = cls(
            int(rows.sum()),
            Counter({name: n for name, n in zip(names, per_unit, strict=True) if n}),
            int(abstentions.submodels.sum(axis=1).max(initial=0)),
            made_for=int(getattr(certified.model, "radius", 0)),
        )
        silence = None if certified.proof is None else certified.proof.silence
        if silence is not None:
            found.radii = Counter(silence.radius[rows].tolist())
            found.without = Counter(silence.without[rows].tolist())
        return found

    def __add__(self, other: "SilenceCounts") -> "SilenceCounts":
        return SilenceCounts(
            self.rows + other.rows,
            self.units + other.units,
            max(self.abstained, other.abstained),
            self.radii + other.radii,
            self.without + other.without,
            self.made_for,
        )

    def sentence(self, n_rows: int) -> str:
        """What was silent and what it cost, for people."""
        if not self.rows:
            return "No source is silent in any row."
        listed = [f"{name} ({count:,})" for name, count in self.units.most_common(SHOWN_UNITS)]
        if len(self.units) > SHOWN_UNITS:
            listed.append(f"{len(self.units) - SHOWN_UNITS} more")
        submodels = (
            "1 submodel abstains" if self.abstained == 1 else f"{self.abstained} submodels abstain"
        )
        return (
            f"Silent in {self.rows:,} of {n_rows:,} rows: {', '.join(listed)}. Up to {submodels}"
            f"{self._cost()}.{self._advice()}"
        )

    def _advice(self) -> str:
        if not self.made_for or max(self.radii, default=1) > 0:
            return ""
        return (
            f" A leave-out ensemble made for r = {self.made_for} has no proof left there: fit it "
            "with a larger --radius, or use a partition."
        )

    def _cost(self) -> str:
        if not self.radii:
            return ""
        return (
            f"; the median radius there is {_median(self.radii):g}, at best "
            f"{_median(self.without):g} without the silence"
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        found: dict[str, Any] = {"rows": self.rows, "units": dict(self.units)}
        if self.radii:
            found["median_radius"] = _median(self.radii)
            found["median_radius_at_best_without"] = _median(self.without)
        return found


def _median(radii: "Counter[int]") -> float:
    return float(np.median(np.fromiter(radii.elements(), np.int64)))
