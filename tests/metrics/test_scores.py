"""Certified scores by hand, against scikit-learn, and against every attack."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.metrics import balanced_accuracy_score, precision_score, recall_score
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    certify,
)
from partita.metrics import (
    certified_accuracy,
    certified_balanced_accuracy,
    certified_recall,
    median_radius,
    worst_case_precision,
)
from partita.rules import TopK
from tests.exhaustive import attacker


def test_certified_accuracy_falls_with_the_radius(five):
    expected = [0.8, 0.6, 0.4, 0.4, 0.2, 0.2, 0.0]
    assert [certified_accuracy(*five, r) for r in range(7)] == expected


def test_median_radius_counts_a_wrong_row_as_minus_infinity(five):
    assert median_radius(*five) == 1
    assert median_radius([1, 1, 0, 1, 1], five[1]) == -np.inf


def test_what_cannot_be_scored_is_refused(five, proof_of):
    with pytest.raises(InputError, match="radius is -1"):
        certified_accuracy(*five, -1)
    with pytest.raises(InputError, match="covers no rows"):
        median_radius([], proof_of([], []))


def test_certified_recall_counts_each_labels_own_rows(five):
    assert certified_recall(*five) == {0: 2 / 3, 1: 1.0, 2: 1.0}
    assert certified_recall(*five, 1) == {0: 2 / 3, 1: 0.0, 2: 1.0}
    assert certified_recall(*five, 4) == {0: 1 / 3, 1: 0.0, 2: 0.0}
    assert certified_balanced_accuracy(*five, 4) == pytest.approx(1 / 9)


def test_without_an_attacker_they_are_the_usual_metrics(proof_of):
    rng = np.random.default_rng(0)
    y = np.array(["b", "a", "c"])[rng.integers(0, 3, 200)]
    predicted = np.where(rng.random(200) < 0.7, y, "a")
    proof = proof_of(predicted, rng.integers(0, 4, 200))
    names = ["a", "b", "c"]
    recalls = certified_recall(y, proof)
    assert list(recalls) == names
    assert list(recalls.values()) == pytest.approx(
        recall_score(y, predicted, labels=names, average=None)
    )
    assert certified_balanced_accuracy(y, proof) == pytest.approx(
        balanced_accuracy_score(y, predicted)
    )
    precisions = [worst_case_precision(y, proof, label) for label in names]
    assert precisions == pytest.approx(precision_score(y, predicted, labels=names, average=None))
    falling = [worst_case_precision(y, proof, "a", r) for r in range(5)]
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] == 0.0


def reachable(row, taken):
    """Every label that an attacker who owns these submodels can bring about."""
    owned = np.isin(np.arange(len(row)), taken)
    outcomes = attacker.outcomes(attacker.tally(row, 0.0), owned, attacker.plurality)
    return set(outcomes.tolist())


def precision(certain, possible):
    """Of the rows that keep the label, and those that others can be made to have."""
    return certain / (certain + possible) if certain + possible else None


@pytest.mark.parametrize("n_labels", [2, 3])
def test_no_attack_gets_below_the_worst_case_precision(n_labels):
    rng = np.random.default_rng(n_labels)
    reached = 0
    for _ in range(40):
        y = rng.integers(0, n_labels, 5)
        lean = (y[:, None] == np.arange(n_labels))[:, None] * rng.integers(0, 2, (5, 1, 1))
        ballots = (rng.integers(0, 2, (5, 5, n_labels)) + lean).astype(float)
        proof = certify(ballots, "plurality")
        for label in np.unique(y).tolist():
            for r in (0, 1, 2):
                bound = worst_case_precision(y, proof, label, r)
                sets = [list(taken) for taken in combinations(range(5), r)]
                can = [[reachable(row, taken) for taken in sets] for row in ballots]
                own = y == label
                for k in range(len(sets)):  # one attacker owns the same units in every row
                    keep = sum(can[i][k] == {label} for i in np.flatnonzero(own))
                    gain = sum(label in can[i][k] for i in np.flatnonzero(~own))
                    found = precision(keep, gain)
                    assert found is None or found >= bound
                keep = sum(set.union(*can[i]) == {label} for i in np.flatnonzero(own))
                gain = sum(label in set.union(*can[i]) for i in np.flatnonzero(~own))
                if (
                    n_labels == 2 and keep
                ):  # each row against an attacker of its own: the bound is exact
                    assert bound == precision(keep, gain)
                    reached += 0 < bound < 1
    assert reached > 10 or n_labels == 3


def test_recall_and_precision_are_for_labels(five):
    X, y = load_diabetes(return_X_y=True)
    numbers = (
        FeaturePartitionRegressor(Ridge(), n_submodels=3)
        .fit(X, y)
        .certify(X, around=y, tolerance=5)
    )
    for metric in (certified_recall, certified_balanced_accuracy):
        with pytest.raises(InputError, match="proof is about numbers, and recall is about labels"):
            metric(y, numbers)
    with pytest.raises(InputError, match="proof is about numbers, and precision is about labels"):
        worst_case_precision(y, numbers, 1.0)
    with pytest.raises(InputError, match="label is 7, which does not occur in y"):
        worst_case_precision(*five, 7)
    with pytest.raises(InputError, match="radius is True"):
        certified_recall(*five, True)
    wine, labels = load_wine(return_X_y=True)
    top = (
        FeaturePartitionClassifier(GaussianNB(), n_submodels=5, rule=TopK(2))
        .fit(wine, labels)
        .certify(wine, labels=labels)
    )
    with pytest.raises(InputError, match="proof is about given labels"):
        worst_case_precision(labels, top, 1)
