"""The benchmark of what users would do instead: every model does what its name says."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from partita.ensemble import TableBoostingClassifier, TableBoostingRegressor

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "alternatives.py"
spec = importlib.util.spec_from_file_location("alternatives", FILE)
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)
AblatedSources, AttackedRows, CollectedBatches = (
    bench.AblatedSources,
    bench.AttackedRows,
    bench.CollectedBatches,
)
MedianForOutliers, RobustColumns = bench.MedianForOutliers, bench.RobustColumns
SourceDropout, Wrapped = bench.SourceDropout, bench.Wrapped
PLAIN, ATTACKED_ROWS, alternatives = bench.PLAIN, bench.ATTACKED_ROWS, bench.alternatives
SMALL = TableBoostingClassifier(max_iter=10)
TRAINING = pd.DataFrame({"a": np.arange(101.0), "b": np.arange(101.0) * 10, "text": ["x"] * 101})
Y = np.arange(101) % 2


def test_without_a_treatment_it_is_the_model_itself(tumours):
    wrapped = Wrapped(GaussianNB()).fit(tumours.X_train, tumours.y_train)
    model = GaussianNB().fit(tumours.X_train, tumours.y_train)
    assert np.array_equal(wrapped.predict(tumours.X_test), model.predict(tumours.X_test))
    assert np.array_equal(
        wrapped.predict_proba(tumours.X_test), model.predict_proba(tumours.X_test)
    )
    assert np.array_equal(wrapped.classes_, [0, 1])


def test_it_has_probabilities_where_the_model_has():
    assert hasattr(Wrapped(GaussianNB()), "predict_proba")
    assert not hasattr(Wrapped(Perceptron()), "predict_proba")


def test_outliers_become_the_training_median():
    model = MedianForOutliers(TableBoostingClassifier(), share=0.05).fit(TRAINING, Y)
    rows = pd.DataFrame({"a": [4.0, 5.0, 1e9], "b": [np.nan, 960.0, 300.0], "text": list("xyz")})
    treated = model._treat(rows)
    assert treated["a"].tolist() == [50.0, 5.0, 50.0]
    assert treated["b"].tolist()[1:] == [500.0, 300.0]
    assert np.isnan(treated["b"][0])
    assert treated["text"].tolist() == list("xyz")


def test_robust_columns_are_scaled_by_quartiles_and_clipped():
    model = RobustColumns(TableBoostingClassifier(), limit=2.0).fit(TRAINING, Y)
    rows = pd.DataFrame({"a": [50.0, 100.0, -1e9], "b": [500.0, np.nan, 1e9], "text": ["x"] * 3})
    treated = model._treat(rows)
    assert treated["a"].tolist() == [0.0, 1.0, -2.0]
    assert treated["b"].tolist()[::2] == [0.0, 2.0]
    assert list(treated.columns) == ["a", "b", "text"]


def test_a_column_without_width_is_not_scaled():
    X = pd.DataFrame({"a": [1.0] * 9 + [5.0]})
    model = RobustColumns(DecisionTreeClassifier()).fit(X, np.arange(10) % 2)
    assert model._treat(X)["a"].tolist() == [0.0] * 9 + [3.0]


@pytest.mark.parametrize("kind", [MedianForOutliers, RobustColumns])
def test_training_rows_are_treated_too(kind, tumours):
    model = kind(TableBoostingClassifier()).fit(tumours.X_train, tumours.y_train)
    direct = TableBoostingClassifier().fit(model._treat(tumours.X_train), tumours.y_train)
    expected = direct.predict_proba(model._treat(tumours.X_test))
    assert np.array_equal(model.predict_proba(tumours.X_test), expected)
    assert (model.predict(tumours.X_test) == tumours.y_test).mean() > 0.9


def test_whole_sources_are_missing_in_copies_and_never_in_the_rows_themselves():
    X = pd.DataFrame({"a": np.arange(400.0), "b": np.arange(400.0), "c": ["x", "y"] * 200})
    units = {"first": ("a", "b"), "second": ("c",)}
    model = SourceDropout(TableBoostingClassifier(), units, share=0.25, copies=2)
    table, y = model._learn(X, np.arange(400))
    assert np.array_equal(y, np.tile(np.arange(400), 3))
    pd.testing.assert_frame_equal(table[:400].reset_index(drop=True), X)
    gone = table[400:].isna()
    assert (gone["a"] == gone["b"]).all()
    assert 0.15 < gone["a"].mean() < 0.35
    assert 0.15 < gone["c"].mean() < 0.35
    kept = table[400:]["a"].dropna()
    assert np.array_equal(kept, y[400:][~gone["a"].to_numpy()])


def test_attacked_rows_are_added_with_their_own_labels(tumours):
    model = AttackedRows(TableBoostingClassifier(max_iter=10), tumours.units, rounds=2)
    table, y = model._learn(tumours.X_train, tumours.y_train)
    n_rows, rows = len(tumours.X_train), min(ATTACKED_ROWS, len(tumours.X_train))
    assert len(table) == len(y) == n_rows + 2 * rows
    pd.testing.assert_frame_equal(
        table[:n_rows].reset_index(drop=True), tumours.X_train.reset_index(drop=True)
    )
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.permutation(n_rows)[:rows])  # the first round's
    added = table[n_rows : n_rows + rows].to_numpy()
    honest = tumours.X_train.to_numpy()[chosen]
    sources = [[table.columns.get_loc(name) for name in own] for own in tumours.units.values()]
    differs = np.column_stack(
        [~np.isclose(added[:, own], honest[:, own], equal_nan=True).all(axis=1) for own in sources]
    )
    assert differs.sum(axis=1).max() == 1  # radius 1
    assert differs.any(axis=1).mean() > 0.5
    assert np.array_equal(y[n_rows : n_rows + rows], tumours.y_train[chosen])


def test_batches_are_fitted_at_once():
    rng = np.random.default_rng(0)
    X, y = rng.random((100, 3)), np.arange(100) % 2
    batches = CollectedBatches(SMALL)
    for half in (slice(50), slice(50, 100)):
        batches.partial_fit(X[half], y[half], classes=[0, 1])
    whole = TableBoostingClassifier(max_iter=10).fit(X, y)
    assert np.array_equal(batches.predict(X), whole.predict(X))
    assert not batches.batches_


@pytest.fixture(scope="module")
def model(tumours):
    return AblatedSources(SMALL, tumours.units, n_draws=200).fit(tumours.X_train, tumours.y_train)


def test_labels_are_predicted_and_certified_by_source(model, tumours):
    X, y = tumours.X_test[:40], tumours.y_test[:40]
    assert model.model_.keep_ == 2
    assert len(model.model_.units_) == 10
    assert (model.predict(X) == y).mean() > 0.8
    proof = model.certify(X)
    assert proof.counts.total == 10
    assert (proof.radius >= 1).mean() > 0.4


def test_shares_are_those_of_other_draws_than_the_prediction(model, tumours):
    X = tumours.X_test[:40]
    shares = model.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1)
    decided = model.classes_[shares.argmax(axis=1)] == model.predict(X)
    assert decided.mean() > 0.8
    scaled, _ = model.model_._rows_to_predict(model._numbers(X))
    known = model.model_._votes(scaled, model.n_probes, 1) / model.n_probes  # the selection's
    assert not np.array_equal(shares, known)


def test_texts_missing_values_and_trusted_columns_are_taken():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame(
        {
            "a": np.where(rng.random(200) < 0.2, np.nan, y + rng.random(200)),
            "b": np.array(["low", "high"])[y],
            "c": np.full(200, np.nan),
            "d": rng.random(200),
        }
    )
    units = {name: (name,) for name in "abc"}
    model = AblatedSources(SMALL, units, trusted=("d",), keep=1).fit(X, y)
    assert model.model_.units_.trusted == (3,)
    rows = X[:20].assign(b=[None, "never seen"] * 10)
    assert len(model.predict(rows)) == 20


def test_values_are_predicted_and_certified(diabetes):
    model = AblatedSources(
        TableBoostingRegressor(max_iter=10), diabetes.units, of_values=True, n_draws=50
    )
    model.fit(diabetes.X_train, diabetes.y_train)
    assert not hasattr(model, "predict_proba")
    proof = model.certify(diabetes.X_test[:20], tolerance=100.0, around=diabetes.y_test[:20])
    assert proof.of_values
    assert (proof.radius >= 0).mean() > 0.5


def test_the_plain_model_comes_first_and_partita_last(tumours):
    names = list(alternatives(tumours.units))
    assert names[0] == PLAIN
    assert [name for name in names if name.startswith("partita")] == names[-2:]
    assert isinstance(alternatives(tumours.units)[PLAIN], TableBoostingClassifier)


@pytest.mark.parametrize(
    ("data", "learner"),
    [
        ("tumours", TableBoostingClassifier(max_iter=10)),
        ("diabetes", TableBoostingRegressor(max_iter=20)),
    ],
)
def test_all_of_them_learn_around_the_given_learner(data, learner, request):
    deployment = request.getfixturevalue(data)
    for name, model in alternatives(
        deployment.units, tolerance=deployment.tolerance, estimator=learner
    ).items():
        fitted = clone(model).fit(deployment.X_train, deployment.y_train)
        prediction = fitted.predict(deployment.X_test)
        if deployment.tolerance is None:
            assert (prediction == deployment.y_test).mean() > 0.8, name
        else:
            errors = np.abs(
                np.stack([prediction, np.full_like(prediction, 140)]) - deployment.y_test
            )
            assert errors[0].mean() < errors[1].mean(), name  # 140: the median
        inside = model if name == PLAIN else model.estimator
        assert inside is learner, name
