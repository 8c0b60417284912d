r"""One backdoored source leaves a plain model 0 % right; partita proves 60 to 64 % against it.

Eight models on each of the three deployments, attacked by evasion, poisoning and backdoors in one
to three sources; 2 cores. Without --run it prints the tables of the results in
benchmarks/results/alternatives, which docs/guide/alternatives.md shows.

    python benchmarks/alternatives.py
    python benchmarks/alternatives.py --run gas air credit
    python benchmarks/alternatives.py --figure docs/images/alternatives.png

Settings are the models' own defaults: nothing is chosen, so every test row is looked at once. Seed
0 draws the rows and the attacks.
"""

import argparse
import json
import os
import platform
import time
from pathlib import Path

from partita.deployments import load_deployment, under_attack
from partita.deployments._attack_table import AttackTable

RESULTS = Path(__file__).parent / "results" / "alternatives"
NAMES = ("gas", "air", "credit")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", nargs="+", choices=NAMES, help="attack the models of these")
    parser.add_argument("--figure", type=Path, help="a .png to draw the results into")
    given = parser.parse_args()
    for name in given.run or ():
        run(name)
    tables = {name: read(name) for name in NAMES}
    if given.figure:
        draw(tables, given.figure)
    else:
        print("\n\n".join(f"**{one.title}.**\n\n{one.to_markdown()}" for one in tables.values()))


def run(name: str) -> None:
    started = time.perf_counter()
    found = under_attack(load_deployment(name), verbose=1)
    RESULTS.mkdir(parents=True, exist_ok=True)
    content = {
        "command": f"python benchmarks/alternatives.py --run {name}",
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "seconds": round(time.perf_counter() - started, 1),
        "title": found.title,
        "source": found.source,
        "radii": found.radii,
        "notes": found.notes,
        "rows": found.rows,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


def read(name: str) -> AttackTable:
    content = json.loads((RESULTS / f"{name}.json").read_text())
    return AttackTable(
        content["rows"],
        tuple(content["radii"]),
        content["title"],
        content["source"],
        tuple(content["notes"]),
    )


def draw(tables: dict[str, AttackTable], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.6), layout="constrained")
    axes = figure.subplots(1, len(tables), sharey=True)
    for ax, one in zip(axes, tables.values(), strict=True):
        one.plot(ax)
        ax.get_legend().remove()
    for ax in axes[1:]:
        ax.set_ylabel("")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
