"""What benchmarks/leave_out.py prints and draws of its results.

python benchmarks/leave_out_report.py    # the comparison of learners
"""

import json
from pathlib import Path

import numpy as np

METHODS = ("leave-out", "partition")
WISHES = ("most certified", "accurate")
LEARNERS = ("boosting", "more boosting", "extra trees", "splines", "kernel", "default")


def runs_by_table(folder):
    """The results of every seed, by table."""
    tables = {}
    for file in sorted(folder.glob("*-[0-9].json")):
        name, _, _ = file.stem.rpartition("-")
        tables.setdefault(name.replace("-", " "), []).append(json.loads(file.read_text()))
    return tables


def print_page(folder):
    """One line per table and radius: means over the seeds on test rows, in %."""
    columns = [f"{method}, {wish}" for wish in WISHES for method in METHODS]
    print("| table | seeds | r | one model | " + " | ".join(columns) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(columns))
    for name, runs in runs_by_table(folder).items():
        one = 100 * np.mean([run["one model"][1] for run in runs])
        for radius in ("r=1", "r=2"):
            cells = []
            for column in columns:
                found = [run[radius][column][1:] for run in runs if column in run.get(radius, {})]
                accuracy, certified = 100 * np.mean(found, axis=0) if found else (np.nan, np.nan)
                cells.append(f"{certified:.1f} at {accuracy:.1f}")
            line = [name, str(len(runs)), radius[2:], f"{one:.1f}", *cells]
            print(f"| {' | '.join(line)} |")


def print_learners(folder):
    """Two tables of all learners: what is certified at which accuracy, and what that takes."""
    tables = {
        file.stem.removeprefix("learners-").replace("-", " "): json.loads(file.read_text())
        for file in sorted(folder.glob("learners-*.json"))
    }
    proofs, costs = {}, {}
    for name, found in tables.items():
        proofs[name] = {
            one: f"{100 * c:.1f} at {100 * a:.1f}" for one, (_, a, c, _) in found.items()
        }
        costs[name] = {one: f"{100 * s:.1f}, {t:.0f} s" for one, (s, _, _, t) in found.items()}
    everywhere = [one for one in LEARNERS if all(one in found for found in tables.values())]
    means = {one: np.mean([found[one] for found in tables.values()], axis=0) for one in everywhere}
    proofs["mean"] = {one: f"{100 * m[2]:.1f} at {100 * m[1]:.1f}" for one, m in means.items()}
    costs["mean"] = {one: f"{100 * m[0]:.1f}, {m[3]:.0f} s" for one, m in means.items()}
    for cells, title in ((proofs, "certified at accuracy"), (costs, "one model, seconds")):
        print(f"| {title} | {' | '.join(LEARNERS)} |")
        print("| --- |" + " --- |" * len(LEARNERS))
        for name, line in cells.items():
            print(f"| {name} | {' | '.join(line.get(one, '') for one in LEARNERS)} |")
        print()


def draw_frontiers(folder, place):
    """One panel per table: every setting on validation rows, r = 1, and both frontiers."""
    import matplotlib.pyplot as plt

    tables = runs_by_table(folder)
    n_rows = -(-len(tables) // 4)
    figure, axes = plt.subplots(n_rows, 4, figsize=(12.5, 3.1 * n_rows), layout="constrained")
    for ax in axes.flat[len(tables) :]:
        ax.set_axis_off()
    for ax, (name, runs) in zip(axes.flat, tables.items(), strict=False):
        for method, colour, marker in zip(
            METHODS, ("tab:orange", "tab:blue"), ("D", "o"), strict=True
        ):
            points = _validation_points(runs, method)
            ax.plot(*points.T, marker, color=colour, alpha=0.35, markersize=4)
            ax.plot(*_frontier(points).T, marker + "-", color=colour, label=method, markersize=5)
        ax.axvline(100 * np.mean([run["one model"][1] for run in runs]), color="tab:red", ls=":")
        ax.set_title(f"{name} ({len(runs)} seeds)", fontsize="medium")
    figure.supxlabel("% right (dotted: one model on all columns, on the test rows)")
    figure.supylabel("% right whatever one source says")
    axes.flat[0].legend(frameon=False, fontsize="small")
    figure.savefig(place, dpi=110)


def _validation_points(runs, method):
    """Accuracy and certified accuracy of every setting, in %, means over the seeds."""
    found = {}
    for run in runs:
        for setting, shares in run["r=1"]["validation"].items():
            if setting.startswith(method):
                found.setdefault(setting, []).append(shares)
    return 100 * np.array([np.mean(shares, axis=0) for shares in found.values()])


def _frontier(points):
    best = []
    for point in sorted(points.tolist(), reverse=True):
        if not best or point[1] > best[-1][1]:
            best.append(point)
    return np.array(best)


if __name__ == "__main__":
    print_learners(Path(__file__).parent / "results" / "leave_out")
