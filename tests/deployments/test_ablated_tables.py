"""Randomized ablation of sources, on tables with texts and missing values."""

import numpy as np
import pandas as pd
import pytest

from partita.deployments._ablated_tables import AblatedSources, CollectedBatches
from partita.ensemble import TableBoostingClassifier, TableBoostingRegressor

SMALL = TableBoostingClassifier(max_iter=10)


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
def model(cancer):
    return AblatedSources(SMALL, cancer.units, n_draws=200).fit(cancer.X_train, cancer.y_train)


def test_labels_are_predicted_and_certified_by_source(model, cancer):
    X, y = cancer.X_test[:40], cancer.y_test[:40]
    assert model.model_.keep_ == 2
    assert len(model.model_.units_) == 10
    assert (model.predict(X) == y).mean() > 0.8
    proof = model.certify(X)
    assert proof.counts.total == 10
    assert (proof.radius >= 1).mean() > 0.4


def test_shares_are_those_of_other_draws_than_the_prediction(model, cancer):
    X = cancer.X_test[:40]
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
