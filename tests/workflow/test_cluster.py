"""A real scheduler and real workers, as processes on loopback, some of which are killed."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import distributed
import joblib
import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    InputError,
    StoreError,
    SubmodelError,
    fit_parquet,
    store,
)
from partita.workflow import _cluster as cluster

COLUMNS = [f"c{k}" for k in range(12)]
ESTIMATORS = """
import os
import signal
import time
from pathlib import Path

from sklearn.naive_bayes import GaussianNB


class Patient(GaussianNB):
    '''Notes that it has begun, and waits while a file is there; a number in it lets so many on.'''

    def __init__(self, folder="", priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.folder = folder

    def fit(self, X, y):
        with (Path(self.folder) / "begun").open("a") as begun:
            begun.write(f"{X.columns[0]} {os.getpid()}\\n")
        while self.is_held():
            time.sleep(0.02)
        return super().fit(X, y)

    def is_held(self):
        try:
            free = int((Path(self.folder) / "wait").read_text() or 0)
        except FileNotFoundError:
            return False
        return len((Path(self.folder) / "begun").read_text().splitlines()) > free


class Deadly(GaussianNB):
    '''Takes its worker along.'''

    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class Large(GaussianNB):
    '''Too large for a full disk.'''

    def fit(self, X, y):
        import numpy as np

        self.ballast_ = np.zeros(100_000)
        return super().fit(X, y)
"""


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, folder, **settings):
        self.folder = folder
        self.file = folder / "scheduler.json"
        path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
        self.environment = os.environ | {"PYTHONPATH": path} | settings
        self.workers: list[subprocess.Popen] = []
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", self.file
        )
        wait_for(
            lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}")
        )  # it may be there before it is written
        self.address = json.loads(self.file.read_text())["address"]

    def _start(self, what, *options, limit=None):
        log = (self.folder / f"{what}.log").open("ab")
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{what}",
            "--no-dashboard",
            *map(str, options),
        ]
        full = (
            None
            if limit is None
            else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        )
        with log:
            return subprocess.Popen(
                command,
                env=self.environment,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                preexec_fn=full,
            )

    def add_workers(self, count, limit=None):
        options = (
            "--nthreads",
            1,
            "--no-nanny",
            "--host",
            "127.0.0.1",
            "--scheduler-file",
            self.file,
            "--death-timeout",
            60,
        )
        self.workers += [self._start("worker", *options, limit=limit) for _ in range(count)]
        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=60)

    def stop(self):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@contextmanager
def running(folder, workers, limit=None, **settings):
    (folder / "patience.py").write_text(ESTIMATORS)
    own = Cluster(folder, **settings)
    try:
        if workers:
            own.add_workers(workers, limit)
        yield own
    finally:
        own.stop()


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A scheduler with two workers, for the tests that leave them alive."""
    with running(tmp_path_factory.mktemp("two"), 2) as own:
        yield own


@pytest.fixture
def patience(tmp_path, monkeypatch):
    """The module of estimators that wait and die."""
    (tmp_path / "patience.py").write_text(ESTIMATORS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "patience", raising=False)
    import patience

    return patience


@pytest.fixture
def table(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    folder = tmp_path / "table"
    folder.mkdir()
    frame = pd.DataFrame(X[:, :12].astype(np.float32), columns=COLUMNS).assign(y=y)
    frame[:300].to_parquet(folder / "a.parquet", index=False)
    frame[300:].to_parquet(folder / "b.parquet", index=False)
    return folder


def submodels(path):
    """The names of the submodels' files, which carry the hashes of their content."""
    return sorted(file.name for file in path.glob("submodel-*"))


@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(None, marks=pytest.mark.long, id="default"),
        pytest.param(GaussianNB(), id="naive"),
        pytest.param(
            LGBMClassifier(n_estimators=5, verbose=-1), marks=pytest.mark.long, id="lightgbm"
        ),
    ],
)
def test_a_cluster_fits_what_one_machine_fits(estimator, two, table, tmp_path, capfd):
    clf = FeaturePartitionClassifier(estimator, n_submodels=5, verbose=1)
    path = fit_parquet(clf, table, "y", tmp_path / "m", cluster=two.address)
    assert "partita: fitted 5 of 5 submodels" in capfd.readouterr().err
    assert submodels(path) == submodels(fit_parquet(clf, table, "y", tmp_path / "here"))
    frame = pd.read_parquet(table)
    X = frame[COLUMNS].astype(np.float64)
    assert np.array_equal(store.load(path).ballots(X), clf.fit(X, frame["y"]).ballots(X))
    with distributed.Client(two.address, set_as_default=False) as client:
        assert submodels(
            fit_parquet(clf, table, "y", tmp_path / "client", cluster=client)
        ) == submodels(path)


