"""Estimators that break the rules, each in its own way, and one that does not."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier


def numbers(X):
    return np.array(X, dtype=float)


class Own(ClassifierMixin, BaseEstimator):
    """Accepts any number, and keeps to its own columns and rows; most of those below do not."""

    def __init__(self, on=1e12):
        self.on = on  # what they react to: numbers above this, or infinities

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.own_ = GaussianNB().fit(self._usable(numbers(X)), y)
        return self

    def _usable(self, X):
        return np.clip(np.nan_to_num(X, nan=0.0), -1e5, 1e5)

    def _strange(self, X):
        """Which rows hold what it reacts to."""
        bad = np.isinf(X) if self.on == "infinities" else np.abs(X) > self.on
        return bad.any(axis=1)

    def predict_proba(self, X):
        return self.own_.predict_proba(self._usable(numbers(X)))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class RemembersInTraining(Own):
    """Once a copy was fitted on a strange value, all copies fitted later answer the opposite."""

    seen = False

    def fit(self, X, y):
        kind = type(self)
        kind.seen = kind.seen or bool(self._strange(numbers(X)).any())
        self.turned_ = kind.seen
        return super().fit(X, y)

    def predict_proba(self, X):
        return super().predict_proba(X)[:, :: -1 if self.turned_ else 1]


class RemembersInRows(Own):
    """Once a copy was asked about a strange value, all copies answer the opposite."""

    seen = False

    def predict_proba(self, X):
        kind = type(self)
        kind.seen = kind.seen or bool(self._strange(numbers(X)).any())
        return super().predict_proba(X)[:, :: -1 if kind.seen else 1]


class LooksAtNeighbour(Own):
    """A copy's answer depends on the rows that the copy before it was asked about."""

    before = False

    def predict_proba(self, X):
        turned, type(self).before = type(self).before, bool(self._strange(numbers(X)).any())
        return super().predict_proba(X)[:, :: -1 if turned else 1]


class LooksAtBatch(Own):
    """One strange value in a batch changes all rows of the batch, by as little as rounding."""

    def predict_proba(self, X):
        return super().predict_proba(X) ** (1 + 2e-6 * self._strange(numbers(X)).any())


class StandardisesByBatch(Own):
    """Scales by the mean and deviation of the batch."""

    def predict_proba(self, X):
        X = self._usable(numbers(X))
        return self.own_.predict_proba((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9))


class FillsMissingByBatch(Own):
    """Fills missing values with the mean of the batch."""

    def predict_proba(self, X):
        X = numbers(X)
        means = np.nan_to_num(np.nanmean(np.vstack([X, np.zeros(X.shape[1])]), axis=0))
        return super().predict_proba(np.where(np.isnan(X), means, X))


class OtherwiseAlone(Own):
    """Answers the opposite for a single row."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, :: -1 if len(X) == 1 else 1]


class SortsBatch(Own):
    """Gives the answers in the order of the first column."""

    def predict_proba(self, X):
        return super().predict_proba(X)[np.argsort(numbers(X)[:, 0], kind="stable")]


class CodesOfBatch(ClassifierMixin, BaseEstimator):
    """Numbers texts in the order of the batch; with ``keep`` it learns the numbers in fit."""

    def __init__(self, keep=False):
        self.keep = keep

    def _codes(self, X):
        seen = self.seen_ if self.keep else {}
        return np.array(
            [
                [0 if cell is None else seen.setdefault(str(cell), len(seen)) for cell in row]
                for row in np.asarray(X)
            ]
        )

    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(y), {}
        seen, self.keep = self.keep, True
        self.own_ = DecisionTreeClassifier(max_depth=3, random_state=0).fit(self._codes(X), y)
        self.keep = seen
        return self

    def predict_proba(self, X):
        seen, self.seen_ = self.seen_, dict(self.seen_)
        try:
            return self.own_.predict_proba(np.minimum(self._codes(X), len(seen)))
        finally:
            self.seen_ = seen

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Slightly(RegressorMixin, BaseEstimator):
    """Predicts a row alone differently, by this share of the value."""

    def __init__(self, by=0.0):
        self.by = by

    def fit(self, X, y):
        self.own_ = LinearRegression().fit(X, y)
        return self

    def predict(self, X):
        return self.own_.predict(X) * (1 + self.by * (len(X) == 1))


class NearlyTied(Own):
    """Its scores of a single row differ by as little as rounding, but the other label leads."""

    def predict_proba(self, X):
        lead = 1e-6 if len(X) == 1 else -1e-6
        return np.tile([0.5 + lead, 0.5 - lead], (len(X), 1))


class Restless(Own):
    """Never learns the same twice, except in the first ensemble and its canaries."""

    fitted = 0

    def fit(self, X, y):
        super().fit(X, y)
        Restless.fitted += 1
        if Restless.fitted > 6:
            self.own_.theta_ = self.own_.theta_ * (1 + 0.1 * np.random.default_rng().random())
        return self
