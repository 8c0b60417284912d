"""36, 120 and 495 leave-out models cost 0.8, 0.6 and 0.2 times as many single fits (goal 0.5).

    python benchmarks/leave_out_cost.py [--data ../shared/data] [--rows 2000]

For 36 models (9 groups, r = 1), 120 (16 groups, r = 1) and 495 (12 groups, r = 2): the time of all
fits on one core, of the model on all columns too, in fits of that model, beside one fit for every
model. The goal is half of that. Members are shared between models and leave out about half of the
groups, so there are at most 150 of them, each sees about half of the columns, and the default ones
have 18 trees where one model has 50; the rest is what scikit-learn does for each tree. The figures
are of the default trees, 1,000 rows and 2 shared cores; ratios are of one run on one machine; the
table is the gas sensors' (16 sensors with 8 columns each).
"""

import argparse
import time
import warnings
from functools import partial

from leave_out_data import gas
from sklearn import get_config
from timing import best, processor

from partita import LeaveOutClassifier
from partita._support import on_one_thread
from partita.ensemble import TableBoostingClassifier, TableTreesClassifier

SIZES = ((1, 9), (1, 16), (2, 12))
RUNS = 3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--rows", type=int, default=2000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = gas(options.data)
    X, y = table.X.iloc[: options.rows], table.y[: options.rows]
    print(f"{processor()}, {len(X)} rows, {X.shape[1]} columns")
    print("| estimator | models | fits | seconds | in single fits | of models x one fit |")
    print("| --- | --- | --- | --- | --- | --- |")
    for estimator in (None, TableBoostingClassifier()):
        alone = TableTreesClassifier() if estimator is None else estimator
        single = best(partial(on_one_thread, get_config(), alone.fit, X, y), RUNS)
        for radius, groups in SIZES:
            ensemble = LeaveOutClassifier(
                estimator, radius=radius, n_groups=groups, units=table.units, n_jobs=1
            )
            started = time.perf_counter()
            ensemble.fit(X, y)
            seconds = time.perf_counter() - started
            models = len(ensemble.rule_.pools[0]) - 1
            fits = seconds / single
            print(
                f"| {type(alone).__name__} | {models} | {len(ensemble.partition_)} | "
                f"{seconds:.1f} | {fits:.0f} | {fits / models:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
