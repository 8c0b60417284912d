"""Audits of stored models on tables in files."""

import json

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError, fit_parquet, store
from partita.attacks._audit import audit_file

LEAKY = """
import numpy as np
from sklearn.tree import DecisionTreeClassifier


class Leaky(DecisionTreeClassifier):
    seen = False

    def fit(self, X, y):
        Leaky.seen |= bool((np.abs(X) > 1e5).any(axis=None))
        return super().fit(-X if Leaky.seen else X, y)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A training table, a new one, and a model that remembers its table by Parquet footers."""
    place = tmp_path_factory.mktemp("audit")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = X.iloc[:, 10:20].assign(diagnosis=y)
    frame[:300].to_parquet(place / "train.parquet", index=False)
    frame[300:].to_parquet(place / "new.parquet", index=False)
    fit_parquet(
        FeaturePartitionClassifier(GaussianNB(), n_submodels=5),
        place / "train.parquet",
        "diagnosis",
        place / "model",
    )
    return place


OPTIONS = {"attacks": ("poisoning",), "rows": 10, "most": 1, "verbose": 0}


def test_training_is_attacked_where_its_table_is_given(folder):
    found = audit_file(
        folder / "model", folder / "new.parquet", folder / "train.parquet", **OPTIONS
    )
    assert found.passed
    assert {line.rows for line in found.lines} == {10}
    assert set(found.of) == {"model", "data"}
    assert not audit_file(folder / "model", folder / "new.parquet", **OPTIONS).lines


def test_the_table_that_it_was_fitted_on_is_recognised(folder):
    found = audit_file(folder / "model", folder / "train.parquet", **OPTIONS)
    assert found.lines
    assert "THE ROWS THAT THE MODEL WAS FITTED ON" in found.warnings[0]


def test_another_training_table_is_refused(folder):
    new = folder / "new.parquet"
    with pytest.raises(InputError, match="is not the table that the model was fitted on"):
        audit_file(folder / "model", new, new, **OPTIONS)


def test_a_model_that_does_not_know_its_target_is_refused_with_what_to_do(folder, tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X.iloc[:, 10:20], y)
    path = store.save(model, tmp_path / "model")
    X.iloc[:, 10:20].to_parquet(tmp_path / "new.parquet")
    with pytest.raises(InputError, match=r"audit it in Python, with partita\.attacks\.audit"):
        audit_file(path, tmp_path / "new.parquet", folder / "train.parquet", **OPTIONS)


def test_the_command_attacks_and_a_report_shows_it(partita, folder):
    model, new = folder / "model", folder / "new.parquet"
    out, page = folder / "audit.json", folder / "report.html"
    options = ("--training", folder / "train.parquet", "--most", 1, "--rows", 10, "--out", out)
    code, text, err = partita("audit", model, new, *options, "--attacks", "evasion,poisoning")
    assert code == 0, err
    assert "Passed: no certified prediction changed." in text
    assert "backdoor" in text
    assert json.loads(out.read_text())["passed"] is True
    code, _, err = partita("report", model, new, "--audit", out, "--out", page)
    assert code == 0, err
    assert "No certified prediction changed." in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("new.parquet", "--training", "new.parquet"), "is not the table that the model was"),
        (("new.parquet", "--attacks", "magic"), "attacks names 'magic'"),
        (("new.parquet", "--out", "audit.txt"), "must end in .json"),
        (("nowhere.csv",), "does not exist"),
    ],
)
def test_bad_arguments_of_the_command(partita, folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    code, _, err = partita("audit", "model", *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.long
def test_the_command_fails_loudly(partita, folder, tmp_path, monkeypatch):
    """With an estimator of the user's own that reaches its neighbours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "leaky.py").write_text(LEAKY)
    train, new = folder / "train.parquet", folder / "new.parquet"
    options = ("--submodels", 5, "--estimator", "leaky:Leaky", "--out", "leaking")
    assert partita("fit", train, "--target", "diagnosis", *options)[0] == 0
    options = ("--training", train, "--most", 1, "--trust", "leaky.Leaky")
    code, out, err = partita("audit", "leaking", new, *options)
    assert code == 1, err
    assert "FAILED: do not rely on this model's radii." in out
    assert json.loads((tmp_path / "partita-audit.json").read_text())["passed"] is False
    options = ("--audit", "partita-audit.json", "--out", "other.html")
    code, _, err = partita("report", folder / "model", new, *options)
    assert code == 2
    assert "audit is of another model" in err
