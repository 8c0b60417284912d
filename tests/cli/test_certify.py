"""``partita certify``: what it writes is what Python says, for labels and for numbers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, store
from partita.metrics import certified_accuracy, label_set_curve
from partita.rules import TopK

from .tables import NINE, fit_model


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
        GaussianNB(), n_submodels=9, units=units, trusted=["mean area"], on_failure="vote"
    )
    proof = clf.fit(train[features], train["diagnosis"]).certify(test[features])
    assert got.columns.tolist() == ["id", "prediction", "radius", "runner_up", "critical_units"]
    assert got["id"].tolist() == test["id"].tolist()
    assert got["prediction"].tolist() == proof.prediction.tolist()
    assert got["radius"].tolist() == proof.radius.tolist()
    assert got["runner_up"].tolist() == proof.runner_up.tolist()
    assert all(
        (len(units) > 0) == (radius == 0)
        for units, radius in zip(got["critical_units"], got["radius"], strict=True)
    )
    assert {unit for units in got["critical_units"] for unit in units} <= set(clf.units_.names)


def test_csv_and_parquet_agree(partita, cancer, model, tmp_path):
    for kind in ("csv", "parquet"):
        assert (
            partita("certify", model, cancer / f"test.{kind}", "--out", tmp_path / f"{kind}.csv")[0]
            == 0
        )
    assert (tmp_path / "csv.csv").read_text() == (tmp_path / "parquet.csv").read_text()
    one = pd.read_csv(tmp_path / "csv.csv")
    assert one.columns.tolist() == ["id", "prediction", "radius", "runner_up", "critical_units"]


@pytest.mark.parametrize("name", ["new.csv", "new.parquet"])
def test_the_table_that_is_read_is_never_written_over(partita, cancer, model, tmp_path, name):
    frame = pd.read_parquet(cancer / "test.parquet")
    file = tmp_path / name
    frame.to_csv(file, index=False) if name.endswith(".csv") else frame.to_parquet(file)
    before = file.read_bytes()
    (tmp_path / "link").symlink_to(tmp_path)
    for out in (file, tmp_path / "link" / name):
        code, _, err = partita("certify", model, file, "--out", out, "--quiet")
        assert code == 2
        assert "is the table that is read, which would be lost: give another file" in err
    assert file.read_bytes() == before


def test_json_has_the_certified_shares(partita, cancer, model, tmp_path):
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


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    """A model of three labels, and rows to certify."""
    folder = tmp_path_factory.mktemp("iris")
    frame = load_iris(as_frame=True).frame
    frame["target"] = np.array(["setosa", "versicolor", "virginica"])[frame["target"]]
    frame[::2].to_csv(folder / "train.csv", index=False)
    frame[1::2].to_csv(folder / "new.csv", index=False)
    fit_model(folder / "train.csv", "target", folder / "model", 4)
    return folder


def test_label_sets_are_what_python_says(partita, iris, tmp_path):
    new, clf = pd.read_csv(iris / "new.csv"), store.load(iris / "model")
    X, truth = new.drop(columns="target"), new["target"].to_numpy()
    sets = [clf.prediction_set(X, radius) for radius in range(3)]
    asked = ("certify", iris / "model", iris / "new.csv", "--label-sets", 2)
    for name in ("c.parquet", "c.csv"):
        code, out, _ = partita(*asked, "--out", tmp_path / name)
        assert code == 0
    curve = label_set_curve(truth, sets, clf.classes_)
    shares = " ".join(f"{100 * share:5.1f}" for share in curve.coverage)
    (line,) = (line for line in out.splitlines() if "truth in label set" in line)
    assert line.split()[4:] == shares.split()
    means = f"{curve.size[1]:.2f} at r = 1, {curve.size[2]:.2f} at r = 2."
    assert f"Labels that r columns could bring about, on average: {means}" in out
    listed, joined = pd.read_parquet(tmp_path / "c.parquet"), pd.read_csv(tmp_path / "c.csv")
    for radius in (1, 2):
        expected = [clf.classes_[own].tolist() for own in sets[radius]]
        assert max(map(len, expected)) > 1
        assert [own.tolist() for own in listed[f"label_set_{radius}"]] == expected
        assert joined[f"label_set_{radius}"].tolist() == ["; ".join(own) for own in expected]
    found = json.loads(partita(*asked, "--json")[1])["label_sets"]
    assert found["size"] == pytest.approx(curve.size)
    assert found["coverage"] == pytest.approx(curve.coverage)


def test_label_sets_need_no_truth(partita, iris, tmp_path):
    pd.read_csv(iris / "new.csv").drop(columns="target").to_csv(tmp_path / "n.csv", index=False)
    asked = ("certify", iris / "model", tmp_path / "n.csv", "--label-sets", 1)
    code, out, _ = partita(*asked)
    assert (code, "could bring about, on average" in out) == (0, True)
    assert "truth in label set" not in out
    assert list(json.loads(partita(*asked, "--json")[1])["label_sets"]) == ["size"]
    assert "label_sets" not in json.loads(partita(*asked[:3], "--json")[1])


def test_label_sets_of_numbers_and_of_more_units_than_there_are_are_refused(
    partita, iris, numbers, tmp_path
):
    for model, rows, radius, message in (
        (numbers / "model.zip", numbers / "test.parquet", 1, "the predictions are numbers"),
        (iris / "model", iris / "new.csv", 5, "label_sets is 5, and there are 4 columns"),
    ):
        out = tmp_path / "c.csv"
        code, _, err = partita("certify", model, rows, "--label-sets", radius, "--out", out)
        assert (code, message in err, out.exists()) == (2, True, False)


def test_rows_without_a_truth_have_no_accuracy(partita, cancer, model):
    code, out, _ = partita("certify", model, cancer / "unlabelled.parquet", "--json")
    assert code == 0
    assert "certified_accuracy" not in json.loads(out)


def test_numbers_without_a_tolerance_have_intervals(partita, numbers, tmp_path):
    code, out, _ = partita(
        "certify", numbers / "model.zip", numbers / "test.parquet", "--out", tmp_path / "c.parquet"
    )
    assert code == 0
    assert "how many units it takes to move a prediction" in out
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


def test_a_model_from_python_can_be_asked(partita, cancer, tmp_path):
    train = pd.read_csv(cancer / "train.csv").drop(columns="id")
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(
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
        FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(
            X.to_numpy(), np.arange(len(X)) % 2
        ),
        tmp_path / "array",
    )
    code, _, err = partita("certify", tmp_path / "array", cancer / "unlabelled.parquet")
    assert (code, "array without column names" in err) == (2, True)


def test_a_truth_is_never_rounded_to_a_label(partita, tmp_path, monkeypatch):
    """A label of 1.5 is not 1."""
    monkeypatch.chdir(tmp_path)
    iris = load_iris(as_frame=True).frame
    iris.to_csv("iris.csv", index=False)
    fit_model("iris.csv", "target", "model", 4)
    iris.assign(target=iris["target"] + 0.5).to_csv("off.csv", index=False)
    code, out, _ = partita("certify", "model", "off.csv", "--json")
    assert (code, json.loads(out)["certified_accuracy"][0]) == (0, 0.0)
    iris.assign(target=iris["target"].where(iris.index > 3)).to_csv("missing.csv", index=False)
    code, out, _ = partita("certify", "model", "missing.csv", "--json")
    assert (code, "certified_accuracy" in json.loads(out)) == (0, False)
    iris.assign(target=iris["target"].astype(str) + "x").to_parquet("words.parquet", index=False)
    code, _, err = partita("certify", "model", "words.parquet")
    assert (code, "holds texts, but that of the training table numbers" in err) == (2, True)


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


def test_large_labels_are_not_mixed_up(partita, tmp_path):
    """2^53 and 2^53 + 1 are one float: a truth read as floats would count every row as right."""
    a, b = 2**53, 2**53 + 1
    frame = pd.DataFrame({f"c{k}": np.arange(80) % 2 + 0.1 * k for k in range(5)}).assign(
        y=np.where(np.arange(80) % 2, a, b)
    )
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    frame.assign(y=np.where(frame["y"] == a, b, a)).to_csv(tmp_path / "swapped.csv", index=False)
    fit_model(tmp_path / "t.parquet", "y", tmp_path / "m", 5)
    code, out, _ = partita("certify", tmp_path / "m", tmp_path / "swapped.csv", "--json")
    assert (code, json.loads(out)["certified_accuracy"][0]) == (0, 0.0)


def test_top_k_is_refused(partita, cancer, tmp_path):
    """Its radius is about staying among the top k, so certify and report, which speak of the
    prediction, refuse it."""
    train = pd.read_csv(cancer / "train.csv").drop(columns="id")
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, rule=TopK(k=1)).fit(
        train.drop(columns="diagnosis"), train["diagnosis"]
    )
    store.save(clf, tmp_path / "m")
    for command in (["certify"], ["report", "--out", tmp_path / "r.html"]):
        code, _, err = partita(
            command[0], tmp_path / "m", cancer / "unlabelled.parquet", *command[1:]
        )
        assert (code, "the model's rule is TopK" in err) == (2, True)


def test_ignored_columns_are_passed_through_unchanged(partita, tmp_path):
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


def test_a_date_can_be_the_target(partita, tmp_path):
    frame = pd.DataFrame({"a": range(40), "b": range(40), "y": pd.date_range("2020", periods=40)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit_model(tmp_path / "t.csv", "y", tmp_path / "m", 2, estimator="ridge")
    code, _, err = partita("certify", tmp_path / "m", tmp_path / "t.csv", "--tolerance", "1e9")
    assert code == 0, err
    frame.assign(y=range(40)).to_parquet(tmp_path / "n.parquet", index=False)
    code, _, err = partita("certify", tmp_path / "m", tmp_path / "n.parquet", "--tolerance", "1e9")
    assert (code, "holds numbers, but that of the training table times" in err) == (2, True)


def test_certify_warns_of_a_constant_and_says_what_one_gets(partita, constant, digits):
    code, out, _ = partita("certify", constant, digits / "new.csv")
    assert code == 0
    assert "of the predictions are 'no': this model is nearly a constant" in out
    assert "always answering 'no' is right in" in out
    found = json.loads(partita("certify", constant, digits / "new.csv", "--json")[1])
    truth = pd.read_csv(digits / "new.csv")[NINE]
    assert found["constant_answer"] == "no"
    assert found["constant_accuracy"] == pytest.approx((truth == "no").mean())
    assert found["certified_recall"]["yes"][0] < 0.05
    assert found["certified_balanced_accuracy"][0] < 0.53
    assert len(found["warnings"]) == 2
    assert 0.9 < found["full_model_accuracy"] < 1
    assert found["on_training"] is False


def test_certifying_the_training_table_is_loudly_warned_of(partita, constant, digits, tmp_path):
    _, out, _ = partita("certify", constant, digits / "train.csv")
    assert "THESE ARE THE ROWS THAT THE MODEL WAS FITTED ON" in out
    assert (
        json.loads(partita("certify", constant, digits / "train.csv", "--json")[1])["on_training"]
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
    options = ("--units", tmp_path / "u.toml", "--submodels", 5, "--estimator", "logistic")
    options += ("--no-full-model", "--quiet", "--split", "part=learn", "--out", tmp_path / "m")
    assert partita("fit", tmp_path / "t.parquet", "--target", NINE, *options)[0] == 0
    for split, same in (
        (("--split", "part=keep"), False),
        (("--split", "part=learn"), True),
        ((), True),
    ):
        found = json.loads(
            partita("certify", tmp_path / "m", tmp_path / "t.parquet", *split, "--json")[1]
        )
        assert found["on_training"] is same


@pytest.mark.parametrize(
    "method", [("--submodels", 5), ("--method", "leave-out", "--radius", 1)], ids=["vote", "out"]
)
def test_numbers_are_compared_with_a_constant_and_one_model(partita, tmp_path, method):
    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame[::2].to_parquet(tmp_path / "train.parquet", index=False)
    frame[1::2].to_parquet(tmp_path / "new.parquet", index=False)
    assert (
        partita(
            "fit",
            tmp_path / "train.parquet",
            "--target",
            "target",
            *method,
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


def test_the_certified_accuracy_is_that_of_the_metric(partita, constant, digits):
    found = json.loads(partita("certify", constant, digits / "new.csv", "--json")[1])
    frame = pd.read_csv(digits / "new.csv")
    proof = store.load(constant).certify(frame.drop(columns=NINE))
    assert found["certified_accuracy"] == [
        certified_accuracy(frame[NINE], proof, r) for r in range(len(found["certified_accuracy"]))
    ]


@pytest.fixture(scope="module")
def one_percent(tmp_path_factory):
    """Handwritten digits of which one in a hundred is an eight: a model, and rows it has not seen.

    It finds half of them and proves none.
    """
    folder = tmp_path_factory.mktemp("eights")
    digits = load_digits(as_frame=True).frame
    eights = np.flatnonzero(digits["target"] == 8)
    digits["target"] = np.where(digits["target"] == 8, "eight", "other")
    digits = digits.drop(index=eights[16:])
    train, new = train_test_split(digits, test_size=0.5, stratify=digits["target"], random_state=0)
    train.to_parquet(folder / "train.parquet", index=False)
    new.to_parquet(folder / "new.parquet", index=False)
    new.drop(columns="target").to_parquet(folder / "unlabelled.parquet", index=False)
    fit_model(folder / "train.parquet", "target", folder / "model", 9, estimator="logistic")
    return folder


def test_one_sees_at_once_that_only_the_common_label_is_certified(partita, one_percent, tmp_path):
    model = one_percent / "model"
    code, out, _ = partita("certify", model, one_percent / "new.parquet", "--json")
    found = json.loads(out)
    assert found["certified_accuracy"][2] > 0.85
    assert found["certified_recall"]["eight"][2] == 0
    assert found["warnings"][0].startswith(
        "FROM r = 2 ON, NEARLY ALL THAT IS CERTIFIED IS 'other': of the 8 rows that have another"
    )
    kept = found["kept_predictions"]
    assert kept["eight"][0] + kept["other"][0] == 820
    code, out, _ = partita("certify", model, one_percent / "new.parquet")
    text = " ".join(out.split())
    assert code == 0
    assert text.index("NEARLY ALL THAT IS CERTIFIED") < text.index("certified and right")
    for name in ("recall of eight", "precision of eight", "precision of other"):
        assert name in text
    silenced = (
        f"Of {kept['eight'][0]} rows predicted eight, {kept['eight'][1]} stay so at r = 1; of "
        f"{kept['other'][0]} predicted other, {kept['other'][0] - kept['other'][1]} may become "
        "eight."
    )
    assert silenced in text
    code, out, _ = partita("certify", model, one_percent / "unlabelled.parquet", "--json")
    without = json.loads(out)
    assert without["kept_predictions"] == kept
    assert "worst_case_precision" not in without
    partita("report", model, one_percent / "new.parquet", "--out", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert page.index("NEARLY ALL THAT IS CERTIFIED") < page.index("<h1>")


def test_a_table_without_a_sources_columns_needs_one_flag(partita, cancer, model, tmp_path):
    """Without it the message names the flag."""
    test = pd.read_parquet(cancer / "test.parquet")
    lacking = test.drop(columns=["mean texture", "texture error"])
    lacking.to_parquet(tmp_path / "without.parquet", index=False)
    lacking.to_csv(tmp_path / "without.csv", index=False)
    code, _, err = partita("certify", model, tmp_path / "without.csv")
    assert code == 2
    assert "lacks the column 'mean texture'" in err
    assert "--silent detect" in err
    for flag in ("texture", "detect"):
        for kind in ("csv", "parquet"):
            out = tmp_path / f"{flag}.{kind}"
            options = ["--silent", flag, "--out", out, "--json"]
            code, text, _ = partita("certify", model, tmp_path / f"without.{kind}", *options)
            assert code == 0
            assert json.loads(text)["silence"]["units"] == {"texture": len(test)}
    got = pd.read_parquet(tmp_path / "texture.parquet")
    features = [name for name in test if name not in ("id", "diagnosis")]
    proof = store.load(model).certify(test[features], silent=["texture"])
    assert got["prediction"].tolist() == proof.prediction.tolist()
    assert got["radius"].tolist() == proof.radius.tolist()
    assert got["silence_radius"].tolist() == proof.silence_radius.tolist()
    assert {tuple(units) for units in got["silent_units"]} == {("texture",)}
    same = pd.read_parquet(tmp_path / "detect.parquet")
    assert same["prediction"].tolist() == got["prediction"].tolist()


def test_columns_of_sources_named_silent_are_not_read(partita, cancer, model, tmp_path):
    test = pd.read_parquet(cancer / "test.parquet")
    texts = test.assign(**{"mean texture": "n/a", "texture error": "?"})
    texts.to_parquet(tmp_path / "texts.parquet", index=False)
    texts.to_csv(tmp_path / "texts.csv", index=False)
    features = [name for name in test if name not in ("id", "diagnosis")]
    proof = store.load(model).certify(test[features], silent=["texture"])
    for kind in ("csv", "parquet"):
        out = tmp_path / f"texts-out.{kind}"
        options = ["--silent", "texture", "--out", out]
        assert partita("certify", model, tmp_path / f"texts.{kind}", *options)[0] == 0
        got = pd.read_parquet(out) if kind == "parquet" else pd.read_csv(out)
        assert got["prediction"].tolist() == proof.prediction.tolist()
        assert got["radius"].tolist() == proof.radius.tolist()
    code, _, err = partita("certify", model, tmp_path / "texts.csv", "--silent", "detect")
    assert code == 2
    assert "holds '?' where a number is needed" in err


def test_silent_sources_are_told_to_people(partita, cancer, model):
    code, out, _ = partita("certify", model, cancer / "test.csv", "--silent", "worst")
    assert code == 0
    assert "Silent in 284 of 284 rows: worst (284). Up to 1 submodel abstains;" in out


def test_wrong_silent_sources_are_refused(partita, cancer, model):
    for flags, message in (
        (["--silent", "nobody"], "silent names 'nobody'"),
        (["--silent", "detect", "--silent", "worst"], "give it alone"),
    ):
        code, _, err = partita("certify", model, cancer / "test.csv", *flags)
        assert code == 2
        assert message in err
