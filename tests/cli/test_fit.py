"""``partita fit``: the options, the rules, the targets, and what it warns of."""

import json
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, store
from partita.ensemble import TableBlendClassifier, TableBoostingClassifier, TableTreesClassifier
from partita.partition._units_file import as_units_toml, one_hot_families
from partita.selection import default_ensemble
from partita.tables import open_table

from .tables import NAIVE, NINE


@pytest.mark.parametrize(
    "estimator", ["blend", "hgb", "trees", "lightgbm", "logistic", "mine:make"]
)
def test_estimators_take_texts_and_missing_values(estimator, partita, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n\ndef make():\n    return GaussianNB()\n"
    )
    iris = load_iris(as_frame=True).frame
    if estimator != "mine:make":
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


@pytest.mark.parametrize(
    ("options", "name", "cls"),
    [
        ([], "trees", TableTreesClassifier),
        (["--submodels", "3"], "blend", TableBlendClassifier),
        (["--submodels", "3", "--estimator", "hgb"], "hgb", TableBoostingClassifier),
        (["--fallback", "auto", "--gate", "1"], "blend", TableBlendClassifier),
        (["--estimator", "trees"], "trees", TableTreesClassifier),
        (["--method", "leave-out"], "trees", TableTreesClassifier),
        (["--method", "leave-out", "--estimator", "hgb"], "hgb", TableBoostingClassifier),
    ],
)
def test_every_method_has_its_default_estimator(options, name, cls, partita, tmp_path):
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    given = ("fit", tmp_path / "iris.csv", "--target", "target", "--out", tmp_path / "m")
    code, _, err = partita(*given, "--no-full-model", *options)
    assert code == 0, err
    model = store.load(tmp_path / "m")
    assert {type(model.estimator), *map(type, model.estimators_)} == {cls}
    about = store.manifest(tmp_path / "m")["about"]
    assert about["estimator"] == name  # not "auto": a report should say what it is
    if "--fallback" in options:
        assert (about["fallback"], type(model.fallback_model_)) == ("blend", TableBlendClassifier)


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


@pytest.mark.parametrize(
    ("target", "message"), [([1.0, np.inf], "infinity"), ([1e300, 2e300], None)]
)
def test_numbers_that_cannot_be_labels_are_refused(target, message, partita, tmp_path):
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


def test_nothing_of_the_users_is_overwritten_or_deleted(partita, cancer, tmp_path):
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        archive.writestr("thesis.txt", "years of work")
    code, _, err = partita(
        "fit", cancer / "train.csv", "--target", "diagnosis", "--out", tmp_path / "mine.zip"
    )
    assert (code, "is not a stored model" in err) == (2, True)
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


def test_a_model_that_is_nearly_a_constant_is_warned_of(partita, digits, tmp_path):
    options = ("--rule", "plurality", "--submodels", 63, "--estimator", "logistic")
    code, out, err = partita(
        "fit",
        digits / "train.csv",
        "--target",
        NINE,
        *options,
        "--no-full-model",
        "--out",
        tmp_path / "m",
    )
    assert code == 0
    assert "WARNING" in out
    assert "training rows are predicted 'no': the model is nearly a constant" in out
    assert "nearly a constant" in err
    quality = store.manifest(tmp_path / "m")["about"]["quality"]
    assert "nearly a constant" in quality["warnings"][0]


def test_a_head_start_buys_recall(partita, digits, tmp_path):
    shares = []
    for votes in (-3, 0, 3):
        model = tmp_path / f"m{votes}"
        options = ("--submodels", 11, "--offset", f"yes={votes}", "--no-full-model", "--quiet")
        options += ("--estimator", "logistic")
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


