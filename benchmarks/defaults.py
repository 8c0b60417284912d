"""The defaults: margin 0.25, prior 1, offset 0.25, and one submodel per unit up to 21.

Of 120 settings and ten rules for T on 18 tables, chosen by certified recall and accuracy at r = 0
to 3; docs/results/defaults.md says how. Measured on 2 shared cores (AMD EPYC) with n_jobs=1, about
20 minutes of CPU time.

    python benchmarks/defaults.py                           # print the tables of the page
    python benchmarks/defaults.py --run --ballots FOLDER    # measure again

Ballots are stored in FOLDER and reused from there. A table whose package is missing is skipped with
a message (defaults_data.py says which packages). At most 3,000 rows are for training and 2,000 for
validation (stratified, seed 0); test rows are not looked at. A unit is a column. Submodels are
boosted trees (TableBoostingClassifier); partitions are random with random_state 0, 1 and 2, and
results are means over the three. Tables of more than 200 columns: 1,000 + 1,000 rows,
random_state 0.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from defaults_data import TABLES
from defaults_grid import AUTO, GRID, RADII, RULES, SHOWN
from defaults_report import (
    print_each,
    print_few,
    print_grid,
    print_numbers,
    print_plain_recall,
    print_settings,
    print_tables,
    print_without,
)
from sklearn.model_selection import train_test_split

from partita import FeaturePartitionClassifier
from partita.ensemble import TableBoostingClassifier
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
FEW_TABLES = (
    "churn",
    "e-mail",
    "page blocks",
    "splice",
    "satimage",
)  # again with FEW training rows


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
    """The ballots of the validation rows, from the file where there is one."""
    if not file.exists():
        model = FeaturePartitionClassifier(
            TableBoostingClassifier(), n_submodels=n_submodels, random_state=seed, n_jobs=1
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
    """All that is stored of one table, as numbers in %."""
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
    print_plain_recall(results, choose)
    print_each(results, choose)
    print_numbers(results)
    print_without(results, choose)
    few_rows = [found[stem(name, True)] for name in FEW_TABLES if stem(name, True) in found]
    print_few(few_rows, FEW)


if __name__ == "__main__":
    main()
