"""In a row that counts, no submodel alone brought the outcome about: every ballot is tried."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.watch._evidence import evidence


@pytest.mark.parametrize("rule", ["plurality", "runoff", "tournament"])
@pytest.mark.parametrize("n_submodels", [4, 5])
def test_where_a_row_counts_the_outcome_does_not_hang_on_the_submodel(rule, n_submodels):
    X, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=n_submodels, rule=rule).fit(X, y)
    votes = np.array(list(product(range(3), repeat=n_submodels)))
    ballots = np.eye(3, dtype=np.float32)[votes]
    found = evidence(clf, ballots)
    outcome = clf.rule_.decide(ballots)
    assert found.counted[:, :-1].any()
    for t in range(n_submodels):
        rows = found.counted[:, t]
        for lie in range(3):
            attacked = ballots[rows].copy()
            attacked[:, t] = np.eye(3, dtype=np.float32)[lie]
            np.testing.assert_array_equal(clf.rule_.decide(attacked), outcome[rows])
        np.testing.assert_array_equal(found.score[rows, t], votes[rows, t] != outcome[rows])
