"""How submodels are asked: in threads or not, with the same ballots and nothing left behind."""

import warnings

import numpy as np
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from partita import FeaturePartitionClassifier
from partita.ensemble import _base

X, Y = load_wine(return_X_y=True)


def test_threads_score_what_one_thread_scores(monkeypatch):
    clf = FeaturePartitionClassifier(RandomForestClassifier(3), n_submodels=5, n_jobs=4).fit(X, Y)
    expected = clf.ballots(X)  # few rows: one thread
    monkeypatch.setattr(_base, "FEW_ROWS", 1)
    assert np.array_equal(clf.ballots(X), expected)


def test_forests_in_threads_leave_the_warning_filters_alone(monkeypatch):
    """They set those of the process in every thread, and the last one may restore another's."""
    monkeypatch.setattr(_base, "FEW_ROWS", 1)
    before = warnings.filters
    for seed in range(5):
        clf = FeaturePartitionClassifier(RandomForestClassifier(3), n_jobs=8, random_state=seed)
        clf.fit(X, Y).ballots(X)
        assert warnings.filters is before
