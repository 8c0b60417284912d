"""When a prediction is right, and how near it is to being wrong."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Perceptron
from sklearn.naive_bayes import GaussianNB

from partita.deployments._truth import Scorer


def test_a_value_is_right_within_the_tolerance():
    truth = Scorer(np.array([1.0, 1.0, 1.0, 1.0]), tolerance=0.5)
    assert truth.right([0.5, 1.5, 1.6, np.nan]).tolist() == [True, True, False, False]


def test_balanced_shares_count_every_label_the_same():
    truth = Scorer(np.array(["bad", "good", "good", "good"]), balanced=True)
    assert truth.share(np.array([False, True, True, True])) == 0.5
    assert Scorer(truth.y).share(np.array([False, True, True, True])) == 0.75


def test_leads_agree_with_predictions(cancer):
    truth = Scorer(cancer.y_test)
    for model in (GaussianNB(), Perceptron()):  # with probabilities and without
        model.fit(cancer.X_train, cancer.y_train)
        right = truth.right(model.predict(cancer.X_test))
        assert np.array_equal(truth.leads(model, cancer.X_test) > 0, right)


def test_the_lead_of_a_value_is_its_distance_to_the_nearer_bound(diabetes):
    truth = Scorer(diabetes.y_test, diabetes.tolerance)
    model = LinearRegression().fit(diabetes.X_train, diabetes.y_train)
    prediction = model.predict(diabetes.X_test)
    leads = truth.leads(model, diabetes.X_test)
    assert leads == pytest.approx(60.0 - np.abs(prediction - diabetes.y_test))


def test_a_label_that_training_never_had_is_wrong(cancer):
    model = GaussianNB().fit(cancer.X_train, cancer.y_train)
    truth = Scorer(np.full(len(cancer.X_test), 7))
    assert (truth.leads(model, cancer.X_test) < 0).all()


def test_rows_are_taken_with_their_settings():
    taken = Scorer(np.array([1.0, 2.0]), 0.5, True).take(np.array([1, 1, 0]))
    assert (taken.y.tolist(), taken.tolerance, taken.balanced) == ([2.0, 2.0, 1.0], 0.5, True)
