"""Method and size by a rule on counts: labels lose 1.9 points at r = 1, with 21 submodels 11.4.

    python benchmarks/radius.py                              # print the tables of the page
    python benchmarks/radius.py --run --data FOLDER [--tables gas meats] [--seeds 0 1]

Three tenths of the rows are to test on (at random; chicago and beijing: the last ones), at most
1,000, and at most 2,000 others to learn from (most tables: --rows 1000; each result has its
numbers). Settings are the defaults of the ensembles but for method and size; seeds draw rows,
groups and members. Nothing is chosen on a table, so all is measured on the test rows; the rule was
chosen over all tables. Members are at most 60. One core beside other work: seconds are no results.
"""

import argparse
import json
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from leave_out_data import split
from radius_data import TABLES
from radius_report import draw, load, print_means, print_page
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from timing import command_without, processor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from partita.errors import InputError
from partita.tables import encode_alone, table_columns

RESULTS = Path(__file__).parent / "results" / "radius"
RADII = (1, 2, 3)
SUBMODELS = (3, 5, 7, 9, 11, 15, 21, 31)
# groups and members at most
SIZES = {
    1: ((3, 60), (5, 60), (8, 60), (11, 60), (17, 60)),
    2: ((5, 60), (7, 60), (9, 60)),
    3: ((7, 60), (8, 60)),
}
MOST_TEST = 1000


def ordinary(table):
    """Three ordinary models on all columns, which prove nothing."""
    numbers = table.is_regression
    codes = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    return {
        "boosting": (HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier)(
            early_stopping=True, random_state=0
        ),
        "randomized trees": make_pipeline(
            SimpleImputer(keep_empty_features=True),
            (ExtraTreesRegressor if numbers else ExtraTreesClassifier)(300, random_state=0),
        ),
        "linear": make_pipeline(codes, Ridge() if numbers else LogisticRegression(max_iter=500)),
    }


def plain(table):
    """All columns as numbers, for the ordinary models: texts become codes, one column at a time."""
    columns = [encode_alone(column)[0] for column in table_columns(table.X)]
    return pd.DataFrame(np.column_stack(columns).astype(float))


def candidates(table, n_units):
    """Every ensemble to fit: its name, itself, and the radii it is for."""
    numbers = table.is_regression
    common = {"units": table.units, "trusted": list(table.trusted), "n_jobs": 1}
    partition = FeaturePartitionRegressor if numbers else FeaturePartitionClassifier
    for size in SUBMODELS:
        if size <= n_units:
            yield f"T={size}", partition(n_submodels=size, **common), RADII
    leave_out = LeaveOutRegressor if numbers else LeaveOutClassifier
    for radius, sizes in SIZES.items():
        for groups, most in dict.fromkeys((min(size[0], n_units), size[1]) for size in sizes):
            if groups > 2 * radius:
                settings = {"radius": radius, "n_groups": groups, "max_models": most}
                yield f"r={radius} G={groups}", leave_out(**settings, **common), (radius,)


def shares(right, y, numbers):
    """Which share of the rows is right, and of labels the mean recall, in %."""
    found = [100 * float(np.mean(right))]
    if not numbers:
        found.append(100 * float(np.mean([right[y == label].mean() for label in np.unique(y)])))
    return [round(share, 2) for share in found]


def near(table, predicted, y):
    """Which predictions are right."""
    if not table.is_regression:
        return predicted == y
    width = table.right.get("tolerance", table.right.get("relative", 0) * np.abs(y))
    return np.abs(predicted - y) <= width


def best_constant(table, y_train, y):
    """The answer that is right most often in training, judged on the rows to test on."""
    values = np.unique(y_train)
    values = values[:: max(1, len(values) // 300)]
    best = max(values.tolist(), key=lambda value: near(table, value, y_train).sum())
    return near(table, best, y)


def judge(ensemble, table, rows, radii):
    """What is right, and what is right whatever so many units say."""
    X, y, numbers = table.X.iloc[rows], table.y[rows], table.is_regression
    proof = ensemble.certify(X, around=y, **table.right) if numbers else ensemble.certify(X)
    right = proof.radius >= 0 if numbers else proof.prediction == y
    found = {"right": shares(right, y, numbers)}
    return found | {f"r={r}": shares(right & (proof.radius >= r), y, numbers) for r in radii}


def run(name, table, seed, most):
    """Judge all candidates on test rows: nothing is chosen on a table, only a rule over all."""
    file = RESULTS / f"{name.replace(' ', '-')}.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    n_units = len(set(table.units)) if table.units is not None else table.X.shape[1]
    learn, _, test = split(table, seed)
    learn, test = learn[:most], test[:MOST_TEST]
    y = table.y[test]
    kind = "numbers" if table.is_regression else "labels"
    found |= {"kind": kind, "units": n_units, "columns": table.X.shape[1]}
    found |= {"right": table.right, "processor": processor()}
    own = found.setdefault(str(seed), {})
    own |= {"train": len(learn), "test": len(test), "command": command_without("--data")}
    todo = candidates(table, n_units)
    if "constant" not in own:
        held = best_constant(table, table.y[learn], y)
        own["constant"] = {"right": shares(held, y, table.is_regression)}
        X = plain(table)
        for model, estimator in ordinary(table).items():
            started = time.perf_counter()
            predicted = estimator.fit(X.iloc[learn], table.y[learn]).predict(X.iloc[test])
            own[model] = {"right": shares(near(table, predicted, y), y, table.is_regression)}
            own[model]["seconds"] = round(time.perf_counter() - started, 2)
    for candidate, ensemble, radii in todo:
        if candidate in own:
            continue
        started = time.perf_counter()
        ensemble.set_params(random_state=seed).fit(table.X.iloc[learn], table.y[learn])
        seconds = round(time.perf_counter() - started, 2)
        own[candidate] = judge(ensemble, table, test, radii)
        own[candidate] |= {"fits": ensemble.n_fitted, "seconds": seconds}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found, separators=(",", ":")) + "\n")
    taken = sum(one["seconds"] for one in own.values() if isinstance(one, dict) and "fits" in one)
    print(name, seed, f"{taken:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true", help="measure again")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--rows", type=int, default=2000, help="to learn from, at most")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1])
    parser.add_argument("--figure", help="where to draw both defaults, such as radius.png")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for seed, name in product(options.seeds, options.tables) if options.run else ():
        try:
            table = TABLES[name](options.data)
        except (ModuleNotFoundError, FileNotFoundError, InputError) as exc:
            print(f"skipped {name}: {exc}")
            continue
        table.most_rows = options.rows * 5 // 4
        run(name, table, seed, options.rows)
    results = load(RESULTS, TABLES)
    print_means(results)
    print_page(results)
    if options.figure:
        draw(results, options.figure)


if __name__ == "__main__":
    main()
