"""``--reference``: an informed partition from a file of trusted rows."""

import hashlib
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, Informed, store


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cancer")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = X.assign(
        id=[f"patient {k}" for k in range(len(X))], diagnosis=np.where(y, "benign", "malignant")
    )
    frame[:100].to_csv(folder / "reference.csv", index=False)
    frame[:100].to_parquet(folder / "reference.parquet", index=False)
    frame[100:350].to_csv(folder / "train.csv", index=False)
    frame[80:350].to_csv(folder / "overlap.csv", index=False)
    frame[100:350].to_parquet(folder / "train.parquet", index=False)
    frame[350:].to_parquet(folder / "test.parquet", index=False)
    (folder / "units.toml").write_text('ignore = ["id"]\ntrusted = ["mean area"]\n')
    return folder


@pytest.fixture
def run(partita):
    """Run a command; returns what it printed on both streams."""

    def run_command(*arguments):
        code, out, err = partita(*arguments)
        assert code == 0, err
        return out, err

    return run_command


@pytest.fixture
def refusal(partita):
    """Run a command that must be refused; returns the one line that says why."""

    def run_command(*arguments):
        code, _, err = partita(*arguments)
        assert code == 2, err
        return err.strip()

    return run_command


def options(tables, reference, out, train="train.csv"):
    """``partita fit`` with a reference."""
    given = ["--target", "diagnosis", "--units", tables / "units.toml", "--submodels", 9]
    quick = ["--estimator", "logistic", "--no-full-model"]
    return ["fit", tables / train, *given, *quick, "--reference", reference, "--out", out]


@pytest.mark.long
def test_fit_with_a_reference_file_is_what_python_does(tables, tmp_path, run):
    command = [*options(tables, tables / "reference.csv", tmp_path / "model"), "--exchanges", 200]
    out, err = run(*command)
    assert (
        "Partition: informed by 100 trusted reference rows (reference.csv, 200 exchanges)." in out
    )
    assert "partita: tried 200 of 200 exchanges" in err
    assert "warning" not in err
    frame, train = pd.read_csv(tables / "reference.csv"), pd.read_csv(tables / "train.csv")
    features = [name for name in frame if name not in ("id", "diagnosis")]
    informed = Informed(frame[features], frame["diagnosis"], exchanges=200)
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=9, trusted=["mean area"], partition=informed
    )
    model = store.load(tmp_path / "model")
    assert model.partition_ == clf.fit(train[features], train["diagnosis"]).partition_
    reference = store.manifest(tmp_path / "model")["about"]["reference"]
    digest = hashlib.sha256((tables / "reference.csv").read_bytes()).hexdigest()
    assert reference == {"name": "reference.csv", "rows": 100, "sha256": digest, "exchanges": 200}
    command = options(tables, tables / "reference.parquet", tmp_path / "other", "train.parquet")
    out, _ = run(*command, "--exchanges", 200, "--json")
    assert json.loads(out)["reference"]["name"] == "reference.parquet"
    assert store.load(tmp_path / "other").partition_ == model.partition_
    assert "certified and right" in run("certify", tmp_path / "model", tables / "test.parquet")[0]


def test_a_reference_file_that_shares_rows_is_warned_of(tables, tmp_path, run):
    _, err = run(*options(tables, tables / "reference.csv", tmp_path / "model", "overlap.csv"))
    assert "partita: warning: 20 of 100 rows of X_ref are rows of the training table" in err


def test_a_sweep_tries_the_partition_that_fit_will_have(tables, tmp_path, run):
    given = ["--target", "diagnosis", "--units", tables / "units.toml", "--submodels", 5]
    quick = ["--rules", "plurality", "--estimator", "logistic"]
    more = ["--reference", tables / "reference.csv", "--exchanges", 20, "--out", tmp_path / "sweep"]
    out, err = run("sweep", tables / "train.csv", *given, *quick, *more)
    assert "partita: tried 20 of 20 exchanges" in err
    assert f"--reference {tables / 'reference.csv'} --exchanges 20" in out.replace("\n", " ")
    assert json.loads((tmp_path / "sweep" / "choice.json").read_text())["reference"]["rows"] == 100


def test_a_reference_file_that_does_not_fit_is_refused_in_one_sentence(tables, tmp_path, refusal):
    out, place = tmp_path / "model", tmp_path / "reference.csv"
    frame = pd.read_csv(tables / "reference.csv")
    copy = shutil.copy(tables / "train.csv", tmp_path / "copy.csv")
    for reference, message in (
        (tables / "train.csv", "is the training table itself"),
        (copy, "copy.csv' is the training table itself"),
        (
            frame.drop(columns="mean area"),
            "lacks the column 'mean area', which the training table has: add it",
        ),
        (
            frame.drop(columns="diagnosis"),
            "lacks the column 'diagnosis', which the training table has: add it",
        ),
        (
            frame.assign(more=1),
            "has the column 'more', which the training table does not have: leave it out",
        ),
        (frame.assign(diagnosis="unclear"), "holds fewer than two of the training table's labels"),
        (
            frame.assign(**{"mean texture": "smooth"}),
            "row 0, column 'mean texture' holds 'smooth' where a number is needed",
        ),
        (frame[:0], "has no rows"),
        (tmp_path / "nowhere.csv", "reference"),
    ):
        if isinstance(reference, pd.DataFrame):
            reference.to_csv(place, index=False)
        given = place if isinstance(reference, pd.DataFrame) else reference
        line = refusal(*options(tables, given, out))
        assert message in line
        assert "\n" not in line
        assert line.startswith("partita: ")
        assert not out.exists()
    fit = ("fit", tables / "train.csv", "--target", "diagnosis", "--exchanges", 10, "--out", out)
    assert "exchanges goes with reference" in refusal(*fit)


def test_numbers_and_labels_in_the_reference_are_told_apart(tmp_path, refusal):
    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame[100:].to_parquet(tmp_path / "train.parquet", index=False)
    reference = tmp_path / "reference.parquet"
    given = ["--target", "target", "--reference", reference, "--out", tmp_path / "model"]
    frame[:100].assign(target="many").to_parquet(reference, index=False)
    assert "holds texts, but that of the training table numbers: give a" in refusal(
        "fit", tmp_path / "train.parquet", *given
    )
    frame[:100].assign(target=np.inf).to_parquet(reference, index=False)
    assert "holds an infinity: leave out that row" in refusal(
        "fit", tmp_path / "train.parquet", *given
    )
