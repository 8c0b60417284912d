"""The command line, as a user meets it."""

import json
import signal
import subprocess
import sys
import time
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from partita import FeaturePartitionClassifier, store
from partita.metrics import certified_accuracy
from partita.rules import TopK

UNITS = """
trusted = ["mean area"]
ignore = ["id"]

[units]
worst = ["worst *"]
texture = ["mean texture", "texture error"]
"""


@pytest.fixture(scope="module")
def cancer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cancer")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = X.assign(
        id=[f"patient {k}" for k in range(len(X))], diagnosis=np.where(y, "benign", "malignant")
    )
    frame[::2].to_csv(folder / "train.csv", index=False)
    frame[1::2].to_parquet(folder / "test.parquet", index=False)
    frame[1::2].to_csv(folder / "test.csv", index=False)
    frame[1::2].drop(columns=["diagnosis", "id"]).to_parquet(
        folder / "unlabelled.parquet", index=False
    )
    (folder / "units.toml").write_text(UNITS)
    return folder


@pytest.fixture(scope="module")
def model(cancer):
    command = [
        sys.executable,
        "-m",
        "partita",
        "fit",
        cancer / "train.csv",
        "--target",
        "diagnosis",
        "--units",
        cancer / "units.toml",
    ]
    subprocess.run(
        [*command, "--submodels", "9", "--out", cancer / "model"], check=True, capture_output=True
    )
    return cancer / "model"


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("diabetes")
    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame[::2].to_parquet(folder / "train.parquet", index=False)
    frame[1::2].to_parquet(folder / "test.parquet", index=False)
    command = [
        sys.executable,
        "-m",
        "partita",
        "fit",
        folder / "train.parquet",
        "--target",
        "target",
        "--submodels",
        "5",
    ]
    subprocess.run(
        [*command, "--stretch", "1.2", "--out", folder / "model.zip"],
        check=True,
        capture_output=True,
    )
    return folder


# ---- fit and certify ----


def test_certify_says_what_python_says(partita, cancer, model, tmp_path):
    code, out, _ = partita(
        "certify", model, cancer / "test.parquet", "--out", tmp_path / "c.parquet"
    )
    assert code == 0
    assert "certified and right" in out
    assert "units (19 in all, out of reach: mean area)" in out
    got = pd.read_parquet(tmp_path / "c.parquet")
    train, test = pd.read_csv(cancer / "train.csv"), pd.read_parquet(cancer / "test.parquet")
    features = [name for name in train if name not in ("id", "diagnosis")]
    units = {
        "worst": [name for name in features if name.startswith("worst ")],
        "texture": ["mean texture", "texture error"],
    }
    clf = FeaturePartitionClassifier(
        n_submodels=9, units=units, trusted=["mean area"], on_failure="vote"
    )
    proof = clf.fit(train[features], train["diagnosis"]).certify(test[features])
    assert got.columns.tolist() == ["id", "prediction", "radius", "rival", "hangs_on"]
    assert got["id"].tolist() == test["id"].tolist()
    assert got["prediction"].tolist() == proof.prediction.tolist()
    assert got["radius"].tolist() == proof.radius.tolist()
    assert got["rival"].tolist() == proof.runner_up.tolist()
    assert all(
        (len(sources) > 0) == (radius == 0)
        for sources, radius in zip(got["hangs_on"], got["radius"], strict=True)
    )
    assert {source for sources in got["hangs_on"] for source in sources} <= set(clf.units_.names)


def test_csv_and_parquet_agree(partita, cancer, model, tmp_path):
    for kind in ("csv", "parquet"):
        assert (
            partita("certify", model, cancer / f"test.{kind}", "--out", tmp_path / f"{kind}.csv")[0]
            == 0
        )
    assert (tmp_path / "csv.csv").read_text() == (tmp_path / "parquet.csv").read_text()
    one = pd.read_csv(tmp_path / "csv.csv")
    assert one.columns.tolist() == ["id", "prediction", "radius", "rival", "hangs_on"]


