"""Certified accuracy over the radius: tables 26 to 29, and the paper's figures.

The figures are drawn from those tables and from tables 7 to 13.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ._paper import Line, paper_table, parse_number, radii_of
from ._runs import Setting
from ._table_cells import CellSpec, Measurement
from ._table_settings import (
    CERTIFIED,
    IMAGES,
    NAMES,
    OVERLAPS,
    SHARE,
    VALUES,
    fpa,
    ra,
    rule_of,
    rules_beyond,
)

ENVELOPE, GAIN = "best certified accuracy in %", "certified accuracy, run-off less plurality, in %"
CellSpecs = Iterator[CellSpec]


def certified_tables(data: str, methods: tuple[str, ...] = ("always", "fpa", "ra")) -> CellSpecs:
    """Tables 26 to 29: a curve for every T and every e, and the constant prediction."""
    lines = [line for line in paper_table(CERTIFIED[data]) if line["method"] in methods]
    for line in lines:
        setting, rule, series = _curve(data, line)
        for radius in radii_of(line):
            yield CellSpec(
                SHARE,
                "r",
                series,
                radius,
                parse_number(line[f"r{radius}"]),
                (Measurement(setting, "certified", rule, radius),),
            )
    for count in dict.fromkeys(int(line["T_or_e"]) for line in lines if line["method"] == "fpa"):
        own = [line for line in lines if line["method"] == "fpa" and line["T_or_e"] == str(count)]
        for rule in rules_beyond(data):
            for radius in radii_of(own[0]):
                best = _best(own, radius)
                ours = Measurement(fpa(data, count), "certified", rule, radius)
                yield CellSpec(
                    SHARE, "r", f"T = {count}, {rule}", radius, best, (ours,), beyond=True
                )


def _best(lines: Sequence[Line], radius: int) -> float:
    """The paper's best certified accuracy at a radius."""
    return max(parse_number(line[f"r{radius}"]) or 0.0 for line in lines)


def _curve(data: str, line: Line) -> tuple[Setting, str, str]:
    """The setting of a line, its rule, and the name of its series."""
    if line["method"] == "always":
        return Setting(data, "constant"), "always", "always the same answer"
    count = int(line["T_or_e"])
    if line["method"] == "ra":
        rule = line["certificate"].strip("()")
        return ra(data, count), rule, f"RA ({rule}), e = {count}"
    rule = rule_of(data, line["certificate"].lower())
    return fpa(data, count), rule, f"FPA, {rule}, T = {count}"


def best_count(table: str, method: str, certificate: str, column: str) -> int:
    """The T or e with the highest number in a column of the paper's table."""
    lines = [
        line
        for line in paper_table(table)
        if (line["method"], line["certificate"]) == (method, certificate)
    ]
    return int(max(lines, key=lambda line: parse_number(line[column]) or 0.0)["T_or_e"])


def _envelopes(data: str) -> CellSpecs:
    """Figures 2 and 3: at every radius the best of all T, or of all e."""
    families: dict[tuple[str, str], list[Line]] = {}
    for line in paper_table(CERTIFIED[data]):
        families.setdefault((line["method"], line["certificate"]), []).append(line)
    for (method, certificate), lines in families.items():
        rule = _curve(data, lines[0])[1]
        series = {
            "always": "always the same answer",
            "fpa": f"FPA, {rule}",
            "ra": f"RA {certificate}",
        }[method]
        for radius in radii_of(lines[0]):
            measurements = tuple(
                Measurement(_curve(data, line)[0], "certified", rule, radius) for line in lines
            )
            best = _best(lines, radius)
            yield CellSpec(
                ENVELOPE, "r", f"{NAMES[data]}, {series}", radius, best, measurements, "best"
            )
    own = [line for (method, _), lines in families.items() if method == "fpa" for line in lines]
    for ours in rules_beyond(data):
        for radius in radii_of(own[0]):
            counts = dict.fromkeys(int(line["T_or_e"]) for line in own)
            measurements = tuple(
                Measurement(fpa(data, count), "certified", ours, radius) for count in counts
            )
            best = _best(own, radius)
            yield CellSpec(
                ENVELOPE,
                "r",
                f"{NAMES[data]}, {ours}",
                radius,
                best,
                measurements,
                "best",
                beyond=True,
            )


def _gains(data: str) -> CellSpecs:
    """Figure 6: what the run-off adds to plurality."""
    lines = {
        (line["certificate"], line["T_or_e"]): line
        for line in paper_table(CERTIFIED[data])
        if line["method"] == "fpa"
    }
    for (certificate, count), line in lines.items():
        if certificate != "Run-Off":
            continue
        for radius in radii_of(line):
            gain = (parse_number(line[f"r{radius}"]) or 0.0) - (
                parse_number(lines["Plurality", count][f"r{radius}"]) or 0.0
            )
            measurements = tuple(
                Measurement(fpa(data, int(count)), "certified", rule, radius)
                for rule in ("run-off", "plurality")
            )
            yield CellSpec(
                GAIN, "r", f"{NAMES[data]}, T = {count}", radius, gain, measurements, "gain"
            )


def _partition_curves() -> CellSpecs:
    """Figure 9: random against strided sets.

    The paper prints no numbers of strided sets for Weather.
    """
    for n, (data, count) in OVERLAPS.items():
        for partition in ("random", "strided"):
            setting = fpa(data, count, partition=partition)
            for line in paper_table(f"table{n:02d}"):
                radius = int(line["radius"])
                ours = Measurement(setting, "certified", rule_of(data), radius)
                yield CellSpec(
                    SHARE,
                    "r",
                    f"{NAMES[data]}, T = {count}, {partition}",
                    radius,
                    parse_number(line.get(partition, "")),
                    (ours,),
                )


def _one_method(method: str) -> CellSpecs:
    """Figures 4 and 5: one method's curves, for all data."""
    for data, name in NAMES.items():
        yield from (
            replace(cell, series=f"{name}, {cell.series}")
            for cell in certified_tables(data, (method,))
            if not cell.beyond
        )


def _for_each(cells_of: Callable[[str], CellSpecs], data: tuple[str, ...]) -> CellSpecs:
    for one in data:
        yield from cells_of(one)


FIGURES: dict[str, tuple[str, Callable[[], CellSpecs]]] = {
    "figure2": (
        "Figure 2: the best T and e at every radius, CIFAR10 and MNIST",
        partial(_for_each, _envelopes, IMAGES),
    ),
    "figure3": (
        "Figure 3: the best T and e at every radius, Weather and Ames",
        partial(_for_each, _envelopes, VALUES),
    ),
    "figure4": ("Figure 4: certified accuracy for several T", partial(_one_method, "fpa")),
    "figure5": ("Figure 5: randomized ablation for several e", partial(_one_method, "ra")),
    "figure6": ("Figure 6: what the run-off adds", partial(_for_each, _gains, IMAGES)),
    "figure7": (
        "Figure 7: CIFAR10, plurality and run-off",
        partial(certified_tables, "cifar10", ("fpa",)),
    ),
    "figure8": (
        "Figure 8: MNIST, plurality and run-off",
        partial(certified_tables, "mnist", ("fpa",)),
    ),
    "figure9": ("Figure 9: random and strided sets", _partition_curves),
}