def test_the_command_fits_on_a_cluster_and_on_this_machine(two, table, tmp_path, partita):
    command = ["fit", table, "--target", "y", "--submodels", 5, "--estimator", "lightgbm"]
    code, out, err = partita(*command, "--cluster", two.address, "--out", tmp_path / "m", "--json")
    assert code == 0, err
    assert json.loads(out)["submodels"] == 5
    code, out, _ = partita(*command, "--cluster", "local", "--out", tmp_path / "here")
    assert code == 0
    assert "Fitted 5 submodels on 569 rows" in out
    assert submodels(tmp_path / "m") == submodels(tmp_path / "here")


@pytest.mark.long
def test_members_that_leave_columns_out_are_fitted_on_a_cluster(two, table, tmp_path, partita):
    command = ["fit", table, "--target", "y", "--method", "leave-out", "--groups", 4]
    command += ["--estimator", "lightgbm"]
    code, out, err = partita(*command, "--cluster", two.address, "--out", tmp_path / "m")
    assert code == 0, err
    assert "Fitted 7 submodels on 569 rows" in out
    code, _, err = partita(*command, "--cluster", "local", "--out", tmp_path / "here")
    assert code == 0, err
    assert submodels(tmp_path / "m") == submodels(tmp_path / "here")
    code, _, err = partita(*command, "--out", tmp_path / "memory", "--no-full-model")
    assert code == 0, err
    X = pd.read_parquet(table)[COLUMNS].astype(np.float64)
    ballots = store.load(tmp_path / "memory").ballots(X)
    assert np.array_equal(store.load(tmp_path / "m").ballots(X), ballots)
    masked = [*command, "--trusted-training", "--cluster", "local"]
    code, _, err = partita(*masked, "--out", tmp_path / "masked")
    assert code == 2
    assert "leave trusted training out, or use fit (on the command line, leave --cluster" in err
    assert not (tmp_path / "masked").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--cluster", "tcp://127.0.0.1:1"],
            "cluster 'tcp://127.0.0.1:1' cannot be reached: give the address of a Dask scheduler",
        ),
        (["--cluster", "nowhere"], "cluster 'nowhere' cannot be reached"),
        (["--batch-rows", "10"], "batch_rows goes with cluster"),
        (["--split", "y"], "split is 'y': give COLUMN=VALUE"),
        (["--cluster", "local", "--split", "c1=3"], "split "),
    ],
)
def test_wrong_options_are_one_sentence(options, message, table, tmp_path, partita):
    command = ["fit", table, "--target", "y", "--submodels", 5, "--estimator", "lightgbm"]
    code, _, err = partita(*command, *options, "--out", tmp_path / "n")
    assert (code, message in err) == (2, True), err
    assert not (tmp_path / "n").exists()


def test_a_table_that_cannot_be_read_is_one_sentence(two, table, tmp_path):
    """One sentence, whichever worker meets it, and the submodels that do not need it are kept."""
    from .cancer import destroy

    destroy(table / "b.parquet", "c4")
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    with pytest.raises(InputError, match="table' cannot be read as Parquet"):
        fit_parquet(clf, table, "y", tmp_path / "m", cluster=two.address)
    assert (tmp_path / "m" / "unfinished" / "plan.json").exists()


# ---- kill -9 ----


