"""Tables in Parquet: fitted submodel by submodel as in memory, resumable, and certified piece by
piece."""

import json
import pickle
import resource
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    StoreError,
    SubmodelError,
    SubmodelWarning,
    certify_parquet,
    fit_parquet,
    store,
)
from partita.ensemble import _batches as batches
from partita.ensemble._canary import canaries
from partita.ensemble._plan import Plan
from partita.rules import Median, Tournament
from partita.store._unfinished import Unfinished
from partita.tables._kinds import NUMBER, CellError
from partita.tables._open import FileTable, open_file
from partita.workflow import _out_of_core as parquet
from partita.workflow._workflow import open_training

COLUMNS = [f"c{k}" for k in range(12)]
ROWS = 569


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    frame = pd.DataFrame(X[:, :12].astype(np.float32), columns=COLUMNS)
    return frame.assign(
        part=np.where(np.arange(ROWS) % 3, "train", "test"),
        value=X[:, 20],
        y=np.where(y, "benign", "malignant"),
    )


@pytest.fixture
def table(tmp_path):
    """A folder of two files, of several row groups each."""
    folder = tmp_path / "table"
    folder.mkdir()
    frame = cancer()
    pq.write_table(pa.Table.from_pandas(frame[:300]), folder / "a.parquet", row_group_size=70)
    pq.write_table(pa.Table.from_pandas(frame[300:]), folder / "b.parquet", row_group_size=110)
    return folder


def in_memory(ensemble, frame=None, target="y"):
    frame = cancer() if frame is None else frame
    return ensemble.fit(frame[COLUMNS].astype(np.float64), frame[target].to_numpy())


BOOSTED = LGBMClassifier(
    n_estimators=5, min_child_samples=5, num_leaves=4, subsample=0.6, subsample_freq=1, verbose=-1
)
LINEAR = make_pipeline(StandardScaler(), LogisticRegression())
UNITS = {"a": ["c0", "c1"], "b": ["c2", "c3", "c4"]}

