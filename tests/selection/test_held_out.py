"""Which rows are held out, and what must be said about them."""

import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    InputError,
)
from partita.metrics import (
    certified_accuracy,
)
from partita.partition._units_file import UnitsFile
from partita.rules import Tournament
from partita.selection import sweep
from partita.selection._sweep_grid import Grid, Trial
from partita.workflow._training_table import open_training

from .sweeps import NAIVE, ONE_RULE


def test_the_last_rows_are_held_out(tmp_path):
    """The label changes its meaning late in the table: a random split does not notice, the last
    rows do."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(600, 3))
    y = np.where((x.sum(axis=1) > 0) ^ (np.arange(600) >= 480), "a", "b")
    pd.DataFrame(x, columns=list("uvw")).assign(
        y=y, when=pd.date_range("2020-01-01", periods=600)
    ).to_parquet(tmp_path / "t.parquet")
    (tmp_path / "units.toml").write_text('ignore = ["when"]\n')
    training = open_training(tmp_path / "t.parquet", "y", tmp_path / "units.toml")
    by_chance = sweep(training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE))
    by_time = sweep(training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE, last=0.2))
    assert by_chance["settings"][0]["curve"][0] > 0.6 > 0.2 > by_time["settings"][0]["curve"][0]
    assert (by_time["held_out"], by_time["learnt_from"], by_time["best"]) == (120, 480, [])
    assert by_time["split"] == {"kind": "last", "share": 0.2}
    assert by_chance["warnings"] == [
        "Rows look ordered in time (by 'when'), and were held out at random: --last 0.2 tells "
        "more about later rows."
    ]
    assert by_time["warnings"] == []


@pytest.fixture
def visits(tmp_path):
    """Four visits of each of 60 patients, whose number gives the answer away."""
    rng = np.random.default_rng(3)
    patient = np.repeat(np.arange(60), 4)
    sick = rng.permutation(np.arange(60) % 2)[patient]
    frame = pd.DataFrame(
        {
            "patient": patient,
            "a": rng.normal(size=240),
            "b": rng.normal(size=240),
            "y": np.where(sick, "sick", "well"),
        }
    )
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def test_rows_of_a_group_are_never_split(visits, monkeypatch):
    fitted = []
    fit = FeaturePartitionClassifier.fit
    monkeypatch.setattr(
        FeaturePartitionClassifier, "fit", lambda self, X, y: (fitted.append(X), fit(self, X, y))[1]
    )
    grid, trial = Grid(submodels=(1,), **ONE_RULE), Trial(estimator=NAIVE, group="patient")
    found = sweep(open_training(visits, "y"), grid, trial)
    patients = pd.read_csv(visits)["patient"].to_numpy()
    learnt = set(patients[fitted[0].rows])
    assert (len(learnt), found["held_out"], found["learnt_from"]) == (
        45,
        60,
        180,
    )  # 15 patients with all their visits
    assert fitted[0].names == ["a", "b"]
    assert found["split"] == {
        "kind": "group",
        "column": "patient",
        "groups": 60,
        "held_groups": 15,
        "ignored_before": [],
    }
    assert found["warnings"] == [
        "'patient' is not a feature in this sweep. List it under ignore in units.toml, or partita "
        "fit takes it for one."
    ]
    assert found["ignore"] == ["patient"]
    ignored = sweep(open_training(visits, "y", UnitsFile(ignore=["patient"])), grid, trial)
    assert (ignored["warnings"], fitted[1].names, ignored["settings"]) == (
        [],
        ["a", "b"],
        found["settings"],
    )
    trusted = sweep(open_training(visits, "y", UnitsFile(trusted=["patient"])), grid, trial)
    assert (trusted["warnings"], fitted[2].names) == ([], ["patient", "a", "b"])


def test_groups_that_are_none(visits, tmp_path):
    grid = Grid(submodels=(1,), **ONE_RULE)
    table = pd.read_csv(visits)
    table.assign(same=1, gap=np.where(table["patient"] == 7, np.nan, table["patient"])).to_parquet(
        tmp_path / "t.parquet"
    )
    for group, message in (
        ("nobody", "group names the column 'nobody', which .* does not have"),
        ("y", "group names the target 'y'"),
        ("same", "which has one value in all rows"),
        ("gap", "which has missing values, the first in row"),
    ):
        with pytest.raises(InputError, match=message):
            sweep(
                open_training(tmp_path / "t.parquet", "y"),
                grid,
                Trial(estimator=NAIVE, group=group),
            )
    units = UnitsFile(units={"clinic": ["patient", "a"]})
    with pytest.raises(InputError, match="group names the column 'patient' of the unit 'clinic'"):
        sweep(open_training(visits, "y", units), grid, Trial(estimator=NAIVE, group="patient"))
    with pytest.raises(
        InputError,
        match="last and group are given, and each says which rows to hold out: choose one",
    ):
        sweep(open_training(visits, "y"), grid, Trial(estimator=NAIVE, last=0.2, group="patient"))
    for last in (0, 1, 1.5, float("nan")):
        with pytest.raises(InputError, match=r"last is .*: it must lie between 0 and 1"):
            sweep(open_training(visits, "y"), grid, Trial(estimator=NAIVE, last=last))


def test_labels_of_held_out_rows_alone_are_told(tmp_path):
    x = np.random.default_rng(4).normal(size=100)
    labels = np.where(np.arange(100) >= 90, "new", np.where(x > 0, "a", "b"))
    pd.DataFrame({"x": x, "z": x, "y": labels}).to_csv(tmp_path / "t.csv", index=False)
    found = sweep(
        open_training(tmp_path / "t.csv", "y"),
        Grid(submodels=(1,), **ONE_RULE),
        Trial(estimator=NAIVE, last=0.5),
    )
    assert found["warnings"] == [
        "1 of the labels, 'new' among them, occur in held-out rows only: no setting can be right "
        "there."
    ]
    assert found["constant"]["balanced"] == 1 / 3


def test_a_table_of_its_own_is_certified(rare):
    later = rare.parent / "later.csv"
    found = sweep(
        open_training(rare, "label"),
        Grid(submodels=(3,), **ONE_RULE),
        Trial(estimator=NAIVE, holdout=later),
    )
    X, y = pd.read_csv(rare).drop(columns="label"), pd.read_csv(rare)["label"].to_numpy()
    new = pd.read_csv(later)
    rule = Tournament(margin=0.5, prior=0.9)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3, rule=rule).fit(X, y)
    proof = clf.certify(new.drop(columns="label"))
    curve = found["settings"][0]["curve"]
    assert curve == [
        certified_accuracy(new["label"].to_numpy(), proof, r) for r in range(len(curve))
    ]
    assert (found["learnt_from"], found["held_out"]) == (800, 400)
    assert (found["split"]["kind"], found["split"]["name"]) == ("file", "later.csv")


def test_tables_that_cannot_be_held_out(rare, tmp_path):
    def refused(path, message):
        with pytest.raises(InputError, match=message):
            sweep(
                open_training(rare, "label"),
                Grid(submodels=(3,)),
                Trial(estimator=NAIVE, holdout=path),
            )

    table = pd.read_csv(rare)
    refused(rare, "is the table to learn from, and a model knows the answers there")
    shutil.copy(rare, tmp_path / "copy.csv")
    refused(tmp_path / "copy.csv", "is the table to learn from")
    refused(tmp_path / "nothing.csv", "does not exist: give a table, or the share of rows")
    table.drop(columns="c3").to_csv(tmp_path / "less.csv", index=False)
    refused(tmp_path / "less.csv", "lacks the column 'c3'")
    table.drop(columns="label").to_csv(tmp_path / "no_target.csv", index=False)
    refused(tmp_path / "no_target.csv", "lacks the column 'label'")
    table.assign(more=1).to_csv(tmp_path / "more.csv", index=False)
    refused(tmp_path / "more.csv", "has the column 'more', which the training table does not have")
    table.assign(label=1).to_parquet(tmp_path / "numbers.parquet")
    refused(tmp_path / "numbers.parquet", "holds numbers, but that of the training table texts")


def test_a_label_of_one_and_a_half_is_not_one(tmp_path):
    x = np.random.default_rng(5).normal(size=200)
    pd.DataFrame({"x": x, "z": x, "y": (x > 0).astype(int)}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"x": x[:40], "z": x[:40], "y": np.where(x[:40] > 0, 1.5, 0.0)}).to_csv(
        tmp_path / "b.csv", index=False
    )
    trial = Trial(estimator=NAIVE, holdout=tmp_path / "b.csv")
    found = sweep(open_training(tmp_path / "a.csv", "y"), Grid(submodels=(1,), **ONE_RULE), trial)
    assert list(found["settings"][0]["recall"]) == ["0.0", "1.5"]
    assert found["settings"][0]["recall"]["1.5"][0] == 0


def test_too_few_rows(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,2,x\n2,3,y\n")
    with pytest.raises(InputError, match="rows to learn from hold one label only"):
        sweep(open_training(tmp_path / "a.csv", "y"), Grid())
