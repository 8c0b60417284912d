"""What is trained and certified once: a setting, a run of it with a seed, its rules and its result.

A result counts only for the run that made it: the file repeats the run's request, and another
request makes the run start over.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita._support import write_atomic
from partita.rules import Median, Plurality, Rule, RunOff, Tournament

RunResult = dict[str, Any]  # as its file holds it


@dataclass(frozen=True)
class Setting:
    """What the paper's tables distinguish.

    ``count`` is T for "partition", e for "ablation", and the width of a band for "smoothing";
    ``patches`` asks for certificates against patches, too.
    """

    data: str
    method: str = "partition"  # "partition", "ablation", "smoothing" or "constant"
    count: int = 1
    # "random", "strided", "informed", or "exchanged" (informed, then units exchanged)
    partition: str = "random"
    spread: int = 1
    submodel: str = "usual"  # what the size uses for these data, or "linear"
    patches: bool = False


@dataclass(frozen=True)
class Run:
    """One setting with one seed; ``details`` says how this size runs it: rows, draws, submodels."""

    setting: Setting
    details: Mapping[str, Any]
    seed: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.base_name}-seed{self.seed}"

    @property
    def base_name(self) -> str:
        """The name of its file without the seed."""
        one = self.setting
        words = [one.data, one.method]
        if one.method == "partition":
            words += [str(one.count), one.partition]
            words += [f"spread{one.spread}"] if one.spread > 1 else []
            words += [str(self.details["submodel"]), *(["patches"] if one.patches else [])]
        elif one.method != "constant":
            words.append(str(one.count))
        return "-".join(words)

    @property
    def request(self) -> RunResult:
        """Everything the result depends on, as JSON holds it."""
        request = {**asdict(self.setting), **self.details, "seed": self.seed}
        plain: RunResult = json.loads(json.dumps(request))
        return plain

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


def read_result(folder: Path, run: Run) -> RunResult | None:
    """What this very run found earlier; None where there is no such file."""
    file = folder / f"{run.name}.json"
    try:
        result: RunResult = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return result if result.get("asked") == run.request else None


def write_result(folder: Path, run: Run, result: RunResult) -> RunResult:
    """Write what a run found, whole or not at all; return it as the file holds it."""
    content = {"asked": run.request, **result}
    write_atomic(
        folder / f"{run.name}.json", (json.dumps(content, allow_nan=False) + "\n").encode()
    )
    return content


class SeedPool:
    """The results of one setting with all its seeds, their rows pooled."""

    def __init__(self, results: Sequence[RunResult]) -> None:
        self.results = results

    def certified(self, rule: str, radius: int) -> float:
        """The share of rows, in %, that are right and stay right up to this radius."""
        return float(np.mean(self._shares(rule, radius)))

    def deviation(self, rule: str, radius: int) -> float | None:
        """The standard deviation of that share between seeds."""
        shares = self._shares(rule, radius)
        return float(np.std(shares, ddof=1)) if len(shares) > 1 else None

    def median(self, rule: str) -> float:
        """The median radius of all rows; -inf where half of them are wrong."""
        rows: Counter[int] = Counter()
        for one in self.results:
            rows.update({int(radius): count for radius, count in one["radii"][rule]})
        ordered = sorted(rows)
        radii = np.repeat(np.array(ordered, dtype=float), [rows[radius] for radius in ordered])
        return float(np.median(np.where(radii < 0, -np.inf, radii)))

    def patch(self, rule: str, what: str) -> float:
        """The share of rows, in %, that survive a patch.

        ``what`` is "square", or of all rectangles the "worst" or the "best".
        """
        return float(np.mean([one["patches"][rule][what] for one in self.results]))

    def has(self, name: str) -> bool:
        """Whether every run has this number."""
        return all(name in one for one in self.results)

    def mean(self, name: str) -> float:
        """The mean of a number that every run has, such as "fit_seconds"."""
        return float(np.mean([one[name] for one in self.results]))

    def _shares(self, rule: str, radius: int) -> list[float]:
        shares = []
        for one in self.results:
            counts = one["radii"][rule]
            certified = sum(count for r, count in counts if r >= radius)
            shares.append(100 * certified / sum(count for _, count in counts))
        return shares


def radius_counts(radii: Any) -> list[list[int]]:
    """Radii of rows as pairs (radius, number of rows); -1 is a row that is wrong."""
    values, counts = np.unique(np.asarray(radii, dtype=np.int64), return_counts=True)
    return [[int(value), int(count)] for value, count in zip(values, counts, strict=True)]


LABEL_RULES: dict[str, Rule] = {
    "plurality": Plurality(),
    "run-off": RunOff(),
    "tournament": Tournament(margin=0.0, prior=0.0),
    "tournament, margin 0.5": Tournament(margin=0.5, prior=0.0),
    "tournament, margin 1": Tournament(margin=1.0, prior=0.0),
    "tournament, prior 0.5": Tournament(margin=0.0, prior=0.5),
}
VALUE_RULES: dict[str, Median] = {
    "median": Median(),
    "median, stretch 1.2": Median(stretch=1.2),
    "median, stretch 1.3": Median(stretch=1.3),
    "median, stretch 1.4": Median(stretch=1.4),
}
TUNED_STRETCH = "median, stretch chosen on training rows"
PAPER_RULES = ("plurality", "run-off", "median")  # the others go beyond the paper
