"""Certificates about units that reach several submodels, and about one attacker for many rows; 10,000 rows, 10 classes, best of three.

Goals, on 2 cores: the bound with 460 overlapping submodels (n_submodels=115, spread=4) below 1 s; the collective certificate at r = 2 below
0.5 s for 21 submodels and below 10 s for 115.
"""

import numpy as np
from timing import best

from partita import certify, certify_collective
from partita.partition import Overlap, strided_partition
from partita.rules import Tournament

ROWS, CLASSES = 10_000, 10


def ballots(n_submodels):
    rng = np.random.default_rng(0)
    lean = 0.5 * rng.normal(size=(ROWS, 1, CLASSES))
    return (lean + rng.normal(size=(ROWS, n_submodels, CLASSES))).astype(np.float32)


def main():
    reach = Overlap.from_seed(strided_partition(1024, 460), 4, random_state=0).incidence()
    many = ballots(460)
    for rule in ("plurality", "tournament", Tournament(margin=0.5)):
        certify(many[:10], rule, reach=reach)
        print(f"bound, 460 submodels, spread 4, {rule}: {best(lambda rule=rule: certify(many, rule, reach=reach), 3):.2f} s (goal 1)")
    for n_submodels, goal in ((21, 0.5), (115, 10)):
        some = ballots(n_submodels)
        for rule in ("plurality", "tournament"):
            certify_collective(some[:10], 2, rule)
            seconds = best(lambda rule=rule, some=some: certify_collective(some, 2, rule), 3)
            print(f"collective, r = 2, {n_submodels} submodels, {rule}: {seconds:.2f} s (goal {goal})")


if __name__ == "__main__":
    main()
