"""The tables in docs/baselines.md, from the files in benchmarks/results/: python benchmarks/defences_table.py"""

import json
from pathlib import Path

from partita.baselines.published import published
from partita.comparison import Comparison

RESULTS = Path(__file__).parent / "results"
SHAPES = {(5, 5): "5 x 5", (2, 12): "any rectangle of 24 pixels"}


def main() -> None:
    found = json.loads((RESULTS / "defences" / "mnist.json").read_text())
    shown = []
    for row in found["rows"]:
        seconds = {"fit": f"{row['fit']:.0f} s", "per row": f"{1000 * row['per row']:.1f} ms"}
        shown.append({name: f"{100 * value:.1f}" if _is_share(name) else value for name, value in row.items()} | seconds)
    print(Comparison(shown).to_markdown())
    print()
    ours = json.loads((RESULTS / "vision" / "cifar10-115-test.json").read_text())["rules"]["tournament"]["curve"]
    print("| CIFAR10, certified accuracy in % | " + " | ".join(SHAPES.values()) + " | also holds for |")
    print("|" + "---|" * (len(SHAPES) + 2))
    line = " | ".join(str(ours[height * width]) for height, width in SHAPES)
    print(f"| feature partition, 115 submodels, tournament | {line} | pixels anywhere, in several patches, and in training |")
    printed = {patch: {one.method: one for one in published("cifar10", patch)} for patch in SHAPES}
    for name, one in printed[5, 5].items():
        shares = " | ".join(f"{100 * printed[patch][name].certified:.2f}" if name in printed[patch] else "" for patch in SHAPES)
        print(f"| {name} (published: {one.source}) | {shares} | one patch |")


def _is_share(name):
    return name == "accuracy" or name.startswith("r = ")


if __name__ == "__main__":
    main()
