"""Which rows are held out, and what must be said about them."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
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
from partita.selection import Grid, Trial, training_order
from partita.selection._choose import choose_table
from partita.selection._splits import (
    LEAST_ROWS,
    default_rows,
    reference_splits,
    row_order,
)
from partita.tables import open_table
from partita.workflow import TASKS
from partita.workflow._training_table import open_training

from .sweeps import NAIVE, ONE_RULE, measured

ROOT = Path(__file__).resolve().parents[2]
WEATHER = ROOT.parent / "shared" / "data" / "weather_europe.parquet"  # not part of the project
AIR = WEATHER.with_name("beijing_air.parquet")
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
    grid = Grid(submodels=(3,), **ONE_RULE)
    by_chance = choose_table(training, grid, Trial(estimator=NAIVE, holdout=0.25))
    by_time = choose_table(training, grid, Trial(estimator=NAIVE, last=0.2))
    assert by_chance.settings[0].curve[0] > 0.6 > 0.2 > by_time.settings[0].curve[0]
    by_both = choose_table(training, grid, Trial(estimator=NAIVE))
    assert list(by_both.splits) == ["random", "last"]
    assert by_both.splits["random"].settings[0].curve == by_chance.settings[0].curve
    assert by_both.settings[0].curve[0] < 0.3
    assert by_both.about["held_out_how"] == "the last 25 % of the rows by 'when'"
    assert by_both.best is None
    assert (by_time.rows, by_time.about["learnt_from"], by_time.by_radius) == (120, 480, [])
    assert by_time.about["split"] == {"kind": "last", "share": 0.2}
    assert (by_chance.warnings, by_chance.splits, by_time.warnings, by_time.splits) == (
        [],
        {},
        [],
        {},
    )


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


NEIGHBOURS = "sklearn.neighbors:KNeighborsClassifier"
SHUFFLED = np.random.default_rng(0).permutation(300)
DAYS = pd.date_range("2020-01-01", periods=300)


@pytest.mark.parametrize(
    ("name", "values", "last"),
    [
        ("saleDate", [20200101 + k for k in range(300)], range(225, 300)),
        ("datetime", [f"{2300 - k}-01-01" for k in range(300)], range(75)),
        ("moment", DAYS[::-1], range(75)),
        ("moment", DAYS[SHUFFLED], np.flatnonzero(SHUFFLED >= 225)),
        ("when time", np.random.default_rng(0).normal(size=300), "sort the table by time"),
        ("OverTime", ["yes", "no", "no"] * 100, None),
        ("lifetime", list(range(300)), None),
        ("update", list(range(300)), None),
    ],
)
def test_rows_with_a_time_are_judged_by_the_latest_too(name, values, last, tmp_path):
    """Also where the table begins with the latest, or is in no order."""
    x = np.random.default_rng(2).normal(size=300)
    pd.DataFrame({"x": x, "y": x > 0, name: values}).to_parquet(tmp_path / "t.parquet")
    training = open_training(tmp_path / "t.parquet", "y", UnitsFile(ignore=[name]))
    order = training_order(training)
    rows = default_rows(order, training.y, LABELS, 0)
    if last is None or isinstance(last, str):
        assert list(rows) == ["random"]
        assert [last in text and repr(name) in text for text in order.warnings()] == (
            [] if last is None else [True]
        )
    else:
        assert rows["last"].held.tolist() == list(last)
        assert set(rows["last"].learn) == set(range(300)) - set(last)
        (told,) = order.warnings(judged=False)
        assert f"Rows have an order in time (by {name!r})" in told


def order_of(X, y, task=LABELS):
    return row_order(open_table(X), np.asarray(y), task)


@pytest.mark.parametrize(
    ("load", "alike"),
    [(load_digits, True), (load_breast_cancer, False), (load_wine, False), (load_iris, False)],
)
def test_neighbours_resemble_each_other_in_some_tables(load, alike):
    """The digits are in the order of their writers; wines and irises are sorted by label alone."""
    X, y = load(return_X_y=True)
    found = order_of(X, y)
    assert (found.alike, found.group) == (alike, None)
    mixed = np.random.default_rng(0).permutation(len(y))
    assert not order_of(X[mixed], y[mixed]).alike
    by_label = np.argsort(y, kind="stable")
    found = order_of(X[by_label], y[by_label])
    assert found.alike == alike
    rows = default_rows(found, y[by_label], LABELS, 0)
    assert list(rows) == ["random"] + ["last"] * alike
    if alike:
        assert rows["last"].words == "the last 25 % of the rows of each label"
        assert set(y[by_label][rows["last"].held]) == set(y[by_label][rows["last"].learn]) == set(y)
    mixed = mixed[np.argsort(y[mixed], kind="stable")]
    assert not order_of(X[mixed], y[mixed]).alike


def test_numbers_in_order_tell_nothing_of_time():
    X, y = load_diabetes(return_X_y=True)
    for rows in (np.argsort(y), np.argsort(-y)):
        found = order_of(X[rows] + y[rows, None], y[rows], NUMBERS)
        assert (found.by_target, found.alike) == (True, False)
        assert "Rows are sorted by the target" in found.warnings()[0]
    assert order_of(X, y, NUMBERS).warnings(judged=False) == []


@pytest.fixture
def experiments():
    """Valves: 20 experiments of 40 rows, each with an offset of its own in every sensor."""
    rng = np.random.default_rng(5)
    number = np.repeat(np.arange(20), 40)
    noise = rng.normal(size=(800, 9)) + 4 * rng.normal(size=(20, 9))[number]
    y = np.where(rng.normal(size=20)[number] + 0.3 * rng.normal(size=800) > 0, "shut", "open")
    frame = pd.DataFrame(noise, columns=[f"sensor {k}" for k in range(9)])
    return frame.assign(experiment=number), y


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_column_that_groups_rows_is_seen(experiments, named, mixed):
    X, y = experiments
    if named:
        X["experiment"] = [f"run-{k:02}" for k in X["experiment"]]
    rows = np.random.default_rng(0).permutation(len(y)) if mixed else np.arange(len(y))
    found = order_of(X.iloc[rows], y[rows])
    assert (found.group, found.in_runs) == ("experiment", not mixed)
    (told,) = found.warnings()
    assert "'experiment' looks as if it groups rows, and is probably not a sensor" in told
    assert found.warnings(["experiment"]) == []
    split = default_rows(found, y[rows], LABELS, 0)
    assert list(split) == ["random", "group"]
    marks = X["experiment"].to_numpy()[rows]
    learn, held = (set(marks[part]) for part in (split["group"].learn, split["group"].held))
    assert (len(learn), len(held), learn & held) == (15, 5, set())
    if not mixed:
        assert max(split["group"].learn) < min(split["group"].held)


def test_sensors_of_whole_numbers_group_nothing():
    X, y = load_digits(return_X_y=True)
    mixed = np.random.default_rng(0).permutation(len(y))
    rough = (10 * load_wine().data).astype(int)
    assert order_of(X[mixed].astype(int), y[mixed]).group is None
    assert order_of(rough, load_wine().target).group is None
    X, y = load_breast_cancer(return_X_y=True)
    sizes = X[:, [0, 2, 3, 20, 22, 23]]  # rows with one radius are alike, as those of the next one
    assert order_of(sizes.round(), y).group is None
    assert order_of(pd.DataFrame(rough).astype(str), load_wine().target).group is None


def test_whole_groups_and_random_rows_disagree(experiments, tmp_path):
    """A model that knows the experiment knows the answer; a new experiment is another matter."""
    X, y = experiments
    X.assign(y=y).to_parquet(tmp_path / "t.parquet")
    grid = Grid(submodels=(3,), groups=(5,), rules=("plurality",), gates=())
    trial = Trial(NEIGHBOURS, radius=1)
    found = choose_table(open_training(tmp_path / "t.parquet", "y"), grid, trial)
    by_chance, by_group = (found.splits[kind] for kind in ("random", "group"))
    assert by_chance.best is not None
    assert by_chance.best.certified > 0.8
    assert found.settings is by_group.settings
    assert max(one.certified for one in by_group.settings) < 0.7
    assert found.best is None
    assert "looks as if it groups rows" in found.warnings[0]
    given = choose_table(
        open_training(tmp_path / "t.parquet", "y"), grid, replace(trial, holdout=0.25)
    )
    assert (given.splits, given.warnings, given.best is not None) == ({}, [], True)
    ignoring = UnitsFile(ignore=["experiment"])
    found = choose_table(open_training(tmp_path / "t.parquet", "y", ignoring), grid, trial)
    assert (list(found.splits), found.warnings) == (["random", "group"], [])


@pytest.mark.skipif(not AIR.exists(), reason="the air table is not part of the project")
def test_hours_of_polluted_air_are_no_mirage(tmp_path):
    """Without the calendar: the hours beside a held-out hour are learnt from, and a model that has
    seen them knows the answer. Later hours tell the truth, and nothing is recommended blindly."""
    names = ["PM10", "SO2", "NO2", "CO", "O3", "TEMP", "PRES", "DEWP", "WSPM"]
    table = pd.read_parquet(AIR).iloc[:4000].dropna(subset=["PM2.5", *names])
    bad = np.where(table["PM2.5"] > 75, "bad", "good")
    table[names].assign(air=bad).to_parquet(tmp_path / "air.parquet", index=False)
    training = open_training(tmp_path / "air.parquet", "air")
    grid = Grid(submodels=(5,), groups=(5,), rules=("plurality",), gates=())
    found = choose_table(training, grid, Trial(NEIGHBOURS, radius=1))
    promised = found.splits["random"].best
    later = choose_table(training, grid, Trial(NEIGHBOURS, radius=1, last=0.25))
    assert measured(found) == measured(later)
    assert promised.certified - max(one.certified for one in found.settings) > 0.15
    assert found.best is None


@pytest.mark.skipif(not WEATHER.exists(), reason="the weather table is not part of the project")
def test_days_of_a_weather_table_are_seen_to_be_ordered(tmp_path):
    table = pd.read_parquet(WEATHER).iloc[:800]
    columns = [name for name in table.columns if name.endswith("_temp_mean")]
    warm = table["BASEL_temp_mean"].shift(-1) > 12
    table[["DATE", *columns]].assign(warm=warm)[:-1].to_parquet(tmp_path / "w.parquet", index=False)
    for ignored, time in ((["DATE"], "DATE"), ([], "DATE")):
        training = open_training(tmp_path / "w.parquet", "warm", UnitsFile(ignore=ignored))
        order = training_order(training)
        assert (order.time, order.alike) == (time, True)
    table[columns].assign(warm=warm)[:-1].to_parquet(tmp_path / "v.parquet", index=False)
    training = open_training(tmp_path / "v.parquet", "warm")
    assert (training_order(training).time, training_order(training).alike) == (None, True)
    grid = Grid(submodels=(3,), **ONE_RULE)
    assert list(choose_table(training, grid, Trial(estimator=NAIVE)).splits) == ["random", "last"]
    assert choose_table(training, grid, Trial(estimator=NAIVE, last=0.2)).splits == {}
