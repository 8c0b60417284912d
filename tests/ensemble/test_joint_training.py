"""Estimators that train all submodels at once."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError, SubmodelError
from partita.ensemble._plan import trains_jointly
from partita.ensemble._submodels import LOWEST

X, Y = load_wine(return_X_y=True)


class Fitted(list):
    """Submodels that score together."""

    def scores(self, X):
        return np.stack([model.predict_log_proba(X[:, own]) for own, model in self], axis=1)

    @property
    def classes_(self):
        return self[0][1].classes_


class Joint(ClassifierMixin, BaseEstimator):
    """Trains a Gaussian model on each set of columns, in one call."""

    def __init__(self, lose=0, failure=None):
        self.lose = lose
        self.failure = failure

    def fit(self, X, y):
        raise AssertionError("fit_submodels is there")

    def predict_proba(self, X):
        raise AssertionError("scores is there")

    predict = predict_proba

    def fit_submodels(self, X, y, columns, seeds):
        if self.failure:
            raise self.failure
        assert len(set(seeds)) == len(columns)
        fitted = [(own, GaussianNB().fit(X[:, own], y)) for own in columns]
        y[:] = 0  # the labels are a copy
        return Fitted(fitted[self.lose :])


def test_one_call_fits_all_submodels_on_their_own_columns():
    clf = FeaturePartitionClassifier(Joint(), n_submodels=5).fit(X, Y)
    apart = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, Y)
    assert trains_jointly(Joint())
    assert not trains_jointly(GaussianNB())
    floor = np.log(1e-9)
    assert np.allclose(np.maximum(clf.ballots(X), floor), apart.ballots(X), atol=1e-5)
    assert clf.rule_.margin == 0.25  # joint scores are log-probabilities


def test_a_class_that_no_submodel_saw_has_the_lowest_score():
    clf = FeaturePartitionClassifier(Joint(), n_submodels=5, classes=[0, 1, 2, 9]).fit(X, Y)
    assert np.all(clf.ballots(X)[:, :, 3] == LOWEST)


@pytest.mark.parametrize(
    ("settings", "weights", "message"),
    [
        ({}, np.ones(len(Y)), "sample_weight cannot reach Joint"),
        (
            {"label_attacks": "rows", "classes": [0, 1, 2]},
            None,
            "label_attacks is not supported with Joint",
        ),
        ({"on_failure": "vote"}, None, "on_failure='vote' is not supported with Joint"),
    ],
)
def test_what_joint_training_cannot_promise_is_refused(settings, weights, message):
    weighted = {} if weights is None else {"sample_weight": weights}
    with pytest.raises(InputError, match=message):
        FeaturePartitionClassifier(Joint(), n_submodels=3, **settings).fit(X, Y, **weighted)


def test_a_failure_names_the_estimator():
    with pytest.raises(SubmodelError, match="Joint could not fit its 3 submodels: no luck"):
        FeaturePartitionClassifier(Joint(failure=ValueError("no luck")), n_submodels=3).fit(X, Y)
    with pytest.raises(InputError, match="X is too wide"):
        FeaturePartitionClassifier(Joint(failure=InputError("X is too wide"))).fit(X, Y)
    with pytest.raises(SubmodelError, match="gave 2 submodels for 3 sets of columns"):
        FeaturePartitionClassifier(Joint(lose=1), n_submodels=3).fit(X, Y)


def test_a_fallback_is_fitted_beside_joint_submodels():
    plain = FeaturePartitionClassifier(Joint(), n_submodels=5).fit(X, Y)
    clf = FeaturePartitionClassifier(Joint(), n_submodels=5, fallback=GaussianNB()).fit(X, Y)
    assert np.array_equal(clf.ballots(X), plain.ballots(X))
    vote = plain.certify(X)
    full = GaussianNB().fit(X, Y).predict(X)
    expected = np.where(vote.radius >= 1, vote.prediction, full)
    assert np.array_equal(clf.predict(X), expected)
    assert np.array_equal(clf.certify(X).radius, np.maximum(vote.radius - 1, 0))
