"""The table in docs/vision.md, from the files in benchmarks/results/vision/: python
benchmarks/vision_table.py"""

import json
from pathlib import Path

COLUMNS = "| data, rows | T | settings | fit | rule | accuracy | median r | r >= 8 | r >= 13 | r >= 16 | r >= 26 | r >= 39 |"
SHOWN = ("runoff", "tournament")
RADII = ("8", "13", "16", "26", "39")
USUAL = {
    "heads": 4,
    "expand": 2,
    "batch_size": 512,
    "learning_rate": 0.002,
    "weight_decay": 0.05,
    "flip": True,
    "shift": 2,
    "label_smoothing": 0.0,
    "zoom": 0.0,  # was tried on held-out images, brought nothing and is gone
    "views": 1,
}


def main() -> None:
    print(COLUMNS)
    print("|" + "---|" * COLUMNS.count(" |"))
    results = [
        json.loads(file.read_text())
        for file in sorted((Path(__file__).parent / "results" / "vision").glob("*.json"))
    ]
    for found in sorted(results, key=lambda one: one["rows"]):  # the test images first
        said = [
            f"{name} {value}"
            for name, value in found["settings"].items()
            if USUAL.get(name) != value
        ]
        for rule in SHOWN:
            one = found["rules"][rule]
            shares = " | ".join(str(one["certified"].get(radius, 0)) for radius in RADII)
            which = f"{found['data']}, {found['rows']} | {found['submodels']}, {found['partition']}"
            first = f"{which} | {', '.join(said)} | {found['fit_seconds']:.0f} s"
            print(f"| {first} | {rule} | {one['accuracy']} | {one['median']:g} | {shares} |")


if __name__ == "__main__":
    main()
