"""Whatever changes between two runs, results of both are never mixed: refused, or done anew.

Each input that submodels or results depend on is changed alone. Columns are written so that two
cells can change places and leave size and footer of their file as they were.
"""

import importlib
import json
import os
import shutil
import sys

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    Informed,
    InputError,
    LeaveOutClassifier,
    SubmodelError,
    fit_parquet,
)
from partita.selection import Choice, Grid, Trial, choose_file
from partita.selection._choose import choose_table
from partita.store._save import UnfinishedModel
from partita.tables import footers_of
from partita.workflow import _cluster, _fit_parquet
from partita.workflow._fit_parquet import _resume_key
from partita.workflow._training_table import open_training

from ..selection.sweeps import NAIVE, measured
from .cancer import COLUMNS, UNITS, cancer, submodels, units_ignoring

PART = """
from pathlib import Path

from sklearn.naive_bayes import GaussianNB

FACTOR = 1.0


class Base(GaussianNB):
    pass
"""
OWN = """
from own_base import FACTOR, Base, Path


class Own(Base):
    '''Stops at the submodel of a column for as long as a file says so.'''

    def __init__(self, flag="", priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.flag = flag

    def fit(self, X, y):
        if "c10" in X.columns and Path(self.flag).exists():
            raise OSError("the power is cut")
        return super().fit(X, y)

    def partial_fit(self, X, y, classes=None):
        return self.fit(X, y)
"""


