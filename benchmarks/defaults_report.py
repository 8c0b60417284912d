"""The tables of docs/results/defaults.md, from the measurements of benchmarks/defaults.py."""

from textwrap import fill

import numpy as np
from defaults_grid import AUTO, DEFAULT, GRID, MARGINS, PRIORS, RULES, SHOWN

RARE = 80  # the least share of the commonest label, in %, on a table called rare


def measured(found, n_submodels):
    """The largest number of submodels measured that is not above this one."""
    return max((count for count in found["scores"] if int(count) <= n_submodels), key=int)


def relative(found, n_submodels, setting):
    """The score in % of the best score of any setting and number of submodels on this table."""
    return 100 * found["scores"][measured(found, n_submodels)][GRID.index(setting)] / best(found)


def best(found):
    return max(max(scores) for scores in found["scores"].values())


def curve(found, n_submodels, setting, what):
    return found["curves"][measured(found, n_submodels)][SHOWN.index(setting)][what]


def relatives(results, choose, setting):
    return np.array([relative(one, choose(one["columns"]), setting) for one in results])


def best_setting(results, choose):
    return max(GRID, key=lambda setting: relatives(results, choose, setting).mean())


def best_rule(results, setting):
    return max(RULES, key=lambda name: relatives(results, RULES[name], setting).mean())


def print_text(text):
    print("\n" + fill(text, 100) + "\n")


