"""The regressor's own questions: bounds, tolerances, intervals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionRegressor, InputError
from partita.metrics import certified_accuracy
from partita.rules import Median, Plurality

X, Y = load_diabetes(return_X_y=True)
REG = FeaturePartitionRegressor(Ridge(), n_submodels=7).fit(X, Y)


def test_the_prediction_is_the_lower_median():
    votes = REG.ballots(X)
    assert votes.dtype == np.float64
    assert votes.shape == (442, 7)
    assert np.array_equal(REG.predict(X), np.sort(votes, axis=1)[:, 3])


def test_bounds_tolerances_and_shares_agree():
    prediction = REG.predict(X)
    by_bounds = REG.certify(X, lower=prediction - 20, upper=prediction + 20)
    assert np.array_equal(REG.certify(X, tolerance=20).radius, by_bounds.radius)
    assert np.array_equal(REG.certify(X, tolerance=np.full(len(X), 20)).radius, by_bounds.radius)
    assert np.array_equal(by_bounds.prediction, prediction)
    assert by_bounds.runner_up is None
    around = REG.certify(X, around=Y, relative=0.2)
    expected = REG.certify(X, lower=Y - 0.2 * np.abs(Y), upper=Y + 0.2 * np.abs(Y))
    assert np.array_equal(around.radius, expected.radius)
    assert np.array_equal(around.radius >= 0, np.abs(prediction - Y) <= 0.2 * Y)
    assert certified_accuracy(Y, around, 0) == np.mean(around.radius >= 0)


def test_a_relative_tolerance_of_negative_values_uses_their_size():
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(X, -Y)
    proof = reg.certify(X, around=-Y, relative=0.3)
    assert np.array_equal(proof.radius >= 0, np.abs(reg.predict(X) + Y) <= 0.3 * Y)


def test_an_infinite_bound_always_holds():
    assert np.all(REG.certify(X, lower=-np.inf, upper=np.inf).radius == 10)  # all columns
    assert np.array_equal(
        REG.certify(X, upper=150).radius, REG.certify(X, lower=-np.inf, upper=150).radius
    )


def test_intervals_and_radii_tell_the_same():
    proof = REG.certify(X, tolerance=25)
    for r in range(4):
        low, high = REG.interval(X, radius=r)
        inside = (low >= proof.prediction - 25) & (high <= proof.prediction + 25)
        assert np.array_equal(inside, proof.radius >= r)
    low, high = REG.interval(X, radius=4)
    assert np.all(np.isinf(low) & np.isinf(high))


def test_stretch_uses_the_median_target():
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=7, rule=Median(stretch=1.5)).fit(X, Y)
    centre = np.median(Y)
    assert reg.rule_.centre == centre
    assert reg.rule.centre is None
    assert np.allclose(reg.predict(X), centre + 1.5 * (REG.predict(X) - centre))


def test_certificates_come_back_in_the_frame_library_of_the_table():
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    proof = FeaturePartitionRegressor(n_submodels=3).fit(frame, Y).certify(frame, tolerance=10)
    assert list(proof.to_frame().columns) == ["prediction", "radius"]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, "needs to know what must hold"),
        ({"tolerance": 1, "relative": 0.1}, "only one of the three"),
        ({"tolerance": -1}, "tolerance must be a number, 0 or above"),
        ({"relative": np.nan}, "relative must be a number"),
        ({"tolerance": [1, 2]}, "tolerance must be a number"),
        (
            {"tolerance": 1, "around": [1, 2]},
            "around must hold one finite number for each of the 442 rows",
        ),
        ({"lower": 0, "upper": 1, "around": Y}, "around goes with tolerance"),
        ({"lower": 2, "upper": 1}, "lower is above upper"),
    ],
)
def test_wrong_bounds_are_named(question, message):
    with pytest.raises(InputError, match=message):
        REG.certify(X, **question)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rule": Plurality()}, "which is for classification"),
        ({"rule": Median(stretch=0)}, "stretch is 0"),
        ({"estimator": DecisionTreeClassifier()}, "DecisionTreeClassifier is a classifier"),
        ({"n_submodels": 11}, "only 10 columns"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        FeaturePartitionRegressor(**settings).fit(X, Y)


def test_a_target_of_texts_is_refused():
    with pytest.raises(InputError, match="y holds values that are not numbers"):
        FeaturePartitionRegressor().fit(X, np.full(len(X), "high"))


def test_values_that_are_no_numbers_get_the_centre():
    class Wild(Ridge):
        def predict(self, X):
            return np.where(X[:, 0] > 0, np.nan, np.inf)

    votes = FeaturePartitionRegressor(Wild(), n_submodels=3).fit(X, Y).ballots(X)
    assert np.all(votes == np.median(Y))


def test_where_submodels_share_units_a_radius_counts_units():
    """Ballots bring the reach of the units: rules without it would count submodels."""
    X, y = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5, spread=2).fit(X[::2], y[::2])
    values, reach = reg.ballots(X[1::2]).scores, reg.partition_.incidence()
    proof = reg.certify(X[1::2], tolerance=20)
    low, high = proof.prediction - 20, proof.prediction + 20
    expected = reg.rule_.certify(values, low, high, reach=reach).radius
    alone = reg.rule_.certify(values, low, high).radius
    assert np.array_equal(proof.radius, expected)
    assert (expected < alone).any()  # a unit reaches two submodels
    for radius in (1, 2):
        ends = reg.interval(X[1::2], radius)
        assert np.array_equal(ends, reg.rule_.interval(values, radius, reach))
        assert not np.array_equal(ends, reg.rule_.interval(values, radius))