def write(frame, file, seconds):
    """A Parquet file whose size and footer do not depend on the order of a column's cells."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, file, compression="none", use_dictionary=False)
    os.utime(file, (seconds, seconds))


def swap_cells(folder, column):
    """Let two different cells of the older file change places; the newest time stays as it is."""
    before = footers_of(folder)
    frame = pq.read_table(folder / "a.parquet").to_pandas()
    other = next(k for k in range(1, len(frame)) if frame[column][k] != frame[column][0])
    frame.loc[[0, other], column] = frame.loc[[other, 0], column].to_numpy()
    write(frame, folder / "a.parquet", 150)
    assert footers_of(folder) == before


class World:
    """All that a fit is given, to be changed in one place."""

    def __init__(self, folder):
        self.folder, self.table = folder, folder / "table"
        self.settings = {"units": {"a": ["c0", "c1"]}, "n_submodels": 5, "n_jobs": 1}
        self.estimator = {"flag": str(folder / "flag")}
        self.method, self.target, self.more = FeaturePartitionClassifier, "y", {}
        self.ignore = ["part", "value"]

    def model(self):
        import own

        own_estimator = self.settings.get("estimator", own.Own(**self.estimator))
        return self.method(**self.settings | {"estimator": own_estimator})

    def fit(self, out):
        return fit_parquet(
            self.model(), self.table, self.target, out, ignore=self.ignore, **self.more
        )

    def rewrite(self, change):
        for name in "ab":
            frame = pq.read_table(self.table / f"{name}.parquet").to_pandas()
            write(change(frame), self.table / f"{name}.parquet", 150 if name == "a" else 200)

    def edit(self, module, old, new):
        file = self.folder / f"{module}.py"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
        importlib.invalidate_caches()
        for name in ("own_base", "own"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """A fit that was interrupted at one of five submodels, in a folder to be copied."""
    folder = tmp_path_factory.mktemp("interrupted")
    (folder / "own.py").write_text(OWN)
    (folder / "own_base.py").write_text(PART)
    (folder / "table").mkdir()
    frame = cancer()
    write(frame[:300], folder / "table" / "a.parquet", 100)
    write(frame[300:], folder / "table" / "b.parquet", 200)
    return folder


@pytest.fixture
def world(interrupted, tmp_path, monkeypatch):
    folder = tmp_path / "w"
    shutil.copytree(interrupted, folder)  # with the times
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # an edit may take less than a second
    for name in ("own_base", "own"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    own = World(folder)
    (folder / "flag").touch()
    with pytest.raises(SubmodelError, match="the power is cut"):
        own.fit(folder / "m")
    (folder / "flag").unlink()
    assert 0 < len(submodels(folder / "m")) < 5
    yield own
    for name in ("own_base", "own"):
        sys.modules.pop(name, None)


def reference():
    """Trusted rows that are not those of the table."""
    rows = cancer()[:40]
    return Informed(rows[COLUMNS].astype(float) * 1.01, rows["y"].to_numpy())


CHANGES = {
    "two cells": lambda w: swap_cells(w.table, "c1"),
    "two labels": lambda w: swap_cells(w.table, "y"),
    "a cell of an ignored column": lambda w: swap_cells(w.table, "value"),
    "the order of rows": lambda w: w.rewrite(lambda frame: frame[::-1].reset_index(drop=True)),
    "a row less": lambda w: w.rewrite(lambda frame: frame[1:].reset_index(drop=True)),
    "the order of columns": lambda w: w.rewrite(lambda f: f[[*COLUMNS[::-1], *f.columns[12:]]]),
    "the order of files": lambda w: (w.table / "a.parquet").rename(w.table / "c.parquet"),
    "a column's name": lambda w: w.rewrite(lambda frame: frame.rename(columns={"c7": "d7"})),
    "a column's type": lambda w: w.rewrite(lambda frame: frame.assign(c7=frame["c7"].astype(str))),
    "the labels' names": lambda w: w.rewrite(lambda f: f.assign(y=f["y"].str.upper())),
    "the number of submodels": lambda w: w.settings.update(n_submodels=3),
    "the seed": lambda w: w.settings.update(random_state=1),
    "units": lambda w: w.settings.update(units=UNITS),
    "a unit's name": lambda w: w.settings.update(units={"x": ["c0", "c1"]}),
    "trusted columns": lambda w: w.settings.update(trusted=["c7"]),
    "spread": lambda w: w.settings.update(spread=2),
    "the partition": lambda w: w.settings.update(partition="strided"),
    "an informed partition": lambda w: w.settings.update(partition=reference()),
    "attacks on labels": lambda w: w.settings.update(
        label_attacks="rows", classes=["benign", "malignant"]
    ),
    "the rule": lambda w: w.settings.update(rule="plurality"),
    "failures": lambda w: w.settings.update(on_failure="vote"),
    "strictness": lambda w: w.settings.update(strict=True),
    "a parameter": lambda w: w.estimator.update(var_smoothing=1e-3),
    "another estimator": lambda w: w.settings.update(estimator=GaussianNB()),
    "another method": lambda w: (
        w.settings.pop("n_submodels"),
        setattr(w, "method", LeaveOutClassifier),
    ),
    "the target": lambda w: (
        setattr(w, "target", "part"),
        setattr(w, "ignore", ["y", "value"]),
    ),
    "numbers": lambda w: (
        setattr(w, "method", FeaturePartitionRegressor),
        setattr(w, "target", "value"),
        setattr(w, "ignore", ["y", "part"]),
        w.settings.update(estimator=sklearn.linear_model.Ridge()),
    ),
    "ignored columns": lambda w: setattr(w, "ignore", ["part", "value", "c7"]),
    "the split": lambda w: w.more.update(split=("part", "train")),
    "batches": lambda w: w.more.update(batch_rows=100),
    "the estimator's code": lambda w: w.edit("own", "super().fit(X, y)", "super().fit(X * 2, y)"),
    "code that it inherits": lambda w: w.edit(
        "own_base", "    pass", "    def _more(self):\n        return 1"
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_fit_of_anything_else_is_not_mixed_into_an_interrupted_one(case, world):
    CHANGES[case](world)
    before = submodels(world.folder / "m")
    with pytest.raises(InputError, match="holds the beginning of another fit"):
        world.fit(world.folder / "m")
    assert submodels(world.folder / "m") == before
    assert submodels(world.fit(world.folder / "fresh"))  # a fit of its own is possible


def test_libraries_and_their_settings_count(world, monkeypatch):
    with (
        sklearn.config_context(enable_cython_pairwise_dist=False),
        pytest.raises(InputError, match="another fit, which differs in 'config'"),
    ):
        world.fit(world.folder / "m")
    version = _cluster.version
    monkeypatch.setattr(_cluster, "version", lambda name: version(name) + "1")
    with pytest.raises(InputError, match="another fit, which differs in 'versions'"):
        world.fit(world.folder / "m")


def test_threads_progress_and_the_order_of_a_units_columns_do_not_count(world):
    world.settings |= {"n_jobs": 2, "verbose": 1, "units": {"a": ["c1", "c0"]}}
    assert submodels(world.fit(world.folder / "m")) == submodels(world.fit(world.folder / "o"))


def test_notes_that_outlive_their_plan_do_not_count(world):
    """Such as those of a fit whose folder of notes was deleted in part."""
    (world.folder / "m" / "unfinished" / "plan.json").unlink()
    world.estimator["var_smoothing"] = 1e-3
    assert submodels(world.fit(world.folder / "m")) == submodels(world.fit(world.folder / "o"))


def test_a_table_that_changes_while_a_submodel_is_fitted_stores_nothing(world, monkeypatch):
    place = world.folder / "m"
    before = submodels(place)
    fit = _fit_parquet.fit_submodel

    def meanwhile(*given):
        swap_cells(world.table, "c10")
        return fit(*given)

    monkeypatch.setattr(_fit_parquet, "fit_submodel", meanwhile)
    with pytest.raises(InputError, match="has changed since it was opened"):
        world.fit(place)
    assert submodels(place) == before


def random_settings(rng):
    """A model with settings drawn from a few each."""

    def one(*values):
        return values[rng.integers(len(values))]

    names = [f"c{k}" for k in rng.permutation(12)[:4]]
    more = one(
        {"partition": one("random", "strided"), "n_submodels": one(3, 5)},
        {"n_submodels": 3, "spread": 2},
        {"n_submodels": 3, "label_attacks": "rows", "classes": ["benign", "malignant"]},
    )
    return FeaturePartitionClassifier(
        GaussianNB(var_smoothing=one(1e-9, 1e-3)),
        units=one(None, {"a": names[:2]}, {"a": names[:2], "b": names[2:]}),
        trusted=one((), ["c5"]) if "c5" not in names else (),
        on_failure=one("raise", "vote"),
        random_state=int(rng.integers(3)),
        **more,
    )


@pytest.mark.long
def test_equal_keys_mean_equal_plans(world):
    """1,000 pairs of settings: what is handed to the tasks is the same where the keys are."""
    training = open_training(world.table, "y", units_ignoring("part", "value"))
    about = training.about("own", {"footers": footers_of(world.table)})
    rng, same = np.random.default_rng(0), 0
    for _ in range(1000):
        model, batch_rows = random_settings(rng), int(rng.integers(2)) * 100
        other = clone(model)
        for name in rng.permutation(["random_state", "units", "estimator", "n_jobs"])[:1]:
            drawn = random_settings(rng)
            value = int(rng.integers(4)) if name == "n_jobs" else getattr(drawn, name)
            if name != "units" or not {"c5"} & {c for u in (value or {}).values() for c in u}:
                other.set_params(**{str(name): value})
        plans = [one.plan(training.table, training.y)[2] for one in (model, other)]
        keys = [
            json.dumps(_resume_key(one, plan, about, training, batch_rows))
            for one, plan in zip((model, other), plans, strict=True)
        ]
        tasks = [
            joblib.hash((plan, one.units_)) for plan, one in zip(plans, (model, other), strict=True)
        ]
        assert (keys[0] == keys[1]) == (tasks[0] == tasks[1])
        same += keys[0] == keys[1]
    assert 100 < same < 900


@pytest.mark.long
def test_two_fits_at_once_in_one_folder_do_not_take_each_others_submodels(world):
    """Each believes notes of its own plan alone, whatever the other writes."""
    rng = np.random.default_rng(0)
    places = [UnfinishedModel(world.folder / "both") for _ in range(2)]
    models = [
        GaussianNB(var_smoothing=10.0**-k).fit(rng.normal(size=(9, 2)), [0, 1, 2] * 3)
        for k in (3, 9)
    ]
    for k, place in enumerate(places):
        place.begin({"fit": k})
        (world.folder / "both" / "unfinished" / "plan.json").unlink()
    written = {}
    for _ in range(1000):
        k, t = rng.integers(2), int(rng.integers(5))
        if rng.random() < 0.5:
            written[t] = k, places[k].add(t, models[k])
        found = [place.find(t) for place in places]
        if t in written:
            owner, stored = written[t]
            assert found[owner] == stored
            assert found[1 - owner] is None
        else:
            assert found == [None, None]


# ---- sweeps and choices ----


@pytest.fixture
def wide(tmp_path):
    """A table, and how it is opened; what is held out is a file beside it."""
    folder = tmp_path / "w"
    folder.mkdir()
    frame = cancer().drop(columns="value")
    write(frame[:400], folder / "t.parquet", 100)
    write(frame[400:], folder / "held.parquet", 100)
    write(frame[400:480], folder / "reference.parquet", 100)
    (folder / "own_estimator").mkdir()
    (folder / "own_estimator" / "__init__.py").write_text("from .inside import Own\n")
    (folder / "own_estimator" / "inside.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n\n\nclass Own(GaussianNB):\n    pass\n"
    )
    return folder


class Request:
    """What a sweep or a choice is asked, to be changed in one place."""

    def __init__(self, folder):
        self.folder, self.table = folder, folder / "t.parquet"
        self.units = {"a": ["c0", "c1"], "b": ["c2", "c3"], "c": ["c6"]}
        self.trusted, self.ignore, self.reference = [], ["part"], None
        self.trial = {"estimator": "own_estimator:Own", "holdout": folder / "held.parquet"}
        self.target, self.task, self.split = "y", "auto", None

    def training(self):
        from partita.partition._units_file import UnitsFile

        units = UnitsFile(self.units, list(self.trusted), list(self.ignore))
        training = open_training(self.table, self.target, units, self.task, self.split)
        if self.reference is None:
            return training
        return training.with_reference(self.folder / self.reference)

    def refer(self):
        self.reference = "reference.parquet"
        self.trial.update(holdout=None)

    def swept(self, parts=None):
        grid = Grid(submodels=(3,), rules=("plurality", "tournament"), priors=(0.0, 0.9))
        found = choose_table(self.training(), grid, Trial(**self.trial), parts, verbose=0)
        return measured(found), found.one_model

    def chosen(self, out):
        grid, trial = Grid(submodels=[3], groups=[3]), Trial(**self.trial, radius=1)
        found = choose_file(self.training(), grid, out, trial, verbose=0)
        return [
            (one.options, one.accuracy, one.certified, one.balanced, one.certified_balanced)
            for one in found.settings
        ]


def rewrite(file, change):
    write(change(pq.read_table(file).to_pandas()), file, 50)


def shuffled(column):
    def change(frame):
        rng = np.random.default_rng(0)
        return frame.assign(**{column: rng.permutation(frame[column].to_numpy())})

    return change


def edit_package(request):
    (request.folder / "own_estimator" / "inside.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n\n\nclass Own(GaussianNB):\n"
        "    def fit(self, X, y):\n        return super().fit(-X ** 2, y)\n"
    )
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.startswith("own_estimator")]:
        del sys.modules[name]


REQUESTS = {
    "a column": lambda q: rewrite(q.table, shuffled("c1")),
    "the labels": lambda q: rewrite(q.table, shuffled("y")),
    "the order of columns": lambda q: rewrite(q.table, lambda f: f[[*COLUMNS[::-1], "part", "y"]]),
    "the held-out rows": lambda q: rewrite(q.folder / "held.parquet", shuffled("c1")),
    "another file of held-out rows": lambda q: q.trial.update(
        holdout=q.folder / "reference.parquet"
    ),
    "a share held out": lambda q: q.trial.update(holdout=0.4),
    "the last rows": lambda q: q.trial.update(holdout=None, last=0.3),
    "groups of rows": lambda q: q.trial.update(holdout=None, group="c11"),
    "a reference": lambda q: q.refer(),
    "units": lambda q: q.units.update(d=["c7", "c8"]),
    "trusted columns": lambda q: q.trusted.append("c9"),
    "ignored columns": lambda q: q.ignore.append("c9"),
    "the seed": lambda q: q.trial.update(seed=1),
    "the estimator": lambda q: q.trial.update(estimator=NAIVE.replace("Gaussian", "Bernoulli")),
    "the estimator's code": edit_package,
    "the split": lambda q: setattr(q, "split", ("part", "train")),
}


@pytest.fixture
def request_of(wide, monkeypatch):
    monkeypatch.syspath_prepend(wide)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Request(wide)
    for name in [name for name in sys.modules if name.startswith("own_estimator")]:
        del sys.modules[name]


QUICK = ("a column", "the estimator's code")


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=() if c in QUICK else pytest.mark.long) for c in REQUESTS]
)
def test_a_sweep_of_anything_else_is_a_fresh_one(case, request_of, tmp_path):
    parts = tmp_path / "parts"
    first = request_of.swept(parts)
    assert request_of.swept(parts) == first
    REQUESTS[case](request_of)
    assert request_of.swept(parts) == request_of.swept()
    assert len(list(parts.glob("candidate-001-*"))) == 2


def test_a_sweep_by_another_reference_is_a_fresh_one(request_of, tmp_path):
    request_of.refer()
    parts = tmp_path / "parts"
    request_of.swept(parts)
    rewrite(request_of.folder / "reference.parquet", shuffled("y"))
    assert request_of.swept(parts) == request_of.swept()
    assert len(list(parts.glob("candidate-001-*"))) == 2


@pytest.mark.long
@pytest.mark.parametrize("case", REQUESTS)
def test_a_choice_of_anything_else_is_a_fresh_one(case, request_of, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Choice, "png", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            request_of.chosen(tmp_path / "s")
    assert len(list((tmp_path / "s").iterdir())) == 3  # both ensembles and one model
    REQUESTS[case](request_of)
    assert request_of.chosen(tmp_path / "s") == request_of.chosen(tmp_path / "fresh")


def test_other_libraries_are_another_sweep(request_of, tmp_path, monkeypatch):
    parts = tmp_path / "parts"
    request_of.swept(parts)
    version = _cluster.version
    monkeypatch.setattr(_cluster, "version", lambda name: version(name) + "1")
    request_of.swept(parts)
    assert len(list(parts.glob("candidate-001-*"))) == 2


def test_a_damaged_part_of_a_sweep_is_done_again(request_of, tmp_path):
    parts = tmp_path / "parts"
    first = request_of.swept(parts)
    (file,) = parts.glob("candidate-001-*")
    file.write_bytes(file.read_bytes()[:-9])
    assert request_of.swept(parts) == first


def test_a_table_that_changes_during_a_sweep_leaves_no_part(request_of, tmp_path, monkeypatch):
    fit = FeaturePartitionClassifier.fit

    def meanwhile(self, *given):
        rewrite(request_of.table, shuffled("c1"))
        return fit(self, *given)

    monkeypatch.setattr(FeaturePartitionClassifier, "fit", meanwhile)
    with pytest.raises(InputError, match="has changed since it was opened"):
        request_of.swept(tmp_path / "parts")
    assert not (tmp_path / "parts").exists()
