"""Settings that would void the proof are found before training."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from partita import (
    FeaturePartitionClassifier,
    InputError,
    SoundnessError,
    SoundnessWarning,
)
from partita.ensemble._soundness import is_balanced, shares_a_generator

X, Y = load_wine(return_X_y=True)


NB = GaussianNB()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": SGDClassifier(loss="log_loss", warm_start=True)}, "warm_start=True"),
        (
            {"estimator": make_pipeline(StandardScaler(), LogisticRegression(warm_start=True))},
            "logisticregression__warm_start=True",
        ),
        ({"estimator": NB, "random_state": None}, "random_state=None"),
    ],
)
def test_settings_that_void_the_proof(settings, message):
    with pytest.warns(SoundnessWarning, match=message):
        FeaturePartitionClassifier(**settings).fit(X, Y)
    with pytest.raises(SoundnessError, match=message):
        FeaturePartitionClassifier(strict=True, **settings).fit(X, Y)


CANCER, TUMOUR = load_breast_cancer(return_X_y=True)


SHARING = [
    LinearSVC(),
    LogisticRegression(solver="liblinear"),
    SVC(probability=True),
    make_pipeline(StandardScaler(), LinearSVC()),
    OneVsRestClassifier(LogisticRegression(solver="liblinear")),
    VotingClassifier([("bayes", GaussianNB()), ("svc", LinearSVC())]),
    GridSearchCV(
        make_pipeline(StandardScaler(), GaussianNB()), {"gaussiannb": [LinearSVC(), GaussianNB()]}
    ),
]


@pytest.mark.parametrize("estimator", SHARING, ids=lambda one: type(one).__name__)
def test_estimators_that_share_a_generator_are_known(estimator):
    assert shares_a_generator(estimator)
    assert not shares_a_generator(make_pipeline(StandardScaler(), LogisticRegression()))
    assert not shares_a_generator(SVC())


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
def test_liblinear_submodels_do_not_depend_on_each_other():
    """Its generator is one for the process: in threads the same table gave other submodels."""
    X, y = load_digits(return_X_y=True)
    X, y = X[::2], y[::2]
    clf = FeaturePartitionClassifier(LinearSVC(loss="hinge", max_iter=200), n_submodels=9, n_jobs=4)
    before = clf.fit(X, y).ballots(X)
    assert np.array_equal(clone(clf).fit(X, y).ballots(X), before)
    column = clf.partition_[3][0]
    rewritten = X.copy()
    rewritten[:, column] = y
    moved = (clone(clf).fit(rewritten, y).ballots(X) != before).any(axis=(0, 2))
    assert np.flatnonzero(moved).tolist() == [3]


@pytest.mark.parametrize(
    "estimator",
    [
        CalibratedClassifierCV(GaussianNB(), cv=StratifiedKFold(3, shuffle=True)),
        GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=ShuffleSplit(2)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_an_unseeded_splitter_is_told(estimator):
    clf = FeaturePartitionClassifier(estimator, n_submodels=3, strict=True)
    with pytest.raises(
        SoundnessError, match=r"cv is a .* with random_state=None, .*: give it a random_state"
    ):
        clf.fit(CANCER, TUMOUR)
    seeded = clone(estimator).set_params(cv=KFold(3, shuffle=True, random_state=0))
    clone(clf).set_params(estimator=seeded).fit(CANCER, TUMOUR)
    clone(clf).set_params(estimator=clone(estimator).set_params(cv=KFold(3))).fit(
        CANCER, TUMOUR
    )  # shuffles nothing


def test_a_frozen_estimator_is_refused():
    """It was fitted elsewhere, on columns that are not its submodel's."""
    frozen = FrozenEstimator(GaussianNB().fit(CANCER[:, :6], TUMOUR))
    for estimator in (frozen, CalibratedClassifierCV(frozen)):
        with pytest.raises(SoundnessError, match="is a FrozenEstimator"):
            FeaturePartitionClassifier(estimator, n_submodels=5).fit(CANCER, TUMOUR)


def test_a_prior_on_top_of_balanced_classes_is_refused():
    estimator = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    assert is_balanced(estimator)
    from partita.rules import Tournament

    with pytest.raises(
        InputError, match=r"prior is 0\.5, but the estimator has class_weight='balanced'"
    ):
        FeaturePartitionClassifier(estimator, rule=Tournament(prior=0.5), n_submodels=5).fit(
            CANCER, TUMOUR
        )
    assert FeaturePartitionClassifier(estimator, n_submodels=5).fit(CANCER, TUMOUR).rule_.prior == 0
