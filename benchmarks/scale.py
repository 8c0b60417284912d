"""3,000,000 rows x 128 columns are fitted in 121 s and certified in 49 s, below 520 MB per worker.

31 submodels of LightGBM on a Dask cluster of 2 workers of one thread each, on an idle 2-core cloud
machine (AMD EPYC, 24 GB), one run; 2.92 times as long as one LightGBM on all columns. The other
sizes are in docs/guide/cluster.md.

    python benchmarks/scale.py                     # 100,000, 300,000, 1,000,000 and 3,000,000 rows
    python benchmarks/scale.py 100000 1000000      # other numbers of rows

Every step runs in processes of its own, whose peak memory is read at their end. "Work" is the time
of all cores together, which other programs on the machine disturb less. Goals: fitting and
certifying are linear in the rows; on the most rows two workers are at least 1.8 times as fast as
one, and the fit takes at most 3 times as long as one LightGBM on all columns; proofs for 3,000,000
rows from their ballots in below 10 s; a worker stays below 2 times the size of its columns plus
500 MB.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import distributed
import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from lightgbm import LGBMClassifier
from threadpoolctl import threadpool_limits
from timing import processor

from partita import FeaturePartitionClassifier, certify_parquet, fit_parquet, store

COLUMNS, SUBMODELS, MEGA = 128, 31, 2**20
ROWS_PER_GROUP, ROWS_PER_FILE = 100_000, 500_000
BOOSTING = {
    "n_estimators": 50,
    "num_leaves": 8,
    "deterministic": True,
    "force_col_wise": True,
    "verbose": -1,
}


def make(folder: Path, n_rows: int) -> None:
    """Two classes; every column says a little about them, some only together with another."""
    folder.mkdir()
    strength = np.random.default_rng(0).uniform(0, 0.5, COLUMNS).astype(np.float32)
    for start in range(0, n_rows, ROWS_PER_FILE):
        rng, rows = np.random.default_rng(start + 1), min(ROWS_PER_FILE, n_rows - start)
        y = rng.integers(2, size=rows, dtype=np.int8)
        X = rng.standard_normal((COLUMNS, rows), dtype=np.float32)
        X[::2] += strength[::2, None] * (2 * y - 1)
        X[1::2] += strength[1::2, None] * (2 * y - 1) * X[::2]
        table = pa.table({f"c{k}": X[k] for k in range(COLUMNS)} | {"y": y})
        pq.write_table(
            table,
            folder / f"{start:012d}.parquet",
            row_group_size=ROWS_PER_GROUP,
            use_dictionary=False,
        )


def ensemble() -> FeaturePartitionClassifier:
    return FeaturePartitionClassifier(LGBMClassifier(**BOOSTING), n_submodels=SUBMODELS)


def peak() -> float:
    """The most memory this process has had, in MB; ru_maxrss may be its parent's."""
    (line,) = (
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )
    return int(line.split()[1]) / 1024


