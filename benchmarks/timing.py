"""How the benchmarks take time."""

import time


def best(work, runs):
    """The least of several runs, in seconds: what the work takes when nothing else disturbs it."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
