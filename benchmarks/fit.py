"""Fitting 21 submodels takes 1.13 times as long as one model on all columns (goal: at most 1.2).

Half a million rows x 200 columns (of numbers; a tenth of them of texts), 2 classes, the default
submodel; 1.10 times with texts. And with LightGBM, 100 trees, on 50,000 rows x 100 columns, 5
classes: 1.66 times. There every submodel has 5 columns, and what LightGBM does per row and tree
whatever the columns (gradients, dividing the rows of a node) is done 21 times.

On a 2-core cloud machine (AMD EPYC), all cores for both, median of three alternating pairs.

    python benchmarks/fit.py        # also part of make bench
"""

import statistics
import time
import warnings

import joblib
import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier

from partita import FeaturePartitionClassifier
from partita.ensemble import TableBoostingClassifier

SUBMODELS, PAIRS = 21, 3
WORDS = np.array([f"word {k}" for k in range(20)])


def table(n_rows, n_columns, n_classes, texts=False):
    """Every column says a little about the label."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n_rows)
    columns = {}
    for k in range(n_columns):
        values = rng.normal(size=n_classes)[y] + 3 * rng.normal(size=n_rows)
        if texts and k % 10 == 0:
            columns[f"x{k}"] = WORDS[np.clip(values + 10, 0, 19).astype(int)].astype(object)
        else:
            columns[f"x{k}"] = values.astype(np.float32)
    return pd.DataFrame(columns), y


def seconds(model, X, y):
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def compare(name, single, estimator, X, y):
    """Fit in turn, and print the ratio."""
    pairs = []
    for _ in range(PAIRS):
        ensemble = FeaturePartitionClassifier(estimator, n_submodels=SUBMODELS)
        pairs.append((seconds(single, X, y), seconds(ensemble, X, y)))
    ratio = statistics.median(many / one for one, many in pairs)
    shown = ", ".join(f"{one:.1f} and {many:.1f} s" for one, many in pairs)
    print(
        f"{name}, {joblib.cpu_count()} cores: ensemble / single = {ratio:.2f} "
        f"(goal 1.2; one model and {SUBMODELS} submodels: {shown})",
        flush=True,
    )


def main():
    warnings.simplefilter("ignore")
    default = TableBoostingClassifier
    for texts in (False, True):
        X, y = table(500_000, 200, 2, texts)
        name = f"default, 500,000 x 200{', texts' if texts else ''}, 2 classes"
        compare(name, default(), default(), X, y)
    X, y = table(50_000, 100, 5)
    boosting = {"n_estimators": 100, "verbose": -1}
    single = LGBMClassifier(**boosting, n_jobs=joblib.cpu_count())
    compare("LightGBM, 50,000 x 100, 5 classes", single, LGBMClassifier(**boosting), X, y)


if __name__ == "__main__":
    main()
