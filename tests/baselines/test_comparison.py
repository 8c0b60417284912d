"""compare(): several methods in one table."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
    compare,
)
from partita.baselines import (
    ConstantClassifier,
    ConstantRegressor,
    RandomizedAblationClassifier,
    RowPartitionClassifier,
    SmoothingClassifier,
)
from partita.datasets import load_digits
from partita.metrics import certified_accuracy, certified_balanced_accuracy, median_radius
from partita.rules import TopK


def test_every_number_is_the_methods_own():
    X, y = load_breast_cancer(return_X_y=True)
    train, test = (X[::2], y[::2]), (X[1::2], y[1::2])
    methods = {
        "columns": FeaturePartitionClassifier(GaussianNB(), n_submodels=9),
        "gated": FeaturePartitionClassifier(GaussianNB(), n_submodels=9, fallback=GaussianNB()),
        "rows": RowPartitionClassifier(GaussianNB(), n_submodels=25, classes=[0, 1]),
        "constant": ConstantClassifier(),
    }
    table = compare(methods, *train, *test, radii=[1, 3])
    assert [row["method"] for row in table.rows] == list(methods)
    for row, method in zip(table.rows, methods.values(), strict=True):
        proof = method.fit(*train).certify(test[0])
        assert row["accuracy"] == certified_accuracy(test[1], proof, 0)
        assert row["median r"] == median_radius(test[1], proof)
        assert row["mean recall"] == certified_balanced_accuracy(test[1], proof, 0)
        assert row["mean recall at r = 3"] == certified_balanced_accuracy(test[1], proof, 3)
        assert (row["r = 1"], row["r = 3"]) == (
            certified_accuracy(test[1], proof, 1),
            certified_accuracy(test[1], proof, 3),
        )
        assert row["r counts"] == proof.counts.what
        assert row["fit"] > 0 < row["per row"]
    assert [row["covers"] for row in table.rows] == [
        "evasion, poisoned columns, backdoor",
        "evasion, poisoned columns, backdoor",
        "poisoned rows",
        "evasion, poisoned columns, backdoor, patch",
    ]
    assert {row["proof"] for row in table.rows} == {"deterministic"}
    frame = table.to_frame()
    assert frame.loc["columns", "accuracy"] == table.rows[0]["accuracy"]
    assert str(table).count("\n") == 5


def test_models_that_leave_columns_out_cover_training_unless_it_is_trusted():
    X, y = load_breast_cancer(return_X_y=True)
    train, test = (X[::2], y[::2]), (X[1::2], y[1::2])
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    attackable = LeaveOutClassifier(tree, n_groups=5)
    methods = {
        "attackable": attackable,
        "trusted": LeaveOutClassifier(tree, n_groups=5, training="trusted"),
        "search": GridSearchCV(attackable, {"radius": [1, 2]}, cv=2),
        "pipeline": make_pipeline(StandardScaler(), attackable),
    }
    table = compare(methods, *train, *test, radii=[1, 2])
    everything = "evasion, poisoned columns, backdoor"
    assert [row["covers"] for row in table.rows] == [everything, "evasion", everything, "?"]
    for row, method in list(zip(table.rows, methods.values(), strict=True))[:2]:
        proof = method.fit(*train).certify(test[0])
        for radius in (1, 2):
            assert row[f"r = {radius}"] == certified_accuracy(test[1], proof, radius)
        assert row["r = 1"] > 0.5
        assert row["r = 2"] == 0
    assert {row["r counts"] for row in table.rows} == {"columns"}


def test_published_numbers_are_marked():
    data = load_digits()
    few = (data.X_train[:300], data.y_train[:300], data.X_test[:20], data.y_test[:20])
    table = compare(
        {"constant": ConstantClassifier()}, *few, radii=[1], patch=(5, 5), published="cifar10"
    )
    assert [row["method"].split(" (")[0] for row in table.rows] == [
        "constant",
        "De-randomized smoothing",
        "BagCert",
        "Patch IBP",
    ]
    assert {row["proof"] for row in table.rows[1:]} == {"published, not run here"}
    assert all(row["accuracy"] is None and row["fit"] is None for row in table.rows[1:])
    assert "| BagCert (published: Metzen and Yatsura, ICLR 2021) |  |  |" in str(table)
    rectangles = compare(
        {"constant": ConstantClassifier()}, *few, radii=[1], patch=(2, 12), published="cifar10"
    )
    assert [row["r = 1"] for row in rectangles.rows[1:]] == [0.0, 0.4311]  # Patch IBP has none
    for arguments, message in (
        ({"published": "cifar10"}, "patch is missing"),
        ({"published": "mnist", "patch": (5, 5)}, "published is 'mnist'"),
        ({"published": "cifar10", "patch": (3, 3)}, "patch is \\(3, 3\\)"),
    ):
        with pytest.raises(InputError, match=message):
            compare({"constant": ConstantClassifier()}, *few, **arguments)


def test_images_and_chance():
    data = load_digits()
    methods = {
        "ablation": RandomizedAblationClassifier(
            keep=16, n_select=50, n_certify=200, alpha=0.05, epochs=3
        ),
        "smoothing": SmoothingClassifier(data.image_shape, size=2, epochs=2),
    }
    few = (data.X_train[:300], data.y_train[:300], data.X_test[:20], data.y_test[:20])
    with pytest.raises(InputError, match="patch is missing"):
        compare(methods, *few)
    table = compare(methods, *few, radii=[1], patch=(2, 1))
    assert [row["proof"] for row in table.rows] == ["with probability", "deterministic"]
    assert [row["covers"] for row in table.rows] == ["evasion", "patch"]


def test_numbers():
    X, y = load_diabetes(return_X_y=True)
    methods = {
        "partition": FeaturePartitionRegressor(Ridge(), n_submodels=5),
        "constant": ConstantRegressor(),
        "leave-out": LeaveOutRegressor(Ridge(), radius=2, n_groups=6),
    }
    table = compare(methods, X[::2], y[::2], X[1::2], y[1::2], relative=0.4, radii=[2])
    inside = np.abs(np.median(y[::2]) - y[1::2]) <= 0.4 * y[1::2]
    assert (
        table.rows[1]["accuracy"]
        == table.rows[1]["r = 2"]
        == pytest.approx(inside.mean(), abs=0.02)
    )
    assert table.rows[0]["accuracy"] >= table.rows[0]["r = 2"]
    proof = methods["leave-out"].fit(X[::2], y[::2]).certify(X[1::2], around=y[1::2], relative=0.4)
    assert table.rows[2]["r = 2"] == certified_accuracy(y[1::2], proof, 2) > 0
    assert table.rows[2]["covers"] == table.rows[0]["covers"]


def test_a_plain_estimator_is_a_baseline_that_proves_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    labels = np.where(y, "benign", "malignant")
    train, test = (X[::2], labels[::2]), (X[1::2], labels[1::2])
    plain = make_pipeline(StandardScaler(), LogisticRegression())
    partition = FeaturePartitionClassifier(GaussianNB(), n_submodels=9)
    table = compare({"one model": plain, "partition": partition}, *train, *test, radii=[1, 3])
    line, other = table.rows
    prediction = plain.fit(*train).predict(X[1::2])
    assert list(line) == list(other)
    assert line["accuracy"] == accuracy_score(test[1], prediction)
    assert line["mean recall"] == pytest.approx(balanced_accuracy_score(test[1], prediction))
    assert line["r = 1"] == line["r = 3"] == line["mean recall at r = 3"] == 0.0
    assert line["median r"] == 0.0
    assert (line["covers"], line["proof"], line["r counts"]) == ("nothing", "none", "nothing")
    assert line["fit"] > 0 < line["per row"]
    assert other["r = 1"] > 0
    assert "| nothing | none |" in str(table)


def test_a_plain_regressor_is_right_within_the_tolerance():
    X, y = load_diabetes(return_X_y=True)
    plain = Ridge(alpha=0.1)
    (line,) = compare(
        {"ridge": plain}, X[::2], y[::2], X[1::2], y[1::2], tolerance=40, radii=[1]
    ).rows
    prediction = plain.fit(X[::2], y[::2]).predict(X[1::2])
    assert line["accuracy"] == np.mean(np.abs(prediction - y[1::2]) <= 40)
    assert 0 < line["accuracy"] < 1
    assert line["r = 1"] == 0.0
    assert "mean recall" not in line
    with pytest.raises(InputError, match="tolerance, or relative"):
        compare({"ridge": plain}, X[::2], y[::2], X[1::2], y[1::2])


def test_a_method_at_the_end_of_a_pipeline_or_a_search_is_certified():
    X, y = load_breast_cancer(return_X_y=True)
    train, test = (X[::2], y[::2]), (X[1::2], y[1::2])
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9)
    pipeline = make_pipeline(StandardScaler(), clf)
    search = GridSearchCV(clf, {"n_submodels": [9]}, cv=2)
    top = FeaturePartitionClassifier(GaussianNB(), n_submodels=9, rule=TopK(1))
    rows = compare(
        {"alone": clf, "pipeline": pipeline, "search": search, "top": top}, *train, *test, radii=[2]
    ).rows
    proof = pipeline.fit(*train)[-1].certify(pipeline[:-1].transform(X[1::2]))
    assert rows[1]["r = 2"] == certified_accuracy(test[1], proof, 2) > 0
    assert rows[2]["r = 2"] == rows[0]["r = 2"] > 0
    assert (
        rows[3]["r = 2"]
        == certified_accuracy(test[1], top.fit(*train).certify(X[1::2], labels=test[1]), 2)
        > 0
    )
    known = "evasion, poisoned columns, backdoor"
    assert [row["covers"] for row in rows] == [
        known,
        "?",
        known,
        known,
    ]  # of the scaler nothing is known


def test_a_constant_that_is_often_right_is_seen_in_its_mean_recall():
    X, y = load_breast_cancer(return_X_y=True)
    (line,) = compare(
        {"constant": ConstantClassifier()}, X[::2], y[::2], X[1::2], y[1::2], radii=[4]
    ).rows
    assert line["accuracy"] == line["r = 4"] > 0.6
    assert line["mean recall"] == line["mean recall at r = 4"] == 0.5


def test_nothing_to_compare():
    with pytest.raises(InputError, match="methods is empty"):
        compare({}, [], [], [], [])


@pytest.mark.parametrize(
    ("training", "covers"),
    [
        ("trusted", "patch"),
        pytest.param("attackable", "patch, patch at its place in training", marks=pytest.mark.long),
    ],
)
def test_windows_left_out_cover_patches_and_with_attackable_training_those_in_training(
    training, covers
):
    pytest.importorskip("torch")
    from partita.vision import LeaveOutImageClassifier

    data = load_digits()
    clf = LeaveOutImageClassifier(
        data.image_shape,
        (2, 2),
        windows=3,
        training=training,
        network="network_in_network",
        epochs=1,
        device="cpu",
        verbose=0,
    )
    rows = (data.X_train[:16], data.y_train[:16], data.X_test[:4], data.y_test[:4])
    (line,) = compare({"windows": clf}, *rows, radii=[1]).rows
    assert (line["covers"], line["r counts"]) == (covers, "patches of 2 x 2 pixels")
    assert line["proof"] == "deterministic"
