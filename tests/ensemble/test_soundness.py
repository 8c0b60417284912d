"""What voids a proof is found: by settings before a fit, by canaries after it."""

from threading import Lock

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
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
    FeaturePartitionRegressor,
    InputError,
    SoundnessError,
    SoundnessWarning,
    SubmodelWarning,
    fit_parquet,
)
from partita.ensemble._soundness import canaries, is_balanced, shares_a_generator

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


class Counting(ClassifierMixin, BaseEstimator):
    """Knows how many were fitted before it."""

    fitted = 0
    lock = Lock()  # no two may read the same number

    def fit(self, X, y):
        with self.lock:
            type(self).fitted += 1
            number = type(self).fitted
        self.classes_, self.lean_ = np.unique(y), number % 97 / 100
        return self

    def predict_proba(self, X):
        return np.tile([self.lean_, 1 - self.lean_], (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_a_submodel_that_is_another_when_fitted_again_is_refused():
    with pytest.raises(
        SoundnessError,
        match=r"submodel \d \(of columns .* gives other scores .*seed everything random",
    ):
        FeaturePartitionClassifier(Counting(), n_submodels=5).fit(CANCER, TUMOUR)


def test_the_canary_watches_fits_piece_by_piece_too(tmp_path):
    frame = load_breast_cancer(as_frame=True).frame
    frame.to_parquet(tmp_path / "table.parquet")
    with pytest.raises(SoundnessError, match="differs when it is fitted again"):
        fit_parquet(
            FeaturePartitionClassifier(Counting(), n_submodels=5),
            tmp_path / "table.parquet",
            "target",
            tmp_path / "model",
        )
    assert not (tmp_path / "model" / "manifest.json").exists()


class FailsEverySecondTime(Counting):
    def fit(self, X, y):
        super().fit(X, y)
        if type(self).fitted % 2:
            raise ValueError("not today")
        return self


def test_a_submodel_that_fails_at_random_is_refused():
    with (
        pytest.raises(SoundnessError, match="fails at random"),
        pytest.warns(SubmodelWarning),
    ):
        FeaturePartitionClassifier(
            FailsEverySecondTime(), n_submodels=6, on_failure="vote", n_jobs=1
        ).fit(CANCER, TUMOUR)


def test_few_submodels_are_fitted_again():
    assert [canaries(T, 1000) for T in (1, 2, 5, 13, 14, 20, 21, 500)] == [
        [0],
        [1],
        [2],
        [6],
        [0, 13],
        [0, 19],
        [0, 10, 20],
        [0, 250, 499],
    ]
    assert canaries(500, 100_000) == [250]


class Draws(GaussianNB):
    """Draws from numpy's global generator, to no effect on itself."""

    def fit(self, X, y):
        np.random.rand()
        return super().fit(X, y)


def test_drawing_from_the_global_generator_is_told():
    clf = FeaturePartitionClassifier(Draws(), n_submodels=3)
    with pytest.warns(SoundnessWarning, match="numpy's global generator was drawn from"):
        clf.fit(CANCER, TUMOUR)
    with pytest.raises(SoundnessError, match="give everything in the estimator a random_state"):
        clf.set_params(strict=True).fit(CANCER, TUMOUR)


def test_regressors_have_canaries_too():
    class Chance(RegressorMixin, BaseEstimator):
        fitted = 0

        def fit(self, X, y):
            type(self).fitted += 1
            self.value_ = float(type(self).fitted)
            return self

        def predict(self, X):
            return np.full(len(X), self.value_)

    with pytest.raises(SoundnessError, match="gives other scores"):
        FeaturePartitionRegressor(Chance(), n_submodels=3).fit(CANCER, CANCER[:, 0])