def test_failed_submodels_are_in_every_output(partita, digits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refusing.py").write_text("from tests.cli.test_fit import Refuses, RefusesNarrow\n")
    options = ("--target", NINE, "--estimator", "refusing:Refuses", "--submodels", 11, "--out")
    code, out, err = partita("fit", digits / "train.csv", *options, "all", "--json")
    assert code == 0
    assert "11 of 11 submodels failed to fit; each casts a fixed vote" in err
    found = json.loads(out)
    assert found["failed_submodels"] == 11
    assert found["warnings"][0].startswith("11 of 11 submodels failed to fit")
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
    banner = "1 of 13 submodels failed to fit; each casts a fixed vote, whatever its columns say"
    assert banner in err  # with the cause
    assert banner in " ".join(out.split())
    trust = ("--trust", "tests.cli.test_fit.RefusesNarrow")
    for command in ("certify", "report", "audit"):
        more = ("--out", f"{command}.html") if command == "report" else ("--rows", 20)
        more = more if command != "certify" else ()
        _, out, _ = partita(command, "m", digits / "new.csv", *trust, *more)
        assert banner in " ".join(out.split()), command
        _, out, _ = partita(command, "m", digits / "new.csv", *trust, *more, "--json")
        assert f"{banner}." in json.loads(out)["warnings"], command
    assert banner in (tmp_path / "report.html").read_text()


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
    assert "The owner of the raw column owns all of them" in out
    (tmp_path / "units.toml").write_text(as_units_toml(families))
    assert as_units_toml(families) in out
    _, out, _ = partita(*fit, "--units", tmp_path / "units.toml")
    assert "one-hot" not in out
    assert "units (5 in all)" in out


def test_one_question_settles_method_and_size(partita, cancer, tmp_path):
    """How many units may lie; everything else follows, or is given."""
    given = ["fit", cancer / "train.csv", "--target", "diagnosis", "--no-full-model", "--overwrite"]
    given += ["--units", cancer / "units.toml", "--json", "--quiet", "--out", tmp_path / "m"]
    for options, method, by_rule in (
        ([], "leave-out", True),
        (["--radius", 4], "partition", True),
        (["--margin", 0.5], "partition", True),  # which leave-out does not have
        (["--method", "partition", "--radius", 2], "partition", False),
        (["--method", "leave-out"], "leave-out", False),
        (["--groups", 3], "leave-out", False),
        (["--submodels", 3], "partition", False),
    ):
        code, out, err = partita(*given, *options)
        assert code == 0, err
        found = json.loads(out)
        assert (found["method"], found["by_rule"]) == (method, by_rule), options
        model = store.load(tmp_path / "m")
        size = model.radius if method == "leave-out" else (len(model.partition_) - 1) // 2
        assert size >= found["radius"], options
        if by_rule and "--margin" not in options:
            X = pd.read_csv(cancer / "train.csv").drop(columns=["diagnosis", "id"])
            python = default_ensemble(X, found["radius"], units=model.units, trusted=model.trusted)
            assert type(python) is type(model)
            if method == "partition":
                assert python.n_submodels == len(model.partition_)
            else:
                assert python.n_groups == len(model.partition_.groups)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "votes"], "method is 'votes': it must be partition or leave-out"),
        (["--radius", "2"], "radius is 2, which needs at least 5 units, but there are 4"),
        (["--submodels", "3", "--radius", "2"], "a proof at --radius 2 needs at least 5"),
        (["--submodels", "3", "--groups", "3"], "groups goes with --method leave-out, and the"),
        (["--method", "leave-out", "--rule", "runoff"], "rule goes with --method partition"),
    ],
)
def test_settings_that_contradict_one_another_are_refused(options, message, partita, tmp_path):
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    given = ["fit", tmp_path / "iris.csv", "--target", "target", "--out", tmp_path / "m"]
    code, _, err = partita(*given, *options)
    assert code == 2
    assert message in " ".join(err.split())
    assert not (tmp_path / "m").exists()


