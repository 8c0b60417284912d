"""Fitted submodel by submodel as in memory, and resumable."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Ridge, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
    StoreError,
    SubmodelError,
    SubmodelWarning,
    certify_parquet,
    fit_parquet,
    store,
)
from partita.ensemble import _batches as batches
from partita.ensemble._soundness import canaries
from partita.rules import Median, Tournament
from partita.store._save import UnfinishedModel
from partita.tables import FileTable
from partita.workflow._training_table import open_training

from .cancer import (
    BOOSTED,
    COLUMNS,
    LINEAR,
    ROWS,
    UNITS,
    cancer,
    damage,
    fit,
    in_memory,
    submodels,
    table_without,
    units_ignoring,
)

CLASSIFIERS = {
    "default": {"n_submodels": 2},
    "pipeline": {"estimator": LINEAR, "rule": Tournament(margin=0.5, prior=0.3)},
    "lightgbm": {"estimator": BOOSTED},
    "units": {
        "estimator": GaussianNB(),
        "units": UNITS,
        "trusted": ["c5"],
        "n_submodels": 3,
        "spread": 2,
    },
    "rows": {
        "estimator": GaussianNB(),
        "n_submodels": 3,
        "label_attacks": "rows",
        "classes": ["benign", "malignant"],
    },
    "rows, lightgbm": {
        "estimator": BOOSTED,
        "n_submodels": 3,
        "label_attacks": "rows",
        "classes": ["benign", "malignant"],
    },
    "labels": {
        "estimator": GaussianNB(),
        "n_submodels": 3,
        "label_attacks": "labels",
        "classes": ["benign", "malignant"],
    },
}


@pytest.mark.parametrize("case", CLASSIFIERS)
def test_the_same_submodels_as_in_memory(case, table, tmp_path):
    settings = {"n_submodels": 5} | CLASSIFIERS[case]
    fitted = in_memory(FeaturePartitionClassifier(**settings))
    path = fit_parquet(
        FeaturePartitionClassifier(**settings), table, "y", tmp_path / "m", ignore=["part", "value"]
    )
    loaded = store.load(path)
    X = cancer()[COLUMNS].astype(np.float64)
    assert np.array_equal(loaded.ballots(X), fitted.ballots(X))
    assert loaded.partition_ == fitted.partition_
    assert loaded.counts_ == fitted.counts_
    if "lightgbm" not in case:  # which remembers whether it was given a frame
        assert submodels(path) == submodels(store.save(fitted, tmp_path / "other"))
    assert not (path / "unfinished").exists()
    assert sorted(file.suffix for file in path.iterdir()) == [
        ".json",
        *[".skops"] * (len(fitted.partition_) + ("estimator" in settings)),
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {"rule": Median(stretch=1.2)},
        {"estimator": LGBMRegressor(n_estimators=5, verbose=-1)},
        {"estimator": Ridge(), "label_attacks": "rows"},
    ],
    ids=["default", "lightgbm", "rows"],
)
def test_the_same_values_as_in_memory(settings, table, tmp_path):
    reg = FeaturePartitionRegressor(n_submodels=5, **settings)
    fitted = in_memory(FeaturePartitionRegressor(n_submodels=5, **settings), target="value")
    loaded = store.load(fit_parquet(reg, table, "value", tmp_path / "m", ignore=["part", "y"]))
    X = cancer()[COLUMNS].astype(np.float64)
    assert np.array_equal(loaded.ballots(X), fitted.ballots(X))
    assert not hasattr(reg, "partition_")  # what was given is not changed


LEAVE_OUT = {
    "labels": (
        LeaveOutClassifier(GaussianNB(), units=UNITS, trusted=["c5"], n_groups=5),
        "y",
        ["part", "value"],
    ),
    "lightgbm": (LeaveOutClassifier(BOOSTED, n_groups=3), "y", ["part", "value"]),
    "values": (LeaveOutRegressor(Ridge(), radius=2, n_groups=5), "value", ["part", "y"]),
}


@pytest.mark.parametrize("case", LEAVE_OUT)
def test_the_same_members_as_in_memory(case, table, tmp_path):
    """They are stored one by one, and certify a table piece by piece."""
    model, target, ignore = LEAVE_OUT[case]
    path = fit_parquet(model, table, target, tmp_path / "m", ignore=ignore)
    fitted, loaded = in_memory(clone(model), target=target), store.load(path)
    X = cancer()[COLUMNS].astype(np.float64)
    assert np.array_equal(loaded.ballots(X), fitted.ballots(X))
    assert loaded.partition_ == fitted.partition_
    assert loaded.counts_ == fitted.counts_
    assert len(submodels(path)) == len(fitted.partition_)
    wide = {"tolerance": 2.0} if case == "values" else {}
    certify_parquet(path, table, tmp_path / "c.parquet", **wide)
    proof, got = fitted.certify(X, **wide), pd.read_parquet(tmp_path / "c.parquet")
    assert np.array_equal(got["prediction"], proof.prediction)
    assert np.array_equal(got["radius"], proof.radius)


def test_a_corrupted_column_changes_only_members_that_see_it(table, tmp_path):
    model, target, ignore = LEAVE_OUT["labels"]
    honest = fit_parquet(model, table, target, tmp_path / "honest", ignore=ignore)
    other = tmp_path / "corrupt"
    other.mkdir()
    benign = (cancer()["y"] == "benign").to_numpy()
    cancer().assign(c4=(1e6 * benign).astype(np.float32)).to_parquet(other / "a.parquet")
    corrupt = fit_parquet(model, other, target, tmp_path / "m", ignore=ignore)
    loaded = store.load(honest)
    sees = [
        "c4" in [COLUMNS[c] for c in loaded.columns_of(t)] for t in range(len(submodels(honest)))
    ]
    pairs = zip(submodels(honest), submodels(corrupt), strict=True)
    assert [one != other for one, other in pairs] == sees
    assert 0 < sum(sees) < len(sees)


def test_one_model_of_masked_rows_is_not_fitted_column_by_column(table, tmp_path):
    for model, target, ignore in LEAVE_OUT.values():
        masked = clone(model).set_params(training="trusted")
        if isinstance(masked.estimator, LGBMClassifier):  # it takes missing values
            with pytest.raises(InputError, match="training='trusted' learns one model from the"):
                fit_parquet(masked, table, target, tmp_path / "m", ignore=ignore)
    assert not (tmp_path / "m").exists()


def test_a_corrupted_column_changes_its_own_submodel_alone(table, tmp_path):
    for estimator in (GaussianNB(), BOOSTED):
        honest = fit(table, tmp_path / "honest", ensemble={"estimator": estimator})
        other = tmp_path / "corrupt"
        other.mkdir(exist_ok=True)
        frame = cancer().assign(
            c4=lambda frame: (1e6 * (frame["y"] == "benign")).astype(np.float32)
        )
        frame.to_parquet(other / "a.parquet", index=False)
        corrupt = fit(other, tmp_path / "m", ensemble={"estimator": estimator})
        partition = store.load(honest).partition_
        owner = next(t for t in range(5) if 4 in partition[t])
        assert [t for t in range(5) if submodels(honest)[t] != submodels(corrupt)[t]] == [owner]


def test_a_truncated_file_is_refused_before_anything_is_written(table, tmp_path):
    whole = (table / "b.parquet").read_bytes()
    (table / "b.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"table' cannot be read as Parquet: .*b.parquet"):
        fit(table, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_split_learns_from_the_rows_of_one_value(table, tmp_path):
    frame = cancer()
    train = frame[frame["part"] == "train"].reset_index(drop=True)
    for estimator in (GaussianNB(), BOOSTED):
        fitted = in_memory(FeaturePartitionClassifier(estimator, n_submodels=5), train)
        path = fit(
            table, tmp_path / "m", split=("part", "train"), ensemble={"estimator": estimator}
        )
        X = frame[COLUMNS].astype(np.float64)
        assert np.array_equal(store.load(path).ballots(X), fitted.ballots(X))
    assert store.manifest(path)["about"]["split"] == ["part", "train"]
    found = certify_parquet(
        path, table_without(table, "value"), tmp_path / "c.parquet", split=("part", "test")
    )
    assert found["rows"] == (frame["part"] == "test").sum()
    assert (pd.read_parquet(tmp_path / "c.parquet")["part"] == "test").all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"split": ("c1", float(np.float32(17.77)))},
            "split names the column 'c1', and its owner would choose the rows of every submodel",
        ),
        ({"split": ("y", "benign")}, "split names the target 'y'"),
        ({"split": ("where", "train")}, "split names the column 'where', which"),
        (
            {"split": ("part", "nowhere")},
            "split asks for 'nowhere' in the column 'part', which no row",
        ),
        (
            {"split": ("value", "many")},
            "split asks for 'many' in the column 'value', which holds double",
        ),
        ({"batch_rows": 0, "ensemble": {"estimator": SGDClassifier()}}, "batch_rows is 0"),
        (
            {"batch_rows": 10, "ensemble": {"estimator": LINEAR}},
            "Pipeline cannot learn from batches",
        ),
        (
            {
                "batch_rows": 10,
                "ensemble": {"label_attacks": "labels", "classes": ["benign", "malignant"]},
            },
            "batch_rows is not supported with label_attacks='labels'",
        ),
        ({"ignore": ["value", "part", *COLUMNS]}, "no columns to learn from"),
    ],
)
def test_wrong_settings_are_named(settings, message, table, tmp_path):
    with pytest.raises(InputError, match=message):
        fit(table, tmp_path / "m", **settings)
    assert not (tmp_path / "m").exists()


def test_a_trusted_column_may_split(table, tmp_path):
    path = fit(
        table,
        tmp_path / "m",
        ignore=["value"],
        split=("part", "train"),
        ensemble={"estimator": None, "trusted": ["part"]},
    )
    assert store.load(path).units_.trusted == (12,)


def test_what_cannot_be_fitted_is_named(table, tmp_path):
    with pytest.raises(InputError, match="ensemble is a GaussianNB"):
        fit_parquet(GaussianNB(), table, "y", tmp_path / "m")
    with pytest.raises(InputError, match="is a zip, to which submodels cannot be added"):
        fit(table, tmp_path / "m.zip")
    cancer().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match=r"t.csv' is not Parquet, which is read by column"):
        fit(tmp_path / "t.csv", tmp_path / "m")

    class AllAtOnce(GaussianNB):
        def fit_submodels(self, X, y, columns, seeds):
            raise NotImplementedError

    with pytest.raises(InputError, match="AllAtOnce trains all submodels at once"):
        fit(table, tmp_path / "m", ensemble={"estimator": AllAtOnce()})
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("batch_rows", [50, 10_000])
def test_partial_fit_sees_every_batch_once_and_in_order(batch_rows, table, tmp_path):
    frame = cancer()
    path = fit(
        table,
        tmp_path / "m",
        batch_rows=batch_rows,
        ensemble={"estimator": SGDClassifier(loss="log_loss")},
    )
    loaded = store.load(path)
    for t, submodel in enumerate(loaded.estimators_):
        X = frame[[COLUMNS[column] for column in loaded.columns_of(t)]].astype(np.float64)
        expected = SGDClassifier(loss="log_loss", random_state=submodel.random_state)
        for start in range(0, ROWS, batch_rows):
            rows = slice(start, start + batch_rows)
            expected.partial_fit(
                X[rows], frame["y"].to_numpy()[rows], classes=np.array(["benign", "malignant"])
            )
        assert np.array_equal(submodel.coef_, expected.coef_)


def test_partial_fit_of_values_and_of_own_rows(table, tmp_path):
    reg = FeaturePartitionRegressor(SGDRegressor(), n_submodels=3, label_attacks="rows")
    loaded = store.load(
        fit_parquet(reg, table, "value", tmp_path / "m", ignore=["part", "y"], batch_rows=40)
    )
    training = open_training(table, "value", units_ignoring("part", "y"), "regression")
    _, _, plan = reg.plan(training.table, training.y)
    owner = plan.owner(ROWS)
    X, y = (
        cancer()[[COLUMNS[column] for column in plan.columns[1]]].astype(np.float64)[owner == 1],
        training.y[owner == 1],
    )
    expected = SGDRegressor(random_state=loaded.estimators_[1].random_state)
    for start in range(0, len(X), 40):
        expected.partial_fit(X[start : start + 40], y[start : start + 40])
    assert np.array_equal(loaded.estimators_[1].coef_, expected.coef_)


@pytest.mark.long
@pytest.mark.parametrize("n_classes", [2, 3])
def test_lightgbm_makes_the_same_bins_from_a_sample(n_classes, tmp_path, monkeypatch):
    """Above 200,000 rows it looks at some of them, drawn by a seed of its own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(210_000, 4)).astype(np.float32)
    y = np.digitize(X.sum(axis=1) + rng.normal(size=len(X)), [0, 2][: n_classes - 1])
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.assign(y=y).to_parquet(tmp_path / "t.parquet", index=False)
    boosted = LGBMClassifier(n_estimators=3, deterministic=True, force_col_wise=True, verbose=-1)
    clf = FeaturePartitionClassifier(boosted, n_submodels=2, random_state=7)
    taken: list[int] = []
    take = FileTable.take
    monkeypatch.setattr(
        FileTable, "take", lambda self, *given: taken.append(self.n_rows) or take(self, *given)
    )
    loaded = store.load(fit_parquet(clf, tmp_path / "t.parquet", "y", tmp_path / "m"))
    assert max(taken) == batches.LIGHTGBM_ROWS  # never all rows at once
    n_fits = 2 + len(
        canaries(2, len(X))
    )  # each of which reads its columns twice, and a first batch
    assert sum(taken) < n_fits * 3 * len(X)
    assert np.array_equal(
        loaded.ballots(frame[:20_000]), clf.fit(frame.astype(float), y).ballots(frame[:20_000])
    )
    with_weights = clf.set_params(
        estimator__class_weight="balanced"
    )  # which needs all labels; it is not read in batches
    loaded = store.load(fit_parquet(with_weights, tmp_path / "t.parquet", "y", tmp_path / "m"))
    assert np.array_equal(
        loaded.ballots(frame[:999]), with_weights.fit(frame.astype(float), y).ballots(frame[:999])
    )