def print_line(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def print_header(*names):
    print_line(*names)
    print("|" + "---|" * len(names))


def slashed(values):
    return " / ".join(f"{value:.1f}" for value in values)


def setting_text(setting):
    return " | ".join(f"{value:g}" for value in setting)


def print_tables(results):
    print("The tables. One model: all columns, T = 1, no prior; mean recall in brackets.\n")
    print_header(
        "table",
        "from",
        "licence",
        "rows",
        "columns (text, with missing values)",
        "classes",
        "the constant",
        "one model",
    )
    for one in results:
        alone = [curve(one, 1, (0, 0, 0), what)[0] for what in ("accuracy", "recall")]
        print_line(
            one["table"],
            one["source"],
            one["licence"],
            f"{one['train']:,} + {one['validation']:,}",
            f"{one['columns']} ({one['texts']}, {one['gaps']})",
            one["classes"],
            f"{one['constant']} ({100 / one['classes']:.1f})",
            f"{alone[0]} ({alone[1]})",
        )


def print_settings(results, choose):
    ranked = sorted(GRID, key=lambda setting: -relatives(results, choose, setting).mean())
    rare = np.array([one["constant"] >= RARE for one in results])
    print_text(
        f"The settings, each at the automatic T ({AUTO}), ranked among all {len(GRID)}. Score: "
        "mean "
        f"over the tables, in % of each table's best; rare: the {rare.sum()} tables whose "
        "constant is "
        f"right on {RARE} % or more. Behind the best: mean and standard error over the tables. "
        "Constants: tables where the mean recall is within a point of the constant's; nearest: by "
        "how "
        "many points it is above the constant's where it is so by least. Recall (mean over the "
        "classes) "
        "and accuracy are certified at r = 0 / 1 / 2 / 3, means over the tables; all: mean recall "
        "over "
        "the four radii; least: accuracy at r = 0 less the constant's, on the table where that is "
        "worst."
    )
    names = (
        "score",
        "rare",
        "others",
        "worst table",
        "behind the best",
        "constants",
        "nearest",
        "recall",
        "all",
        "accuracy",
        "least",
    )
    print_header("rank", "margin", "prior", "offset", *names)
    for setting in sorted(SHOWN, key=ranked.index):
        own = relatives(results, choose, setting)
        behind = relatives(results, choose, ranked[0]) - own
        recall, accuracy = (
            np.array([curve(one, choose(one["columns"]), setting, what) for one in results])
            for what in ("recall", "accuracy")
        )
        above = [
            values[0] - 100 / one["classes"] for one, values in zip(results, recall, strict=True)
        ]
        constants, nearest = sum(value <= 1 for value in above), min(above)
        least = min(
            values[0] - one["constant"] for one, values in zip(results, accuracy, strict=True)
        )
        print_line(
            ranked.index(setting) + 1,
            setting_text(setting),
            f"{own.mean():.1f}",
            f"{own[rare].mean():.1f}",
            f"{own[~rare].mean():.1f}",
            f"{own.min():.1f} ({results[own.argmin()]['table']})",
            f"{behind.mean():.1f} +- {behind.std(ddof=1) / len(behind) ** 0.5:.1f}",
            constants,
            f"{nearest:.1f}",
            slashed(recall.mean(0)),
            f"{recall.mean():.1f}",
            slashed(accuracy.mean(0)),
            f"{least:.1f}",
        )


def print_grid(results, choose):
    print_text(
        "Score by margin and prior at offset 0: rare tables / others / the most even of the "
        "others, "
        "where the commonest label has at most 1.2 times an even share of the rows."
    )
    rare = np.array([one["constant"] >= RARE for one in results])
    even = np.array([one["constant"] * one["classes"] <= 120 for one in results])
    print_header("margin", *(f"prior {prior:g}" for prior in PRIORS))
    for margin in MARGINS:
        scores = [relatives(results, choose, (margin, prior, 0)) for prior in PRIORS]
        print_line(
            margin,
            *(slashed([one[rare].mean(), one[~rare].mean(), one[even].mean()]) for one in scores),
        )


def print_plain_recall(results, choose):
    print_text(
        "The plain mean of certified recalls cannot choose, since a constant has 1 / classes at "
        "every "
        "radius: here it is, averaged over r = 0 to 3, on the rare tables at the automatic T."
    )
    rare = [one for one in results if one["constant"] >= RARE]
    print_header("margin", "prior", "offset", *(one["table"] for one in rare))
    for setting in ((0, 0, 0), (0.5, 0.9, 0), (0.25, 1.0, 0), DEFAULT):
        print_line(
            setting_text(setting),
            *(
                f"{np.mean(curve(one, choose(one['columns']), setting, 'recall')):.1f}"
                for one in rare
            ),
        )


def print_each(results, choose):
    margin, prior, offset = DEFAULT
    print_text(
        "Each table at the automatic T: the plain tournament (margin, prior and offset 0) and the "
        f"default (margin {margin:g}, prior {prior:g}, offset {offset:g}), certified at "
        "r = 0 / 1 / 2 / 3."
    )
    print_header(
        "table",
        "T",
        "the constant",
        "plain: accuracy",
        "plain: mean recall",
        "default: accuracy",
        "default: mean recall",
    )
    for one in results:
        count = choose(one["columns"])
        cells = [
            slashed(curve(one, count, setting, what))
            for setting in ((0, 0, 0), DEFAULT)
            for what in ("accuracy", "recall")
        ]
        print_line(one["table"], measured(one, count), one["constant"], *cells)


def print_numbers(results):
    print_text(
        "The number of submodels, with the default setting, by rule (the largest odd number it "
        "allows):"
    )
    print_header("rule", "score", "worst table", "recall", "accuracy")
    for name, choose in RULES.items():
        own = relatives(results, choose, DEFAULT)
        means = [
            np.mean([curve(one, choose(one["columns"]), DEFAULT, what) for one in results], axis=0)
            for what in ("recall", "accuracy")
        ]
        print_line(
            name,
            f"{own.mean():.1f}",
            f"{own.min():.1f} ({results[own.argmin()]['table']})",
            *map(slashed, means),
        )
    print_text("By table, score in % of the best of any T with the default setting:")
    _print_by_number(results)


def _print_by_number(results):
    counts = sorted({int(count) for one in results for count in one["scores"]})
    print_header("table", "columns", "rows", *(f"T = {count}" for count in counts))
    for one in results:
        scores = {
            int(count): scores[GRID.index(DEFAULT)] for count, scores in one["scores"].items()
        }
        cells = [
            f"{100 * scores[count] / max(scores.values()):.0f}" if count in scores else ""
            for count in counts
        ]
        print_line(one["table"], one["columns"], one["train"], *cells)


def print_without(results, choose):
    print_text(
        "Leave one table out: what the others would choose, and the score on the table left out:"
    )
    print_header(
        "left out",
        "margin",
        "prior",
        "offset",
        "score",
        "the default's",
        "rule",
        "score",
        "the default's",
    )
    for one in results:
        others = [other for other in results if other is not one]
        setting, name = best_setting(others, choose), best_rule(others, DEFAULT)
        units = one["columns"]
        own = relative(one, choose(units), DEFAULT)
        chosen = relative(one, choose(units), setting), relative(one, RULES[name](units), DEFAULT)
        print_line(
            one["table"],
            setting_text(setting),
            f"{chosen[0]:.1f}",
            f"{own:.1f}",
            name,
            f"{chosen[1]:.1f}",
            f"{own:.1f}",
        )


def print_few(results, n_rows):
    print_text(
        f"Few rows: {n_rows} training rows, score in % of the best of any T with the default "
        "setting:"
    )
    _print_by_number(results)
