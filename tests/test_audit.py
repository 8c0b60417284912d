"""The audit: it finds nothing where the proof holds, and finds what was planted where it does not."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError, fit_parquet
from partita.audit import audit, replay
from partita.audit.cells import Cells
from partita.audit.files import audit_file
from partita.datasets import load_digits
from partita.rules import Median, Plurality, RunOff, Tournament

RULES = [Plurality(), RunOff(), Tournament()]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X[::2].reset_index(drop=True), y[::2].to_numpy(), X[1::2].reset_index(drop=True), y[1::2].to_numpy()


def audited(model, data, **options):
    X, y, X_test, y_test = data
    return audit(model.fit(X, y), X_test, y_test, X, y, **{"rows": 60, "most": 3, **options})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_what_is_proven_holds(cancer, rule):
    found = audited(FeaturePartitionClassifier(DecisionTreeClassifier(max_depth=3), n_submodels=9, rule=rule), cancer)
    assert found.passed, str(found)
    assert {line.attack for line in found.lines} == {
        "evasion",
        "backdoor",
        *(f"poisoning: {kind}" for kind in ("noise", "constant", "permutation", "label")),
    }
    for line in found.lines:
        assert line.certified_changed == 0 < line.certified <= line.rows == 60
        assert line.changed <= line.rows - line.certified
        assert line.certified_accuracy <= line.accuracy
    evasion = [line for line in found.lines if line.attack == "evasion"]
    assert [line.r for line in evasion] == [1, 2, 3]
    assert evasion[2].changed >= evasion[1].changed >= evasion[0].changed
    assert evasion[2].changed > 10  # the attacks are real
    assert sum(line.changed for line in found.lines if line.attack == "backdoor") > 10
    assert len(found.checks) > 10
    assert "checks passed" in str(found)


class Boastful(Plurality):
    """Says one more than it can prove."""

    def certify(self, ballots, **over):
        proof = super().certify(ballots, **over)
        return replace(proof, radius=np.minimum(proof.radius + 1, 4))


def test_a_radius_that_is_one_too_large_is_found_and_can_be_done_again(cancer, tmp_path):
    model = FeaturePartitionClassifier(DecisionTreeClassifier(max_depth=3), n_submodels=9, rule=Boastful())
    found = audited(model, cancer, attacks=("evasion", "poisoning"))
    assert not found.passed
    assert {one.attack for one in found.broken} >= {"evasion", "backdoor"}
    assert any(line.certified_changed for line in found.lines)
    assert "BROKEN: row" in str(found)
    X, y, X_test, _ = cancer
    written = json.loads(found.save(tmp_path / "audit.json").read_text())
    honest = model.predict(X_test)
    for attack in ("evasion", "backdoor"):
        one = next(one for one in written["broken"] if one["attack"] == attack)
        assert one["radius"] >= one["r"] >= len(one["units"]) > 0
        assert honest[one["row"]] == one["before"] != one["after"]
        assert replay(one, model, X_test, X, y) == one["after"]
    with pytest.raises(InputError, match="X_train is missing"):
        replay(one, model, X_test)


class Leaky(ClassifierMixin, BaseEstimator):
    """Every copy adds to what it says what the copy before it learnt."""

    shared = 0.0

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.own_ = GaussianNB().fit(np.nan_to_num(np.asarray(X, dtype=float)), y)
        self.shift_, Leaky.shared = Leaky.shared, float(np.nanmean(np.asarray(X, dtype=float)))
        return self

    def predict_proba(self, X):
        shares = self.own_.predict_proba(np.nan_to_num(np.asarray(X, dtype=float)))
        return np.abs(shares + 1e-3 * np.tanh(self.shift_)) / np.abs(shares + 1e-3 * np.tanh(self.shift_)).sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Restless(Leaky):
    """Never learns the same twice."""

    def fit(self, X, y):
        super().fit(X, y)
        self.shift_ = float(np.random.default_rng().random())
        return self


def test_a_submodel_that_reaches_another_is_found(cancer):
    found = audited(FeaturePartitionClassifier(Leaky(), n_submodels=5, n_jobs=1), cancer, attacks=("checks",))
    failed = [check for check in found.checks if check.found]
    assert not found.passed
    assert any("rewritten in training moves no other submodel" in check.name and "says something else" in check.found for check in failed)
    assert not any("in the rows" in check.name for check in failed)  # predicting keeps apart
    assert "FAILED" in str(found)


def test_a_submodel_that_differs_every_time_is_found(cancer):
    found = audited(FeaturePartitionClassifier(Restless(), n_submodels=5), cancer, attacks=("checks",))
    failed = {check.name for check in found.checks if check.found}
    assert {"fitted again with n_jobs=1", "fitted again with n_jobs=2", "fitted in another process"} <= failed


def test_a_step_before_the_ensemble_is_named(cancer):
    X, y, X_test, y_test = cancer
    leaking = make_pipeline(StandardScaler(), PCA(8), FeaturePartitionClassifier(GaussianNB(), n_submodels=5)).fit(X, y)
    found = audit(leaking, X_test, y_test, X, y, rows=20, attacks=("checks",))
    assert any("step 'pca' lets column" in check.found for check in found.checks)
    kept = make_pipeline(StandardScaler(), FeaturePartitionClassifier(GaussianNB(), n_submodels=5)).fit(X, y)
    assert audit(kept, X_test, y_test, X, y, rows=20, most=2).passed


def test_flipped_labels_where_they_are_promised(cancer):
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, label_attacks="rows", classes=[0, 1])
    found = audited(model, cancer, most=2)
    assert found.passed, str(found)
    assert {"label flips", "backdoor and label flips"} <= {line.attack for line in found.lines}
    assert found.what == "columns and training labels"


def test_values():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = FeaturePartitionRegressor(Ridge(0.1), n_submodels=5, rule=Median(stretch=1.2)).fit(X[::2], y[::2])
    found = audit(model, X[1::2], y[1::2], X[::2], y[::2], tolerance=60, rows=50)
    assert found.passed, str(found)
    assert all(line.certified_accuracy <= line.accuracy for line in found.lines)
    assert any(line.changed for line in found.lines if line.attack == "evasion")
    assert any(line.changed for line in found.lines if line.attack == "backdoor")
    with pytest.raises(InputError, match="tolerance is missing"):
        audit(model, X[1::2])


def test_images_are_patched_too():
    data = load_digits()
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=13, partition="strided", image_shape=data.image_shape)
    found = audit(model.fit(data.X_train, data.y_train), data.X_test, data.y_test, rows=60, most=2)
    assert found.passed, str(found)
    assert {line.attack for line in found.lines} >= {"evasion", "patch of 1 x 1"}
    assert not found.checks  # the training data is not here
    lines = {line.attack: line for line in found.lines if line.r == 1}
    assert lines["patch of 1 x 1"].changed > 0


@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_texts_and_gaps(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    columns = {f"number {k}": np.where(rng.random(200) < 0.1, np.nan, y + rng.normal(size=200)) for k in range(4)}
    columns |= {f"text {k}": np.where(rng.random(200) < 0.3, rng.choice(list("abc"), 200), np.where(y, "x", "y")) for k in range(4)}
    frame = pd.DataFrame(columns)
    X = {"pandas": frame, "polars": pl.DataFrame(columns), "array": frame.to_numpy(dtype=object)}[kind]
    half = [X[:100], X[100:]]
    model = FeaturePartitionClassifier(n_submodels=7, on_failure="vote").fit(half[0], y[:100])
    found = audit(model, half[1], y[100:], half[0], y[:100], rows=40, most=2)
    assert found.passed, str(found)
    assert any(line.changed for line in found.lines)


@pytest.mark.long
def test_overlapping_sets_and_trusted_columns(cancer):
    X = cancer[0]
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=7, spread=3, trusted=[X.columns[0]], rule="plurality")
    found = audited(model, cancer, most=2)
    assert found.passed, str(found)


def test_cells_are_written_into_a_copy():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]}, index=[7, 8, 9])
    cells = Cells(frame)
    table = cells.table({0: np.array([0.5, np.nan, np.inf]), 1: np.array(["z", None, "w"], dtype=object)})
    assert table.index.tolist() == [7, 8, 9]
    assert table["b"].tolist()[0] == "z"
    assert np.isnan(table["a"].iloc[1])
    assert frame["a"].tolist() == [1, 2, 3]
    assert cells.table() is frame
    array = np.arange(6, dtype=np.uint8).reshape(3, 2)
    assert Cells(array).table({1: np.full(3, 9, dtype=np.uint8)}).dtype == np.uint8
    assert Cells(array).rows(np.array([2])).table().tolist() == [[4, 5]]
    assert Cells(np.arange(6).reshape(3, 2)).table({0: np.array([0.5, 1, 2])}).tolist() == [[0.5, 1], [1, 3], [2, 5]]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"attacks": ("bribery",)}, "attacks names 'bribery'"),
        ({"attacks": ()}, r"attacks is \(\): give a list of some"),
        ({"attacks": "evasion"}, "attacks is 'evasion': give a list of some"),
        ({"rows": 0}, "rows is 0"),
        ({"most": 1.5}, "most is 1.5"),
        ({"y_train": None}, "X_train and y_train are given one without the other"),
        ({"X": np.zeros(3)}, "X has 1 dimension"),
        ({"model": LogisticRegression()}, "model is a LogisticRegression"),
    ],
)
def test_bad_input(cancer, options, told):
    X, y, X_test, y_test = cancer
    given = {"model": FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y), "X": X_test, "X_train": X, "y_train": y} | options
    with pytest.raises(InputError, match=told):
        audit(given.pop("model"), given.pop("X"), y_test, **given)


# ---- the command ----


def run(*arguments, cwd):
    return subprocess.run([sys.executable, "-m", "partita", *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=500)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, cancer):
    place = tmp_path_factory.mktemp("audit")
    X, y, X_test, y_test = cancer
    X.assign(diagnosis=y).to_csv(place / "train.csv", index=False)
    X_test.assign(diagnosis=y_test).head(40).to_parquet(place / "new.parquet")
    done = run("fit", "train.csv", "--target", "diagnosis", "--out", "model", "--submodels", 7, "--estimator", "logistic", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


def test_the_command(folder):
    done = run("audit", "model", "new.parquet", "--training", "train.csv", "--most", 2, "--out", "audit.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Passed: no certified prediction changed." in done.stdout
    assert "backdoor" in done.stdout
    found = json.loads((folder / "audit.json").read_text())
    assert found["passed"] is True
    assert all(line["rows"] == 40 for line in found["lines"])
    done = run("report", "model", "new.parquet", "--audit", "audit.json", "--out", "report.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "report.html").read_text()
    assert "Attacked for real" in page
    assert "No certified prediction changed." in page
    assert "Attacked for real" not in _page(folder)


def _page(folder):
    assert run("report", "model", "new.parquet", "--out", "plain.html", cwd=folder).returncode == 0
    return (folder / "plain.html").read_text()


@pytest.mark.long
def test_the_command_without_training_data(folder):
    done = run("audit", "model", "new.parquet", "--most", 1, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert {line["attack"] for line in json.loads(done.stdout)["lines"]} == {"evasion"}
    done = run("audit", "model", "train.csv", "--most", 1, "--attacks", "poisoning", "--rows", 30, "--json", cwd=folder)
    assert {line["attack"] for line in json.loads(done.stdout)["lines"]} >= {"backdoor"}  # the table it was fitted on


def test_a_model_that_was_fitted_piece_by_piece(tmp_path, monkeypatch):
    """It remembers its table by the Parquet footers."""
    frame = load_breast_cancer(as_frame=True).frame
    for name, part in (("table", frame[:300]), ("new", frame[300:])):
        part.to_parquet(tmp_path / f"{name}.parquet", index=False)
    model = fit_parquet(FeaturePartitionClassifier(GaussianNB(), n_submodels=5), tmp_path / "table.parquet", "target", tmp_path / "model")
    asked = {"attacks": ("poisoning",), "rows": 10, "most": 1, "verbose": 0}
    with monkeypatch.context() as patch:  # a large table is not certified as a whole for ten of its rows
        patch.setattr("partita.workflow.Answers", lambda *_: pytest.fail("all rows are certified"))
        found = audit_file(model, tmp_path / "new.parquet", tmp_path / "table.parquet", **asked)
    assert found.passed
    assert found.lines
    assert audit_file(model, tmp_path / "table.parquet", **asked).lines
    assert not audit_file(model, tmp_path / "new.parquet", **asked).lines
    with pytest.raises(InputError, match="is not the table that the model was fitted on"):
        audit_file(model, tmp_path / "new.parquet", tmp_path / "new.parquet", **asked)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("model", "new.parquet", "--training", "new.parquet"), "is not the table that the model was fitted on"),
        (("model", "new.parquet", "--attacks", "magic"), "attacks names 'magic'"),
        (("model", "new.parquet", "--out", "audit.txt"), "must end in .json"),
        (("model", "nowhere.csv"), "does not exist"),
    ],
)
def test_bad_arguments_of_the_command(folder, arguments, told):
    done = run("audit", *arguments, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_the_command_fails_loudly(folder, tmp_path):
    """An estimator of the user's own that reaches its neighbours."""
    code = "from sklearn.tree import DecisionTreeClassifier\n\n\nclass Leaky(DecisionTreeClassifier):\n    seen = 0\n\n"
    code += "    def fit(self, X, y):\n        Leaky.seen += 1\n        return super().fit((X * Leaky.seen) % 7, y)\n"
    (folder / "leaky.py").write_text(code)
    fit = ("fit", "train.csv", "--target", "diagnosis", "--submodels", 5, "--estimator", "leaky:Leaky", "--out", "leaking")
    assert run(*fit, cwd=folder).returncode == 0
    done = run("audit", "leaking", "new.parquet", "--training", "train.csv", "--most", 1, "--trust", "leaky.Leaky", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "FAILED: do not rely on this model's radii." in done.stdout
    assert json.loads((folder / "partita-audit.json").read_text())["passed"] is False
    done = run("report", "model", "new.parquet", "--audit", "partita-audit.json", "--out", "other.html", cwd=folder)
    assert done.returncode == 2
    assert "audit is of another model" in done.stderr
