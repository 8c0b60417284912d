"""What is proven of many rows, added up piece by piece."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """Rows by their radius, rows by the radius at which they are right, and the widths of intervals by radius."""

    rows: int = 0
    radii: Counter[int] = field(default_factory=Counter)
    right: Counter[int] | None = None  # -1: not right
    widths: dict[int, float] = field(default_factory=dict)

    def __add__(self, other: "Tally") -> "Tally":
        right = None if self.right is None or other.right is None else self.right + other.right
        widths = {radius: self.widths.get(radius, 0.0) + width for radius, width in other.widths.items()}
        return Tally(self.rows + other.rows, self.radii + other.radii, right, widths)

    def summary(self, model: Any, out: Any = None) -> dict[str, Any]:
        """The certified share at every radius, and what it counts."""
        counts = model.counts_
        found: dict[str, Any] = {
            "rows": self.rows,
            "counts": {"what": counts.what, "total": counts.total, "trusted": list(counts.trusted)},
            "out": None if out is None else str(out),
        }
        if self.radii:
            found["certified"] = share_at_least(self.radii)
            found["median_radius"] = _median(self.radii)
        if self.right is not None:
            found["certified_accuracy"] = share_at_least(self.right)
        return found

    def show(self, model: Any) -> None:
        """The same for people."""
        from .terminal import say, show

        found, counts = self.summary(model), model.counts_
        say(f"{self.rows:,} rows; a radius counts {counts}.")
        if "certified" not in found:
            say("Give --tolerance or --relative to learn how many sources it takes to move a prediction further than that.")
            rows = [[str(r), f"{width / self.rows:.6g}"] for r, width in self.widths.items()]
            show("Where r sources can push a prediction", ["r", "mean width of the interval"], rows)
            return
        lines = {"certified": found["certified"], "certified and right": found.get("certified_accuracy")}
        radii = range(min(12, max(len(line or []) for line in lines.values())))
        rows = [
            [name, *(f"{100 * (line[r] if r < len(line) else 0):.1f}" for r in radii)] for name, line in lines.items() if line is not None
        ]
        show(f"% of rows, whatever is written into r of the {counts.total:,} {counts.what}", ["r =", *map(str, radii)], rows)


def share_at_least(radii: Counter[int]) -> list[float]:
    """The share of rows with a radius of at least r, for r = 0 and up, as far as there are any; ``radii`` counts rows by radius."""
    most, rows = max(max(radii), 0), radii.total()
    return [sum(count for radius, count in radii.items() if radius >= r) / rows for r in range(most + 1)]


def _median(radii: Counter[int]) -> float:
    ordered, below = sorted(radii.items()), 0
    middle = [(radii.total() - 1) // 2, radii.total() // 2]
    found: list[int] = []
    for radius, count in ordered:
        found += [radius] * sum(below <= place < below + count for place in middle)
        below += count
    return sum(found) / 2
