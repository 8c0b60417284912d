"""The table of docs/guide/vision.md, from the files in benchmarks/results/vision.

python benchmarks/vision_table.py
"""

import json
from pathlib import Path

RULES = ("runoff", "tournament")
RADII = ("8", "13", "16", "26", "39")
COLUMNS = ["data, rows", "T", "rule", "accuracy", "median r"]
DEFAULTS = {
    "heads": 4,
    "expand": 2,
    "batch_size": 512,
    "learning_rate": 0.002,
    "weight_decay": 0.05,
    "flip": True,
    "shift": 2,
    "label_smoothing": 0.0,
    "average": 0.0,
    "zoom": 0.0,  # was tried on held-out images, brought nothing and is gone
    "views": 1,
}
CELL_DEFAULTS = {
    "blocks": 1,
    "cell": 2,
    "batch_size": 512,
    "learning_rate": 0.4,
    "weight_decay": 5e-4,
    "label_smoothing": 0.1,
    "average": 0.99,
    "flip": True,
    "shift": 2,
    "erase": 0,
    "views": 1,
}


def main() -> None:
    columns = [*COLUMNS, *(f"r >= {radius}" for radius in RADII), "fit", "settings"]
    print(f"| {' | '.join(columns)} |")
    print("|" + "---|" * len(columns))
    results = [
        json.loads(file.read_text())
        for file in sorted((Path(__file__).parent / "results" / "vision").glob("*.json"))
    ]
    for result in sorted(results, key=lambda one: one["rows"]):  # the test images first
        cells = result["settings"].get("network") == "cells"
        defaults = CELL_DEFAULTS if cells else DEFAULTS
        settings = [
            f"{name} {value}"
            for name, value in result["settings"].items()
            if defaults.get(name) != value
        ]
        for rule in RULES:
            one = result["rules"][rule]
            shares = " | ".join(str(one["certified"].get(radius, 0)) for radius in RADII)
            rows = f"{result['data']}, {result['rows']}"
            submodels = f"{result['submodels']}, {result['partition']}"
            seconds = f"{result['fit_seconds']:.0f} s"
            last = f"{seconds} | {', '.join(settings)}"
            print(
                f"| {rows} | {submodels} | {rule} | {one['accuracy']} | {one['median']:g} | "
                f"{shares} | {last} |"
            )


if __name__ == "__main__":
    main()
