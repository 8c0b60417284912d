"""A proof that is true and says nothing must say so: constants, failed submodels, the training
table."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_digits

from partita import store
from partita._support.terminal import fitting
from partita.metrics import certified_accuracy
from partita.partition._one_hot import as_units_toml, one_hot_families
from partita.tables._table import open_table
from partita.workflow._tally import Tally

NINE = "is it a 9?"


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """One digit in ten is a nine, and a pixel alone never says so: weak submodels all answer no."""
    folder = tmp_path_factory.mktemp("digits")
    X, y = load_digits(return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"pixel {k}" for k in range(64)]).assign(
        **{NINE: np.where(y == 9, "yes", "no")}
    )
    frame[:900].to_csv(folder / "train.csv", index=False)
    frame[900:].to_csv(folder / "new.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def constant(digits):
    import subprocess
    import sys

    command = [
        sys.executable,
        "-m",
        "partita",
        "fit",
        digits / "train.csv",
        "--target",
        NINE,
        "--rule",
        "plurality",
    ]
    done = subprocess.run(
        [*command, "--submodels", "63", "--out", digits / "constant"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return digits / "constant", done.stdout, done.stderr


def test_fit_warns_of_a_constant(constant):
    _, out, err = constant
    assert "WARNING" in out
    assert "training rows are predicted 'no': the model is nearly a constant" in out
    assert "nearly a constant" in err


def test_certify_warns_of_a_constant_and_says_what_one_gets(partita, constant, digits):
    code, out, _ = partita("certify", constant[0], digits / "new.csv")
    assert code == 0
    assert "of the predictions are 'no': this model is nearly a constant" in out
    assert "always answering 'no' is right in" in out
    found = json.loads(partita("certify", constant[0], digits / "new.csv", "--json")[1])
    truth = pd.read_csv(digits / "new.csv")[NINE]
    assert found["constant_answer"] == "no"
    assert found["constant_accuracy"] == pytest.approx((truth == "no").mean())
    assert found["certified_recall"]["yes"][0] < 0.05
    assert found["certified_balanced_accuracy"][0] < 0.53
    assert len(found["warnings"]) == 2
    assert 0.9 < found["full_model_accuracy"] < 1
    assert found["on_training"] is False


def test_the_report_and_the_service_know_too(partita, constant, digits, tmp_path):
    assert partita("report", constant[0], digits / "new.csv", "--out", tmp_path / "r.html")[0] == 0
    assert "nearly a constant" in (tmp_path / "r.html").read_text()
    assert "nearly a constant" in store.manifest(constant[0])["about"]["quality"]["warnings"][0]


def test_the_defaults_are_no_constant(partita, digits, tmp_path):
    code, out, _ = partita("fit", digits / "train.csv", "--target", NINE, "--out", tmp_path / "m")
    assert code == 0
    assert "WARNING" not in out
    found = json.loads(partita("certify", tmp_path / "m", digits / "new.csv", "--json")[1])
    assert found["certified_recall"]["yes"][0] > 0.5
    assert found["certified_balanced_accuracy"][0] > 0.7


def test_a_head_start_buys_recall(partita, digits, tmp_path):
    shares = []
    for votes in (-3, 0, 3):
        model = tmp_path / f"m{votes}"
        options = ("--submodels", 11, "--offset", f"yes={votes}", "--no-full-model", "--quiet")
        assert (
            partita("fit", digits / "train.csv", "--target", NINE, "--out", model, *options)[0] == 0
        )
        found = json.loads(partita("certify", model, digits / "new.csv", "--json")[1])
        assert found["full_model_accuracy"] is None
        shares.append((found["certified_recall"]["yes"][0], found["certified_recall"]["no"][0]))
    assert shares[0][0] < shares[1][0] < shares[2][0]
    assert shares[0][1] > shares[1][1] > shares[2][1]
    for wrong, message in (
        ("yes", "offset is 'yes': give LABEL=VOTES"),
        ("maybe=1", "offset names the label 'maybe'"),
    ):
        code, _, err = partita(
            "fit",
            digits / "train.csv",
            "--target",
            NINE,
            "--out",
            tmp_path / "w",
            "--offset",
            wrong,
        )
        assert (code, message in err) == (2, True)


def test_certifying_the_training_table_is_told_in_large_letters(
    partita, constant, digits, tmp_path
):
    _, out, _ = partita("certify", constant[0], digits / "train.csv")
    assert "THESE ARE THE ROWS THAT THE MODEL WAS FITTED ON" in out
    assert (
        json.loads(partita("certify", constant[0], digits / "train.csv", "--json")[1])[
            "on_training"
        ]
        is True
    )
    small = (
        "--target",
        NINE,
        "--submodels",
        5,
        "--estimator",
        "logistic",
        "--no-full-model",
        "--out",
        tmp_path / "m",
    )
    assert partita("fit", digits / "train.csv", *small)[0] == 0
    assert (
        partita("report", tmp_path / "m", digits / "train.csv", "--out", tmp_path / "r.html")[0]
        == 0
    )
    assert (
        "rows the model was trained on" in (tmp_path / "r.html").read_text().lower()
        or "FITTED ON" in (tmp_path / "r.html").read_text()
    )


def test_another_part_of_the_training_table_is_not_the_training_rows(partita, digits, tmp_path):
    frame = pd.read_csv(digits / "train.csv").assign(
        part=["learn" if k % 3 else "keep" for k in range(900)]
    )
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    (tmp_path / "u.toml").write_text('ignore = ["part"]')
    fit = (
        "--target",
        NINE,
        "--units",
        tmp_path / "u.toml",
        "--submodels",
        5,
        "--out",
        tmp_path / "m",
        "--quiet",
    )
    assert partita("fit", tmp_path / "t.parquet", *fit, "--split", "part=learn")[0] == 0
    for split, same in (
        (("--split", "part=keep"), False),
        (("--split", "part=learn"), True),
        ((), True),
    ):
        found = json.loads(
            partita("certify", tmp_path / "m", tmp_path / "t.parquet", *split, "--json")[1]
        )
        assert found["on_training"] is same


def test_numbers_are_compared_with_a_constant_and_one_model(partita, tmp_path):
    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame[::2].to_parquet(tmp_path / "train.parquet", index=False)
    frame[1::2].to_parquet(tmp_path / "new.parquet", index=False)
    assert (
        partita(
            "fit",
            tmp_path / "train.parquet",
            "--target",
            "target",
            "--submodels",
            5,
            "--out",
            tmp_path / "m",
        )[0]
        == 0
    )
    found = json.loads(
        partita("certify", tmp_path / "m", tmp_path / "new.parquet", "--relative", 0.3, "--json")[1]
    )
    truth, middle = frame["target"][1::2], np.median(frame["target"][::2])
    assert found["constant_accuracy"] == pytest.approx(
        (np.abs(truth - middle) <= 0.3 * truth).mean()
    )
    assert found["full_model_accuracy"] > found["constant_accuracy"]
    assert "certified_recall" not in found


class Refuses(ClassifierMixin, BaseEstimator):
    """Takes integers alone, as some libraries do, and says so of every submodel."""

    def fit(self, X, y):
        raise ValueError("labels must be integers")

    def predict(self, X):
        return np.zeros(len(X))

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


class RefusesNarrow(ClassifierMixin, BaseEstimator):
    """Cannot learn from a single column."""

    def fit(self, X, y):
        if X.shape[1] < 2:
            raise ValueError("one column is too few")
        self.classes_ = np.unique(y)
        self.cut_ = X.iloc[:, 0].median()
        return self

    def predict_proba(self, X):
        above = (X.iloc[:, 0] > self.cut_).to_numpy() * 0.4 + 0.3
        return np.stack([above, 1 - above], axis=1)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_most_submodels_failed_is_an_error(partita, digits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refusing.py").write_text(
        "from tests.ensemble.test_empty_proofs import Refuses, RefusesNarrow\n"
    )
    code, out, err = partita(
        "fit",
        digits / "train.csv",
        "--target",
        NINE,
        "--estimator",
        "refusing:Refuses",
        "--submodels",
        11,
        "--out",
        "m",
    )
    assert code == 2
    assert "11 of 11 submodels could not be fitted, so the model would be a constant" in err
    assert not (tmp_path / "m").exists()
    units = {f"u{k}": [f"pixel {j}" for j in range(5 * k, 5 * k + 5)] for k in range(12)} | {
        "lonely": ["pixel 60"]
    }
    lines = [
        f'"{name}" = [{", ".join(repr(column) for column in columns)}]'
        for name, columns in units.items()
    ]
    (tmp_path / "u.toml").write_text(
        "\n".join(['ignore = ["pixel 61", "pixel 62", "pixel 63"]', "[units]", *lines])
    )
    fit = (
        "--target",
        NINE,
        "--estimator",
        "refusing:RefusesNarrow",
        "--units",
        "u.toml",
        "--submodels",
        13,
        "--out",
        "m",
    )
    code, out, err = partita("fit", digits / "train.csv", *fit)
    assert code == 0, err
    assert "it casts a fixed vote" in err
    trust = ("--trust", "tests.ensemble.test_empty_proofs.RefusesNarrow")
    _, out, _ = partita("certify", "m", digits / "new.csv", *trust)
    assert "1 of 13 submodels could not be fitted and cast a fixed vote" in out


def test_a_model_is_not_silently_overwritten(partita, digits, tmp_path):
    fit = (
        "fit",
        digits / "train.csv",
        "--target",
        NINE,
        "--submodels",
        3,
        "--estimator",
        "logistic",
        "--no-full-model",
        "--quiet",
    )
    for place in ("m", "m.zip"):
        assert partita(*fit, "--out", tmp_path / place)[0] == 0
        before = store.manifest(tmp_path / place)
        code, _, err = partita(*fit, "--out", tmp_path / place, "--seed", 5)
        assert (
            code,
            "holds a model already: choose another place, or replace it with --overwrite" in err,
        ) == (2, True)
        assert store.manifest(tmp_path / place) == before
        code, _, err = partita(*fit, "--out", tmp_path / place, "--seed", 5, "--overwrite")
        assert (code, err) == (0, "")
        assert store.manifest(tmp_path / place)["random_state"] == 5


def test_one_hot_families_are_offered_as_units(partita, tmp_path):
    rng = np.random.default_rng(0)
    job = rng.choice(["blue_collar", "retired", "self_employed"], size=300)
    status = rng.choice(["single", "married", "widowed"], size=300)
    raw = pd.DataFrame({"job": job, "marital_status": status})
    frame = pd.get_dummies(raw, dtype=int).assign(
        age=rng.normal(size=300), flag=rng.integers(0, 2, 300), flag_two=1, y=job == "retired"
    )
    families = one_hot_families(
        open_table(frame.drop(columns="y")), [name for name in frame if name != "y"]
    )
    assert families == {
        "job": ["job_blue_collar", "job_retired", "job_self_employed"],
        "marital_status": [
            "marital_status_married",
            "marital_status_single",
            "marital_status_widowed",
        ],
    }
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = (
        "fit",
        tmp_path / "t.csv",
        "--target",
        "y",
        "--submodels",
        3,
        "--out",
        tmp_path / "m",
        "--overwrite",
    )
    _, out, _ = partita(*fit)
    assert "Whoever owns the raw column owns all of them" in out
    (tmp_path / "units.toml").write_text(as_units_toml(families))
    assert as_units_toml(families) in out
    _, out, _ = partita(*fit, "--units", tmp_path / "units.toml")
    assert "one-hot" not in out
    assert "units (5 in all)" in out


# ---- the sums behind it ----


def test_a_tally_of_pieces_is_that_of_the_whole():
    rng = np.random.default_rng(0)
    truth, said, radius = rng.integers(0, 3, 200), rng.integers(0, 3, 200), rng.integers(0, 5, 200)

    def tally(rows):
        radii = np.where(truth == said, radius, -1)[rows]
        return Tally(
            len(radii),
            Counter(radius[rows].tolist()),
            Counter(radii.tolist()),
            predicted=Counter(said[rows].tolist()),
            by_label={
                label: Counter(radii[truth[rows] == label].tolist())
                for label in np.unique(truth[rows]).tolist()
            },
            full_right=int(np.sum(truth[rows] == 1)),
        )

    whole, pieces = (
        tally(np.arange(200)),
        tally(np.arange(7)) + tally(np.arange(7, 120)) + tally(np.arange(120, 200)),
    )
    assert whole.recall() == pieces.recall()
    assert whole.balanced() == pieces.balanced()
    assert (whole.right, whole.predicted, whole.full_right) == (
        pieces.right,
        pieces.predicted,
        pieces.full_right,
    )
    for one in whole.recall():
        own = truth == one["label"]
        assert one["share"] == [
            np.mean((said == truth)[own] & (radius[own] >= r)) for r in range(len(one["share"]))
        ]


def test_the_certified_accuracy_is_that_of_the_metric(partita, constant, digits):
    found = json.loads(partita("certify", constant[0], digits / "new.csv", "--json")[1])
    frame = pd.read_csv(digits / "new.csv")
    proof = store.load(constant[0]).certify(frame.drop(columns=NINE))
    assert found["certified_accuracy"] == [
        certified_accuracy(frame[NINE], proof, r) for r in range(len(found["certified_accuracy"]))
    ]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_fit_the_terminal(width, monkeypatch, partita, constant, digits):
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = partita("certify", constant[0], digits / "new.csv")
    lines = [line for line in out.splitlines() if line.startswith("  ")]
    assert max(map(len, lines)) <= width
    radii = lines[0].split()[2:]
    assert radii[:3] == ["0", "1", "2"]
    assert all(len(line.split("  ")[-1].strip()) <= 5 for line in lines)
    assert fitting(40, 20)[0] == 0
    assert fitting(40, 20)[-1] == 39
