"""One unit's columns are rewritten in training: all submodels that do not own it stay the same.

To the last bit, fitted from Parquet in one process, on a cluster whose workers die, or in memory by
any backend of joblib. A unit that breaks its submodels costs these alone.
"""

import warnings

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, LeaveOutClassifier, SubmodelWarning, fit_parquet
from partita.store._files import dump_estimator

from .cancer import BOOSTED, COLUMNS, LINEAR, UNITS, cancer, submodels
from .test_cluster import running, wait_for

FRAME = cancer().drop(columns=["part", "value"])
MALIGNANT = (FRAME["y"] == "malignant").to_numpy()
DEATH = """
import os
import signal
from pathlib import Path

from sklearn.naive_bayes import GaussianNB


class Mortal(GaussianNB):
    '''Takes its worker along where it meets a certain value, as often as there are lives.'''

    def __init__(self, folder="", priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.folder = folder

    def fit(self, X, y):
        if (X.to_numpy() == 666.5).any():
            for life in sorted(Path(self.folder).glob("life-*")):
                life.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError("no more lives")
        return super().fit(X, y)
"""


def rewritten(rng, values):
    """What an attacker writes instead of a column: numbers of any kind, none at all, or texts."""
    n = len(values)
    ways = {
        "noise": lambda: rng.normal(size=n) * 10.0 ** rng.integers(-30, 30),
        "the labels": lambda: 1e6 * MALIGNANT,
        "one value": lambda: np.full(n, float(rng.integers(5))),
        "a trigger": lambda: np.where(rng.random(n) < 0.01, 1e30, values),
        "some missing": lambda: np.where(rng.random(n) < 0.3, np.nan, values),
        "all missing": lambda: np.full(n, np.nan),
        "infinities": lambda: np.where(rng.random(n) < 0.1, np.inf, values),
        "other rows": lambda: rng.permutation(values),
        "integers": lambda: rng.integers(-(2**62), 2**62, size=n),
        "truths": lambda: MALIGNANT,
        "texts": lambda: np.where(MALIGNANT, "a text", "another"),
        "as many texts as rows": lambda: np.array([f"text {k}" for k in range(n)]),
    }
    return ways[list(ways)[rng.integers(len(ways))]]()


def write(frame, folder, row_group_size):
    folder.mkdir(exist_ok=True)
    pq.write_table(
        pa.Table.from_pandas(frame[:300]), folder / "a.parquet", row_group_size=row_group_size
    )
    pq.write_table(
        pa.Table.from_pandas(frame[300:]), folder / "b.parquet", row_group_size=row_group_size
    )
    return folder


ENSEMBLES = {
    "naive": (FeaturePartitionClassifier(GaussianNB(), units=UNITS, n_submodels=5), None),
    "linear": (FeaturePartitionClassifier(LINEAR, n_submodels=4), None),
    "boosted": (FeaturePartitionClassifier(BOOSTED, units=UNITS, n_submodels=5), None),
    "batches": (FeaturePartitionClassifier(SGDClassifier(loss="log_loss"), n_submodels=5), 100),
    "overlapping": (FeaturePartitionClassifier(GaussianNB(), n_submodels=5, spread=2), None),
    "own rows": (
        FeaturePartitionClassifier(
            GaussianNB(), n_submodels=4, label_attacks="rows", classes=["benign", "malignant"]
        ),
        None,
    ),
    "trusted column": (
        FeaturePartitionClassifier(GaussianNB(), n_submodels=4, trusted=["c11"]),
        None,
    ),
    "default": (FeaturePartitionClassifier(n_submodels=4), None),
    "leave-out": (LeaveOutClassifier(GaussianNB(), n_groups=4), None),
}


def attacked_frame(rng, model):
    """The table with one of a model's units rewritten, and the submodels that own this unit."""
    unit = int(rng.integers(len(model.units_)))
    frame = FRAME.copy()
    for column in model.units_.columns[unit]:
        frame[COLUMNS[column]] = rewritten(rng, FRAME[COLUMNS[column]].to_numpy(float))
    return frame, {t for t in range(len(model.partition_)) if unit in model.partition_[t]}