def test_lightgbm_of_one_label(table, tmp_path):
    """Of its own rows a submodel may see one label only."""
    frame = cancer()
    frame["y"] = np.where(np.arange(ROWS) == 3, "malignant", "benign")
    frame.drop(columns=["part", "value"]).to_parquet(tmp_path / "t.parquet", index=False)
    clf = FeaturePartitionClassifier(
        BOOSTED, n_submodels=3, label_attacks="rows", classes=["benign", "malignant"]
    )
    loaded = store.load(fit_parquet(clf, tmp_path / "t.parquet", "y", tmp_path / "m"))
    X = frame[COLUMNS].astype(np.float64)
    for t, expected in enumerate(clf.fit(X, frame["y"]).estimators_):
        own, found = X.iloc[:, clf.columns_of(t)], loaded.estimators_[t]
        assert found.classes_.tolist() == expected.classes_.tolist()
        assert np.array_equal(found.booster_.predict(own), expected.booster_.predict(own))


def test_a_column_that_breaks_its_submodel_makes_it_cast_a_fixed_vote(tmp_path):
    frame = cancer().assign(c4="text").drop(columns=["part", "value"])
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    for estimator in (BOOSTED, SGDClassifier(loss="log_loss")):
        clf = FeaturePartitionClassifier(
            estimator, n_submodels=5, n_jobs=1
        )  # no thread is left at work when the error comes
        with pytest.raises(SubmodelError, match="could not be fitted"):
            fit_parquet(
                clf,
                tmp_path / "t.parquet",
                "y",
                tmp_path / f"r{type(estimator).__name__}",
                batch_rows=100,
            )
        clf.set_params(on_failure="vote")
        with pytest.warns(
            SubmodelWarning, match="(?s)1 of 5 submodels failed to fit.*could not be fitted"
        ):
            path = fit_parquet(
                clf,
                tmp_path / "t.parquet",
                "y",
                tmp_path / f"v{type(estimator).__name__}",
                batch_rows=100,
            )
        assert [type(one).__name__ for one in store.load(path).estimators_].count("FixedVote") == 1


