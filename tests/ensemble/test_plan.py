"""Each submodel learns from its columns, its seed and the labels it may see, jointly or not."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    InputError,
    SubmodelError,
)
from partita.ensemble._plan import trains_jointly
from partita.ensemble._submodels import LOWEST

X, Y = load_wine(return_X_y=True)


def test_submodels_see_the_labels_as_they_are_given():
    """So a class_weight by name works as it does without the ensemble."""
    names = np.array(["a", "b", "c"])[Y]
    tree = DecisionTreeClassifier(max_depth=3, class_weight={"a": 1, "b": 5, "c": 1})
    clf = FeaturePartitionClassifier(tree).fit(X, names)
    assert clf.estimators_[0].classes_.tolist() == ["a", "b", "c"]


def test_seeds_come_from_random_state_and_index_alone():
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(3))

    def seeds(**settings):
        clf = FeaturePartitionClassifier(forest, **settings).fit(X, Y)
        return [submodel[-1].random_state for submodel in clf.estimators_]

    assert seeds(n_submodels=3) == seeds(n_submodels=7)[:3]
    assert seeds(n_submodels=3, partition="strided", n_jobs=2) == seeds(n_submodels=3)
    assert len(set(seeds(n_submodels=13))) == 13
    assert not set(seeds(n_submodels=5)) & set(seeds(n_submodels=5, random_state=1))


def test_labels_reach_xgboost_as_integers():
    xgboost = pytest.importorskip("xgboost")
    names = np.array(["low", "mid", "high"])[Y]
    clf = FeaturePartitionClassifier(
        xgboost.XGBClassifier(n_estimators=5, n_jobs=1), n_submodels=5
    ).fit(X[::2], names[::2])
    assert clf.classes_.tolist() == ["high", "low", "mid"]
    assert (clf.predict(X[1::2]) == names[1::2]).mean() > 0.8
    numbers = FeaturePartitionClassifier(
        xgboost.XGBClassifier(n_estimators=5, n_jobs=1), n_submodels=5
    ).fit(X[::2], Y[::2] * 10 + 3)
    assert set(numbers.predict(X)) <= {3, 13, 23}


CANCER, TUMOUR = load_breast_cancer(return_X_y=True)


class Scribbles(GaussianNB):
    """Works in place, as an estimator may: it leaves its columns behind in the given weights."""

    def fit(self, X, y, sample_weight=None):
        fitted = super().fit(X, y, sample_weight)
        sample_weight += np.abs(X[:, 0])
        return fitted


def test_sample_weights_of_one_submodel_are_its_own():
    clf = FeaturePartitionClassifier(Scribbles(), n_submodels=9, n_jobs=1)
    weights = np.ones(len(TUMOUR))
    before = clf.fit(CANCER, TUMOUR, sample_weight=weights).ballots(CANCER)
    assert np.all(weights == 1)
    rewritten = CANCER.copy()
    rewritten[:, clf.partition_[0][0]] = 1000.0 * TUMOUR
    after = clone(clf).fit(rewritten, TUMOUR, sample_weight=weights).ballots(CANCER)
    assert np.flatnonzero((after != before).any(axis=(0, 2))).tolist() == [0]


def test_under_label_attacks_a_submodel_learns_its_own_labels_only():
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=3, label_attacks="rows", classes=[0, 1, 2]
    )
    table, y, plan = clf.plan(X, Y)
    owner = plan.owner(table.n_rows)
    for t in range(3):
        rows, labels, _ = plan.training_rows(y, owner, t)
        assert np.array_equal(rows, np.flatnonzero(owner == t))
        assert np.array_equal(labels, Y[rows])
    clf.set_params(label_attacks="labels")
    table, y, plan = clf.plan(X, Y)
    rows, labels, _ = plan.training_rows(y, owner, 1)
    assert rows is None
    assert np.array_equal(labels, np.where(owner == 1, Y, -1))


def test_a_target_that_cannot_be_encoded_never_raises():
    strange = np.array([0, "two", None, np.nan, [1], 2], dtype=object)
    _, _, plan = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=3, label_attacks="rows", classes=[0, 1, 2]
    ).plan(X, Y)
    assert plan.encode_target(strange).tolist() == [0, -1, -1, -1, -1, 2]
    _, _, plan = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).plan(X, Y)
    assert plan.encode_target(strange) is strange  # labels are trusted: as they are


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
