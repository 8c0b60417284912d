"""Which rows are held out, and what must be said about them."""

import shutil
from pathlib import Path

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
from partita.selection import Grid, Trial
from partita.selection._choose import choose_table
from partita.selection._splits import LEAST_ROWS, reference_splits
from partita.workflow import TASKS
from partita.workflow._training_table import open_training

from .sweeps import NAIVE, ONE_RULE, measured

ROOT = Path(__file__).resolve().parents[2]
WEATHER = ROOT.parent / "shared" / "data" / "weather_europe.parquet"  # not part of the project
LABELS, NUMBERS = TASKS["classification"], TASKS["regression"]


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
    by_chance = choose_table(training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE))
    by_time = choose_table(
        training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE, last=0.2)
    )
    assert by_chance.settings[0].curve[0] > 0.6 > 0.2 > by_time.settings[0].curve[0]
    assert (by_time.rows, by_time.about["learnt_from"], by_time.by_radius) == (120, 480, [])
    assert by_time.about["split"] == {"kind": "last", "share": 0.2}
    assert by_chance.warnings == [
        "Rows look ordered in time (by 'when'), and were held out at random: --last 0.2 tells "
        "more about later rows."
    ]
    assert by_time.warnings == []


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
    found = choose_table(open_training(visits, "y"), grid, trial)
    patients = pd.read_csv(visits)["patient"].to_numpy()
    learnt = set(patients[fitted[0].rows])
    assert (len(learnt), found.rows, found.about["learnt_from"]) == (
        45,
        60,
        180,
    )  # 15 patients with all their visits
    assert fitted[0].names == ["a", "b"]
    assert found.about["split"] == {
        "kind": "group",
        "column": "patient",
        "groups": 60,
        "held_groups": 15,
        "ignored_before": [],
    }
    assert found.warnings == [
        "'patient' is not a feature in this sweep. List it under ignore in units.toml, or partita "
        "fit takes it for one."
    ]
    assert found.about["ignore"] == ["patient"]
    ordinary = 4  # models on all columns, fitted after every ensemble
    ignored = choose_table(open_training(visits, "y", UnitsFile(ignore=["patient"])), grid, trial)
    assert (ignored.warnings, fitted[1 + ordinary].names) == ([], ["a", "b"])
    assert measured(ignored) == measured(found)
    trusted = choose_table(open_training(visits, "y", UnitsFile(trusted=["patient"])), grid, trial)
    assert (trusted.warnings, fitted[2 * (1 + ordinary)].names) == ([], ["patient", "a", "b"])


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
            choose_table(
                open_training(tmp_path / "t.parquet", "y"),
                grid,
                Trial(estimator=NAIVE, group=group),
            )
    units = UnitsFile(units={"clinic": ["patient", "a"]})
    with pytest.raises(InputError, match="group names the column 'patient' of the unit 'clinic'"):
        choose_table(
            open_training(visits, "y", units), grid, Trial(estimator=NAIVE, group="patient")
        )
    with pytest.raises(
        InputError,
        match="last and group are given, and each says which rows to hold out: choose one",
    ):
        choose_table(
            open_training(visits, "y"), grid, Trial(estimator=NAIVE, last=0.2, group="patient")
        )
    for last in (0, 1, 1.5, float("nan")):
        with pytest.raises(InputError, match=r"last is .*: it must lie between 0 and 1"):
            choose_table(open_training(visits, "y"), grid, Trial(estimator=NAIVE, last=last))


def test_labels_of_held_out_rows_alone_are_told(tmp_path):
    x = np.random.default_rng(4).normal(size=100)
    labels = np.where(np.arange(100) >= 90, "new", np.where(x > 0, "a", "b"))
    pd.DataFrame({"x": x, "z": x, "y": labels}).to_csv(tmp_path / "t.csv", index=False)
    found = choose_table(
        open_training(tmp_path / "t.csv", "y"),
        Grid(submodels=(1,), **ONE_RULE),
        Trial(estimator=NAIVE, last=0.5),
    )
    assert found.warnings == [
        "1 of the labels, 'new' among them, occur in held-out rows only: no setting can be right "
        "there."
    ]
    assert found.constant["balanced"] == 1 / 3


def test_a_table_of_its_own_is_certified(rare):
    later = rare.parent / "later.csv"
    found = choose_table(
        open_training(rare, "label"),
        Grid(submodels=(3,), **ONE_RULE),
        Trial(estimator=NAIVE, holdout=later),
    )
    X, y = pd.read_csv(rare).drop(columns="label"), pd.read_csv(rare)["label"].to_numpy()
    new = pd.read_csv(later)
    rule = Tournament(margin=0.5, prior=0.9)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3, rule=rule).fit(X, y)
    proof = clf.certify(new.drop(columns="label"))
    curve = found.settings[0].curve
    assert curve == [
        certified_accuracy(new["label"].to_numpy(), proof, r) for r in range(len(curve))
    ]
    assert (found.about["learnt_from"], found.rows) == (800, 400)
    assert (found.about["split"]["kind"], found.about["split"]["name"]) == ("file", "later.csv")


