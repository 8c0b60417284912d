"""The default submodel: scikit-learn's boosting with 50 trees of 8 leaves certifies as much as any.

Of both libraries and four sizes of trees, on five tables, means of 5 seeds. LightGBM certifies the
same at the same size and fits 2 to 4 times faster; larger trees cost certified accuracy on digits
and diabetes and gain 2 points on Ames. Fit times are on one thread of a 2-core cloud machine (AMD
EPYC).

    python benchmarks/default_estimator.py

The table is in docs/results/default-estimator.md. Every candidate is fitted on the same partitions
and scored on rows held out from the training rows (no test set is looked at): accuracy, and
certified accuracy at T/8 and T/4.
"""

import time
import warnings

import numpy as np
from ames import load_ames
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.model_selection import train_test_split

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.ensemble._table_estimators import TableBoostingClassifier, TableBoostingRegressor
from partita.metrics import certified_accuracy

SEEDS = range(5)
SIZES = [(50, 8), (100, 8), (50, 15), (100, 31)]


def encoded_ames():
    """The Ames table with texts as numbers."""
    table, price = load_ames()
    numeric = table.select_dtypes("number")
    codes = {
        name: table[name].astype("category").cat.codes
        for name in table.columns
        if name not in numeric
    }
    return numeric.assign(**codes).to_numpy(dtype=float), price


def problems():
    yield "breast cancer", "labels", load_breast_cancer(return_X_y=True), 15, {}
    yield "wine", "labels", load_wine(return_X_y=True), 7, {}
    yield "digits", "labels", load_digits(return_X_y=True), 21, {}
    yield "diabetes", "numbers", load_diabetes(return_X_y=True), 5, {"relative": 0.3}
    yield "Ames, log price", "numbers", encoded_ames(), 21, {"tolerance": float(np.log(1.15))}


def candidates(kind):
    boosting, lightgbm = {
        "labels": (TableBoostingClassifier, LGBMClassifier),
        "numbers": (TableBoostingRegressor, LGBMRegressor),
    }[kind]
    for trees, leaves in SIZES:
        yield "scikit-learn", trees, leaves, boosting(max_iter=trees, max_leaf_nodes=leaves)
        yield "LightGBM", trees, leaves, lightgbm(n_estimators=trees, num_leaves=leaves, verbose=-1)


def main():
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    print("| data | T | library | trees x leaves | accuracy | at r = T/8 | at r = T/4 | fit, s |")
    print("|---|---|---|---|---|---|---|---|")
    for name, kind, (X, y), n_submodels, bounds in problems():
        for library, trees, leaves, estimator in candidates(kind):
            rows = []
            for seed in SEEDS:
                X_fit, X_held, y_fit, y_held = train_test_split(
                    X, y, test_size=0.3, random_state=seed
                )
                ensemble = (
                    FeaturePartitionClassifier if kind == "labels" else FeaturePartitionRegressor
                )
                model = ensemble(estimator, n_submodels=n_submodels, random_state=seed, n_jobs=1)
                start = time.perf_counter()
                model.fit(X_fit, y_fit)
                seconds = time.perf_counter() - start
                proof = (
                    model.certify(X_held, around=y_held, **bounds)
                    if bounds
                    else model.certify(X_held)
                )
                shares = [
                    100 * certified_accuracy(y_held, proof, r)
                    for r in (0, round(n_submodels / 8), round(n_submodels / 4))
                ]
                rows.append([*shares, seconds])
            numbers = " | ".join(f"{number:.1f}" for number in np.mean(rows, axis=0))
            print(
                f"| {name} | {n_submodels} | {library} | {trees} x {leaves} | {numbers} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
