"""Certified accuracy over the radius: tables 26 to 29, and the figures that are drawn from them and
from tables 7 to 13."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from ._cells import Ask, Source
from ._paper import Line, number, printed, radii
from ._runs import Setting
from ._table_settings import (
    CERTIFIED,
    IMAGES,
    NAMES,
    OVERLAPS,
    SHARE,
    VALUES,
    beyond,
    fpa,
    ra,
    rule_of,
)

ENVELOPE, GAIN = "best certified accuracy in %", "certified accuracy, run-off less plurality, in %"
Asks = Iterator[Ask]


def certified(data: str, methods: tuple[str, ...] = ("always", "fpa", "ra")) -> Asks:
    """Tables 26 to 29: a curve for every T and every e, and the naive answer."""
    lines = [line for line in printed(CERTIFIED[data]) if line["method"] in methods]
    for line in lines:
        setting, rule, shown = _curve(data, line)
        for radius in radii(line):
            yield Ask(
                SHARE,
                "r",
                shown,
                radius,
                number(line[f"r{radius}"]),
                (Source(setting, "certified", rule, radius),),
            )
    for count in dict.fromkeys(int(line["T_or_e"]) for line in lines if line["method"] == "fpa"):
        own = [line for line in lines if line["method"] == "fpa" and line["T_or_e"] == str(count)]
        for rule in beyond(data):
            for radius in radii(own[0]):
                best = max(number(line[f"r{radius}"]) or 0.0 for line in own)
                source = Source(fpa(data, count), "certified", rule, radius)
                yield Ask(SHARE, "r", f"T = {count}, {rule}", radius, best, (source,), beyond=True)


def _curve(data: str, line: Line) -> tuple[Setting, str, str]:
    """The setting of a line, its rule, and what it is called."""
    if line["method"] == "always":
        return Setting(data, "constant"), "always", "always the same answer"
    count = int(line["T_or_e"])
    if line["method"] == "ra":
        rule = line["certificate"].strip("()")
        return ra(data, count), rule, f"RA ({rule}), e = {count}"
    rule = rule_of(data, line["certificate"].lower())
    return fpa(data, count), rule, f"FPA, {rule}, T = {count}"


def best_at(table: str, method: str, certificate: str, column: str) -> int:
    """The T or e with the highest number in a column of the paper's table."""
    lines = [
        line
        for line in printed(table)
        if (line["method"], line["certificate"]) == (method, certificate)
    ]
    return int(max(lines, key=lambda line: number(line[column]) or 0.0)["T_or_e"])


def _envelopes(data: str) -> Asks:
    """Figures 2 and 3: at every radius the best of all T, or of all e."""
    families: dict[tuple[str, str], list[Line]] = {}
    for line in printed(CERTIFIED[data]):
        families.setdefault((line["method"], line["certificate"]), []).append(line)
    for (method, certificate), lines in families.items():
        rule = _curve(data, lines[0])[1]
        shown = {
            "always": "always the same answer",
            "fpa": f"FPA, {rule}",
            "ra": f"RA {certificate}",
        }[method]
        for radius in radii(lines[0]):
            sources = tuple(
                Source(_curve(data, line)[0], "certified", rule, radius) for line in lines
            )
            best = max(number(line[f"r{radius}"]) or 0.0 for line in lines)
            yield Ask(ENVELOPE, "r", f"{NAMES[data]}, {shown}", radius, best, sources, "best")
    own = [line for (method, _), lines in families.items() if method == "fpa" for line in lines]
    for ours in beyond(data):
        for radius in radii(own[0]):
            counts = dict.fromkeys(int(line["T_or_e"]) for line in own)
            sources = tuple(Source(fpa(data, count), "certified", ours, radius) for count in counts)
            best = max(number(line[f"r{radius}"]) or 0.0 for line in own)
            yield Ask(
                ENVELOPE, "r", f"{NAMES[data]}, {ours}", radius, best, sources, "best", beyond=True
            )


def _gains(data: str) -> Asks:
    """Figure 6: what the run-off adds to plurality."""
    lines = {
        (line["certificate"], line["T_or_e"]): line
        for line in printed(CERTIFIED[data])
        if line["method"] == "fpa"
    }
    for (certificate, count), line in lines.items():
        if certificate != "Run-Off":
            continue
        for radius in radii(line):
            said = (number(line[f"r{radius}"]) or 0.0) - (
                number(lines["Plurality", count][f"r{radius}"]) or 0.0
            )
            sources = tuple(
                Source(fpa(data, int(count)), "certified", rule, radius)
                for rule in ("run-off", "plurality")
            )
            yield Ask(GAIN, "r", f"{NAMES[data]}, T = {count}", radius, said, sources, "gain")


def _partitions() -> Asks:
    """Figure 9: random against strided sets. The paper prints no numbers of strided sets for
    Weather."""
    for n, (data, count) in OVERLAPS.items():
        for partition in ("random", "strided"):
            setting = fpa(data, count, partition=partition)
            for line in printed(f"table{n:02d}"):
                radius = int(line["radius"])
                source = Source(setting, "certified", rule_of(data), radius)
                yield Ask(
                    SHARE,
                    "r",
                    f"{NAMES[data]}, T = {count}, {partition}",
                    radius,
                    number(line.get(partition, "")),
                    (source,),
                )


def _everywhere(method: str) -> Asks:
    """Figures 4 and 5: one method's curves, for all data."""
    for data, shown in NAMES.items():
        yield from (
            replace(ask, series=f"{shown}, {ask.series}")
            for ask in certified(data, (method,))
            if not ask.beyond
        )


def _several(asks: Callable[[str], Asks], data: tuple[str, ...]) -> Asks:
    for one in data:
        yield from asks(one)


FIGURES: dict[str, tuple[str, Callable[[], Asks]]] = {
    "figure2": (
        "Figure 2: the best T and e at every radius, CIFAR10 and MNIST",
        partial(_several, _envelopes, IMAGES),
    ),
    "figure3": (
        "Figure 3: the best T and e at every radius, Weather and Ames",
        partial(_several, _envelopes, VALUES),
    ),
    "figure4": ("Figure 4: certified accuracy for several T", partial(_everywhere, "fpa")),
    "figure5": ("Figure 5: randomized ablation for several e", partial(_everywhere, "ra")),
    "figure6": ("Figure 6: what the run-off adds", partial(_several, _gains, IMAGES)),
    "figure7": (
        "Figure 7: CIFAR10, plurality and run-off",
        partial(certified, "cifar10", ("fpa",)),
    ),
    "figure8": ("Figure 8: MNIST, plurality and run-off", partial(certified, "mnist", ("fpa",))),
    "figure9": ("Figure 9: random and strided sets", _partitions),
}