def test_json(partita, cancer, model, tmp_path):
    code, out, _ = partita(
        "certify", model, cancer / "test.parquet", "--json", "--out", tmp_path / "c.parquet"
    )
    found = json.loads(out)
    assert code == 0
    assert found["rows"] == 284
    assert found["counts"] == {"what": "units", "total": 19, "trusted": ["mean area"]}
    got, test = pd.read_parquet(tmp_path / "c.parquet"), pd.read_parquet(cancer / "test.parquet")
    right = (got["prediction"] == test["diagnosis"]).to_numpy()
    for radius, share in enumerate(found["certified_accuracy"]):
        assert share == np.mean(right & (got["radius"] >= radius))
    for radius, share in enumerate(found["certified"]):
        assert share == np.mean(got["radius"] >= radius)


def test_rows_without_a_truth(partita, cancer, model):
    code, out, _ = partita("certify", model, cancer / "unlabelled.parquet", "--json")
    assert code == 0
    assert "certified_accuracy" not in json.loads(out)


def test_intervals_for_numbers(partita, numbers, tmp_path):
    code, out, _ = partita(
        "certify", numbers / "model.zip", numbers / "test.parquet", "--out", tmp_path / "c.parquet"
    )
    assert code == 0
    assert "--tolerance or --relative" in out
    got, reg = pd.read_parquet(tmp_path / "c.parquet"), store.load(numbers / "model.zip")
    X = pd.read_parquet(numbers / "test.parquet").drop(columns="target")
    assert got.columns.tolist() == ["prediction", "low_1", "high_1", "low_2", "high_2"]
    for radius in (1, 2):
        low, high = reg.interval(X, radius)
        assert np.array_equal(got[f"low_{radius}"], low)
        assert np.array_equal(got[f"high_{radius}"], high)


def test_a_tolerance_gives_a_radius(partita, numbers, tmp_path):
    code, out, _ = partita(
        "certify",
        numbers / "model.zip",
        numbers / "test.parquet",
        "--tolerance",
        "40",
        "--json",
        "--out",
        tmp_path / "c.csv",
    )
    assert code == 0
    got, reg = pd.read_csv(tmp_path / "c.csv"), store.load(numbers / "model.zip")
    test = pd.read_parquet(numbers / "test.parquet")
    X, y = test.drop(columns="target"), test["target"].to_numpy()
    assert got["radius"].tolist() == reg.certify(X, tolerance=40).radius.tolist()
    proof = reg.certify(X, around=y, tolerance=40)
    assert json.loads(out)["certified_accuracy"] == [
        certified_accuracy(y, proof, r) for r in range(proof.radius.max() + 1)
    ]


@pytest.mark.parametrize("estimator", ["hgb", "lightgbm", "logistic", "mine:make"])
def test_estimators(estimator, partita, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n\ndef make():\n    return GaussianNB()\n"
    )
    iris = load_iris(as_frame=True).frame
    if estimator in ("hgb", "lightgbm", "logistic"):
        iris["petal width (cm)"] = np.where(
            iris["petal width (cm)"] > 1, "wide", None
        )  # texts and gaps
    iris.to_csv("iris.csv", index=False)
    code, _, err = partita(
        "fit", "iris.csv", "--target", "target", "--estimator", estimator, "--out", "model"
    )
    assert (code, "warning" in err) == (0, False), err
    code, out, err = partita("certify", "model", "iris.csv", "--json")
    assert (code, "warning" in err) == (0, False), err
    assert json.loads(out)["certified_accuracy"][0] > 0.85


def test_own_classes_must_be_trusted_by_name(partita, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n\nclass Own(GaussianNB):\n    pass\n"
    )
    load_iris(as_frame=True).frame.to_csv("iris.csv", index=False)
    assert (
        partita(
            "fit", "iris.csv", "--target", "target", "--estimator", "own:Own", "--out", "model"
        )[0]
        == 0
    )
    code, _, err = partita("certify", "model", "iris.csv")
    assert code == 2
    assert "own.Own" in err
    assert partita("certify", "model", "iris.csv", "--trust", "own.Own")[0] == 0


