"""What benchmarks/leave_out.py prints of its results."""

import json

import numpy as np


def print_page(folder):
    """One line per table and radius: means over the seeds, in %."""
    tables = {}
    for file in sorted(folder.glob("*-[0-9].json")):
        name, _, _ = file.stem.rpartition("-")
        tables.setdefault(name, []).append(json.loads(file.read_text()))
    methods = [
        f"{m}, {w}" for w in ("most certified", "accurate") for m in ("leave-out", "partition")
    ]
    print("| table | seeds | r | one model | " + " | ".join(methods) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(methods))
    for name, runs in tables.items():
        one = 100 * np.mean([run["one model"][1] for run in runs])
        for radius in ("r=1", "r=2"):
            cells = []
            for method in methods:
                found = [run[radius][method][1:] for run in runs if method in run.get(radius, {})]
                accuracy, certified = 100 * np.mean(found, axis=0) if found else (np.nan, np.nan)
                cells.append(f"{certified:.1f} at {accuracy:.1f}")
            print(
                f"| {name} | {len(runs)} | {radius[2:]} | {one:.1f} | " + " | ".join(cells) + " |"
            )