CLASSIFIERS = {
    "default": {},
    "pipeline": {"estimator": LINEAR, "rule": Tournament(margin=0.5, prior=0.3)},
    "lightgbm": {"estimator": BOOSTED},
    "sources": {
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
def test_regression(settings, table, tmp_path):
    reg = FeaturePartitionRegressor(n_submodels=5, **settings)
    fitted = in_memory(FeaturePartitionRegressor(n_submodels=5, **settings), target="value")
    loaded = store.load(fit_parquet(reg, table, "value", tmp_path / "m", ignore=["part", "y"]))
    X = cancer()[COLUMNS].astype(np.float64)
    assert np.array_equal(loaded.ballots(X), fitted.ballots(X))
    assert not hasattr(reg, "partition_")  # what was given is not changed


def submodels(path):
    """The names of the submodels' files, which carry the hashes of their content."""
    return sorted(file.name for file in path.glob("submodel-*"))


def fit(table, out, **settings):
    clf = FeaturePartitionClassifier(
        **({"estimator": GaussianNB(), "n_submodels": 5} | settings.pop("ensemble", {}))
    )
    return fit_parquet(clf, table, "y", out, **({"ignore": ["part", "value"]} | settings))


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


# ---- what is read ----


def test_a_submodel_reads_its_own_columns_alone(table, tmp_path):
    """Where the pages of one column are destroyed, only the submodel that owns it cannot be
    fitted."""
    destroy(table / "b.parquet", "c4")
    training = open_training(table, "y", units_ignoring("part", "value"))
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    _, _, plan = clf._plan(training.table, training.y)
    source, place = parquet.Source.of(training), Unfinished(tmp_path / "m")
    for estimator in (GaussianNB(), BOOSTED):
        plan = Plan(estimator, plan.columns, plan.names, plan.seed, plan.classes, may_fail=True)
        for t in range(5):
            if 4 in plan.columns[t]:
                with pytest.raises(
                    InputError, match="cannot be read as Parquet"
                ):  # although it may fail: a table is no submodel
                    batches.fit_submodel(plan, *source.open(), t)
            else:
                assert parquet.fit_and_keep(plan, source, place, t, None).failure is None


def units_ignoring(*names):
    from partita.partition._units_file import UnitsFile

    return UnitsFile(ignore=list(names))


def destroy(file, column):
    """Overwrite the pages of a column."""
    metadata = pq.ParquetFile(file).metadata
    content = bytearray(file.read_bytes())
    for group in range(metadata.num_row_groups):
        chunk = metadata.row_group(group).column(
            metadata.schema.to_arrow_schema().names.index(column)
        )
        start = min(
            place for place in (chunk.data_page_offset, chunk.dictionary_page_offset) if place
        )
        content[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    file.write_bytes(content)


def test_files_that_do_not_fit_together(table, tmp_path):
    pq.write_table(
        pa.Table.from_pandas(cancer()[:50].astype({"c3": np.float64})), table / "c.parquet"
    )
    with pytest.raises(
        InputError,
        match=r"the column 'c3' is double, elsewhere float in 'c.parquet': make all files alike",
    ):
        fit(table, tmp_path / "m")
    (table / "c.parquet").unlink()
    (table / "late").mkdir()
    pq.write_table(
        pa.Table.from_pandas(cancer()[:50].astype({"c3": str})), table / "late" / "a.parquet"
    )  # a name that is there already
    with pytest.raises(
        InputError, match=r"the column 'c3' is .*string, elsewhere float in 'late/a.parquet'"
    ):
        fit(table, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_truncated_file(table, tmp_path):
    whole = (table / "b.parquet").read_bytes()
    (table / "b.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"table' cannot be read as Parquet: .*b.parquet"):
        fit(table, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_file_that_changes_while_it_is_read(table, tmp_path):
    training = open_training(table, "y", units_ignoring("part", "value"))
    source = pickle.loads(pickle.dumps(parquet.Source.of(training)))
    (table / "b.parquet").unlink()
    with pytest.raises(
        InputError, match="has 300 rows, and had 569 when the fit began: it must not change"
    ):
        source.open()
    (table / "a.parquet").unlink()
    table.rmdir()
    with pytest.raises(InputError, match=r"does not exist on .*: all workers must see it"):
        source.open()


def test_pages_with_checksums_are_checked(tmp_path):
    """One changed bit is seen where the file can tell."""
    table = pa.table({"a": np.arange(5000.0), "y": np.arange(5000) % 2})
    pq.write_table(
        table,
        tmp_path / "t.parquet",
        write_page_checksum=True,
        compression="none",
        use_dictionary=False,
    )
    chunk = pq.ParquetFile(tmp_path / "t.parquet").metadata.row_group(0).column(0)
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    content[chunk.data_page_offset + chunk.total_compressed_size // 2] ^= 1
    (tmp_path / "t.parquet").write_bytes(content)
    file = open_file(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"could not verify page integrity|CRC"):
        file.arrow(["a"])
    with pytest.raises(InputError, match=r"could not verify page integrity|CRC"):
        list(file.pieces(["a"], 100))


@pytest.mark.parametrize("most", [1, 64, 100, 300, 1000])
def test_pieces(table, most):
    frame, file = cancer(), open_file(table)
    pieces = list(file.pieces(["c1", "y"], most))
    assert [piece.n_rows for piece in pieces] == [most] * (ROWS // most) + [ROWS % most] * (
        ROWS % most > 0
    )
    assert [piece.first_row for piece in pieces] == list(range(0, ROWS, most))
    assert np.array_equal(np.concatenate([piece.target("y") for piece in pieces]), frame["y"])
    rows = np.flatnonzero(np.random.default_rng(0).random(ROWS) < 0.3)
    some = list(file.table({"c1": NUMBER, "c2": NUMBER}).batches([1], most, rows))
    assert all(len(batch) == most for batch in some[:-1])
    assert np.array_equal(
        np.concatenate([batch["c2"] for batch in some]), frame["c2"].to_numpy(np.float64)[rows]
    )


# ---- a split ----


def test_a_split_takes_the_rows_of_one_value(table, tmp_path):
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


def table_without(table, column):
    place = table.parent / "less"
    place.mkdir(exist_ok=True)
    cancer().drop(columns=column).to_parquet(place / "a.parquet", index=False)
    return place


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"split": ("c1", float(np.float32(17.77)))},
            "split names the column 'c1', and whoever writes it would choose the rows of every "
            "submodel",
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
            "batch_rows cannot be had with label_attacks='labels'",
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


def test_wrong_things_are_named(table, tmp_path):
    with pytest.raises(InputError, match="ensemble is a GaussianNB"):
        fit_parquet(GaussianNB(), table, "y", tmp_path / "m")
    with pytest.raises(InputError, match="is a zip, to which submodels cannot be added"):
        fit(table, tmp_path / "m.zip")
    cancer().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match=r"t.csv' is no Parquet, which is read by column"):
        fit(tmp_path / "t.csv", tmp_path / "m")

    class AllAtOnce(GaussianNB):
        def fit_submodels(self, X, y, columns, seeds):
            raise NotImplementedError

    with pytest.raises(InputError, match="AllAtOnce trains all submodels at once"):
        fit(table, tmp_path / "m", ensemble={"estimator": AllAtOnce()})
    assert not (tmp_path / "m").exists()


# ---- batches ----


@pytest.mark.parametrize("batch_rows", [7, 50, 110, 10_000])
def test_partial_fit_in_batches(batch_rows, table, tmp_path):
    frame = cancer()
    path = fit(
        table,
        tmp_path / "m",
        batch_rows=batch_rows,
        ensemble={"estimator": SGDClassifier(loss="log_loss")},
    )
    loaded = store.load(path)
    for t, submodel in enumerate(loaded.estimators_):
        X = frame[[COLUMNS[column] for column in loaded._columns(t)]].astype(np.float64)
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
    _, _, plan = reg._plan(training.table, training.y)
    owner = plan.owner(ROWS)
    X, y = (
        cancer()[[COLUMNS[column] for column in plan.columns[1]]].astype(np.float64)[owner == 1],
        training.y[owner == 1],
    )
    expected = SGDRegressor(random_state=loaded.estimators_[1].random_state)
    for start in range(0, len(X), 40):
        expected.partial_fit(X[start : start + 40], y[start : start + 40])
    assert np.array_equal(loaded.estimators_[1].coef_, expected.coef_)


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
    n_fits = 2 + len(canaries(2))  # each of which reads its columns twice, and a first batch
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
        own, found = X.iloc[:, clf._columns(t)], loaded.estimators_[t]
        assert found.classes_.tolist() == expected.classes_.tolist()
        assert np.array_equal(found.booster_.predict(own), expected.booster_.predict(own))


def test_a_column_that_breaks_its_submodel(tmp_path):
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
        with pytest.warns(SubmodelWarning, match="(?s)could not be fitted.*it casts a fixed vote"):
            path = fit_parquet(
                clf,
                tmp_path / "t.parquet",
                "y",
                tmp_path / f"v{type(estimator).__name__}",
                batch_rows=100,
            )
        assert [type(one).__name__ for one in store.load(path).estimators_].count("FixedVote") == 1


# ---- faults ----


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


def test_a_fit_that_was_stopped_goes_on(stopped, capsys):
    out, go_on, undisturbed = stopped
    done = {file.name: file.stat().st_ino for file in out.glob("submodel-*")}
    assert 0 < len(done) < 5
    with pytest.raises(StoreError, match="is not finished: run it again, and it goes on"):
        store.load(out)
    assert go_on() == out
    assert f"partita: {len(done)} of 5 submodels were done before" in capsys.readouterr().err
    assert {name: (out / name).stat().st_ino for name in done} == done  # not written again
    assert submodels(out) == submodels(undisturbed)
    assert (
        json.loads((out / "manifest.json").read_bytes())["files"]
        == json.loads((undisturbed / "manifest.json").read_bytes())["files"]
    )


def damage(file):
    file.write_bytes(file.read_bytes()[:-1] + b"x")


@pytest.mark.parametrize(
    "harm", [damage, lambda file: file.unlink(), lambda file: file.write_bytes(b"")]
)
@pytest.mark.parametrize("what", ["submodel-*.skops", "unfinished/submodel-*.json"])
def test_what_is_not_whole_is_fitted_again(harm, what, stopped):
    out, go_on, undisturbed = stopped
    harm(sorted(out.glob(what))[0])
    go_on()
    assert submodels(out) == submodels(undisturbed)
    assert len(store.load(out, trusted=[f"{Fragile.__module__}.Fragile"]).estimators_) == 5


def test_a_note_that_belongs_to_another_submodel_is_not_believed(stopped):
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
def test_another_fit_does_not_go_on_with_it(settings, stopped):
    out, go_on, _ = stopped
    before = {file.name for file in out.iterdir()}
    with pytest.raises(InputError, match=r"holds the beginning of another fit \(its .* differ\)"):
        go_on(**settings)
    assert {file.name for file in out.iterdir()} == before


def test_nor_does_a_fit_of_other_data(stopped, table):
    _, go_on, _ = stopped
    frame = cancer()
    pq.write_table(
        pa.Table.from_pandas(frame[300:].assign(c4=frame["c4"][300:] + 1)),
        table / "b.parquet",
        row_group_size=110,
    )
    with pytest.raises(InputError, match="beginning of another fit"):
        go_on()


def test_an_earlier_model_is_whole_until_the_new_one_is(stopped, table, tmp_path):
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


# ---- certifying piece by piece ----


@pytest.fixture
def few_at_once(monkeypatch):
    monkeypatch.setattr(parquet, "CERTIFIED_AT_ONCE", 100)


@pytest.mark.parametrize("spread", [1, 2])
def test_pieces_are_certified_as_the_whole(spread, table, tmp_path, few_at_once, capsys):
    path = fit(table, tmp_path / "m", ignore=["part", "value"], ensemble={"spread": spread})
    frame, loaded = cancer(), store.load(path)
    found = certify_parquet(path, table_without(table, "value"), tmp_path / "c.parquet", verbose=1)
    got, proof = (
        pd.read_parquet(tmp_path / "c.parquet"),
        loaded.certify(frame[COLUMNS].astype(np.float64)),
    )
    assert got["prediction"].tolist() == proof.prediction.tolist()
    assert got["radius"].tolist() == proof.radius.tolist()
    assert got["part"].tolist() == frame["part"].tolist()
    right = proof.prediction == frame["y"]
    assert found["certified_accuracy"] == [
        np.mean(right & (proof.radius >= r)) for r in range(proof.radius[right].max() + 1)
    ]
    assert found["certified"] == [np.mean(proof.radius >= r) for r in range(proof.radius.max() + 1)]
    assert found["median_radius"] == np.median(proof.radius)
    assert "partita: certified 569 of 569 rows" in capsys.readouterr().err
    assert all(
        (len(sources) > 0) == (radius == 0)
        for sources, radius in zip(got["hangs_on"], got["radius"], strict=True)
    )


def test_values_are_certified_in_pieces(table, tmp_path, few_at_once):
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5)
    path = fit_parquet(reg, table, "value", tmp_path / "m", ignore=["part", "y"])
    frame, loaded = cancer(), store.load(path)
    X = frame[COLUMNS].astype(np.float64)
    certify_parquet(path, table, tmp_path / "c.parquet")
    got = pd.read_parquet(tmp_path / "c.parquet")
    assert np.array_equal(got["low_2"], loaded.interval(X, 2)[0])
    found = certify_parquet(path, table, tmp_path / "c.parquet", tolerance=3.0)
    proof = loaded.certify(X, around=frame["value"].to_numpy(), tolerance=3.0)
    assert found["certified_accuracy"] == [
        np.mean(proof.radius >= r) for r in range(proof.radius.max() + 1)
    ]


def test_a_bad_cell_is_named_by_its_row_in_the_table(table, tmp_path, few_at_once):
    path = fit(table, tmp_path / "m", ensemble={"estimator": None})
    frame = cancer().drop(columns=["part", "value"]).astype({"c2": str})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(CellError, match="row 0, column 'c2' holds"):
        certify_parquet(path, tmp_path / "t.parquet", tmp_path / "c.parquet")
    frame = (
        cancer()
        .drop(columns=["part", "value"])
        .assign(c2=np.where(np.arange(ROWS) < 450, None, "x"))
    )
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(CellError, match="row 450, column 'c2' holds 'x' where a number is needed"):
        certify_parquet(path, tmp_path / "t.parquet", tmp_path / "c.parquet")
    assert not (tmp_path / "c.parquet").exists()
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_a_truth_with_gaps_somewhere(table, tmp_path, few_at_once):
    path = fit(table, tmp_path / "m")
    frame = cancer().drop(columns=["part", "value"])
    frame.assign(y=frame["y"].where(frame.index != 400)).to_parquet(
        tmp_path / "t.parquet", index=False
    )
    with pytest.warns(UserWarning, match="has gaps, so nothing is said about being right"):
        found = certify_parquet(path, tmp_path / "t.parquet", tmp_path / "c.parquet")
    assert found["rows"] == ROWS
    assert "certified_accuracy" not in found


def test_the_output_must_be_parquet(table, tmp_path):
    path = fit(table, tmp_path / "m")
    with pytest.raises(InputError, match=r"must end in \.parquet"):
        certify_parquet(path, table, tmp_path / "c.csv")


def test_errors_survive_the_way_from_a_worker():
    from partita import MissingExtraError

    for error in (
        CellError(3, "a", NUMBER, "x"),
        MissingExtraError("dask", "a fit", "partita[cluster]"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)


def test_a_folder_that_only_the_workers_see(table, tmp_path, monkeypatch):
    place = Unfinished(tmp_path / "m")
    kept = place.keep(3, GaussianNB())
    place.wait_for(kept)
    monkeypatch.setattr("partita.store._unfinished.PATIENCE", 0.3)
    damage(place.folder / kept.name)
    with pytest.raises(
        StoreError, match=r"submodel 3 is fitted, but not in .*: all workers must see this folder"
    ):
        place.wait_for(kept)


def test_a_disk_that_fills_while_certifying(table, tmp_path):
    """The process may write 1 kB, as if no more would fit."""
    path = fit(table, tmp_path / "m")
    command = [
        sys.executable,
        "-m",
        "partita",
        "certify",
        path,
        table_without(table, "value"),
        "--out",
        tmp_path / "c.parquet",
    ]

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=full)
    assert done.returncode == 2, done.stderr
    assert (
        "c.parquet' cannot be written (File too large): make room, or choose another place"
        in done.stderr
    )
    assert "Traceback" not in done.stderr
    assert [file.name for file in tmp_path.iterdir() if "c.parquet" in file.name] == []
