"""Deciding and certifying: the tournament takes 0.30 times as long as ``ballots.argmax(2)``.

Plurality 0.16, run-off 0.26, margin tournament 1.12, top-3 0.18; at most 0.8 % of the ballots'
memory; 400 to 2,000 times as fast as plain Python (tests/exhaustive/slow_rules.py). On a 2-core
cloud machine (AMD EPYC), best of 15 runs; 10,000 rows, 115 submodels, 10 classes, float32.

    python benchmarks/rules.py        # also part of make bench
"""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from timing import best

from partita.rules import Plurality, RunOff, TopK, Tournament
from tests.exhaustive import slow_rules

ROWS, SUBMODELS, CLASSES, RUNS, SLOW_ROWS = 10_000, 115, 10, 15, 20

RULES = {
    "plurality": (Plurality(), 0.2, slow_rules.plurality),
    "run-off": (RunOff(), 0.4, slow_rules.runoff),
    "run-off, exact": (RunOff(exact=True), None, None),
    "tournament": (Tournament(), 0.5, lambda row: slow_rules.tournament(row, 0.0)),
    "tournament, margin 0.5": (
        Tournament(margin=0.5),
        2.0,
        lambda row: slow_rules.tournament(row, 0.5),
    ),
    "top-3": (TopK(3), 0.5, lambda row: slow_rules.topk(row, slow_rules.plurality(row)[0], 3)),
}

FIRST_CALL = """
import time, numpy as np
ballots = np.random.default_rng(0).normal(size=(100, 115, 10)).astype("float32")
start = time.perf_counter()
from partita import certify
certify(ballots, "tournament")
print(time.perf_counter() - start)
"""


def peak_share(work, array):
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / array.nbytes


def certify(rule, ballots, labels):
    return rule.certify(ballots, labels) if isinstance(rule, TopK) else rule.certify(ballots)


def main():
    rng = np.random.default_rng(0)
    lean = rng.normal(size=(ROWS, 1, CLASSES))  # submodels agree to some extent, as real ones do
    ballots = (lean + rng.normal(size=(ROWS, SUBMODELS, CLASSES))).astype(np.float32)
    labels = Plurality().decide(ballots)
    few = ballots[:SLOW_ROWS].tolist()
    alone = best(lambda: ballots.argmax(2), RUNS)
    print(
        f"{ROWS} rows, {SUBMODELS} submodels, {CLASSES} classes; ballots.argmax(2) takes "
        f"{1e3 * alone:.0f} ms"
    )
    print(
        f"{'rule':24s} {'x argmax':>9s} {'goal':>5s} {'memory':>8s} {'goal':>5s} "
        f"{'plain Python':>13s}"
    )
    for name, (rule, goal, slow) in RULES.items():
        certify(rule, ballots, labels)
        argmax = best(lambda: ballots.argmax(2), RUNS)
        own = best(lambda rule=rule: certify(rule, ballots, labels), RUNS)
        memory = peak_share(lambda rule=rule: certify(rule, ballots, labels), ballots)
        times = ""
        if slow is not None:
            slowly = best(lambda slow=slow: [slow(row) for row in few], 3) / SLOW_ROWS
            times = f"{slowly / (own / ROWS):12.0f}x"
        print(
            f"{name:24s} {own / argmax:9.2f} {goal or '-':>5} {memory:8.3f} {0.25:>5} {times:>13s}"
        )
    first = [
        float(
            subprocess.run(
                [sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(5)
    ]
    print(
        f"first call in a new process, import included: {min(first):.2f} s at best, "
        f"{max(first):.2f} s at worst of 5 (goal 1)"
    )


if __name__ == "__main__":
    main()
