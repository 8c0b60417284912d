"""``import partita`` takes 0.01, its classifier 1.09 times ``import sklearn.ensemble`` (goal: 1.5).

On a 2-core cloud machine (AMD EPYC), best of nine new processes each.

    python benchmarks/imports.py        # also part of make bench
"""

import subprocess
import sys
import time

RUNS = 9


def seconds(statement: str) -> float:
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    nothing, yardstick = seconds("pass"), seconds("import sklearn.ensemble")
    for statement in ("import partita", "from partita import FeaturePartitionClassifier"):
        ratio = (seconds(statement) - nothing) / (yardstick - nothing)
        print(
            f"{statement}: {ratio:.2f} times import sklearn.ensemble ({yardstick - nothing:.2f} "
            "s); goal 1.5"
        )


if __name__ == "__main__":
    main()
