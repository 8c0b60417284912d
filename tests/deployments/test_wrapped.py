"""A model behind a treatment is asked for what it predicts."""

import numpy as np
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB

from partita.deployments._wrapped import Wrapped


def test_without_a_treatment_it_is_the_model_itself(cancer):
    wrapped = Wrapped(GaussianNB()).fit(cancer.X_train, cancer.y_train)
    model = GaussianNB().fit(cancer.X_train, cancer.y_train)
    assert np.array_equal(wrapped.predict(cancer.X_test), model.predict(cancer.X_test))
    assert np.array_equal(wrapped.predict_proba(cancer.X_test), model.predict_proba(cancer.X_test))
    assert np.array_equal(wrapped.classes_, [0, 1])


def test_it_has_probabilities_where_the_model_has():
    assert hasattr(Wrapped(GaussianNB()), "predict_proba")
    assert not hasattr(Wrapped(Perceptron()), "predict_proba")
