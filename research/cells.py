"""A cell of a table: what the paper prints, what our runs measure for it, and the difference.

A cell's specification says which runs it needs; filling it reads their results and runs nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .runs import Run, RunResult, SeedPool, Setting

Cell = dict[str, Any]  # as a table's JSON file holds it


@dataclass(frozen=True)
class Measurement:
    """One number that the runs of a setting give.

    ``what`` is "certified", "median", "patch", or the name of a measured time.
    """

    setting: Setting
    what: str
    rule: str = ""
    at: int | str = 0

    def of(self, pool: SeedPool) -> float:
        if self.what == "certified":
            return pool.certified(self.rule, int(self.at))
        if self.what == "median":
            return pool.median(self.rule)
        if self.what == "patch":
            return pool.patch(self.rule, str(self.at))
        return pool.mean(self.what)


@dataclass(frozen=True)
class CellSpec:
    """A number of the paper, and the measurements that stand beside it.

    ``combine`` says how several measurements become one number: the "best" of them, a "gain" (first
    less second) or a "ratio". ``over`` names what ``x`` is (T, e or r). ``beyond`` marks what the
    paper does not have; its number is then the best that the paper has.
    """

    quantity: str
    over: str
    series: str
    x: Any
    paper: float | None
    measurements: tuple[Measurement, ...]
    combine: str = "one"
    beyond: bool = False


COMBINE: dict[str, Callable[[list[float]], float]] = {
    "one": lambda values: values[0],
    "best": max,
    "gain": lambda values: values[0] - values[1],
    "ratio": lambda values: values[0] / values[1],
}

RunsOf = Callable[[Setting], list[Run]]
Results = Mapping[str, RunResult | str]  # by a run's name: its result, or why it was not run


def fill_cell(
    spec: CellSpec, runs_of: RunsOf, results: Results, earlier: Cell | None = None
) -> Cell:
    """The cell with our number and the difference, or why there is none.

    ``earlier`` is this cell as another call filled it with the same settings: its number stands in
    for runs that are not there now, or is one of those of which the best is taken.
    """
    cell: Cell = {
        "quantity": spec.quantity,
        "over": spec.over,
        "series": spec.series,
        "x": spec.x,
        "paper": _json_number(spec.paper),
        "beyond": spec.beyond,
    }
    if not spec.measurements:
        return cell | {"not_run": "printed by the paper, not implemented here"}
    pools = {one: _pool(one, runs_of, results) for one in spec.measurements}
    reasons = [pool for pool in pools.values() if isinstance(pool, str)]
    lacks_runs = bool(reasons) and (spec.combine != "best" or len(reasons) == len(pools))
    if lacks_runs:
        return cell | ({"not_run": reasons[0]} if earlier is None else _numbers(earlier))
    values = [one.of(pool) for one, pool in pools.items() if isinstance(pool, SeedPool)]
    names = _run_names(spec, runs_of, results)
    if reasons and earlier is not None:
        values.append(float(earlier["ours"]))
        names += [name for name in earlier["of"] if name not in names]
    ours = COMBINE[spec.combine](values)
    deviation = _deviation(spec, pools)
    without = [
        one.setting
        for one, pool in pools.items()
        if isinstance(pool, str) and not {run.base_name for run in runs_of(one.setting)} & {*names}
    ]
    return cell | {
        "ours": _json_number(ours),
        "difference": _json_number(_difference(ours, spec.paper)),
        **({} if deviation is None else {"deviation": _json_number(deviation)}),
        **({"without": _counts_text(without)} if without else {}),
        "of": names,
    }


def _numbers(cell: Cell) -> Cell:
    """What was measured for a cell."""
    measured = ("ours", "difference", "deviation", "without", "of")
    return {name: cell[name] for name in measured if name in cell}


def _pool(measurement: Measurement, runs_of: RunsOf, results: Results) -> SeedPool | str:
    """The results of a measurement's runs, or why they are not there."""
    runs = runs_of(measurement.setting)
    if not runs:
        return "not part of this size"
    own = [results.get(run.name, "not run yet") for run in runs]
    reasons = [result for result in own if isinstance(result, str)]
    if reasons:
        return reasons[0]
    pool = SeedPool([result for result in own if not isinstance(result, str)])
    if measurement.what.endswith("_seconds") and not pool.has(measurement.what):
        return "not timed: interrupted, or other runs had a share of the machine"
    return pool


def _run_names(spec: CellSpec, runs_of: RunsOf, results: Results) -> list[str]:
    """The runs that were used, without their seeds."""
    used = [
        run
        for measurement in spec.measurements
        for run in runs_of(measurement.setting)
        if not isinstance(results.get(run.name, ""), str)
    ]
    return list(dict.fromkeys(run.base_name for run in used))


def _counts_text(settings: Sequence[Setting]) -> str:
    """Settings that were not run, so that the best is not known: "T = 5, 35"."""
    letter = "T" if settings[0].method == "partition" else "e"
    return f"{letter} = {', '.join(str(setting.count) for setting in settings)}"


def _deviation(spec: CellSpec, pools: Mapping[Measurement, SeedPool | str]) -> float | None:
    """The deviation between seeds, where the number is one share."""
    one = spec.measurements[0]
    if spec.combine != "one" or one.what != "certified":
        return None
    pool = pools[one]
    return pool.deviation(one.rule, int(one.at)) if isinstance(pool, SeedPool) else None


def _difference(ours: float, paper: float | None) -> float | None:
    if paper is None or np.isinf(paper) or np.isinf(ours):
        return None
    return ours - paper


def _json_number(value: float | None) -> float | str | None:
    """Five significant digits; JSON has no infinity, so -inf is a text."""
    return value if value is None else "-inf" if value == -np.inf else float(f"{value:.5g}")


def as_number(value: float | str | None) -> float | None:
    """A number back from JSON."""
    return value if value is None else float(value)


def settings_of(cells: Sequence[CellSpec]) -> list[Setting]:
    """All settings that some cell needs, each once, in the order of the cells."""
    return list(dict.fromkeys(one.setting for cell in cells for one in cell.measurements))
