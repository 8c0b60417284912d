"""What is trained and certified once: a setting, a run of it with a seed, and what several runs
together found."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._support.atomic import write_whole

Found = dict[str, Any]  # what a run found, as its file holds it


@dataclass(frozen=True)
class Setting:
    """What the paper's tables tell apart.

    ``count`` is T for "partition", e for "ablation", and the width of a band for "smoothing";
    ``patches`` asks for proofs about patches, too."""

    data: str
    method: str = "partition"  # "partition", "ablation", "smoothing", "constant"
    count: int = 1
    partition: str = (
        "random"  # "random", "strided", "informed", "exchanged" (informed, then units exchanged)
    )
    spread: int = 1
    submodel: str = "usual"  # what the size takes for these data, or "linear"
    patches: bool = False


@dataclass(frozen=True)
class Run:
    """One setting with one seed. ``details`` says how this size does it: rows, draws, sizes of
    submodels."""

    setting: Setting
    details: Mapping[str, Any]
    seed: int

    @property
    def name(self) -> str:
        """For the file it is kept in."""
        one = self.setting
        words = [one.data, one.method]
        if one.method == "partition":
            words += [
                str(one.count),
                one.partition,
                *([f"spread{one.spread}"] if one.spread > 1 else []),
            ]
            words += [str(self.details["submodel"]), *(["patches"] if one.patches else [])]
        elif one.method != "constant":
            words.append(str(one.count))
        return "-".join([*words, f"seed{self.seed}"])

    @property
    def asked(self) -> Found:
        """What was asked for: a kept file counts only if it says the same."""
        asked: Found = json.loads(
            json.dumps({**asdict(self.setting), **self.details, "seed": self.seed})
        )
        return asked

    def __str__(self) -> str:
        one = self.setting
        what = {
            "partition": f"T = {one.count}",
            "ablation": f"randomized ablation, e = {one.count}",
        }.get(one.method, one.method)
        spread = f", spread {one.spread}" if one.spread > 1 else ""
        model = (
            f", {self.details['submodel']}, {one.partition}" if one.method == "partition" else ""
        )
        return f"{one.data}, {what}{spread}{model}, seed {self.seed}"


def kept(folder: Path, run: Run) -> Found | None:
    """What this run found before, if it did."""
    file = folder / f"{run.name}.json"
    try:
        found: Found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return found if found.get("asked") == run.asked else None


def keep(folder: Path, run: Run, found: Found) -> None:
    """Write what a run found, whole or not at all."""
    write_whole(
        folder / f"{run.name}.json",
        (json.dumps({"asked": run.asked, **found}, allow_nan=False) + "\n").encode(),
    )


class Pool:
    """The runs of one setting with all its seeds, their rows taken together."""

    def __init__(self, found: Sequence[Found]) -> None:
        self.found = found

    def certified(self, rule: str, radius: int) -> float:
        """The share of rows, in %, that are right and stay right up to this radius."""
        return float(np.mean(self._shares(rule, radius)))

    def deviation(self, rule: str, radius: int) -> float | None:
        """The standard deviation of that share from seed to seed."""
        shares = self._shares(rule, radius)
        return float(np.std(shares, ddof=1)) if len(shares) > 1 else None

    def median(self, rule: str) -> float:
        """The median radius of all rows; -inf where half of them are wrong."""
        rows: Counter[int] = Counter()
        for one in self.found:
            rows.update({int(radius): count for radius, count in one["radii"][rule]})
        radii = np.repeat(
            np.array(sorted(rows), dtype=float), [rows[radius] for radius in sorted(rows)]
        )
        return float(np.median(np.where(radii < 0, -np.inf, radii)))

    def patch(self, rule: str, what: str) -> float:
        """The share of rows, in %, that survive a patch: "square", or of all rectangles the "worst"
        or the "best"."""
        return float(np.mean([one["patches"][rule][what] for one in self.found]))

    def has(self, name: str) -> bool:
        """Whether every run has a number."""
        return all(name in one for one in self.found)

    def mean(self, name: str) -> float:
        """A number that every run has, such as "fit_seconds", on average."""
        return float(np.mean([one[name] for one in self.found]))

    def _shares(self, rule: str, radius: int) -> list[float]:
        return [
            100
            * sum(c for r, c in one["radii"][rule] if r >= radius)
            / sum(c for _, c in one["radii"][rule])
            for one in self.found
        ]


def tally(radii: Any) -> list[list[int]]:
    """Radii of rows as pairs (radius, rows); -1 is a row that is wrong."""
    values, counts = np.unique(np.asarray(radii, dtype=np.int64), return_counts=True)
    return [[int(value), int(count)] for value, count in zip(values, counts, strict=True)]