@pytest.mark.long
def test_a_killed_worker_has_its_task_done_by_another(table, tmp_path, patience):
    """Another one does its task, and nobody can tell afterwards."""
    clf = FeaturePartitionClassifier(patience.Patient(str(tmp_path)), n_submodels=5)
    undisturbed = submodels(fit_parquet(clf, table, "y", tmp_path / "undisturbed"))
    (tmp_path / "begun").unlink()
    (tmp_path / "wait").touch()
    with running(tmp_path, 2) as own, ThreadPoolExecutor() as pool:
        fitted = pool.submit(fit_parquet, clf, table, "y", tmp_path / "m", cluster=own.address)
        wait_for(
            lambda: (
                (tmp_path / "begun").exists()
                and len((tmp_path / "begun").read_text().splitlines()) == 2
            )
        )
        os.kill(own.workers[0].pid, signal.SIGKILL)
        assert own.workers[0].wait() == -signal.SIGKILL
        (tmp_path / "wait").unlink()
        path = fitted.result(timeout=60)
    begun = [line.split() for line in (tmp_path / "begun").read_text().splitlines()]
    assert len(begun) == 7  # one of five was begun twice, one was fitted again in the end,
    assert len({pid for _, pid in begun}) == 2
    assert submodels(path) == undisturbed  # and is the same, to the last bit


@pytest.mark.long
def test_a_killed_driver_resumes(table, tmp_path, patience):
    """The same command, given again, goes on with what is finished."""
    clf = FeaturePartitionClassifier(
        patience.Patient(str(tmp_path)), n_submodels=5, on_failure="vote"
    )
    undisturbed = submodels(fit_parquet(clf, table, "y", tmp_path / "undisturbed"))
    (tmp_path / "make.py").write_text(
        f"from patience import Patient\n\ndef make():\n    return Patient({str(tmp_path)!r})\n"
    )
    command = [
        sys.executable,
        "-m",
        "partita",
        "fit",
        table,
        "--target",
        "y",
        "--submodels",
        "5",
        "--estimator",
        "make:make",
    ]
    (tmp_path / "begun").unlink()
    (tmp_path / "wait").write_text("2")
    with running(tmp_path, 1) as own:
        command += ["--cluster", own.address, "--out", tmp_path / "m"]
        first = subprocess.Popen(command, cwd=tmp_path, env=own.environment, stderr=subprocess.PIPE)
        wait_for(lambda: len(list((tmp_path / "m" / "unfinished").glob("submodel-*.json"))) == 2)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        assert first.returncode == -signal.SIGKILL
        with pytest.raises(StoreError, match="is not finished"):
            store.load(tmp_path / "m")
        kept = {file.name: file.stat().st_ino for file in (tmp_path / "m").glob("submodel-*")}
        (tmp_path / "wait").unlink()
        second = subprocess.run(
            command, cwd=tmp_path, env=own.environment, capture_output=True, text=True
        )
    assert second.returncode == 0, second.stderr
    assert "submodels were finished by an earlier run" in second.stderr
    assert len(kept) == 2
    assert {name: (tmp_path / "m" / name).stat().st_ino for name in kept} == kept
    assert submodels(tmp_path / "m") == undisturbed
    assert len(store.load(tmp_path / "m", trusted=["patience.Patient"]).estimators_) == 5


@pytest.mark.long
def test_a_full_disk_is_one_sentence_and_room_resumes(table, tmp_path, patience):
    """The workers may write files of 100 kB at most, as if no more would fit: one sentence, and
    room lets it go on."""
    clf = FeaturePartitionClassifier(patience.Large(), n_submodels=5)
    with running(tmp_path, 2, limit=100_000) as own:
        with pytest.raises(
            StoreError,
            match=r"submodel \d cannot be written to .* \(File too large\): finished submodels are "
            r"safe, so make room",
        ):
            fit_parquet(clf, table, "y", tmp_path / "m", cluster=own.address)
        assert list((tmp_path / "m").glob("*.skops")) == []  # no half file
        assert list((tmp_path / "m").glob(".*")) == []
    assert submodels(fit_parquet(clf, table, "y", tmp_path / "m")) == submodels(
        fit_parquet(clf, table, "y", tmp_path / "other")
    )