def test_rules_and_their_settings(partita, cancer, tmp_path):
    given = [
        "fit",
        cancer / "train.csv",
        "--target",
        "diagnosis",
        "--units",
        cancer / "units.toml",
        "--submodels",
        "3",
        "--json",
    ]
    for options, rule in (
        (["--rule", "runoff"], "RunOff()"),
        (["--margin", "0.5", "--prior", "0.2"], "Tournament(margin=0.5, prior=0.2)"),
    ):
        code, out, _ = partita(*given, *options, "--out", tmp_path / "m", "--overwrite")
        assert (code, json.loads(out)["rule"]) == (0, rule)
        assert repr(store.load(tmp_path / "m").rule_).startswith(rule[:-1])


def test_a_model_from_python_can_be_asked(partita, cancer, tmp_path):
    train = pd.read_csv(cancer / "train.csv").drop(columns="id")
    clf = FeaturePartitionClassifier(n_submodels=5).fit(
        train.drop(columns="diagnosis"), train["diagnosis"]
    )
    store.save(clf, tmp_path / "m")
    code, out, _ = partita(
        "certify",
        tmp_path / "m",
        cancer / "unlabelled.parquet",
        "--json",
        "--out",
        tmp_path / "c.parquet",
    )
    assert (code, json.loads(out)["rows"]) == (0, 284)
    X = pd.read_parquet(cancer / "unlabelled.parquet")
    assert (
        pd.read_parquet(tmp_path / "c.parquet")["radius"].tolist() == clf.certify(X).radius.tolist()
    )
    store.save(
        FeaturePartitionClassifier(n_submodels=5).fit(X.to_numpy(), np.arange(len(X)) % 2),
        tmp_path / "array",
    )
    code, _, err = partita("certify", tmp_path / "array", cancer / "unlabelled.parquet")
    assert (code, "array without column names" in err) == (2, True)


# ---- bad input: exit 2, one sentence, no traceback ----

