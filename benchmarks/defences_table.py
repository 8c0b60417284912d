"""The tables of docs/guide/baselines.md, from the files in benchmarks/results.

python benchmarks/defences_table.py
"""

import json
import textwrap
from pathlib import Path

from patches_table import THREATS, results

from partita.baselines._comparison import Comparison, published_numbers

RESULTS = Path(__file__).parent / "results"
SHAPES = {(5, 5): "5 x 5", (2, 12): "any rectangle of 24 pixels"}


def main() -> None:
    for file in sorted((RESULTS / "defences").glob("*.json"), key=lambda file: file.stem):
        content = json.loads(file.read_text())
        print(
            _wrapped(
                f"`{content['command']}`: certified accuracy in % on {content['images']:,} test "
                f"images; {content['machine']}."
            )
        )
        print()
        print(Comparison([_with_units(row) for row in content["rows"]]).to_markdown())
        print()
    print(
        _wrapped(
            "Patches on CIFAR10, certified accuracy in %; the published numbers are the paper's, "
            "nothing of theirs was run here."
        )
    )
    print()
    ours = json.loads((RESULTS / "vision" / "cifar10-115-test.json").read_text())["rules"][
        "tournament"
    ]["curve"]
    print("| method | " + " | ".join(SHAPES.values()) + " | threat | also holds for |")
    print("|" + "---|" * (len(SHAPES) + 3))
    line = " | ".join(str(ours[height * width]) for height, width in SHAPES)
    print(
        f"| feature partition, 115 submodels, tournament | {line} | training (same place) + "
        "evasion | pixels anywhere, any number of patches |"
    )
    for one in results():
        if (one["data"], one["rows"], one["n_patches"]) == ("cifar10", "test", 1):
            shares = " | ".join(
                str(one["certified"][0]) if one["patch"] == list(patch) else "" for patch in SHAPES
            )
            name = f"windows left out, {one['windows']}, {one['networks']} {one['network']}"
            print(f"| {name} | {shares} | {THREATS[one['training']]} | |")
    printed = {
        patch: {one.method: one for one in published_numbers("cifar10", patch)} for patch in SHAPES
    }
    for name, one in printed[5, 5].items():
        shares = " | ".join(
            f"{100 * printed[patch][name].certified:.2f}" if name in printed[patch] else ""
            for patch in SHAPES
        )
        print(f"| {name} (published: {one.source}) | {shares} | evasion | |")


def _wrapped(text):
    """Prose as the page has it, at most 100 columns wide."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def _with_units(row):
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