@pytest.mark.long
def test_a_submodel_that_kills_its_workers_is_one_sentence(table, tmp_path, patience):
    clf = FeaturePartitionClassifier(patience.Deadly(), n_submodels=3)
    died = pytest.raises(
        SubmodelError,
        match=r"1 worker\(s\) died over the same submodel: give the workers more memory",
    )
    with running(tmp_path, 1, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as own, died:
        fit_parquet(clf, table, "y", tmp_path / "m", cluster=own.address)


@pytest.mark.long
def test_a_fit_without_workers_resumes_when_one_comes(
    table, tmp_path, patience, monkeypatch, capfd
):
    monkeypatch.setattr(cluster, "CHECK_EVERY", 0.2)
    (tmp_path / "wait").touch()
    clf = FeaturePartitionClassifier(patience.Patient(str(tmp_path)), n_submodels=3)
    with running(tmp_path, 1) as own, ThreadPoolExecutor() as pool:
        fitted = pool.submit(fit_parquet, clf, table, "y", tmp_path / "m", cluster=own.address)
        wait_for((tmp_path / "begun").exists)
        own.workers[0].kill()
        told = ""
        while "no workers are left; the fit resumes when one comes" not in told:
            told += capfd.readouterr().err
            time.sleep(0.05)
        (tmp_path / "wait").unlink()
        own.add_workers(1)
        assert len(submodels(fitted.result(timeout=60))) == 3


@pytest.mark.long
def test_a_killed_scheduler_loses_nothing_that_is_finished(table, tmp_path, patience):
    (tmp_path / "wait").touch()
    clf = FeaturePartitionClassifier(patience.Patient(str(tmp_path)), n_submodels=3)
    with running(tmp_path, 1) as own, ThreadPoolExecutor() as pool:
        fitted = pool.submit(fit_parquet, clf, table, "y", tmp_path / "m", cluster=own.address)
        wait_for((tmp_path / "begun").exists)
        own.scheduler.kill()
        with pytest.raises(SubmodelError, match="scheduler is gone: finished submodels are stored"):
            fitted.result(timeout=100)
    (tmp_path / "wait").unlink()
    assert len(submodels(fit_parquet(clf, table, "y", tmp_path / "m"))) == 3


# ---- what a cluster needs ----


def test_a_cluster_without_workers_is_one_sentence(table, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3)
    with (
        running(tmp_path, 0) as own,
        pytest.raises(
            InputError, match=r"cluster (\S+) has no workers: start some, dask worker \1"
        ),
    ):
        fit_parquet(clf, table, "y", tmp_path / "m", cluster=own.address)


def test_workers_must_know_the_estimator(two, table, tmp_path, monkeypatch):
    (tmp_path / "unknown.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n\nclass Own(GaussianNB):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import unknown

    with pytest.raises(
        InputError,
        match=r"a worker cannot import what the task needs \(No module named 'unknown'\)",
    ):
        fit_parquet(
            FeaturePartitionClassifier(unknown.Own(), n_submodels=3),
            table,
            "y",
            tmp_path / "m",
            cluster=two.address,
        )


def test_workers_must_have_the_same_libraries(two, table, tmp_path, monkeypatch):
    here = cluster.library_versions()
    monkeypatch.setattr(cluster, "library_versions", lambda: here | {"scikit-learn": "0.1"})
    with pytest.raises(
        InputError,
        match=r"a worker has scikit-learn .*, and 0.1 is needed: install the same on all workers",
    ):
        fit_parquet(
            FeaturePartitionClassifier(GaussianNB(), n_submodels=3),
            table,
            "y",
            tmp_path / "m",
            cluster=two.address,
        )


def test_without_the_extra(table, tmp_path, partita, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = partita(
        "fit", table, "--target", "y", "--cluster", "tcp://x:1", "--out", tmp_path / "m"
    )
    assert code == 2
    assert err == (
        "partita: a fit on a cluster needs distributed, which is not installed: pip install "
        "'partita[cluster]'\n"
    )


# ---- tables in memory ----


def test_joblib_on_dask(two, table):
    frame = pd.read_parquet(table)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    expected = clf.fit(frame[COLUMNS], frame["y"]).ballots(frame[COLUMNS])
    with distributed.Client(two.address), joblib.parallel_config("dask"):
        ballots = clf.fit(frame[COLUMNS], frame["y"]).ballots(
            pd.concat([frame[COLUMNS]] * 2)
        )  # enough rows to ask in parallel
    assert np.array_equal(ballots, np.concatenate([expected, expected]))


@pytest.mark.long
def test_joblib_on_ray(table):
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    frame = pd.read_parquet(table)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    expected = clf.fit(frame[COLUMNS], frame["y"]).ballots(frame[COLUMNS])
    register_ray()
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        with joblib.parallel_config("ray"):
            ballots = clf.fit(frame[COLUMNS], frame["y"]).ballots(frame[COLUMNS])
    finally:
        ray.shutdown()
    assert np.array_equal(ballots, expected)