class Fragile(GaussianNB):
    """Fails on the columns of one submodel as long as a file says so."""

    def __init__(self, flag="", priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.flag = flag

    def fit(self, X, y):
        from pathlib import Path

        if Path(self.flag).exists() and "c4" in X.columns:
            raise OSError("the power is cut")
        return super().fit(X, y)


@pytest.fixture
def stopped(table, tmp_path):
    """A fit that failed at one submodel; the way to go on with it; and what an undisturbed fit
    gives."""
    flag = tmp_path / "flag"
    flag.touch()
    clf = FeaturePartitionClassifier(Fragile(str(flag)), n_submodels=5, n_jobs=1)

    def go_on(**settings):
        own = FeaturePartitionClassifier(
            Fragile(str(flag)), **({"n_submodels": 5, "n_jobs": 2, "verbose": 1} | settings)
        )
        return fit_parquet(own, table, "y", tmp_path / "m", ignore=["part", "value"])

    with pytest.raises(SubmodelError, match="the power is cut"):
        fit_parquet(clf, table, "y", tmp_path / "m", ignore=["part", "value"])
    flag.unlink()
    undisturbed = fit_parquet(clf, table, "y", tmp_path / "other", ignore=["part", "value"])
    return tmp_path / "m", go_on, undisturbed


def test_a_stopped_fit_resumes_and_gives_the_same_files(stopped, capsys):
    out, go_on, undisturbed = stopped
    done = {file.name: file.stat().st_ino for file in out.glob("submodel-*")}
    assert 0 < len(done) < 5
    with pytest.raises(StoreError, match="is not finished: run it again to resume it"):
        store.load(out)
    assert go_on() == out
    assert (
        f"partita: {len(done)} of 5 submodels were finished by an earlier run"
        in capsys.readouterr().err
    )
    assert {name: (out / name).stat().st_ino for name in done} == done  # not written again
    assert submodels(out) == submodels(undisturbed)
    assert (
        json.loads((out / "manifest.json").read_bytes())["files"]
        == json.loads((undisturbed / "manifest.json").read_bytes())["files"]
    )


def test_a_stopped_fit_resumes_member_by_member(table, tmp_path, capsys):
    flag = tmp_path / "flag"
    flag.touch()
    groups = [["c4", "c2"], ["c0", "c1"], ["c3", "c5"], ["c6", "c7", "c8"], ["c9", "c10", "c11"]]
    clf = LeaveOutClassifier(Fragile(str(flag)), partition=groups, leave_out=3, n_jobs=1)
    given = (table, "y", tmp_path / "m")
    with pytest.raises(SubmodelError, match=r"the power is cut"):
        fit_parquet(clf, *given, ignore=["part", "value"])
    done = {file.name: file.stat().st_ino for file in (tmp_path / "m").glob("submodel-*")}
    assert 0 < len(done) < 11
    flag.unlink()
    for other in ({"leave_out": 2}, {"max_models": 9}, {"random_state": 1}):
        with pytest.raises(InputError, match="holds the beginning of another fit"):
            fit_parquet(clone(clf).set_params(**other), *given, ignore=["part", "value"])
    path = fit_parquet(clf.set_params(verbose=1), *given, ignore=["part", "value"])
    assert f"{len(done)} of 11 submodels were finished by an earlier run" in capsys.readouterr().err
    assert {name: (path / name).stat().st_ino for name in done} == done
    undisturbed = fit_parquet(clf, table, "y", tmp_path / "other", ignore=["part", "value"])
    assert submodels(path) == submodels(undisturbed)


@pytest.mark.parametrize(
    "harm", [damage, lambda file: file.unlink(), lambda file: file.write_bytes(b"")]
)
@pytest.mark.parametrize("what", ["submodel-*.skops", "unfinished/submodel-*.json"])
def test_an_incomplete_submodel_is_fitted_again(harm, what, stopped):
    out, go_on, undisturbed = stopped
    harm(sorted(out.glob(what))[0])
    go_on()
    assert submodels(out) == submodels(undisturbed)
    assert len(store.load(out, trusted=[f"{Fragile.__module__}.Fragile"]).estimators_) == 5


def test_a_note_of_another_submodel_does_not_count(stopped):
    out, go_on, undisturbed = stopped
    notes = sorted(out.glob("unfinished/submodel-*.json"))
    notes[0].write_bytes(
        notes[1].read_bytes()
        if len(notes) > 1
        else notes[0].read_bytes().replace(b'"t": 0', b'"t": 3')
    )
    go_on()
    assert submodels(out) == submodels(undisturbed)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_submodels": 3},
        {"random_state": 1},
        {"rule": "plurality"},
        {"units": UNITS},
        {"on_failure": "vote"},
        {"trusted": ["c1"]},
    ],
)
def test_a_fit_with_other_settings_does_not_resume(settings, stopped):
    out, go_on, _ = stopped
    before = {file.name for file in out.iterdir()}
    with pytest.raises(InputError, match="holds the beginning of another fit, which differs in"):
        go_on(**settings)
    assert {file.name for file in out.iterdir()} == before