BAD = {
    "missing file": ("fit nowhere.csv --target y --out m", "data 'nowhere.csv' does not exist"),
    "unknown kind of file": ("fit units.toml --target y --out m", "neither .csv nor .parquet"),
    "target not in the table": (
        "fit train.csv --target price --out m",
        "target names the column 'price', which",
    ),
    "no target": ("fit train.csv --out m", "Missing option '--target'"),
    "unknown column in units": (
        "fit train.csv --target diagnosis --units bad.toml --out m",
        "names the column 'nothing'",
    ),
    "no toml": (
        "fit train.csv --target diagnosis --units train.csv --out m",
        "cannot be read as TOML",
    ),
    "no units": (
        "fit train.csv --target diagnosis --units nowhere.toml --out m",
        "units 'nowhere.toml' does not exist",
    ),
    "unknown entry": (
        "fit train.csv --target diagnosis --units entry.toml --out m",
        "the entry 'sources', which is not known",
    ),
    "empty table": ("fit empty.csv --target y --out m", "has no rows"),
    "one class": ("fit one.csv --target y --out m", "holds one label only, 'x'"),
    "only the target": ("fit target.csv --target y --out m", "no columns to learn from"),
    "text for regression": (
        "fit train.csv --target diagnosis --task regression --out m",
        "holds texts, and regression needs numbers",
    ),
    "fractions for classes": (
        "fit fractions.csv --target y --task classification --out m",
        "holds fractions, which are no labels",
    ),
    "gaps in the target": ("fit gaps.csv --target y --out m", "has 1 gap(s), the first in row 1"),
    "rule of numbers": (
        "fit train.csv --target diagnosis --rule median --out m",
        "rule 'median' is for numbers",
    ),
    "unknown rule": ("fit train.csv --target diagnosis --rule best --out m", "rule is 'best'"),
    "wrong margin": ("fit train.csv --target diagnosis --margin -1 --out m", "margin is -1.0"),
    "unknown estimator": (
        "fit train.csv --target diagnosis --estimator forest --out m",
        "give one of hgb, lightgbm, logistic",
    ),
    "no such module": (
        "fit train.csv --target diagnosis --estimator no:Thing --out m",
        "estimator 'no:Thing' cannot be imported",
    ),
    "no estimator": (
        "fit train.csv --target diagnosis --estimator json:dumps --out m",
        "estimator 'json:dumps' cannot be made",
    ),
    "logistic for numbers": (
        "fit fractions.csv --target y --estimator logistic --out m",
        "'logistic' is for labels",
    ),
    "too many submodels": (
        "fit train.csv --target diagnosis --submodels 99 --out m",
        "n_submodels",
    ),
    "zero submodels": ("fit train.csv --target diagnosis --submodels 0 --out m", "--submodels"),
    "a place that is taken": (
        "fit train.csv --target diagnosis --out taken",
        "holds no stored model: choose another place",
    ),
    "no model": ("certify nowhere test.parquet", "'nowhere' does not exist"),
    "not a model": ("certify taken test.parquet", "manifest.json is missing"),
    "no data": ("certify model nowhere.parquet", "data 'nowhere.parquet' does not exist"),
    "a column less": ("certify model less.csv", "lacks the column 'mean radius'"),
    "a column more": (
        "certify model more.csv",
        "has the column 'extra', which the model was not fitted with",
    ),
    "text where a number is needed": (
        "certify model text.csv",
        "row 1, column 'mean radius' holds 'abc' where a number is needed",
    ),
    "no rows": ("certify model none.csv", "has no rows"),
    "tolerance for labels": (
        "certify model test.parquet --tolerance 3",
        "this one predicts labels",
    ),
    "a strange output": ("certify model test.parquet --out c.xlsx", "must end in .parquet or .csv"),
    "output in a file": ("certify model test.parquet --out train.csv/c.csv", "is no folder"),
    "report elsewhere": ("report model test.parquet --out r.pdf", "must end in .html"),
    "no sweep": (
        "report model test.parquet --sweep nowhere.json --out r.html",
        "'nowhere.json' does not exist",
    ),
    "a strange sweep": (
        "report model test.parquet --sweep strange.json --out r.html",
        "is no sweep.json",
    ),
    "sweep without a tolerance": (
        "sweep fractions.csv --target y --out s",
        "say with tolerance or relative",
    ),
    "sweep of nonsense": (
        "sweep train.csv --target diagnosis --submodels many --out s",
        "submodels is 'many'",
    ),
    "sweep of too many": (
        "sweep train.csv --target diagnosis --submodels 99 --out s",
        "each must lie between 1 and",
    ),
    "sweep of no rule": (
        "sweep train.csv --target diagnosis --rules best --out s",
        "rules names 'best'",
    ),
    "sweep over all": (
        "sweep train.csv --target diagnosis --holdout 1.5 --out s",
        "holdout is 1.5",
    ),
    "serve nothing": ("serve nowhere", "'nowhere' does not exist"),
    "no command": ("frobnicate", "No such command 'frobnicate'"),
    "no option": ("fit train.csv --speed 3", "No such option"),
}


@pytest.fixture
def desk(cancer, model, tmp_path, monkeypatch):
    """A folder with everything that the bad commands mention."""
    monkeypatch.chdir(tmp_path)
    for name in ("train.csv", "test.parquet", "units.toml", "model"):
        Path(name).symlink_to(cancer / name)
    test = pd.read_csv(cancer / "test.csv")
    test.drop(columns="mean radius").to_csv("less.csv", index=False)
    test.assign(extra=1).to_csv("more.csv", index=False)
    test[:0].to_csv("none.csv", index=False)
    strange = test[:3].astype({"mean radius": object})
    strange.loc[1, "mean radius"] = "abc"
    strange.to_csv("text.csv", index=False)
    Path("bad.toml").write_text('[units]\na = ["nothing"]\n')
    Path("entry.toml").write_text('[sources]\na = ["mean radius"]\n')
    Path("empty.csv").write_text("a,y\n")
    Path("one.csv").write_text("a,y\n1,x\n2,x\n")
    Path("target.csv").write_text("y\n1\n2\n")
    Path("gaps.csv").write_text("a,y\n1,x\n2,\n")
    Path("fractions.csv").write_text("a,b,y\n" + "".join(f"{k},{-k},{k / 7}\n" for k in range(50)))
    Path("strange.json").write_text("[]")
    Path("taken").mkdir()
    Path("taken/notes.txt").write_text("mine")
    return tmp_path


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case, partita, desk):
    command, message = BAD[case]
    before = sorted(path.name for path in desk.iterdir())
    code, out, err = partita(*command.split())
    sentences = [line for line in err.splitlines() if not line.startswith("partita: asked")]
    assert code == 2, err
    assert out == ""
    assert message in err
    assert len(sentences) == 1, err
    assert sentences[0].startswith("partita: ")
    assert "Traceback" not in err
    assert sorted(path.name for path in desk.iterdir()) == before  # nothing is half-written


