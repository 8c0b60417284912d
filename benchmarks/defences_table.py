"""The tables in docs/baselines.md, from the files in benchmarks/results/: python
benchmarks/defences_table.py"""

import json
from pathlib import Path

from partita.baselines._comparison import Comparison
from partita.baselines._published import published

RESULTS = Path(__file__).parent / "results"
SHAPES = {(5, 5): "5 x 5", (2, 12): "any rectangle of 24 pixels"}


def main() -> None:
    for file in sorted((RESULTS / "defences").glob("*.json"), key=lambda file: file.stem):
        found = json.loads(file.read_text())
        print(
            f"`{found['command']}`: certified accuracy in % on {found['images']:,} test images; "
            f"{found['machine']}."
        )
        print()
        print(Comparison([_shown(row) for row in found["rows"]]).to_markdown())
        print()
    print(
        "Patches on CIFAR10, certified accuracy in %; the published numbers are the paper's, "
        "nothing of theirs was run here."
    )
    print()
    ours = json.loads((RESULTS / "vision" / "cifar10-115-test.json").read_text())["rules"][
        "tournament"
    ]["curve"]
    print("| method | " + " | ".join(SHAPES.values()) + " | also holds for |")
    print("|" + "---|" * (len(SHAPES) + 2))
    line = " | ".join(str(ours[height * width]) for height, width in SHAPES)
    print(
        f"| feature partition, 115 submodels, tournament | {line} | pixels anywhere, any number "
        "of patches, and training |"
    )
    printed = {patch: {one.method: one for one in published("cifar10", patch)} for patch in SHAPES}
    for name, one in printed[5, 5].items():
        shares = " | ".join(
            f"{100 * printed[patch][name].certified:.2f}" if name in printed[patch] else ""
            for patch in SHAPES
        )
        print(f"| {name} (published: {one.source}) | {shares} | |")


def _shown(row):
    """Shares in %, times with their units."""
    shares = {
        name: f"{100 * value:.1f}"
        for name, value in row.items()
        if name == "accuracy" or name.startswith("r = ")
    }
    return {
        **row,
        **shares,
        "fit": f"{row['fit']:.0f} s",
        "per row": f"{1000 * row['per row']:.1f} ms",
    }


if __name__ == "__main__":
    main()