def test_a_fit_of_other_data_does_not_resume(stopped, table):
    _, go_on, _ = stopped
    frame = cancer()
    pq.write_table(
        pa.Table.from_pandas(frame[300:].assign(c4=frame["c4"][300:] + 1)),
        table / "b.parquet",
        row_group_size=110,
    )
    with pytest.raises(InputError, match="beginning of another fit"):
        go_on()


def test_an_earlier_model_is_complete_until_the_new_one_is(stopped, table, tmp_path):
    _, _, undisturbed = stopped
    earlier = store.save(
        in_memory(FeaturePartitionClassifier(GaussianNB(), n_submodels=3)), tmp_path / "again"
    )
    flag = tmp_path / "flag"
    flag.touch()
    clf = FeaturePartitionClassifier(Fragile(str(flag)), n_submodels=5, n_jobs=1)
    with pytest.raises(SubmodelError):
        fit_parquet(clf, table, "y", earlier, ignore=["part", "value"])
    assert len(store.load(earlier).estimators_) == 3
    flag.unlink()
    fit_parquet(clf, table, "y", earlier, ignore=["part", "value"])
    assert submodels(earlier) == submodels(undisturbed)
    flag.touch()
    with pytest.raises(SubmodelError):
        fit_parquet(clf.set_params(random_state=1), table, "y", earlier, ignore=["part", "value"])
    store.save(
        in_memory(FeaturePartitionClassifier(GaussianNB(), n_submodels=3)), earlier
    )  # which gives that fit up
    assert not (earlier / "unfinished").exists()
    assert len(store.load(earlier).estimators_) == 3


@pytest.mark.filterwarnings("ignore:random_state=")
def test_a_fit_with_another_seed_does_not_resume(tmp_path, monkeypatch):
    """A generator leaves no number behind that could be compared: the seed that was drawn must
    be."""
    load_breast_cancer(as_frame=True).frame.to_parquet(tmp_path / "table.parquet")
    finish = UnfinishedModel.finish
    monkeypatch.setattr(
        UnfinishedModel, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, partition="strided")
    with pytest.raises(KeyboardInterrupt):
        fit_parquet(
            clf.set_params(random_state=np.random.RandomState(0)),
            tmp_path / "table.parquet",
            "target",
            tmp_path / "model",
        )
    monkeypatch.setattr(UnfinishedModel, "finish", finish)
    with pytest.raises(InputError, match="holds the beginning of another fit"):
        fit_parquet(
            clf.set_params(random_state=np.random.RandomState(1)),
            tmp_path / "table.parquet",
            "target",
            tmp_path / "model",
        )
    fit_parquet(
        clf.set_params(random_state=np.random.RandomState(0)),
        tmp_path / "table.parquet",
        "target",
        tmp_path / "model",
    )