def test_debug_shows_where(desk):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "partita",
            "--debug",
            "fit",
            "nowhere.csv",
            "--target",
            "y",
            "--out",
            "m",
        ],
        capture_output=True,
    )
    assert done.returncode != 0
    assert b"Traceback" in done.stderr
    assert b"InputError" in done.stderr


def test_help_and_version(partita):
    code, out, _ = partita("--help")
    assert code == 0
    for command in ("demo", "fit", "certify", "sweep", "report", "data", "serve"):
        assert command in out
        assert partita(command, "--help")[0] == 0
    assert partita("--version")[:2] == (0, "0.1.0\n")


def test_without_the_extra(tmp_path):
    """Where typer is missing the command says how to install it."""
    code = "import sys; sys.modules['typer'] = None; sys.argv = ['partita']; from partita.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert (
        done.stderr == "partita: the command line needs typer, which is not installed: pip install "
        "'partita[cli]'\n"
    )


# ---- Ctrl-C ----


HELD = """
import time
from pathlib import Path

from sklearn.tree import DecisionTreeClassifier


class Held(DecisionTreeClassifier):
    '''One of few columns notes that it has begun, and waits while a file is there.'''

    def fit(self, X, y):
        if X.shape[1] < 4 and Path("hold").exists():
            Path("begun").touch()
            while Path("hold").exists():
                time.sleep(0.02)
        return super().fit(X, y)
"""


@pytest.fixture
def held(cancer, tmp_path, monkeypatch):
    """A folder whose estimator is at work for as long as a test wants it to be."""
    monkeypatch.chdir(tmp_path)
    pd.read_csv(cancer / "train.csv").drop(columns="id").to_csv("train.csv", index=False)
    Path("held.py").write_text(HELD)
    Path("hold").touch()
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("held", None)


