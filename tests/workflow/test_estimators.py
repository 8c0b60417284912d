"""Estimators by name: the same structure whatever the columns hold."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from partita import InputError, store
from partita.ensemble import _batches as batches
from partita.partition._units_file import UnitsFile
from partita.rules import Median
from partita.tables import FileTable
from partita.workflow._estimators import code_hash
from partita.workflow._fit_parquet import fit_training
from partita.workflow._stored_model import open_model, open_prediction_table
from partita.workflow._training_table import open_training

LABELS, VALUES = (("hgb", "trees", "lightgbm", linear) for linear in ("logistic", "ridge"))
EVERY = [(name, "label") for name in LABELS] + [(name, "value") for name in VALUES]
COLUMNS = [f"c{k}" for k in range(8)]
SUBMODELS = 4


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    frame = pd.DataFrame(X[:240, :8], columns=COLUMNS)
    return frame.assign(label=np.where(y[:240], "benign", "malignant"), value=X[:240, 20])


def write(frame, path):
    (frame.to_csv if path.suffix == ".csv" else frame.to_parquet)(path, index=False)
    return path


def opened(path, target):

    return open_training(
        path, target, UnitsFile(ignore=["value" if target == "label" else "label"])
    )


def ensemble(training, name):
    return training.ensemble(name, training.task.rule(None), SUBMODELS, seed=0, verbose=0)


def stored_model_and_rows(path, data):
    stored = open_model(path)
    return stored.model, open_prediction_table(stored, data).file.table(stored.schema.kinds)


def fitted(path, name, target):
    training = opened(path, target)
    return ensemble(training, name).fit(training.table, training.y), training.table


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(("name", "target"), EVERY)
def test_a_column_that_becomes_text_changes_its_own_submodel_alone(name, target, suffix, tmp_path):
    frame = cancer()
    honest, table = fitted(write(frame, tmp_path / f"honest.{suffix}"), name, target)
    texts = frame.assign(c4=np.where(frame["label"] == "benign", "low", "high"))
    corrupt, other = fitted(write(texts, tmp_path / f"corrupt.{suffix}"), name, target)
    assert (table.kinds["c4"], other.kinds["c4"]) == ("number", "text")
    owner = next(t for t in range(SUBMODELS) if 4 in honest.partition_[t])
    before, after = honest.ballots(table), corrupt.ballots(other)
    changed = {t for t in range(SUBMODELS) if not np.array_equal(before[:, t], after[:, t])}
    # trees that are fully grown know the labels of training rows, whatever the column holds
    assert changed == {owner} or (name == "trees" and not changed)


def test_a_column_that_becomes_text_changes_one_file_of_a_stored_model(tmp_path):
    """The same where submodels are fitted one by one, in batches."""
    frame = cancer()
    texts = frame.assign(c4=np.where(frame["label"] == "benign", "low", "high"))
    stored = []
    for which, content in (("honest", frame), ("corrupt", texts)):
        training = opened(write(content, tmp_path / f"{which}.parquet"), "label")
        model, folder = fit_training(
            training, ensemble(training, "lightgbm"), tmp_path / which, estimator="lightgbm"
        )
        stored.append(sorted(file.name for file in folder.glob("submodel-*")))
    owner = next(t for t in range(SUBMODELS) if 4 in model.partition_[t])
    assert [t for t in range(SUBMODELS) if stored[0][t] != stored[1][t]] == [owner]


@pytest.mark.parametrize("target", ["label", "value"])
def test_lightgbm_grows_the_same_trees_in_batches(target, tmp_path, monkeypatch):
    """Submodels of numbers read batches; the one that has a text reads its columns whole."""
    frame = cancer().rename(columns={"c1": '{"c":[1]}'})
    frame["c4"] = np.where(frame["c4"] > frame["c4"].median(), "high", "low")
    path = write(frame, tmp_path / "t.parquet")
    in_memory, table = fitted(path, "lightgbm", target)
    training = opened(path, target)
    monkeypatch.setattr(batches, "LIGHTGBM_ROWS", 100)
    taken: dict[tuple[str, ...], int] = {}
    take = FileTable.take

    def watched(self, columns, rows=None):
        names = tuple(self.names[column] for column in columns)
        taken[names] = max(taken.get(names, 0), self.n_rows if rows is None else len(rows))
        return take(self, columns, rows)

    monkeypatch.setattr(FileTable, "take", watched)
    _, folder = fit_training(
        training,
        ensemble(training, "lightgbm"),
        tmp_path / "m",
        batch_rows=50,
        estimator="lightgbm",
    )
    monkeypatch.undo()
    loaded = store.load(folder)
    assert np.array_equal(loaded.ballots(table), in_memory.ballots(table))
    own = {tuple(table.names[column] for column in loaded.columns_of(t)) for t in range(SUBMODELS)}
    assert {names: most for names, most in taken.items() if names in own} == {
        names: 240 if "c4" in names else 100 for names in own
    }


def test_column_names_with_signs_that_lightgbm_refuses(tmp_path):
    frame = cancer().rename(columns={"c0": 'a "quoted", [listed] {name}: it', "c1": "c,1"})
    clf, table = fitted(write(frame, tmp_path / "t.parquet"), "lightgbm", "label")
    plain, same = fitted(write(cancer(), tmp_path / "plain.parquet"), "lightgbm", "label")
    assert np.array_equal(clf.ballots(table), plain.ballots(same))


def test_ridge_learns_numbers_from_numbers_texts_and_gaps(tmp_path):
    frame = load_diabetes(as_frame=True, scaled=False).frame
    gaps = np.random.default_rng(0).random(len(frame)) < 0.1
    frame = frame.assign(bmi=frame["bmi"].mask(gaps), sex=np.where(frame["sex"] == 1, "f", "m"))
    write(frame[::2], tmp_path / "train.csv")
    write(frame[1::2], tmp_path / "new.csv")
    training = open_training(tmp_path / "train.csv", "target")
    reg = training.ensemble("ridge", Median(), 3, seed=0, verbose=0).fit(training.table, training.y)
    store.save(reg, tmp_path / "m", training.about("ridge"))
    model, rows = stored_model_and_rows(tmp_path / "m", tmp_path / "new.csv")
    missed = model.predict(rows) - frame["target"][1::2]
    assert np.mean(missed**2) < 0.75 * frame["target"].var()


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        (
            "ridge",
            "label",
            "estimator 'ridge' is for numbers, and the target holds labels: use logistic",
        ),
        (
            "logistic",
            "value",
            "estimator 'logistic' is for labels, and the target holds numbers: use ridge",
        ),
        (
            "forest",
            "label",
            "give one of blend, hgb, trees, lightgbm, logistic, ridge, auto, or your own",
        ),
    ],
)
def test_estimators_for_other_targets(name, target, message, tmp_path):
    training = opened(write(cancer(), tmp_path / "t.csv"), target)
    with pytest.raises(InputError, match=message):
        ensemble(training, name)


@pytest.mark.parametrize("empty", ["csv", "null", "string", "double"])
@pytest.mark.parametrize(("name", "target"), EVERY)
def test_a_column_of_only_missing_values_is_useless_and_harmless(name, target, empty, tmp_path):
    """No warning says that a submodel failed. Trees make nothing of what stands there later, linear
    models next to nothing."""
    frame = cancer()
    if empty == "csv":
        path = write(frame.assign(c4=None), tmp_path / "t.csv")
    else:
        path = tmp_path / "t.parquet"
        kind = {"null": pa.null(), "string": pa.string(), "double": pa.float64()}[empty]
        plain = pa.Table.from_pandas(frame)
        pq.write_table(
            plain.set_column(plain.column_names.index("c4"), "c4", pa.nulls(len(frame), kind)), path
        )
    model, table = fitted(path, name, target)
    later = frame.assign(c4="word") if table.kinds["c4"] == "text" else frame
    table_later = opened(write(later, tmp_path / "later.parquet"), target).file.table(table.kinds)
    apart = np.abs(model.ballots(table) - model.ballots(table_later)).max()
    assert apart <= (1e-2 if name in ("logistic", "ridge") else 0)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(("name", "target"), EVERY)
def test_a_column_may_be_missing_altogether_in_new_rows(name, target, suffix, tmp_path):
    frame = cancer().assign(word=lambda frame: np.where(frame["c0"] > 14, "large", "small"))
    model, table = fitted(write(frame, tmp_path / "t.parquet"), name, target)
    store.save(model, tmp_path / "m", opened(tmp_path / "t.parquet", target).about(name))
    new = frame.assign(word=None, c4=None).drop(columns=["label", "value"])
    loaded, rows = stored_model_and_rows(tmp_path / "m", write(new, tmp_path / f"new.{suffix}"))
    ballots, all_there = loaded.ballots(rows), model.ballots(table)
    owners = {next(t for t in range(SUBMODELS) if k in model.partition_[t]) for k in (4, 8)}
    assert np.isfinite(ballots).all()
    for t in set(range(SUBMODELS)) - owners:
        assert np.array_equal(ballots[:, t], all_there[:, t])


def test_other_code_is_another_estimator(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "changing.py").write_text("from sklearn.naive_bayes import GaussianNB as Mine\n")
    first = code_hash("changing:Mine")
    (tmp_path / "changing.py").write_text(
        "from sklearn.naive_bayes import GaussianNB as Mine  # and more\n"
    )
    assert first != code_hash("changing:Mine")
    assert code_hash("hgb") is None
