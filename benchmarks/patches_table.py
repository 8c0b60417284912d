"""The table of docs/guide/vision.md about patches, from the files in benchmarks/results/patches.

python benchmarks/patches_table.py
"""

import json
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "patches"
THREATS = {"trusted": "evasion", "attackable": "training (same place) + evasion"}
COLUMNS = [
    "data, rows",
    "patch",
    "threat",
    "accuracy",
    "certified",
    "windows",
    "networks",
    "fit",
    "per image",
    "models evaluated",
    "settings",
]


def main() -> None:
    if found := results():
        print(table(found))


def results():
    """All results, those on test images first."""
    found = [json.loads(file.read_text()) for file in sorted(RESULTS.glob("*.json"))]
    return sorted(found, key=lambda one: (one["rows"] != "test", one["data"], one["training"]))


def table(found):
    """The results as Markdown; certified accuracy in %."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    for one in found:
        tall, wide = one["patch"]
        several = f"{one['n_patches']} of " if one["n_patches"] > 1 else ""
        shared = {} if one.get("leave_out") is None else {"leave_out": one["leave_out"]}
        settings = [f"{name} {value}" for name, value in (shared | one["settings"]).items()]
        networks = f"{one['networks']} {one['network']}"
        cells = [
            f"{one['data']}, {one['rows']}",
            f"{several}{tall} x {wide}",
            THREATS[one["training"]],
            str(one["accuracy"]),
            ", ".join(map(str, one["certified"])),
            f"{one['grid'][0]} x {one['grid'][1]}",
            networks,
            fit_time(one),
            f"{1000 * one['seconds_per_image']:.1f} ms",
            f"{one['questions_per_image']:.0f} of {one['models']}",
            ", ".join(settings),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def fit_time(one):
    """Seconds of training; for a run that resumed, in proportion to the networks it trained."""
    if one["networks_fitted"] == one["networks"]:
        return f"{one['fit_seconds']:.0f} s"
    if not one["networks_fitted"]:
        return "?"
    return f"about {one['fit_seconds'] * one['networks'] / one['networks_fitted']:.0f} s"


if __name__ == "__main__":
    main()