def test_tables_that_cannot_be_held_out(rare, tmp_path):
    def refused(path, message):
        with pytest.raises(InputError, match=message):
            choose_table(
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
    found = choose_table(
        open_training(tmp_path / "a.csv", "y"), Grid(submodels=(1,), **ONE_RULE), trial
    )
    assert list(found.settings[0].recall) == ["0.0", "1.5"]
    assert found.settings[0].recall["1.5"][0] == 0


def test_too_few_rows(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,2,x\n2,3,y\n")
    with pytest.raises(InputError, match="rows to learn from hold one label only"):
        choose_table(open_training(tmp_path / "a.csv", "y"), Grid(), Trial())


def test_both_parts_of_every_split_hold_every_label():
    rng = np.random.default_rng(0)
    for seed in range(1000):
        sizes = rng.geometric(0.15, size=rng.integers(2, 7)) + 2
        sizes[0] += LEAST_ROWS
        y = rng.permutation(np.repeat([f"label {k}" for k in range(len(sizes))], sizes))
        splits = reference_splits(y, LABELS, seed)
        for learn, held in splits:
            assert np.array_equal(np.sort([*learn, *held]), np.arange(len(y)))
            assert set(y[learn]) == set(y[held]) == set(y)
        assert len({tuple(held) for _, held in splits}) == len(splits)
        again = reference_splits(y, LABELS, seed)
        assert all(np.array_equal(a, b) for a, b in zip(splits[-1], again[-1], strict=True))


def test_numbers_are_split_too():
    for learn, held in reference_splits(np.linspace(0, 1, 60), NUMBERS, 0):
        assert (len(learn), len(held)) == (40, 20)


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        (np.arange(29.0), NUMBERS, "reference has 29 rows, too few .*: give at least 30"),
        (np.arange(29) % 2, LABELS, "reference has 29 rows"),
        (np.zeros(40, dtype=int), LABELS, "reference holds no label but 0"),
        (
            np.array(["a"] * 40 + ["b"] * 2),
            LABELS,
            "reference has 2 rows of the label 'b', too few .*: give at least 3 rows of every",
        ),
        (np.array(["a"] * 40 + ["b"]), LABELS, "reference has one row of the label 'b'"),
    ],
)
def test_a_sample_that_is_too_small_is_refused(y, task, message):
    with pytest.raises(InputError, match=message) as caught:
        reference_splits(y, task, 0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("saleDate", [20200101 + k for k in range(300)], "Rows look ordered in time"),
        ("datetime", [f"{2300 - k}-01-01" for k in range(300)], "Rows look ordered in time"),
        ("moment", pd.date_range("2020-01-01", periods=300)[::-1], "Rows look ordered in time"),
        (
            "moment",
            pd.date_range("2020-01-01", periods=300)[np.random.default_rng(0).permutation(300)],
            "sort the table by time",
        ),
        ("when time", np.random.default_rng(0).normal(size=300), "sort the table by time"),
        ("OverTime", ["yes", "no", "no"] * 100, None),
        ("lifetime", list(range(300)), None),
        ("update", list(range(300)), None),
    ],
)
def test_a_random_split_of_rows_in_time_is_told(name, values, message, tmp_path):
    x = np.random.default_rng(2).normal(size=300)
    pd.DataFrame({"x": x, "y": x > 0, name: values}).to_parquet(tmp_path / "t.parquet")
    training = open_training(tmp_path / "t.parquet", "y", UnitsFile(ignore=[name]))
    told = choose_table(training, Grid(submodels=(1,), **ONE_RULE), Trial(estimator=NAIVE)).warnings
    assert len(told) == (message is not None)
    assert not told or (message in told[0] and repr(name) in told[0])


@pytest.mark.skipif(not WEATHER.exists(), reason="the weather table is not part of the project")
def test_days_of_a_weather_table_are_seen_to_be_ordered(tmp_path):
    table = pd.read_parquet(WEATHER).iloc[:800]
    columns = [name for name in table.columns if name.endswith("_temp_mean")]
    warm = table["BASEL_temp_mean"].shift(-1) > 12
    table[["DATE", *columns]].assign(warm=warm)[:-1].to_parquet(tmp_path / "w.parquet", index=False)
    training = open_training(tmp_path / "w.parquet", "warm", UnitsFile(ignore=["DATE"]))
    found = choose_table(training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE))
    assert "Rows look ordered in time (by 'DATE')" in found.warnings[0]
    last = choose_table(
        training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE, last=0.2)
    )
    assert last.warnings == []