def test_a_default_says_what_it_keeps(partita, tmp_path):
    """And that it is worth less than a constant, with the command that helps."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 6))).rename(columns=str)
    frame["y"] = np.where(frame["0"] + frame["1"] > 0.8, "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    given = ["fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m", "--overwrite"]
    code, out, err = partita(*given)
    assert code == 0, err
    shown = " ".join(out.split())
    assert "(leave-out, by rule for r = 1 and 6 units; --method, --submodels, --groups" in shown
    words = "25 % of the rows, drawn at random"
    assert f"On 75 held-out rows ({words}), by a trial on 225 others: right in " in shown
    assert "WARNING" in shown
    assert "partita choose DATA --target COLUMN --radius 1" in shown
    found = json.loads(partita(*given, "--json")[1])["trial"]
    assert found["certified"] < found["constant"] < found["now"]
    for option in ("--no-full-model", "--submodels=3"):
        assert json.loads(partita(*given, option, "--json")[1])["trial"] is None


@pytest.mark.long
def test_the_defaults_are_not_a_constant(partita, digits, tmp_path):
    code, out, _ = partita("fit", digits / "train.csv", "--target", NINE, "--out", tmp_path / "m")
    assert code == 0
    assert "WARNING" not in out
    found = json.loads(partita("certify", tmp_path / "m", digits / "new.csv", "--json")[1])
    assert found["certified_recall"]["yes"][0] > 0.5
    assert found["certified_balanced_accuracy"][0] > 0.7


def test_fit_stores_what_python_fits(partita, cancer, tmp_path):
    options = ("--units", cancer / "units.toml", "--submodels", 9, "--estimator", NAIVE)
    code, out, err = partita(
        "fit",
        cancer / "train.csv",
        "--target",
        "diagnosis",
        *options,
        "--no-full-model",
        "--out",
        tmp_path / "m",
    )
    assert code == 0
    assert (
        "Fitted 9 submodels on 285 rows for 'diagnosis' (2 labels; use --task to override)." in out
    )
    assert "A radius counts units (19 in all, out of reach: mean area)." in out
    assert f"Next: partita certify {tmp_path / 'm'} NEW" in out
    assert "fitted 9 of 9 submodels" in err
    train = pd.read_csv(cancer / "train.csv").drop(columns="id")
    X = train.drop(columns="diagnosis")
    worst = [name for name in X if name.startswith("worst ")]
    units = {"worst": worst, "texture": ["mean texture", "texture error"]}
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=9, units=units, trusted=["mean area"], on_failure="vote"
    ).fit(X, train["diagnosis"])
    assert np.array_equal(store.load(tmp_path / "m").ballots(X), clf.ballots(X))


def test_a_fallback_answers_below_the_gate_in_every_command(partita, cancer, tmp_path):
    given = ["fit", cancer / "train.csv", "--target", "diagnosis", "--submodels", "9"]
    given += ["--units", cancer / "units.toml", "--estimator", NAIVE]
    code, out, err = partita(
        *given, "--fallback", "logistic", "--gate", "2", "--out", tmp_path / "m"
    )
    assert code == 0, err
    assert "Below a radius of 2 the fallback answers" in " ".join(out.split())
    model = store.load(tmp_path / "m")
    assert (model.gate, model.gate_) == (2, 2)
    assert store.manifest(tmp_path / "m")["about"]["fallback"] == "logistic"
    test = cancer / "test.csv"
    code, out, _ = partita("certify", tmp_path / "m", test, "--out", tmp_path / "c.csv", "--json")
    found = json.loads(out)
    frame = pd.read_csv(test).drop(columns=["diagnosis", "id"])
    proof = model.certify(frame)
    ballots = model.ballots(frame)
    rows = ballots.rule.by_fallback(ballots)
    assert found["fallback_rows"] == rows.sum() > 0
    written = pd.read_csv(tmp_path / "c.csv")
    assert np.array_equal(written["prediction"], proof.prediction)
    assert np.array_equal(written["radius"], proof.radius)
    assert (written["radius"][rows] == 0).all()
    code, out, _ = partita("certify", tmp_path / "m", test)
    assert f"The fallback answers {rows.sum()} of them" in " ".join(out.split())
    code, _, err = partita("report", tmp_path / "m", test, "--out", tmp_path / "r.html")
    assert code == 0, err
    page = (tmp_path / "r.html").read_text()
    assert f"{rows.sum()} of {len(rows)} rows, where the vote's own radius is below 2" in page
    assert "<dt>fallback</dt><dd>logistic</dd>" in page


def test_the_model_for_comparison_is_announced_and_one_submodel_is_warned_of(partita, tmp_path):
    """The first may take long; the second can prove nothing."""
    frame = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, -1]]
    frame.to_csv(tmp_path / "two.csv", index=False)
    options = ("fit", tmp_path / "two.csv", "--target", "target", "--out", tmp_path / "m")
    code, out, err = partita(*options)
    assert code == 0
    assert "fitting one model on all columns, for comparison" in err
    assert "no radius above 0 can be proven: a proof needs at least three units" in " ".join(
        (out + err).split()
    )


def test_names_that_look_like_sources_are_pointed_out(partita, tmp_path):
    rng = np.random.default_rng(0)
    names = [f"{place}_{what}" for place in ("OSLO", "ROMA", "BERN") for what in ("t", "rh")]
    frame = pd.DataFrame(rng.normal(size=(80, 6)), columns=names).assign(y=np.arange(80) % 2)
    frame.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "units.toml").write_text(
        "".join(
            ["[units]\n", *(f"'{place}' = ['{place}_*']\n" for place in ("OSLO", "ROMA", "BERN"))]
        )
    )
    options = ("--target", "y", "--estimator", "logistic", "--no-full-model", "--overwrite")
    fit = ("fit", tmp_path / "t.csv", *options, "--out", tmp_path / "m")
    out = " ".join(partita(*fit)[1].split())
    assert "their names have 3 prefixes ('OSLO_', 'ROMA_', 'BERN_')" in out
    assert "'OSLO' = ['OSLO_*'] under [units] in a units.toml" in out
    code, out, _ = partita(*fit, "--units", tmp_path / "units.toml")
    assert code == 0
    assert "prefixes" not in out


def test_a_fallback_of_the_same_estimator_is_the_full_model_too(partita, cancer, tmp_path):
    given = ["fit", cancer / "train.csv", "--target", "diagnosis", "--submodels", "5"]
    given += ["--units", cancer / "units.toml", "--estimator", "logistic"]
    partita(*given, "--out", tmp_path / "alone")
    partita(*given, "--fallback", "logistic", "--out", tmp_path / "both")
    alone, both = (store.manifest(tmp_path / name)["files"] for name in ("alone", "both"))
    full = {name: facts for name, facts in alone.items() if name.startswith("full-model")}
    assert full.items() <= both.items()
    behind = next(facts for name, facts in both.items() if name.startswith("fallback-model"))
    assert behind == next(iter(full.values()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--gate", "1"], "add --fallback, such as --fallback hgb"),
        (["--fallback", "logistic", "--rule", "runoff"], "use rule='tournament' or 'plurality'"),
        (["--fallback", "nonsense"], "estimator is 'nonsense'"),
        (["--fallback", "ridge"], "estimator 'ridge' is for numbers"),
        (["--fallback", "hgb", "--task", "regression"], "fallback answers with a label"),
    ],
)
def test_what_a_fallback_does_not_go_with(options, message, partita, tmp_path):
    frame = load_iris(as_frame=True).frame
    frame.to_csv(tmp_path / "iris.csv", index=False)
    given = ["fit", tmp_path / "iris.csv", "--target", "target", "--out", tmp_path / "m"]
    code, _, err = partita(*given, *options)
    assert code == 2
    assert message in " ".join(err.split())


def test_a_fallback_is_not_fitted_submodel_by_submodel(partita, tmp_path):
    load_iris(as_frame=True).frame.to_parquet(tmp_path / "iris.parquet", index=False)
    given = ["fit", tmp_path / "iris.parquet", "--target", "target", "--out", tmp_path / "m"]
    code, _, err = partita(*given, "--fallback", "logistic", "--cluster", "local")
    assert code == 2
    assert "leave fallback out, or use fit" in " ".join(err.split())
    assert not (tmp_path / "m").exists()


def test_rows_that_belong_together_are_told(partita, tmp_path):
    """Digits are in the order of their writers; a page of each is told apart by its number."""
    frame = load_digits(as_frame=True).frame
    frame.assign(page=np.arange(len(frame)) // 100).to_parquet(tmp_path / "d.parquet")
    fit = ("fit", tmp_path / "d.parquet", "--target", "target", "--estimator", NAIVE)
    fit += ("--submodels", 3, "--no-full-model", "--overwrite", "--out", tmp_path / "m")
    code, out, error = partita(*fit)
    assert code == 0, error
    assert "Neighbouring rows resemble each other" in out + error
    assert "'page' looks as if it groups rows" in out + error
    code, out, _ = partita(*fit, "--json")
    assert len(json.loads(out)["warnings"]) == 2
    (tmp_path / "units.toml").write_text('ignore = ["page"]\n')
    code, out, _ = partita(*fit, "--json", "--units", tmp_path / "units.toml")
    (told,) = json.loads(out)["warnings"]
    assert told.endswith("partita choose judges by later rows too.")
    code, out, _ = partita(*fit, "--json", "--chosen", "on-training")
    assert json.loads(out)["warnings"] == []
    frame.sample(frac=1, random_state=0).to_parquet(tmp_path / "d.parquet")
    code, out, _ = partita(*fit, "--json")
    assert json.loads(out)["warnings"] == []
