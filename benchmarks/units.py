"""Overlapping units: the bound takes 0.2 s for 10,000 rows and 460 submodels (goal: 1 s).

The collective certificate at r = 2 takes 0.06 s for 21 submodels (goal 0.5) and 0.92 s for 115
(goal 10); 3,000 exchanges of an informed partition take about 3 s for 100 units and 3,000 reference
rows (goal 10). On a 2-core cloud machine (AMD EPYC), best of three.

    python benchmarks/units.py        # also part of make bench
"""

import numpy as np
from timing import best

from partita import certify, certify_collective
from partita.partition._informed import exchange_units, linear_features
from partita.partition._partition import Overlap, strided_partition
from partita.rules import Tournament

ROWS, CLASSES = 10_000, 10
EXCHANGES = 3000


def ballots(n_submodels):
    rng = np.random.default_rng(0)
    lean = 0.5 * rng.normal(size=(ROWS, 1, CLASSES))
    return (lean + rng.normal(size=(ROWS, n_submodels, CLASSES))).astype(np.float32)


def reference(n_units, n_columns, n_rows):
    """Features of units, half of which say something about the target, and the target."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(n_units, n_columns, n_rows))
    target = columns[::2, 0].sum(axis=0) + rng.normal(size=n_rows)
    return [
        np.column_stack([linear_features(values, False) for values in unit]) for unit in columns
    ], target[:, None]


def main():
    for n_units, n_columns, n_submodels in ((12, 8, 5), (100, 1, 21)):
        for n_rows in (300, 3000):
            features, target = reference(n_units, n_columns, n_rows)
            start = strided_partition(n_units, n_submodels)
            given = (start, features, target, EXCHANGES)
            seconds = best(lambda given=given: exchange_units(*given), 1)
            units = f"{n_units} units of {n_columns} column(s)"
            what = f"{EXCHANGES:,} exchanges, {units}, {n_rows:,} rows"
            print(f"{what}: {seconds:.1f} s (goal 10)")
    reach = Overlap.from_seed(strided_partition(1024, 460), 4, random_state=0).incidence()
    many = ballots(460)
    for rule in ("plurality", "tournament", Tournament(margin=0.5)):
        certify(many[:10], rule, reach=reach)
        print(
            f"bound, 460 submodels, spread 4, {rule}: "
            f"{best(lambda rule=rule: certify(many, rule, reach=reach), 3):.2f} s (goal 1)"
        )
    for n_submodels, goal in ((21, 0.5), (115, 10)):
        some = ballots(n_submodels)
        for rule in ("plurality", "tournament"):
            certify_collective(some[:10], 2, rule)
            seconds = best(lambda rule=rule, some=some: certify_collective(some, 2, rule), 3)
            print(
                f"collective, r = 2, {n_submodels} submodels, {rule}: {seconds:.2f} s (goal {goal})"
            )


if __name__ == "__main__":
    main()
