"""What docs/results/watch.md shows of the results of benchmarks/watch.py.

python benchmarks/watch_report.py
"""

import json
from pathlib import Path
from statistics import median

RESULTS = Path(__file__).parent / "results" / "watch"


def print_gas(found):
    print("| batch | rows | right | rows until the first alarm | sensors with an alarm |")
    print("| --- | --- | --- | --- | --- |")
    for one in found["batches"]:
        print(
            f"| {one['batch']} | {one['rows']:,} | {100 * one['right']:.1f} % | "
            f"{one['first']:.0f} | {one['sensors']:.0f} of 16 |"
        )
    print()


def print_one(found):
    rows = sorted(one["row"] for one in found if one["row"] is not None)
    others = sum(len(one["others"]) for one in found)
    print("| one sensor has its values of batch 6 | |")
    print("| --- | --- |")
    print(f"| it has an alarm | {len(rows)} of {len(found)} sensors |")
    print(f"| rows until then: fewest, median, most | {rows[0]}, {median(rows):g}, {rows[-1]} |")
    print(f"| alarms about other sensors | {others} |")
    print()


def print_random(gas, beijing):
    print("| random streams with an alarm, 1 % are allowed | |")
    print("| --- | --- |")
    for name, found in (("gas sensors", gas["random"]), ("Beijing", beijing["random"])):
        cell = f"{found['with an alarm']} of {found['streams']:,}"
        print(f"| {name}, {found['rows']:,} rows each | {cell} |")
    print()


def print_false(gas, beijing):
    every = list(gas["in file order with an alarm"])
    print("| false alarms: use each k-th row, k = | " + " | ".join(every) + " |")
    print("| --- |" + " --- |" * len(every))
    cells = [f"{gas['in file order with an alarm'][k]} of {gas['splits']}" for k in every]
    print(f"| gas sensors, clean rows in the order of the file | {' | '.join(cells)} |")
    weeks = [beijing["every"][k] for k in every]
    cells = [f"{one['windows with an alarm']} of {one['windows']}" for one in weeks]
    print(f"| Beijing, weeks without an outage | {' | '.join(cells)} |")
    print()


def print_outages(beijing):
    every = list(beijing["every"])
    weeks = [beijing["every"][k] for k in every]
    print("| outages in Beijing: use each k-th hour, k = | " + " | ".join(every) + " |")
    print("| --- |" + " --- |" * len(every))
    cells = [f"{one['found']} of {one['outages']}" for one in weeks]
    print(f"| 12 hours and longer: the station has its alarm in them | {' | '.join(cells)} |")
    cells = [f"{one['long outages found']} of {one['long outages']}" for one in weeks]
    print(f"| of these, 24 hours and longer | {' | '.join(cells)} |")
    cells = ["-" if one["found"] == 0 else f"{one['median delay']:.0f}" for one in weeks]
    print(f"| median hours until the alarm | {' | '.join(cells)} |")


def print_dependent(found, clean):
    print()
    every = list(found["with an alarm"]["independent"]["independent"])
    print(
        "| nothing changes, 1 % of streams are allowed; use each k-th row, k = | clean rows | ",
        end="",
    )
    print(" | ".join(every) + " |")
    print("| --- | --- |" + " --- |" * len(every))
    for order, by_clean in found["with an alarm"].items():
        for own, cells in by_clean.items():
            row = [f"{cells[k]} of {found['streams']}" for k in every]
            print(f"| {order} | {own} | {' | '.join(row)} |")
    print()
    print("| clean rows said to depend on their neighbours, k = | " + " | ".join(every) + " |")
    print("| --- |" + " --- |" * len(every))
    for order, cells in clean["pointed out"].items():
        row = [f"{cells[k]} of {clean['tables']}" for k in every]
        print(f"| {order} | {' | '.join(row)} |")
    print()
    year = f"{found['calls']} calls of {found['rows a call']} independent rows"
    print(f"| {year}, nothing changes | with an alarm |")
    print("| --- | --- |")
    for name, years in found["years with an alarm"].items():
        print(f"| {name} | {years} of {found['years']} years |")


def main():
    gas, beijing, dependent, clean = (
        json.loads((RESULTS / f"{name}.json").read_text())
        for name in ("gas", "beijing", "dependent", "clean")
    )
    print_gas(gas)
    print_one(gas["one drifts"])
    print_random(gas, beijing)
    print_false(gas, beijing)
    print_outages(beijing)
    print_dependent(dependent, clean)


if __name__ == "__main__":
    main()