def interrupt(command, folder):
    """Start a command, press Ctrl-C when a submodel is being fitted: the exit code, and what it
    said on standard error."""
    running = subprocess.Popen(
        [sys.executable, "-m", "partita", *command], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 60
        while not (folder / "begun").exists():
            assert time.monotonic() < deadline, "no submodel was begun"
            assert running.poll() is None, running.stderr.read()
            time.sleep(0.02)
        time.sleep(0.5)  # by then the main thread waits for the submodels
        running.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, err = running.communicate(timeout=60)
        assert time.monotonic() - started < 20
    finally:
        running.kill()
    return running.returncode, err


FIT_HELD = [
    "fit",
    "train.csv",
    "--target",
    "diagnosis",
    "--estimator",
    "held:Held",
    "--submodels",
    "10",
]
SWEEP_HELD = [
    "sweep",
    "train.csv",
    "--target",
    "diagnosis",
    "--estimator",
    "held:Held",
    "--submodels",
    "3,10",
    "--rules",
    "plurality",
]


def test_interrupted_fit_leaves_nothing(held):
    before = sorted(held.iterdir())
    code, err = interrupt([*FIT_HELD, "--out", "model"], held)
    assert (code, err.splitlines()[-1]) == (130, "partita: interrupted; nothing is half-written")
    assert "Traceback" not in err
    assert sorted(set(held.iterdir()) - {held / "begun", held / "__pycache__"}) == before


def test_interrupted_sweep_goes_on(held, partita):
    code, err = interrupt([*SWEEP_HELD, "--out", "s"], held)
    assert (code, "partita: 10 submodels (2 of 2)" in err) == (130, True)
    assert [path.suffix for path in (held / "s").iterdir()] == [".json"]
    (held / "hold").unlink()
    code, _, err = partita(*SWEEP_HELD, "--out", "s")
    assert code == 0
    assert "3 submodels were done before (1 of 2)" in err
    assert sorted(path.name for path in (held / "s").iterdir()) == ["sweep.json", "sweep.png"]


# ---- the truth in the table ----


def test_a_truth_is_never_rounded_to_a_label(partita, tmp_path, monkeypatch):
    """A label of 1.5 is not 1."""
    monkeypatch.chdir(tmp_path)
    iris = load_iris(as_frame=True).frame
    iris.to_csv("iris.csv", index=False)
    assert partita("fit", "iris.csv", "--target", "target", "--out", "model")[0] == 0
    iris.assign(target=iris["target"] + 0.5).to_csv("off.csv", index=False)
    code, out, _ = partita("certify", "model", "off.csv", "--json")
    assert (code, json.loads(out)["certified_accuracy"][0]) == (0, 0.0)
    iris.assign(target=iris["target"].where(iris.index > 3)).to_csv("gaps.csv", index=False)
    code, out, _ = partita("certify", "model", "gaps.csv", "--json")
    assert (code, "certified_accuracy" in json.loads(out)) == (0, False)
    iris.assign(target=iris["target"].astype(str) + "x").to_parquet("words.parquet", index=False)
    code, _, err = partita("certify", "model", "words.parquet")
    assert (code, "holds texts, but the model learnt numbers" in err) == (2, True)


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (["a", "b"] * 20, "classification"),
        ([True, False] * 20, "classification"),
        ([1, 0] * 20, "classification"),
        ([1.0, 0.0] * 20, "classification"),
        (list(range(40)), "regression"),
        ([0.5, 1.5] * 20, "regression"),
        (list(pd.date_range("2020", periods=40)), "regression"),
        ([Decimal(k % 2) for k in range(40)], "classification"),
        (pd.Categorical(["a", "b"] * 20), "classification"),
    ],
)
def test_the_target_decides_the_task(target, task, partita, tmp_path):
    frame = pd.DataFrame({"a": np.arange(40) % 7, "b": np.arange(40) % 2.0, "c": 1, "y": target})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    code, out, err = partita(
        "fit", tmp_path / "t.parquet", "--target", "y", "--out", tmp_path / "m", "--json"
    )
    assert (code, json.loads(out)["task"]) == (0, task), err
    code, out, err = partita(
        "certify", tmp_path / "m", tmp_path / "t.parquet", "--json", "--out", tmp_path / "c.parquet"
    )
    assert code == 0, err
    assert ("certified_accuracy" in json.loads(out)) == (task == "classification")


def test_a_column_that_breaks_its_submodel_costs_one_vote(partita, tmp_path, monkeypatch):
    """An infinity makes the logistic submodel of that column fail: it votes as if it knew nothing,
    in that row alone."""
    monkeypatch.chdir(tmp_path)
    iris = load_iris(as_frame=True).frame
    iris.to_csv("iris.csv", index=False)
    assert (
        partita(
            "fit", "iris.csv", "--target", "target", "--estimator", "logistic", "--out", "model"
        )[0]
        == 0
    )
    broken = iris.copy()
    broken.loc[7, "petal width (cm)"] = np.inf
    broken.to_csv("broken.csv", index=False)
    assert partita("certify", "model", "iris.csv", "--out", "good.csv")[0] == 0
    code, _, err = partita("certify", "model", "broken.csv", "--out", "bad.csv")
    assert code == 0
    assert "could not predict" in err
    assert "(1 of 150 rows)" in err
    good, bad = pd.read_csv("good.csv"), pd.read_csv("bad.csv")
    assert good.drop(index=7).equals(bad.drop(index=7))


# ---- what a review found ----


