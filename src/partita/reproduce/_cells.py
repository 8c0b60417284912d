"""A cell of a table: what the paper prints, what stands beside it, and where that comes from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._runs import Found, Pool, Run, Setting

Cell = dict[str, Any]  # as a table's JSON file holds it


@dataclass(frozen=True)
class Source:
    """One number that a setting's runs give: ``what`` is "certified", "median", "patch", or the
    name of a measured time."""

    setting: Setting
    what: str
    rule: str = ""
    at: int | str = 0

    def of(self, pool: Pool) -> float:
        if self.what == "certified":
            return pool.certified(self.rule, int(self.at))
        if self.what == "median":
            return pool.median(self.rule)
        return pool.patch(self.rule, str(self.at)) if self.what == "patch" else pool.mean(self.what)


@dataclass(frozen=True)
class Ask:
    """A number of the paper, and the sources of ours: one, the "best" of several, a "gain" (first
    less second) or a "ratio" of two.

    ``over`` names what ``x`` is (T, e or r). ``beyond`` marks what the paper does not have: there
    its number is the best it has."""

    quantity: str
    over: str
    series: str
    x: Any
    paper: float | None
    sources: tuple[Source, ...]
    combine: str = "one"
    beyond: bool = False


COMBINE: dict[str, Callable[[list[float]], float]] = {
    "one": lambda values: values[0],
    "best": max,
    "gain": lambda values: values[0] - values[1],
    "ratio": lambda values: values[0] / values[1],
}


def answered(
    ask: Ask, runs: Callable[[Setting], list[Run]], found: Mapping[str, Found | str]
) -> Cell:
    """The cell of an ask. ``found`` holds, by a run's name, what it found or why it could not be
    run."""
    cell: Cell = {
        "quantity": ask.quantity,
        "over": ask.over,
        "series": ask.series,
        "x": ask.x,
        "paper": _plain(ask.paper),
    }
    cell["beyond"] = ask.beyond
    pools = {source: _pool(source, runs, found) for source in ask.sources}
    failed = [pool for pool in pools.values() if isinstance(pool, str)]
    if not ask.sources:
        return cell | {"not_run": "printed by the paper, not implemented here"}
    if (failed and ask.combine != "best") or len(failed) == len(pools):
        return cell | {"not_run": failed[0]}
    values = [source.of(pool) for source, pool in pools.items() if isinstance(pool, Pool)]
    ours = COMBINE[ask.combine](values)
    deviation = _deviation(ask, pools)
    without = [source.setting for source, pool in pools.items() if isinstance(pool, str)]
    return cell | {
        "ours": _plain(ours),
        "difference": None
        if ask.paper is None or np.isinf(ask.paper) or np.isinf(ours)
        else _plain(ours - ask.paper),
        **({} if deviation is None else {"deviation": _plain(deviation)}),
        **({"without": _said(without)} if without else {}),
        "of": _names(ask, runs, found),
    }


def _pool(
    source: Source, runs: Callable[[Setting], list[Run]], found: Mapping[str, Found | str]
) -> Pool | str:
    asked = runs(source.setting)
    if not asked:
        return "not part of this size"
    results = [found.get(run.name, "not run yet") for run in asked]
    missing = [result for result in results if isinstance(result, str)]
    if missing:
        return missing[0]
    pool = Pool([result for result in results if not isinstance(result, str)])
    return (
        "interrupted and resumed, so not timed"
        if source.what.endswith("_seconds") and not pool.has(source.what)
        else pool
    )


def _names(
    ask: Ask, runs: Callable[[Setting], list[Run]], found: Mapping[str, Found | str]
) -> list[str]:
    """The runs that were used, without their seeds."""
    used = [
        run
        for source in ask.sources
        for run in runs(source.setting)
        if not isinstance(found.get(run.name, ""), str)
    ]
    return list(dict.fromkeys(run.name.rpartition("-")[0] for run in used))


def _said(settings: Sequence[Setting]) -> str:
    """Settings that were not run, of which the best is therefore not known: "T = 5, 35"."""
    letter = "T" if settings[0].method == "partition" else "e"
    return f"{letter} = {', '.join(str(setting.count) for setting in settings)}"


def _deviation(ask: Ask, pools: Mapping[Source, Pool | str]) -> float | None:
    if ask.combine != "one" or ask.sources[0].what != "certified":
        return None
    source, pool = ask.sources[0], pools[ask.sources[0]]
    return pool.deviation(source.rule, int(source.at)) if isinstance(pool, Pool) else None


def _plain(value: float | None) -> float | str | None:
    """For JSON, which has no infinity."""
    return value if value is None else "-inf" if value == -np.inf else float(f"{value:.5g}")


def as_number(value: float | str | None) -> float | None:
    """Back from JSON."""
    return value if value is None else float(value)


def settings_of(asks: Sequence[Ask]) -> list[Setting]:
    """All settings that some cell needs, each once, in the order of the cells."""
    return list(dict.fromkeys(source.setting for ask in asks for source in ask.sources))
