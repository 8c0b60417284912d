"""When a prediction is right, and how near it is to being wrong."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Perceptron
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionRegressor
from partita.attacks import Scorer


def test_a_value_is_right_within_the_tolerance():
    truth = Scorer(np.array([1.0, 1.0, 1.0, 1.0]), tolerance=0.5)
    assert truth.right([0.5, 1.5, 1.6, np.nan]).tolist() == [True, True, False, False]


@pytest.mark.parametrize("tolerance", [0.1, 0.3, 1 / 3, 0.7])
def test_right_at_the_tolerance_is_what_certificates_say(tolerance):
    """To the last bit: y +- 0.3 is rounded, and so is the distance from y."""
    rng = np.random.default_rng(0)
    y = np.round(rng.uniform(-5, 5, 400), 1)
    X = np.column_stack([y, y, y])
    clf = FeaturePartitionRegressor(LinearRegression(), n_submodels=3, n_jobs=1).fit(X, y)
    steps = rng.integers(-2, 3, 400) * np.spacing(np.abs(y) + tolerance)
    prediction = y + rng.choice([-1, 1], 400) * tolerance + steps
    scorer = Scorer(y, tolerance)
    right = scorer.right(prediction)
    assert 100 < right.sum() < 300
    assert np.array_equal(right, clf.correct(prediction, y, tolerance))
    ballots = clf.ballots_from(np.repeat(prediction[:, None], 3, axis=1))
    around = clf.certificates(ballots, clf.statement(prediction, tolerance, around=y))
    assert np.array_equal(right, around.correct(y))
    by_distance = np.abs(prediction - y) <= tolerance
    assert (right != by_distance).any()  # the definition that disagrees


def test_a_row_is_right_as_long_as_its_lead_is_not_below_zero():
    rng = np.random.default_rng(0)
    y = np.round(rng.uniform(-5, 5, 400), 1)
    steps = rng.integers(-2, 3, 400) * np.spacing(np.abs(y) + 0.3)

    class Boundary:
        def predict(self, X):
            return y + np.where(np.arange(400) % 2, 0.3, -0.3) + steps

    scorer = Scorer(y, 0.3)
    right = scorer.right(Boundary().predict(None))
    assert 0 < right.sum() < 400
    assert np.array_equal(scorer.leads(Boundary(), None) >= 0, right)


def test_shares_count_rows_by_their_weights():
    truth = Scorer(np.array(["bad", "good", "good", "good"]), weights=np.array([3, 1, 1, 1]))
    assert truth.share(np.array([False, True, True, True])) == 0.5
    assert Scorer(truth.y).share(np.array([False, True, True, True])) == 0.75


def test_leads_agree_with_predictions(tumours):
    truth = Scorer(tumours.y_test)
    for model in (GaussianNB(), Perceptron()):  # with probabilities and without
        model.fit(tumours.X_train, tumours.y_train)
        right = truth.right(model.predict(tumours.X_test))
        assert np.array_equal(truth.leads(model, tumours.X_test) > 0, right)


def test_the_lead_of_a_value_is_its_distance_to_the_nearer_bound(diabetes):
    truth = Scorer(diabetes.y_test, diabetes.tolerance)
    model = LinearRegression().fit(diabetes.X_train, diabetes.y_train)
    prediction = model.predict(diabetes.X_test)
    leads = truth.leads(model, diabetes.X_test)
    assert leads == pytest.approx(60.0 - np.abs(prediction - diabetes.y_test))


def test_a_label_that_training_never_had_is_wrong(tumours):
    model = GaussianNB().fit(tumours.X_train, tumours.y_train)
    truth = Scorer(np.full(len(tumours.X_test), 7))
    assert (truth.leads(model, tumours.X_test) < 0).all()


def test_rows_are_taken_with_their_settings():
    taken = Scorer(np.array([1.0, 2.0]), 0.5, np.array([3, 4])).take(np.array([1, 1, 0]))
    assert (taken.y.tolist(), taken.tolerance) == ([2.0, 2.0, 1.0], 0.5)
    assert taken.weights.tolist() == [4, 4, 3]