def test_large_labels_are_told_apart(partita, tmp_path):
    """2^53 and 2^53 + 1 are one float: a truth read as floats would count every row as right."""
    a, b = 2**53, 2**53 + 1
    frame = pd.DataFrame({f"c{k}": np.arange(80) % 2 + 0.1 * k for k in range(5)}).assign(
        y=np.where(np.arange(80) % 2, a, b)
    )
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    frame.assign(y=np.where(frame["y"] == a, b, a)).to_csv(tmp_path / "swapped.csv", index=False)
    assert partita("fit", tmp_path / "t.parquet", "--target", "y", "--out", tmp_path / "m")[0] == 0
    code, out, _ = partita("certify", tmp_path / "m", tmp_path / "swapped.csv", "--json")
    assert (code, json.loads(out)["certified_accuracy"][0]) == (0, 0.0)


@pytest.mark.parametrize(
    ("target", "message"), [([1.0, np.inf], "infinity"), ([1e300, 2e300], None)]
)
def test_numbers_that_are_no_labels(target, message, partita, tmp_path):
    frame = pd.DataFrame(
        {"a": np.arange(40) % 7, "b": np.arange(40) % 2.0, "c": 1.0, "y": target * 20}
    )
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    code, _, err = partita(
        "fit",
        tmp_path / "t.parquet",
        "--target",
        "y",
        "--task",
        "classification",
        "--out",
        tmp_path / "m",
    )
    assert (code, "too large to be labels" in err) == (2, True)
    if message:
        code, _, err = partita(
            "fit", tmp_path / "t.parquet", "--target", "y", "--out", tmp_path / "m"
        )
        assert (code, message in err) == (2, True)


def test_unsigned_labels_stay_what_they_are(partita, tmp_path):
    target = np.array([2**63 + 5, 2**63 + 7] * 20, dtype=np.uint64)
    frame = pd.DataFrame(
        {"a": np.arange(40) % 2.0, "b": np.arange(40) % 2.0, "c": 1.0, "y": target}
    )
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    assert (
        partita(
            "fit",
            tmp_path / "t.parquet",
            "--target",
            "y",
            "--task",
            "classification",
            "--out",
            tmp_path / "m",
        )[0]
        == 0
    )
    code, out, err = partita(
        "certify", tmp_path / "m", tmp_path / "t.parquet", "--json", "--out", tmp_path / "c.parquet"
    )
    assert (code, json.loads(out)["certified_accuracy"][0]) == (0, 1.0), err
    assert set(pd.read_parquet(tmp_path / "c.parquet")["prediction"]) == {2**63 + 5, 2**63 + 7}


def test_top_k_is_not_said_to_keep_its_prediction(partita, cancer, tmp_path):
    """Its radius is about staying among the top k, so certify and report, which speak of the
    prediction, refuse it."""
    train = pd.read_csv(cancer / "train.csv").drop(columns="id")
    clf = FeaturePartitionClassifier(n_submodels=5, rule=TopK(k=1)).fit(
        train.drop(columns="diagnosis"), train["diagnosis"]
    )
    store.save(clf, tmp_path / "m")
    for command in (["certify"], ["report", "--out", tmp_path / "r.html"]):
        code, _, err = partita(
            command[0], tmp_path / "m", cancer / "unlabelled.parquet", *command[1:]
        )
        assert (code, "the model's rule is TopK" in err) == (2, True)


def test_ignored_columns_are_handed_through_as_they_are(partita, tmp_path):
    (tmp_path / "units.toml").write_text('ignore = ["id", "big"]\n')
    rows = "".join(
        f"{k:05d},1000000000000000000{k % 10}0,{k % 2},{k % 3},{'xy'[k % 2]}\n" for k in range(40)
    )
    (tmp_path / "t.csv").write_text("id,big,a,b,y\n" + rows)
    assert (
        partita(
            "fit",
            tmp_path / "t.csv",
            "--target",
            "y",
            "--units",
            tmp_path / "units.toml",
            "--out",
            tmp_path / "m",
        )[0]
        == 0
    )
    assert (
        partita("certify", tmp_path / "m", tmp_path / "t.csv", "--out", tmp_path / "c.csv")[0] == 0
    )
    got = pd.read_csv(tmp_path / "c.csv", dtype=str)
    assert got["id"].tolist() == [f"{k:05d}" for k in range(40)]
    assert got["big"][3] == "100000000000000000030"
    (tmp_path / "units.toml").write_text('ignore = ["low_9"]\n')
    (tmp_path / "t.csv").write_text(
        "low_9,a,b,y\n" + "".join(f"{k},{k % 2},{k % 3},{'xy'[k % 2]}\n" for k in range(40))
    )
    assert (
        partita(
            "fit",
            tmp_path / "t.csv",
            "--target",
            "y",
            "--units",
            tmp_path / "units.toml",
            "--out",
            tmp_path / "m",
            "--overwrite",
        )[0]
        == 0
    )
    code, _, err = partita("certify", tmp_path / "m", tmp_path / "t.csv")
    assert (
        code,
        "the ignored column 'low_9' has the name of a column that certify writes" in err,
    ) == (2, True)


