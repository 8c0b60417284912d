"""Certificates about units that reach several submodels, and about one attacker for many rows;
10,000 rows, 10 classes, best of three. And the exchanges of an informed partition.

Goals, on 2 cores: the bound with 460 overlapping submodels (n_submodels=115, spread=4) below 1 s;
the collective certificate at r = 2 below 0.5 s for 21 submodels and below 10 s for 115; 3,000
exchanges below 10 s for 12 units (of 8 columns) or 100 units (of one), with 300 and with 3,000
reference rows."""

import numpy as np
from timing import best

from partita import certify, certify_collective
from partita.partition._exchange import exchanged, features_of
from partita.partition._partition import Overlap, strided_partition
from partita.rules import Tournament

ROWS, CLASSES = 10_000, 10
EXCHANGES = 3000


def ballots(n_submodels):
    rng = np.random.default_rng(0)
    lean = 0.5 * rng.normal(size=(ROWS, 1, CLASSES))
    return (lean + rng.normal(size=(ROWS, n_submodels, CLASSES))).astype(np.float32)


def reference(n_units, n_columns, n_rows):
    """The features of units of several columns, half of which tell about the target, and the
    target."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(n_units, n_columns, n_rows))
    target = columns[::2, 0].sum(axis=0) + rng.normal(size=n_rows)
    return [
        np.column_stack([features_of(values, False) for values in unit]) for unit in columns
    ], target[:, None]


def main():
    for n_units, n_columns, n_submodels in ((12, 8, 5), (100, 1, 21)):
        for n_rows in (300, 3000):
            features, target = reference(n_units, n_columns, n_rows)
            start = strided_partition(n_units, n_submodels)
            seconds = best(
                lambda start=start, seen=(features, target): exchanged(start, *seen, EXCHANGES), 1
            )
            told = f"{EXCHANGES:,} exchanges, {n_units} units of {n_columns} column(s), {n_rows:,} rows"
            print(f"{told}: {seconds:.1f} s (goal 10)")
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
