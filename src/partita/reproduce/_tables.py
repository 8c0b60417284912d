"""Which runs stand beside which numbers of the paper: one function for each kind of table, and the
list of all tables."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..errors import InputError
from . import _curves as curves
from ._cells import Ask, Source
from ._paper import Line, number, printed
from ._runs import Setting
from ._table_settings import (
    ACCURACY,
    CERTIFIED,
    CONDITIONS,
    DATA,
    DETAILED,
    IMAGES,
    MEDIAN,
    NAMES,
    OVERLAPS,
    SHARE,
    VALUES,
    beyond,
    fpa,
    ra,
    rule_of,
)
from ._voting import CHOSEN, OF_LABELS, OF_VALUES


@dataclass(frozen=True)
class Table:
    """A table or figure of the paper, or one beyond it: its name on the command line, its title,
    and the cells it asks for."""

    name: str
    title: str
    asks: tuple[Ask, ...]
    note: str = ""


def _best(lines: Sequence[Line], radius: str, accuracy: str, at_least: float = -1) -> Line:
    """The line of a detailed table with the largest median radius, or with the best accuracy of
    those that reach one."""
    known = [line for line in lines if (number(line[radius]) or 0) >= at_least]
    key = (accuracy, radius) if at_least >= 0 else (radius, accuracy)
    return max(known, key=lambda line: tuple(_value(line[column]) for column in key))


def _value(text: str) -> float:
    value = number(text)
    return float("-inf") if value is None else value


def _detailed(data: str) -> Iterator[Ask]:
    """Tables 22 to 25: accuracy and median radius over T and over e."""
    for line in printed(DETAILED[data] + "a"):
        count = int(line["T"])
        for column in [name.removesuffix("_acc") for name in line if name.endswith("_acc")]:
            rule = {"plurality": "plurality", "runoff": "run-off"}.get(column, "median")
            setting = fpa(data, count, submodel="linear" if column == "linear" else "usual")
            shown = {"lightgbm": "FPA, LightGBM", "linear": "FPA, linear"}.get(
                column, f"FPA, {rule}"
            )
            yield from _pair(
                setting, rule, shown, "T", count, line[f"{column}_acc"], line[f"{column}_rmed"]
            )
        best = [name for name in ("plurality", "runoff", "lightgbm") if f"{name}_acc" in line]
        accuracy = max((line[f"{name}_acc"] for name in best), key=_value)
        middle = max((line[f"{name}_rmed"] for name in best), key=_value)
        for rule in beyond(data):
            for ask in _pair(fpa(data, count), rule, rule, "T", count, accuracy, middle):
                yield replace(ask, beyond=True)
    for line in printed(DETAILED[data] + "b"):
        for column, rule in CONDITIONS.items():
            kept = int(line["e"])
            yield from _pair(
                ra(data, kept),
                rule,
                f"RA ({rule})",
                "e",
                kept,
                line[f"{column}_acc"],
                line[f"{column}_rho_med"],
            )


def _pair(
    setting: Setting, rule: str, shown: str, over: str, x: int, accuracy: str, middle: str
) -> Iterator[Ask]:
    yield Ask(ACCURACY, over, shown, x, number(accuracy), (Source(setting, "certified", rule, 0),))
    yield Ask(MEDIAN, over, shown, x, number(middle), (Source(setting, "median", rule),))


def best_settings(data: str) -> dict[str, Setting]:
    """The T and e at which the paper's detailed tables have their largest median: so none is chosen
    on the rows we certify."""
    a, b = printed(DETAILED[data] + "a"), printed(DETAILED[data] + "b")
    columns = (
        {"plurality": "plurality", "run-off": "runoff"}
        if data in IMAGES
        else {"median": "lightgbm"}
    )
    found = {
        rule: fpa(data, int(_best(a, f"{column}_rmed", f"{column}_acc")["T"]))
        for rule, column in columns.items()
    }
    return found | {
        rule: ra(data, int(_best(b, f"{column}_rho_med", f"{column}_acc")["e"]))
        for column, rule in CONDITIONS.items()
    }


def _table1() -> Iterator[Ask]:
    for line in printed("table01"):
        data = DATA[line["dataset"]]
        best = best_settings(data)
        columns = {
            "fpa_plurality": rule_of(data),
            "fpa_runoff": "run-off",
            "ra_lf20b": "LF'20b",
            "ra_jia22b": "Jia'22b",
        }
        for column, rule in columns.items():
            if line[column]:
                shown = f"RA ({rule})" if column.startswith("ra") else f"FPA, {rule}"
                yield Ask(
                    MEDIAN,
                    "data",
                    shown,
                    line["dataset"],
                    number(line[column]),
                    (Source(best[rule], "median", rule),),
                )
        own = best["run-off" if data in IMAGES else "median"]
        most = max(_value(line[column]) for column in columns)
        for rule in beyond(data):
            yield Ask(
                MEDIAN,
                "data",
                rule,
                line["dataset"],
                most,
                (Source(own, "median", rule),),
                beyond=True,
            )


def _table2() -> Iterator[Ask]:
    for line in printed("table02"):
        data, x = DATA[line["dataset"]], line["dataset"]
        rule, column = ("run-off", "runoff") if data in IMAGES else ("median", "lightgbm")
        own = best_settings(data)[rule]
        as_far = _best(
            printed(DETAILED[data] + "a"),
            f"{column}_rmed",
            f"{column}_acc",
            _value(line["ra_rho_med"]),
        )
        other, ablation = fpa(data, int(as_far["T"])), best_settings(data)["Jia'22b"]
        for shown, setting, said in (
            ("FPA at its largest median", own, line["fpa_acc_at_best"]),
            ("FPA at RA's median or above", other, line["fpa_acc_at_ra_best"]),
        ):
            yield Ask(
                ACCURACY,
                "data",
                f"{shown}, {rule}",
                x,
                number(said),
                (Source(setting, "certified", rule),),
            )
            for ours in beyond(data):
                yield Ask(
                    ACCURACY,
                    "data",
                    f"{shown}, {ours}",
                    x,
                    number(said),
                    (Source(setting, "certified", ours),),
                    beyond=True,
                )
        yield Ask(
            ACCURACY,
            "data",
            "RA (Jia'22b)",
            x,
            number(line["ra_acc"]),
            (Source(ablation, "certified", "Jia'22b"),),
        )


def _table3() -> Iterator[Ask]:
    for line in printed("table03"):
        data, x = DATA[line["dataset"]], line["dataset"]
        ablation = Source(ra(data, int(line["ra_e"])), "row_seconds")
        own = Source(fpa(data, int(line["fpa_T"])), "row_seconds")
        quantity = "seconds to certify a prediction"
        yield Ask(
            quantity, "data", f"RA, e = {line['ra_e']}", x, number(line["ra_seconds"]), (ablation,)
        )
        yield Ask(
            quantity, "data", f"FPA, T = {line['fpa_T']}", x, number(line["fpa_seconds"]), (own,)
        )
        yield Ask(
            "times faster",
            "data",
            "FPA than RA",
            x,
            number(line["speedup"]),
            (ablation, own),
            "ratio",
        )


def _table4() -> Iterator[Ask]:
    """A radius of 24 covers every rectangle of 24 pixels, and one of 25 the square; patches counted
    as such do better."""
    own = fpa("cifar10", 180, patches=True)
    ablated = {
        rule: curves.best_at(CERTIFIED["cifar10"], "ra", f"({rule})", "r26")
        for rule in CONDITIONS.values()
    }
    radius_of = {"worst": 24, "best": 24, "square": 25}
    for line in printed("table04"):
        method = line["method"]
        rule = next(
            (rule for rule in ("Plurality", "Run-Off", *CONDITIONS.values()) if rule in method), ""
        )
        said = {
            "worst": line["rect24_min"],
            "best": line["rect24_max"] or line["rect24_min"],
            "square": line["square5x5"],
        }
        for what, text in said.items():
            if not text:
                continue
            x = {"worst": "24 pixels, worst", "best": "24 pixels, best", "square": "5 x 5"}[what]
            sources: tuple[Source, ...] = ()
            if method.startswith("FPA"):
                sources = (Source(own, "certified", rule.lower(), radius_of[what]),)
            elif rule:
                sources = (
                    Source(ra("cifar10", ablated[rule]), "certified", rule, radius_of[what]),
                )
            elif method.startswith("(De)Random"):
                sources = (Source(Setting("cifar10", "smoothing", 4), "patch", "columns", what),)
            yield Ask(SHARE, "patch", method.replace(", ours", ""), x, number(text), sources)
            if rule == "Run-Off":
                for ours in OF_LABELS:
                    yield Ask(
                        SHARE,
                        "patch",
                        f"{ours}, counting patches",
                        x,
                        number(text),
                        (Source(own, "patch", ours, what),),
                        beyond=True,
                    )


def _overlap(name: str, data: str, count: int) -> Iterator[Ask]:
    """Tables 7 to 13: columns in several submodels, under plurality."""
    rule = rule_of(data)
    for line in printed(name):
        radius = int(line["radius"])
        best = max(_value(text) for column, text in line.items() if column != "radius")
        for column, text in line.items():
            if column == "radius":
                continue
            spread = int(column.removeprefix("phi")) if column.startswith("phi") else 1
            setting = fpa(
                data, count, partition="strided" if column == "strided" else "random", spread=spread
            )
            shown = f"spread {spread}" if spread > 1 else column
            yield Ask(
                SHARE,
                "r",
                shown,
                radius,
                number(text),
                (Source(setting, "certified", rule, radius),),
            )
            for ours in beyond(data):
                yield Ask(
                    SHARE,
                    "r",
                    f"{shown}, {ours}",
                    radius,
                    best,
                    (Source(setting, "certified", ours, radius),),
                    beyond=True,
                )


def _table21() -> Iterator[Ask]:
    for line in printed("table21"):
        data = DATA[line["dataset"]]
        source = Source(fpa(data, 1), "certified", rule_of(data))
        yield Ask(
            ACCURACY,
            "data",
            "one model on all columns",
            line["dataset"],
            number(line["accuracy"]),
            (source,),
        )


def _table30() -> Iterator[Ask]:
    quantity = "seconds to train"
    for line in printed("table30"):
        data, x = (
            DATA[line["dataset"]],
            f"{line['dataset']}, e = {line['ra_e']}, T = {line['fpa_T']}",
        )
        own, ablation = fpa(data, int(line["fpa_T"])), ra(data, int(line["ra_e"]))
        yield Ask(
            quantity,
            "data",
            "RA",
            x,
            number(line["ra_seconds"]),
            (Source(ablation, "fit_seconds"),),
        )
        yield Ask(
            quantity,
            "data",
            "FPA, a submodel",
            x,
            number(line["fpa_single_seconds"]),
            (Source(own, "submodel_seconds"),),
        )
        yield Ask(
            quantity,
            "data",
            "FPA, all submodels",
            x,
            number(line["fpa_total_seconds"]),
            (Source(own, "fit_seconds"),),
        )


def _ames() -> Iterator[Ask]:
    """Beyond: raw columns as units, T = 21, random and informed partitions, with and without a
    stretch."""
    line = next(
        line
        for line in printed(CERTIFIED["ames"])
        if line["method"] == "fpa" and line["T_or_e"] == "21"
    )
    for partition, shown in (
        ("random", "random"),
        ("informed", "informed"),
        ("exchanged", "informed and exchanged"),
    ):
        for rule in (*OF_VALUES, CHOSEN):
            setting = Setting("ames_raw", "partition", 21, partition)
            for radius in range(11):
                source = Source(setting, "certified", rule, radius)
                yield Ask(
                    SHARE,
                    "r",
                    f"{shown}, {rule}",
                    radius,
                    number(line[f"r{radius}"]),
                    (source,),
                    beyond=True,
                )


def _authors() -> str:
    (line,) = printed("authors_code_ames")
    said = " / ".join(text for column, text in line.items() if column != "T")
    return (
        "Units are the 79 columns of the original table, a stronger guarantee than the paper's "
        "352 one-hot columns. "
        "The paper's numbers are of one split of its file; its authors' own program on the public "
        "file that is used here, with its own "
        f"seed, gives {said} at r = 0 to 3, so the file they used differs a little."
    )


AS_PAPER = "T and e are those at which the paper's detailed tables have their largest median; none is chosen on the rows certified here."
ONE_PRODUCT = "Randomized ablation of a linear model is one matrix product here, however many draws, so on tables it is not slower than FPA."
ONE_CONDITION = (
    "Randomized ablation: whether a value stays on the right side of a bound is a question with "
    "two answers, for which the conditions of "
    "LF'20b and Jia'22b are the same inequality. So one proof stands beside both columns; it "
    "agrees with the paper's LF'20b, and the paper "
    "does not say how its Jia'22b gets further."
)


def _all() -> Iterator[tuple[str, str, Callable[[], Iterator[Ask]], str]]:
    yield "1", "Table 1: median certified radius", _table1, AS_PAPER
    yield "2", "Table 2: accuracy", _table2, AS_PAPER
    yield "3", "Table 3: seconds to certify a prediction", _table3, ONE_PRODUCT
    yield "4", "Table 4: CIFAR10, patches", _table4, ""
    for n, (data, count) in OVERLAPS.items():
        yield (
            str(n),
            f"Table {n}: {NAMES[data]}, overlapping sets, T = {count}",
            partial(_overlap, f"table{n:02d}", data, count),
            "",
        )
    yield "21", "Table 21: one model on all columns", _table21, ""
    for data, name in DETAILED.items():
        title = f"Table {name[5:]}: {NAMES[data]}, accuracy and median radius"
        yield name[5:], title, partial(_detailed, data), ONE_CONDITION if data in VALUES else ""
    for data, name in CERTIFIED.items():
        title = f"Table {name[5:]}: {NAMES[data]}, certified accuracy"
        yield (
            name[5:],
            title,
            partial(curves.certified, data),
            ONE_CONDITION if data in VALUES else "",
        )
    yield "30", "Table 30: seconds to train", _table30, ""
    for name, (title, asks) in curves.FIGURES.items():
        yield name, title, asks, ""
    yield "ames", "Beyond the paper: Ames, T = 21, raw columns as units", _ames, _authors()


TITLES = {name: title for name, title, _, _ in _all()}


def names_of(given: Sequence[str]) -> list[str]:
    """The tables that a user names; "all" is every one."""
    if not given:
        raise InputError(
            "no table is given: give one or more, such as 25, or all; --list shows them"
        )
    return list(TITLES) if "all" in given else [_known(name) for name in given]


def _known(name: str) -> str:
    plain = name.lower().replace(" ", "").removeprefix("table")
    if plain not in TITLES:
        raise InputError(f"table is {name!r}: give one of {', '.join(TITLES)}")
    return plain


def table(name: str) -> Table:
    """A table by its name: "25", "table25", "figure3", "ames"."""
    asked = _known(name)
    title, asks, note = next(
        (title, asks, note) for known, title, asks, note in _all() if known == asked
    )
    return Table(asked, title, tuple(asks()), note)
