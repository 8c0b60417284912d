"""Fixtures of the baselines' tests."""

import numpy as np
import pytest

from partita.baselines import RandomizedAblationClassifier
from partita.datasets import load_digits


@pytest.fixture(scope="session")
def small_problem():
    """Rows of six bits and how many of them are set."""
    X = np.random.default_rng(0).integers(0, 2, size=(200, 6)).astype(float)
    return X, X.sum(axis=1)


@pytest.fixture(scope="session")
def ablated_digits():
    """The digits, and randomized ablation that was trained on them."""
    data = load_digits()
    clf = RandomizedAblationClassifier(keep=16, n_select=100, n_certify=1000, alpha=0.01)
    return data, clf.fit(data.X_train, data.y_train)
