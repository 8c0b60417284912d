"""Answers as JSON: labels of any type, intervals without an end, what is proven."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
    serve,
)
from partita.rules import TopK

from .client import CANCER, DIABETES, PROGRESSION, TUMOUR, ask, rows_of, strict


@pytest.mark.parametrize(
    "names",
    [
        ["no", "yes"],
        [False, True],
        [3, 4],
        [1.0, 2.0],
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]"),
    ],
    ids=["texts", "booleans", "integers", "floats", "dates"],
)
def test_labels_of_any_type_are_json(names):
    frame = CANCER.iloc[:, :4]
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(
        frame, np.asarray(names)[TUMOUR]
    )
    told = strict(ask(serve.make_app(model), {"rows": rows_of(frame)}))["rows"]
    plain = [str(name) for name in names] if isinstance(names, np.ndarray) else names
    position = {str(name): plain[k] for k, name in enumerate(model.classes_)}
    assert [row["prediction"] for row in told] == [
        position[str(label)] for label in model.predict(frame)
    ]
    assert (
        {type(row["prediction"]) for row in told}
        == {type(row["runner_up"]) for row in told}
        == {type(plain[0])}
    )


def test_what_is_proven_is_named(regressor):
    frame = CANCER.iloc[:, :4]
    top = FeaturePartitionClassifier(GaussianNB(), n_submodels=3, rule=TopK(1)).fit(frame, TUMOUR)
    with pytest.raises(InputError, match="the model's rule is TopK"):
        serve.make_app(top)
    without = ask(serve.make_app(regressor), {"rows": rows_of(DIABETES[:1])}).json()
    row = without["rows"][0]
    assert (without["proves"], row["radius"], row["critical_units"]) == (None, None, None)
    assert list(row["intervals"]) == ["1", "2"]
    within = ask(serve.make_app(regressor, relative=0.2), {"rows": rows_of(DIABETES)}).json()
    assert within["proves"] == "the prediction moves by at most 0.2 times its absolute value"
    assert [row["radius"] for row in within["rows"]] == regressor.certify(
        DIABETES, relative=0.2
    ).radius.tolist()


def test_values_of_models_that_leave_columns_out_have_intervals_up_to_their_radius():
    model = LeaveOutRegressor(Ridge(), radius=2, n_groups=6).fit(DIABETES, PROGRESSION)
    told = strict(ask(serve.make_app(model, tolerance=20), {"rows": rows_of(DIABETES[:40])}))
    assert told["proves"] == "the prediction moves by at most 20"
    proof = model.certify(DIABETES[:40], tolerance=20)
    assert [row["radius"] for row in told["rows"]] == proof.radius.tolist()
    for radius in (1, 2):
        low, high = model.interval(DIABETES[:40], radius)
        ends = [row["intervals"][str(radius)] for row in told["rows"]]
        assert ends == np.stack([low, high], axis=1).tolist()
    assert {tuple(row["intervals"]) for row in told["rows"]} == {("1", "2")}


def test_the_training_table_is_trusted_where_units_are_masked():
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = LeaveOutClassifier(tree, trusted=["mean texture"], n_groups=4, training="trusted").fit(
        CANCER, TUMOUR
    )
    app = serve.make_app(model)
    told = strict(ask(app, {"rows": rows_of(CANCER[:50])}))
    assert told["proves"] == (
        "the prediction stays the same, if no attacker has touched the training table"
    )
    assert told["counts"]["trusted"] == ["mean texture", "the training table"]
    assert [row["radius"] for row in told["rows"]] == model.certify(CANCER[:50]).radius.tolist()
    health = strict(ask(app, b"", "/health", "GET"))
    assert (health["submodels"], health["proves"]) == (1, told["proves"])


def test_an_interval_without_an_end_is_null():
    model = FeaturePartitionRegressor(Ridge(), n_submodels=4).fit(DIABETES, PROGRESSION)
    row = strict(ask(serve.make_app(model), {"rows": rows_of(DIABETES[:1])}))["rows"][0]
    low, high = row["intervals"]["2"]
    assert low is None
    assert high == model.interval(DIABETES[:1], 2)[1][0]


def test_a_row_of_the_fallback_hangs_on_every_unit():
    frame = CANCER.iloc[:, :9]
    model = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=5, fallback=DecisionTreeClassifier(max_depth=3)
    ).fit(frame, TUMOUR)
    told = strict(ask(serve.make_app(model), {"rows": rows_of(frame)}))["rows"]
    proof, ballots = model.certify(frame), model.ballots(frame)
    rows = ballots.rule.by_fallback(ballots)
    assert 0 < rows.sum() < len(rows)
    assert [row["prediction"] for row in told] == proof.prediction.tolist()
    assert [row["radius"] for row in told] == proof.radius.tolist()
    assert all(
        row["critical_units"] == list(frame)
        for row, closed in zip(told, rows, strict=True)
        if closed
    )
