"""Claims: what is certified of rows, and what breaks it."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError
from partita.attacks._claims import Claims
from partita.rules import TopK


def test_labels_break_when_they_change(arrays):
    X, y, X_test, y_test = arrays
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    claims = Claims(model, X_test[:30], y_test[:30])
    proof = model.certify(X_test[:30])
    assert np.array_equal(claims.radius, proof.radius)
    assert not claims.broken(proof.prediction).any()
    assert claims.broken(1 - proof.prediction).all()
    assert claims.broken_at(3, np.array([0, 1])).sum() == 1
    right = proof.prediction == y_test[:30]
    assert np.array_equal(claims.correct(proof.prediction), right)
    assert np.array_equal(claims.correct_radius, np.where(right, proof.radius, -np.inf))
    again = claims.certify(claims.ballots)
    assert np.array_equal(again[0], proof.prediction)
    assert np.array_equal(again[1], proof.radius)


def test_values_break_beyond_the_tolerance(arrays):
    X, _, X_test, _ = arrays
    model = FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(X[:, 1:], X[:, 0])
    claims = Claims(model, X_test[:30, 1:], X_test[:30, 0], tolerance=0.5)
    assert not claims.broken(claims.prediction + 0.4).any()
    assert claims.broken(claims.prediction + 0.6).all()
    assert claims.broken_at(2, claims.prediction[2] + np.array([0.0, 1.0])).tolist() == [
        False,
        True,
    ]
    with pytest.raises(InputError, match="tolerance is missing"):
        Claims(model, X_test[:30, 1:])


def test_top_k_is_refused(arrays):
    X, y, X_test, _ = arrays
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, rule=TopK(1)).fit(X, y)
    with pytest.raises(InputError, match="the model's rule is TopK"):
        Claims(model, X_test[:30])
