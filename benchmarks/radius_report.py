"""The tables of docs/results/radius.md, from the measurements of benchmarks/radius.py."""

import json
from itertools import product

import numpy as np

from partita.selection import default_options

ORDINARY = ("boosting", "randomized trees", "linear")
RADII = (1, 2, 3)
SEEDS = ("0", "1")
TASKS = {"labels": "classification", "numbers": "regression"}
LOST = 1.0  # points of accuracy that a proof may cost before anything else counts


def load(folder, names):
    """The results by table, means over the splits that were measured."""
    found = {}
    for name in names:
        file = folder / f"{name.replace(' ', '-')}.json"
        if file.exists():
            found[name] = _means(json.loads(file.read_text()))
    return found


def _means(found):
    runs = [found[seed] for seed in SEEDS if seed in found]
    one = {key: found[key] for key in ("kind", "units", "columns", "right")}
    one |= {"train": runs[0]["train"], "splits": len(runs), "settings": {}}
    for name, first in runs[0].items():
        if isinstance(first, dict) and all(name in run for run in runs):
            one["settings"][name] = {
                key: np.mean([run[name][key] for run in runs], axis=0).tolist()
                for key in first
                if key not in ("fits", "seconds")
            }
    return one


def right(one, name, radius=0):
    """The share of rows that are right, or certified right at a radius; 0 where none can be."""
    shares = one["settings"][name]
    return shares["right" if radius == 0 else f"r={radius}"][0]


def ordinary(one):
    return max(right(one, name) for name in ORDINARY)


def candidates(one, radius):
    """The settings that can prove something at this radius."""
    return [
        name
        for name, shares in one["settings"].items()
        if f"r={radius}" in shares and (name[0] == "r" or int(name[2:]) > 2 * radius)
    ]


def loss(one, name):
    """By how many points it is less accurate than the best ordinary model, after what it may be."""
    return max(0.0, ordinary(one) - right(one, name) - LOST)


def best(one, radius):
    """The most certified of those within a point of the best ordinary model, or the nearest."""
    return min(
        candidates(one, radius), key=lambda name: (loss(one, name), -right(one, name, radius))
    )


def by_rule(one, radius):
    """The candidate that the rule takes; None where there are too few units."""
    if one["units"] <= 2 * radius:
        return None
    found = default_options(one["units"], radius, TASKS[one["kind"]], one["train"])
    if "submodels" in found:
        return f"T={found['submodels']}"
    return f"r={radius} G={found['groups']}"


def before(one):
    """The default of fit before there was a rule: all units, at most 21."""
    return max(
        (name for name in one["settings"] if name.startswith("T=") and int(name[2:]) <= 21),
        key=lambda name: int(name[2:]),
    )


def cell(one, name, radius):
    if name is None or name not in one["settings"]:
        return ""
    return f"{right(one, name, radius):.1f} at {right(one, name):.1f} ({shown(name)})"


def shown(name):
    return name.split()[-1].replace("=", " = ")


def print_page(results):
    print("| table | units | rows | best ordinary | constant | r | rule | before | best |")
    print("|" + "---|" * 9)
    for name, one in results.items():
        lead = [name, one["units"], one["train"]]
        lead += [f"{ordinary(one):.1f}", f"{right(one, 'constant'):.1f}"]
        for radius in RADII:
            if one["units"] <= 2 * radius:
                continue
            line = [*lead, radius, cell(one, by_rule(one, radius), radius)]
            line += [cell(one, before(one), radius), cell(one, best(one, radius), radius)]
            print("| " + " | ".join(map(str, line)) + " |")
            lead = [""] * len(lead)


def print_means(results):
    """Means over the tables: points of accuracy lost, and % certified."""
    print("| target | r | tables | rule: lost, certified | before | best |")
    print("|" + "---|" * 6)
    for kind, radius in product(TASKS, RADII):
        chosen = [
            (one, (by_rule(one, radius), before(one), best(one, radius)))
            for one in results.values()
            if one["kind"] == kind and by_rule(one, radius) in one["settings"]
        ]
        shares = [
            [(ordinary(one) - right(one, s), right(one, s, radius)) for s in settings]
            for one, settings in chosen
        ]
        cells = [f"{lost:.1f}, {kept:.1f}" for lost, kept in np.mean(shares, axis=0)]
        print(f"| {kind} | {radius} | {len(chosen)} | {' | '.join(cells)} |")
    print()


def draw(results, place):
    """One panel per radius: an arrow for each table, from the default before to the rule's."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.6), sharex=True, layout="constrained")
    for ax, radius in zip(axes, RADII, strict=True):
        for name, one in results.items():
            taken, old = by_rule(one, radius), before(one)
            if taken not in one["settings"] or one["units"] <= 2 * radius:
                continue
            ends = [(right(one, s) - ordinary(one), right(one, s, radius)) for s in (old, taken)]
            colour = "tab:blue" if one["kind"] == "labels" else "tab:orange"
            arrow = {"arrowstyle": "->", "color": colour, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", ends[1], ends[0], arrowprops=arrow)
            ax.plot(*ends[0], ".", color=colour, markersize=4)
            ax.annotate(name, ends[1], (3, 2), textcoords="offset points", fontsize=7)
        ax.axvline(0, color="tab:gray", ls=":")
        ax.set(title=f"r = {radius}", xlim=(-65, 14), ylim=(-3, 103))
    axes[0].set_ylabel("% right whatever r units say")
    figure.supxlabel("accuracy less that of the best ordinary model, in points")
    for colour, kind in (("tab:blue", "labels"), ("tab:orange", "numbers")):
        axes[0].plot([], [], color=colour, label=kind)
    axes[0].legend(frameon=False, loc="upper left")
    figure.savefig(place, dpi=110)
