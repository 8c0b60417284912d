"""Submodels that share something are caught by fitting a few of them again."""

from threading import Lock

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    SoundnessError,
    SoundnessWarning,
    SubmodelWarning,
    fit_parquet,
)
from partita.ensemble._soundness import canaries

CANCER, TUMOUR = load_breast_cancer(return_X_y=True)


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