def check_attacks(case, cases, folder, rng):
    """Rewrite units, fit again with other row groups and threads, and compare submodels."""
    ensemble, batch_rows = ENSEMBLES[case]
    ensemble = ensemble.set_params(on_failure="vote", n_jobs=1)

    def fit(frame, name, n_jobs=1):
        table = write(frame, folder / f"{name}-table", int(rng.integers(40, 400)))
        ensemble.set_params(n_jobs=n_jobs)
        return submodels(fit_parquet(ensemble, table, "y", folder / name, batch_rows=batch_rows))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        honest = fit(FRAME, "honest")
        fitted = ensemble.fit(FRAME[COLUMNS].astype(float), FRAME["y"].to_numpy())
        changed = 0
        for _ in range(cases):
            frame, owners = attacked_frame(rng, fitted)
            found = fit(frame, "attacked", int(rng.integers(1, 3)))
            differ = {t for t in range(len(honest)) if honest[t] != found[t]}
            assert differ <= owners
            changed += bool(differ)
    assert changed > 0.7 * cases


@pytest.mark.parametrize("case", ENSEMBLES)
def test_a_rewritten_unit_changes_its_own_submodels_alone(case, tmp_path):
    check_attacks(case, 4, tmp_path, np.random.default_rng(0))


@pytest.mark.long
@pytest.mark.parametrize("case", ENSEMBLES)
def test_many_rewritten_units_change_their_own_submodels_alone(case, tmp_path):
    check_attacks(case, 60, tmp_path, np.random.default_rng(1))


@pytest.mark.long
@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
@pytest.mark.parametrize("case", ["naive", "boosted", "own rows", "leave-out"])
def test_in_memory_by_any_backend(case, backend):
    rng = np.random.default_rng(0)
    ensemble = ENSEMBLES[case][0].set_params(on_failure="vote", n_jobs=2)

    def fit(frame):
        with joblib.parallel_config(backend):
            ensemble.fit(frame[COLUMNS], frame["y"].to_numpy())
        return [dump_estimator(f"submodel {t}", one) for t, one in enumerate(ensemble.estimators_)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        honest = fit(FRAME)
        for _ in range(3):
            frame, owners = attacked_frame(rng, ensemble)
            found = fit(frame)
            assert {t for t in range(len(honest)) if honest[t] != found[t]} <= owners


@pytest.mark.long
@pytest.mark.parametrize("lives", [0, 1, 2])
def test_a_unit_that_kills_its_workers_costs_its_own_submodel_alone(lives, tmp_path, monkeypatch):
    """Other workers take over, and all other submodels are those of an undisturbed local fit."""
    (tmp_path / "mortal.py").write_text(DEATH)
    monkeypatch.syspath_prepend(tmp_path)
    from mortal import Mortal

    clf = FeaturePartitionClassifier(
        Mortal(str(tmp_path)), units=UNITS, n_submodels=5, on_failure="vote"
    )
    local = fit_parquet(clf, write(FRAME, tmp_path / "table", 90), "y", tmp_path / "local")
    frame = FRAME.assign(c4=FRAME["c4"].where(~MALIGNANT, 666.5))
    table = write(frame, tmp_path / "attacked", 130)
    fitted = clf.fit(FRAME[COLUMNS], FRAME["y"].to_numpy())
    owners = [t for t in range(5) if 4 in fitted.columns_of(t)]
    for k in range(lives):
        (tmp_path / f"life-{k}").touch()
    with running(tmp_path, 3) as own:
        with pytest.warns(SubmodelWarning, match="1 of 5 submodels"):
            path = fit_parquet(clf, table, "y", tmp_path / "m", cluster=own.address)
        wait_for(lambda: sum(one.poll() is not None for one in own.workers) == lives)
    assert not list(tmp_path.glob("life-*"))
    pairs = zip(submodels(local), submodels(path), strict=True)
    assert [t for t, (one, other) in enumerate(pairs) if one != other] == owners
