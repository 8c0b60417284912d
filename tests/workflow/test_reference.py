"""Trusted reference rows: other rows than the training table's, with the same columns."""

import hashlib
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError, store
from partita.partition import Informed
from partita.partition._units_file import UnitsFile
from partita.workflow._training_table import open_training

from ..selection.sweeps import NAIVE

UNITS = UnitsFile(ignore=["id"], trusted=["mean area"])


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = X.iloc[:, :12].assign(
        id=[f"p{k}" for k in range(len(X))], diagnosis=np.where(y, "benign", "malignant")
    )
    frame[:100].to_csv(folder / "reference.csv", index=False)
    frame[100:350].to_csv(folder / "train.csv", index=False)
    frame[80:350].to_csv(folder / "overlap.csv", index=False)
    return folder


def test_the_partition_is_the_one_that_python_learns(tables):
    training = open_training(tables / "train.csv", "diagnosis", UNITS)
    training = training.with_reference(tables / "reference.csv", 20)
    model = training.ensemble(NAIVE, training.task.rule(None), 5, seed=0, verbose=0)
    model.fit(training.table, training.y)
    frame, train = pd.read_csv(tables / "reference.csv"), pd.read_csv(tables / "train.csv")
    features = [name for name in frame if name not in ("id", "diagnosis")]
    informed = Informed(frame[features], frame["diagnosis"], exchanges=20)
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=5, trusted=["mean area"], partition=informed
    )
    assert model.partition_ == clf.fit(train[features], train["diagnosis"]).partition_
    digest = hashlib.sha256((tables / "reference.csv").read_bytes()).hexdigest()
    assert training.about(NAIVE)["reference"] == {
        "name": "reference.csv",
        "rows": 100,
        "sha256": digest,
        "exchanges": 20,
    }
    assert str(training.reference) == (
        "informed by 100 trusted reference rows (reference.csv, 20 exchanges)"
    )


def refused(training, reference, message):
    with pytest.raises(InputError, match=message) as caught:
        training.with_reference(reference)
    assert "\n" not in str(caught.value)


def test_rows_of_the_training_table_are_no_reference(tables, tmp_path):
    training = open_training(tables / "train.csv", "diagnosis", UNITS)
    refused(training, tables / "train.csv", "is the training table itself")
    copy = shutil.copy(tables / "train.csv", tmp_path / "copy.csv")
    refused(training, copy, r"copy\.csv' is the training table itself")
    refused(training, tmp_path / "nowhere.csv", r"reference .*nowhere\.csv' does not exist")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda frame: frame.drop(columns="mean area"),
            "lacks the column 'mean area', which the training table has: add it",
        ),
        (
            lambda frame: frame.drop(columns="diagnosis"),
            "lacks the column 'diagnosis', which the training table has: add it",
        ),
        (
            lambda frame: frame.assign(more=1),
            "has the column 'more', which the training table does not have: leave it out",
        ),
        (
            lambda frame: frame.assign(diagnosis="unclear"),
            "holds fewer than two of the training table's labels",
        ),
        (
            lambda frame: frame.assign(**{"mean texture": "smooth"}),
            "row 0, column 'mean texture' holds 'smooth' where a number is needed",
        ),
        (lambda frame: frame[:0], "has no rows"),
    ],
)
def test_a_reference_of_other_columns_is_refused_in_one_sentence(change, message, tables, tmp_path):
    training = open_training(tables / "train.csv", "diagnosis", UNITS)
    path = tmp_path / "reference.csv"
    change(pd.read_csv(tables / "reference.csv")).to_csv(path, index=False)
    refused(training, path, message)


def test_a_reference_with_another_target_is_refused(tmp_path):
    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame[100:].to_parquet(tmp_path / "train.parquet", index=False)
    training = open_training(tmp_path / "train.parquet", "target")
    path = tmp_path / "reference.parquet"
    frame[:100].assign(target="many").to_parquet(path, index=False)
    refused(training, path, "holds texts, but that of the training table numbers: give a table")
    frame[:100].assign(target=np.inf).to_parquet(path, index=False)
    refused(training, path, "holds an infinity: leave out that row")


def test_the_commands_take_a_reference(tables, tmp_path, partita):
    (tmp_path / "units.toml").write_text('ignore = ["id"]\ntrusted = ["mean area"]\n')
    options = ("--target", "diagnosis", "--units", tmp_path / "units.toml", "--estimator", NAIVE)
    options += ("--submodels", 5, "--reference", tables / "reference.csv", "--exchanges", 20)
    code, out, err = partita(
        "fit",
        tables / "overlap.csv",
        *options,
        "--no-full-model",
        "--out",
        tmp_path / "m",
    )
    assert code == 0
    assert "Partition: informed by 100 trusted reference rows (reference.csv, 20 exchanges)." in out
    assert "partita: tried 20 of 20 exchanges" in err
    assert "partita: warning: 20 of 100 rows of X_ref are rows of the training table" in err
    assert store.manifest(tmp_path / "m")["about"]["reference"]["rows"] == 100
    code, out, _ = partita(
        "sweep", tables / "train.csv", *options, "--rules", "plurality", "--out", tmp_path / "s"
    )
    assert code == 0
    assert f"--reference {tables / 'reference.csv'} --exchanges 20" in out.replace("\n", " ")
    assert json.loads((tmp_path / "s" / "choice.json").read_text())["reference"]["rows"] == 100
