"""The cells of the paper's tables, one function for each kind of table.

Which T and e stand beside a number comes from the paper's own tables, never from our results.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ._curves import best_count
from ._paper import Line, paper_table, parse_number
from ._rules import LABEL_RULES, TUNED_STRETCH, VALUE_RULES
from ._runs import Setting
from ._table_cells import CellSpec, Measurement
from ._table_settings import (
    ACCURACY,
    CERTIFIED,
    CONDITIONS,
    DATA,
    DETAILED,
    IMAGES,
    MEDIAN,
    SHARE,
    fpa,
    ra,
    rule_of,
    rules_beyond,
)

CellSpecs = Iterator[CellSpec]


def _best(lines: Sequence[Line], radius: str, accuracy: str, at_least: float = -1) -> Line:
    """The line with the largest median radius, or the most accurate that reaches one."""
    known = [line for line in lines if (parse_number(line[radius]) or 0) >= at_least]
    key = (accuracy, radius) if at_least >= 0 else (radius, accuracy)
    return max(known, key=lambda line: tuple(_value(line[column]) for column in key))


def _value(text: str) -> float:
    value = parse_number(text)
    return float("-inf") if value is None else value


def detailed_table(data: str) -> CellSpecs:
    """Tables 22 to 25: accuracy and median radius over T and over e."""
    for line in paper_table(DETAILED[data] + "a"):
        count = int(line["T"])
        for column in [name.removesuffix("_acc") for name in line if name.endswith("_acc")]:
            rule = {"plurality": "plurality", "runoff": "run-off"}.get(column, "median")
            setting = fpa(data, count, submodel="linear" if column == "linear" else "usual")
            series = {"lightgbm": "FPA, LightGBM", "linear": "FPA, linear"}.get(
                column, f"FPA, {rule}"
            )
            yield from _pair(
                setting, rule, series, "T", count, line[f"{column}_acc"], line[f"{column}_rmed"]
            )
        best = [name for name in ("plurality", "runoff", "lightgbm") if f"{name}_acc" in line]
        accuracy = max((line[f"{name}_acc"] for name in best), key=_value)
        middle = max((line[f"{name}_rmed"] for name in best), key=_value)
        for rule in rules_beyond(data):
            for cell in _pair(fpa(data, count), rule, rule, "T", count, accuracy, middle):
                yield replace(cell, beyond=True)
    for line in paper_table(DETAILED[data] + "b"):
        for column, rule in CONDITIONS.items():
            count = int(line["e"])
            yield from _pair(
                ra(data, count),
                rule,
                f"RA ({rule})",
                "e",
                count,
                line[f"{column}_acc"],
                line[f"{column}_rho_med"],
            )


def _pair(
    setting: Setting, rule: str, series: str, over: str, x: int, accuracy: str, middle: str
) -> CellSpecs:
    """An accuracy and a median radius of one setting."""
    certified = Measurement(setting, "certified", rule, 0)
    median = Measurement(setting, "median", rule)
    yield CellSpec(ACCURACY, over, series, x, parse_number(accuracy), (certified,))
    yield CellSpec(MEDIAN, over, series, x, parse_number(middle), (median,))


def best_settings(data: str) -> dict[str, Setting]:
    """The T and e at which the paper's detailed tables have their largest median.

    So none is chosen on the rows that we certify.
    """
    a, b = paper_table(DETAILED[data] + "a"), paper_table(DETAILED[data] + "b")
    columns = (
        {"plurality": "plurality", "run-off": "runoff"}
        if data in IMAGES
        else {"median": "lightgbm"}
    )
    ensembles = {
        rule: fpa(data, int(_best(a, f"{column}_rmed", f"{column}_acc")["T"]))
        for rule, column in columns.items()
    }
    return ensembles | {
        rule: ra(data, int(_best(b, f"{column}_rho_med", f"{column}_acc")["e"]))
        for column, rule in CONDITIONS.items()
    }


def table1() -> CellSpecs:
    """Median radius of every method at its best setting."""
    for line in paper_table("table01"):
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
                series = f"RA ({rule})" if column.startswith("ra") else f"FPA, {rule}"
                yield CellSpec(
                    MEDIAN,
                    "data",
                    series,
                    line["dataset"],
                    parse_number(line[column]),
                    (Measurement(best[rule], "median", rule),),
                )
        own = best["run-off" if data in IMAGES else "median"]
        most = max(_value(line[column]) for column in columns)
        for rule in rules_beyond(data):
            yield CellSpec(
                MEDIAN,
                "data",
                rule,
                line["dataset"],
                most,
                (Measurement(own, "median", rule),),
                beyond=True,
            )


def table2() -> CellSpecs:
    """Accuracy at the largest median, and at that of randomized ablation."""
    for line in paper_table("table02"):
        data, x = DATA[line["dataset"]], line["dataset"]
        rule, column = ("run-off", "runoff") if data in IMAGES else ("median", "lightgbm")
        own = best_settings(data)[rule]
        as_far = _best(
            paper_table(DETAILED[data] + "a"),
            f"{column}_rmed",
            f"{column}_acc",
            _value(line["ra_rho_med"]),
        )
        other, ablation = fpa(data, int(as_far["T"])), best_settings(data)["Jia'22b"]
        for series, setting, text in (
            ("FPA at its largest median", own, line["fpa_acc_at_best"]),
            ("FPA at RA's median or above", other, line["fpa_acc_at_ra_best"]),
        ):
            yield CellSpec(
                ACCURACY,
                "data",
                f"{series}, {rule}",
                x,
                parse_number(text),
                (Measurement(setting, "certified", rule),),
            )
            for ours in rules_beyond(data):
                yield CellSpec(
                    ACCURACY,
                    "data",
                    f"{series}, {ours}",
                    x,
                    parse_number(text),
                    (Measurement(setting, "certified", ours),),
                    beyond=True,
                )
        yield CellSpec(
            ACCURACY,
            "data",
            "RA (Jia'22b)",
            x,
            parse_number(line["ra_acc"]),
            (Measurement(ablation, "certified", "Jia'22b"),),
        )


def table3() -> CellSpecs:
    """Seconds to certify a prediction."""
    for line in paper_table("table03"):
        data, x = DATA[line["dataset"]], line["dataset"]
        ablation = Measurement(ra(data, int(line["ra_e"])), "row_seconds")
        own = Measurement(fpa(data, int(line["fpa_T"])), "row_seconds")
        quantity = "seconds to certify a prediction"
        yield CellSpec(
            quantity,
            "data",
            f"RA, e = {line['ra_e']}",
            x,
            parse_number(line["ra_seconds"]),
            (ablation,),
        )
        yield CellSpec(
            quantity,
            "data",
            f"FPA, T = {line['fpa_T']}",
            x,
            parse_number(line["fpa_seconds"]),
            (own,),
        )
        yield CellSpec(
            "times faster",
            "data",
            "FPA than RA",
            x,
            parse_number(line["speedup"]),
            (ablation, own),
            "ratio",
        )


def table4() -> CellSpecs:
    """Patches: a radius of 24 covers every rectangle of 24 pixels, one of 25 the square.

    Patches that are counted as patches do better.
    """
    own = fpa("cifar10", 180, patches=True)
    ablated = {
        rule: best_count(CERTIFIED["cifar10"], "ra", f"({rule})", "r26")
        for rule in CONDITIONS.values()
    }
    radius_of = {"worst": 24, "best": 24, "square": 25}
    for line in paper_table("table04"):
        method = line["method"]
        rule = next(
            (rule for rule in ("Plurality", "Run-Off", *CONDITIONS.values()) if rule in method), ""
        )
        texts = {
            "worst": line["rect24_min"],
            "best": line["rect24_max"] or line["rect24_min"],
            "square": line["square5x5"],
        }
        for what, text in texts.items():
            if not text:
                continue
            x = {"worst": "24 pixels, worst", "best": "24 pixels, best", "square": "5 x 5"}[what]
            measurements: tuple[Measurement, ...] = ()
            if method.startswith("FPA"):
                measurements = (Measurement(own, "certified", rule.lower(), radius_of[what]),)
            elif rule:
                measurements = (
                    Measurement(ra("cifar10", ablated[rule]), "certified", rule, radius_of[what]),
                )
            elif method.startswith("(De)Random"):
                measurements = (
                    Measurement(Setting("cifar10", "smoothing", 4), "patch", "columns", what),
                )
            yield CellSpec(
                SHARE, "patch", method.replace(", ours", ""), x, parse_number(text), measurements
            )
            if rule == "Run-Off":
                for ours in LABEL_RULES:
                    yield CellSpec(
                        SHARE,
                        "patch",
                        f"{ours}, counting patches",
                        x,
                        parse_number(text),
                        (Measurement(own, "patch", ours, what),),
                        beyond=True,
                    )


def overlap_table(name: str, data: str, count: int) -> CellSpecs:
    """Tables 7 to 13: columns in several submodels, under plurality."""
    rule = rule_of(data)
    for line in paper_table(name):
        radius = int(line["radius"])
        best = max(_value(text) for column, text in line.items() if column != "radius")
        for column, text in line.items():
            if column == "radius":
                continue
            spread = int(column.removeprefix("phi")) if column.startswith("phi") else 1
            setting = fpa(
                data, count, partition="strided" if column == "strided" else "random", spread=spread
            )
            series = f"spread {spread}" if spread > 1 else column
            yield CellSpec(
                SHARE,
                "r",
                series,
                radius,
                parse_number(text),
                (Measurement(setting, "certified", rule, radius),),
            )
            for ours in rules_beyond(data):
                yield CellSpec(
                    SHARE,
                    "r",
                    f"{series}, {ours}",
                    radius,
                    best,
                    (Measurement(setting, "certified", ours, radius),),
                    beyond=True,
                )


def table21() -> CellSpecs:
    """The accuracy of one model on all columns."""
    for line in paper_table("table21"):
        data = DATA[line["dataset"]]
        ours = Measurement(fpa(data, 1), "certified", rule_of(data))
        yield CellSpec(
            ACCURACY,
            "data",
            "one model on all columns",
            line["dataset"],
            parse_number(line["accuracy"]),
            (ours,),
        )


def table30() -> CellSpecs:
    """Seconds to train."""
    quantity = "seconds to train"
    for line in paper_table("table30"):
        data, x = (
            DATA[line["dataset"]],
            f"{line['dataset']}, e = {line['ra_e']}, T = {line['fpa_T']}",
        )
        own, ablation = fpa(data, int(line["fpa_T"])), ra(data, int(line["ra_e"]))
        yield CellSpec(
            quantity,
            "data",
            "RA",
            x,
            parse_number(line["ra_seconds"]),
            (Measurement(ablation, "fit_seconds"),),
        )
        yield CellSpec(
            quantity,
            "data",
            "FPA, a submodel",
            x,
            parse_number(line["fpa_single_seconds"]),
            (Measurement(own, "submodel_seconds"),),
        )
        yield CellSpec(
            quantity,
            "data",
            "FPA, all submodels",
            x,
            parse_number(line["fpa_total_seconds"]),
            (Measurement(own, "fit_seconds"),),
        )


def ames_table() -> CellSpecs:
    """Beyond the paper: raw columns as units, informed partitions, with and without a stretch."""
    line = next(
        line
        for line in paper_table(CERTIFIED["ames"])
        if line["method"] == "fpa" and line["T_or_e"] == "21"
    )
    for partition, series in (
        ("random", "random"),
        ("informed", "informed"),
        ("exchanged", "informed and exchanged"),
    ):
        for rule in (*VALUE_RULES, TUNED_STRETCH):
            setting = Setting("ames_raw", "partition", 21, partition)
            for radius in range(11):
                ours = Measurement(setting, "certified", rule, radius)
                yield CellSpec(
                    SHARE,
                    "r",
                    f"{series}, {rule}",
                    radius,
                    parse_number(line[f"r{radius}"]),
                    (ours,),
                    beyond=True,
                )