@contextmanager
def cluster(workers: int):
    """A scheduler and workers of one thread each."""
    with tempfile.TemporaryDirectory() as folder:
        file, python = Path(folder) / "scheduler.json", [sys.executable, "-m"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        scheduler = [
            *python,
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            file,
        ]
        worker = [
            *python,
            "distributed.cli.dask_worker",
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--scheduler-file",
            file,
        ]
        processes = [subprocess.Popen(list(map(str, scheduler)), **quiet)]
        try:
            processes += [
                subprocess.Popen(
                    [*map(str, worker), "--memory-limit", "0", "--host", "127.0.0.1"], **quiet
                )
                for _ in range(workers)
            ]
            while not file.exists():
                time.sleep(0.05)
            with distributed.Client(
                json.loads(file.read_text())["address"], set_as_default=False
            ) as client:
                client.wait_for_workers(workers)
                client.run(_warm)
                yield client
        finally:
            for process in processes:
                process.kill()
                process.wait()


def _warm() -> None:
    """Import what the work needs, so that imports are not timed."""
    import lightgbm  # noqa: F401

    import partita.workflow._fit_parquet  # noqa: F401


def fit(table: Path, out: Path, workers: int) -> dict:
    with cluster(int(workers)) as client:
        idle, before = max(client.run(peak).values()), sum(client.run(time.process_time).values())
        started = time.perf_counter()
        fit_parquet(ensemble(), table, "y", out, cluster=client)
        seconds = time.perf_counter() - started
        work = sum(client.run(time.process_time).values()) - before
        return {
            "seconds": seconds,
            "work": work,
            "worker": max(client.run(peak).values()),
            "idle": idle,
            "driver": peak(),
        }


def certify(model: Path, table: Path) -> dict:
    idle, before, started = peak(), time.process_time(), time.perf_counter()
    found = certify_parquet(model, table, model.parent / "certified.parquet")
    seconds, work = time.perf_counter() - started, time.process_time() - before
    return {"seconds": seconds, "work": work, "peak": peak(), "idle": idle, "found": found}


def one_model(table: Path) -> dict:
    """One LightGBM on all columns, with all cores."""
    y = pq.read_table(table, columns=["y"]).column("y").to_numpy()
    X = np.empty((len(y), COLUMNS), dtype=np.float32)
    for k in range(COLUMNS):
        X[:, k] = pq.read_table(table, columns=[f"c{k}"]).column(0).to_numpy()
    one = LGBMClassifier(**BOOSTING, n_jobs=joblib.cpu_count())
    started, before = time.perf_counter(), time.process_time()
    one.fit(X, y)
    fitted, work = time.perf_counter(), time.process_time() - before
    right = (one.predict(X[:200_000]) == y[:200_000]).mean()
    again = time.perf_counter()
    one.predict_proba(X)
    return {
        "fit": fitted - started,
        "work": work,
        "predict": time.perf_counter() - again,
        "right": float(right),
        "peak": peak(),
    }


def ballots(model: Path, table: Path) -> dict:
    """Where the time of a proof goes: LightGBM's own prediction, the ballots, and the proof."""
    loaded = store.load(model)
    scored = own = proof = 0.0
    rows = 0
    for file in sorted(table.glob("*.parquet")):
        X = pq.read_table(file, columns=[f"c{k}" for k in range(COLUMNS)]).to_pandas()
        rows += len(X)
        parts = [X.iloc[:, loaded.columns_of(t)].to_numpy(np.float64) for t in range(SUBMODELS)]
        started = time.perf_counter()
        with threadpool_limits(1, "openmp"):
            joblib.Parallel(n_jobs=joblib.cpu_count(), prefer="threads")(
                joblib.delayed(one.booster_.predict)(part, num_threads=1)
                for one, part in zip(loaded.estimators_, parts, strict=True)
            )
        own += time.perf_counter() - started
        started = time.perf_counter()
        votes = loaded.ballots(X)
        scored += time.perf_counter() - started
        started = time.perf_counter()
        loaded.rule_.certify(votes)
        proof += time.perf_counter() - started
    return {"rows": rows, "own": own, "ballots": scored, "proof": proof}


STEPS = {step.__name__: step for step in (fit, certify, one_model, ballots)}


def step(name: str, *arguments: object) -> dict:
    """Run a step in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, name, *map(str, arguments)],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = f"Python {platform.python_version()}"
    return f"{joblib.cpu_count()} cores ({processor()}), {memory:.0f} GB, {python}"


def main(sizes: list[int]) -> None:
    print(
        f"{machine()}; {COLUMNS} float32 columns, {SUBMODELS} submodels, LightGBM of 50 trees "
        "with 8 leaves; 2 workers of 1 thread",
        flush=True,
    )
    print(f"load of the machine before it starts: {os.getloadavg()[0]:.1f}")
    print(
        "     rows     fit    work us/row   certify    work us/row    worker allowed  certify   "
        "right at r = 0, 3, 6",
        flush=True,
    )
    for n_rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            make(place / "table", n_rows)
            fitted = step("fit", place / "table", place / "model", 2)
            proven = step("certify", place / "model", place / "table")
            columns = -(-COLUMNS // SUBMODELS) * 4 * n_rows / MEGA
            accuracy = [*proven["found"]["certified_accuracy"], *[0.0] * 7]
            print(
                f"{n_rows:9,} {fitted['seconds']:5.0f} s {fitted['work']:5.0f} s "
                f"{1e6 * fitted['work'] / n_rows:6.0f}"
                f" {proven['seconds']:7.1f} s {proven['work']:5.0f} s "
                f"{1e6 * proven['work'] / n_rows:6.0f}"
                f" {fitted['worker']:7.0f} MB {2 * columns + 500:4.0f} MB {proven['peak']:5.0f} MB"
                f"   {', '.join(f'{100 * accuracy[r]:.1f} %' for r in (0, 3, 6))}",
                flush=True,
            )
            if n_rows == max(sizes):
                one = step("one_model", place / "table")
                votes = step("ballots", place / "model", place / "table")
                ratio, work = fitted["seconds"] / one["fit"], fitted["work"] / one["work"]
                print(
                    f"one LightGBM on all columns, 2 threads: fit {one['fit']:.0f} s, work "
                    f"{one['work']:.0f} s, predict",
                    end=" ",
                )
                print(
                    f"{one['predict']:.1f} s, {one['peak']:.0f} MB, right in "
                    f"{100 * one['right']:.1f} % of the rows it learnt from",
                    end="",
                )
                print(
                    f"; {SUBMODELS} submodels take {ratio:.2f} times as long, {work:.2f} times "
                    "the work (goal 3)"
                )
                print(
                    f"submodels of LightGBM itself: predict {votes['own']:.1f} s; as ballots: "
                    f"{votes['ballots']:.1f} s",
                    end="",
                )
                print(
                    f" ({votes['ballots'] / votes['own']:.2f} times); proofs from ballots: "
                    f"{votes['proof']:.2f} s (goal 10 for 3,000,000)"
                )
                print(
                    f"idle: worker {fitted['idle']:.0f} MB, certify {proven['idle']:.0f} MB; "
                    f"driver at most {fitted['driver']:.0f} MB",
                    flush=True,
                )
                alone = step("fit", place / "table", place / "other", 1)
                ratio = alone["seconds"] / fitted["seconds"]
                print(
                    f"{n_rows:9,} one worker {alone['seconds']:.0f} s, two "
                    f"{fitted['seconds']:.0f} s: {ratio:.2f} times (goal 1.8)",
                    end="",
                )
                print(f"; work {alone['work']:.0f} s and {fitted['work']:.0f} s", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in STEPS:
        print(
            json.dumps(
                STEPS[sys.argv[1]](*(Path(argument) for argument in sys.argv[2:4]), *sys.argv[4:])
            )
        )
    else:
        main([int(rows) for rows in sys.argv[1:]] or [100_000, 300_000, 1_000_000, 3_000_000])