def test_a_date_as_the_target(partita, tmp_path):
    frame = pd.DataFrame({"a": range(40), "b": range(40), "y": pd.date_range("2020", periods=40)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert partita("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m")[0] == 0
    code, _, err = partita("certify", tmp_path / "m", tmp_path / "t.csv", "--tolerance", "1e9")
    assert code == 0, err
    frame.assign(y=range(40)).to_parquet(tmp_path / "n.parquet", index=False)
    code, _, err = partita("certify", tmp_path / "m", tmp_path / "n.parquet", "--tolerance", "1e9")
    assert (code, "holds numbers, but the model learnt times" in err) == (2, True)


def test_nothing_of_the_users_is_overwritten_or_deleted(partita, cancer, tmp_path):
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        archive.writestr("thesis.txt", "years of work")
    code, _, err = partita(
        "fit", cancer / "train.csv", "--target", "diagnosis", "--out", tmp_path / "mine.zip"
    )
    assert (code, "holds no stored model" in err) == (2, True)
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "submodels-notes.json").write_text("mine")
    command = [
        "sweep",
        cancer / "train.csv",
        "--target",
        "diagnosis",
        "--units",
        cancer / "units.toml",
        "--submodels",
        "3",
        "--rules",
        "plurality",
    ]
    assert partita(*command, "--out", tmp_path / "s")[0] == 0
    assert (tmp_path / "s" / "submodels-notes.json").read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["fit", "train.csv", "--target", "diagnosis", "--seed", "-1", "--out", "m"], "--seed"),
        (["certify", "numbers.zip", "numbers.parquet", "--tolerance", "inf"], "tolerance is inf"),
        (["certify", "numbers.zip", "numbers.parquet", "--relative", "-1"], "relative is -1.0"),
    ],
)
def test_numbers_out_of_range(options, message, partita, desk, numbers):
    Path("numbers.zip").symlink_to(numbers / "model.zip")
    Path("numbers.parquet").symlink_to(numbers / "test.parquet")
    code, _, err = partita(*options)
    assert (code, message in err) == (2, True)


def test_a_sweep_of_something_else_is_refused(partita, cancer, model, numbers, tmp_path):
    command = [
        "sweep",
        numbers / "train.parquet",
        "--target",
        "target",
        "--submodels",
        "3",
        "--relative",
        "0.4",
        "--stretches",
        "1",
    ]
    assert partita(*command, "--out", tmp_path / "s")[0] == 0
    code, _, err = partita(
        "report",
        model,
        cancer / "test.parquet",
        "--sweep",
        tmp_path / "s",
        "--out",
        tmp_path / "r.html",
    )
    assert (
        code,
        "sweep is about the target 'target', but the model predicts 'diagnosis'" in err,
    ) == (2, True)
    (tmp_path / "odd.json").write_text(
        '{"held_out": 7, "target": "y", "settings": [{"submodels": 3, "options": {"rule": "x"}, '
        '"curve": [5, 4]}]}'
    )
    code, _, err = partita(
        "report",
        model,
        cancer / "test.parquet",
        "--sweep",
        tmp_path / "odd.json",
        "--out",
        tmp_path / "r.html",
    )
    assert (code, "is no sweep.json" in err) == (2, True)
