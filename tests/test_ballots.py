"""Ballots of a fitted model bring its rule: nobody certifies another decision by mistake."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
    certify,
    certify_collective,
    certify_patches,
    certify_rectangles,
    criticality,
)
from partita.ballots import Ballots
from partita.baselines import RowPartitionClassifier
from partita.errors import InputError
from partita.rules import Median, Plurality, RunOff

X, Y = load_digits(return_X_y=True)
CANCER, TUMOUR = load_breast_cancer(return_X_y=True)
SCORES = np.eye(2)[[[0, 0, 1], [1, 1, 1]]]


@pytest.fixture(scope="module")
def images():
    """The example of the guide: patches of pixels dealt out to 16 submodels."""
    clf = FeaturePartitionClassifier(
        GaussianNB(var_smoothing=0.1), n_submodels=16, partition="patch", image_shape=(8, 8, 1)
    )
    return clf.fit(X[:900], Y[:900])


@pytest.mark.parametrize("rule", ["plurality", RunOff(exact=True), "tournament"], ids=repr)
def test_a_certificate_of_a_models_ballots_is_the_models_own(rule):
    clf = FeaturePartitionClassifier(n_submodels=5, rule=rule).fit(CANCER[::2], TUMOUR[::2])
    own, proof = clf.certify(CANCER[1::2]), certify(clf.ballots(CANCER[1::2]))
    assert np.array_equal(clf.classes_[proof.prediction], own.prediction)
    assert np.array_equal(proof.radius, own.radius)
    assert not proof.note


def test_behind_a_gate_the_fallback_answers():
    clf = FeaturePartitionClassifier(
        GaussianNB(var_smoothing=0.1), n_submodels=9, fallback=GaussianNB(), gate=1
    ).fit(X[:900], Y[:900])
    own, ballots = clf.certify(X[900:]), clf.ballots(X[900:])
    proof = certify(ballots)
    assert (own.radius == 0).any()
    assert np.array_equal(proof.prediction, own.prediction)
    assert np.array_equal(proof.radius, own.radius)
    falls = criticality(ballots).any(axis=0)
    assert falls[own.radius == 0].all()
    assert certify_collective(ballots, 1).pointwise == np.count_nonzero(own.radius < 1)
    with pytest.raises(InputError, match="ballots hold no scores of a fallback"):
        certify(ballots.scores, ballots.rule)


def test_leave_out_ballots_are_decided_by_agreement():
    clf = LeaveOutClassifier(GaussianNB(), n_groups=5).fit(CANCER[::2], TUMOUR[::2])
    own, ballots = clf.certify(CANCER[1::2]), clf.ballots(CANCER[1::2])
    assert np.array_equal(certify(ballots).radius, own.radius)
    assert certify_collective(ballots, 1).changed <= np.count_nonzero(own.radius < 1)


def test_rows_instead_of_columns_bring_their_rule_too():
    clf = RowPartitionClassifier(GaussianNB(), 5, classes=[0, 1], rule="plurality")
    ballots = clf.fit(CANCER[::2], TUMOUR[::2]).ballots(CANCER[1::2])
    assert np.array_equal(certify(ballots).prediction, clf.predict(CANCER[1::2]))


def test_patches_are_certified_under_the_models_rule(images):
    """Under another rule, "certified" predictions are not the model's."""
    ballots, shape = images.ballots(X[900:]), (8, 8)
    proof = certify_patches(ballots, images.partition_, shape, (2, 2))
    assert np.array_equal(images.classes_[proof.prediction], images.predict(X[900:]))
    other = certify_patches(ballots, images.partition_, shape, (2, 2), rule="tournament")
    assert not np.array_equal(other.prediction, proof.prediction)
    assert "decided by Tournament(), not by the model's Tournament(margin=0.25" in repr(other)
    assert other.note in other._repr_html_().replace("&#x27;", "'")
    every = certify_rectangles(ballots, images.partition_, shape, 4)
    assert np.array_equal(every[2, 2].radius, proof.radius)


@pytest.mark.parametrize(
    "certified",
    [
        certify,
        lambda scores: certify_collective(scores, 1),
        criticality,
        lambda scores: certify_patches(scores, [[0], [1], [2]], (1, 3), (1, 1)),
    ],
)
def test_an_array_needs_a_rule(certified):
    with pytest.raises(InputError, match=r"rule is missing|partition is a list"):
        certified(SCORES)


def test_the_models_rule_may_be_named_in_words():
    clf = FeaturePartitionClassifier(n_submodels=5, rule="plurality").fit(CANCER, TUMOUR)
    assert not certify(clf.ballots(CANCER), "plurality").note
    assert certify(clf.ballots(CANCER), "runoff").note == (
        "decided by RunOff(), not by the model's Plurality()"
    )


@pytest.mark.parametrize("kind", [FeaturePartitionRegressor, LeaveOutRegressor])
def test_values_bring_their_rule_and_need_bounds(kind):
    data, target = load_diabetes(return_X_y=True)
    reg = kind().fit(data, target)
    ballots = reg.ballots(data)
    with pytest.raises(InputError, match="needs bounds"):
        certify(ballots)
    near = reg.certify(data, tolerance=20)
    bounds = {"lower": near.prediction - 20, "upper": near.prediction + 20}
    falls = criticality(ballots, **bounds).any(axis=0)
    assert np.array_equal(falls, near.radius < 1)


def test_ballots_can_be_used_like_their_scores():
    ballots = Ballots(SCORES, Plurality())
    assert np.asarray(ballots) is SCORES
    assert np.array(ballots, copy=True) is not SCORES
    assert (ballots == SCORES).all()
    assert not (ballots != ballots).any()
    assert isinstance(ballots[:, 0], np.ndarray)
    assert ballots[1].tolist() == SCORES[1].tolist()
    assert (ballots.shape, len(ballots), ballots.dtype) == ((2, 3, 2), 2, np.float64)
    assert repr(ballots) == "Ballots(2 rows, 3 submodels, 2 classes; rule Plurality())"
    assert repr(Ballots(np.ones((4, 3)))) == "Ballots(4 rows, 3 submodels)"


def test_chosen_rows_keep_rule_and_fallback():
    fallback = np.array([[0.0, 1.0], [1.0, 0.0]])
    ballots = Ballots(SCORES, Median(), fallback)
    for rows in ([1], slice(1, None), np.array([False, True])):
        chosen = ballots[rows]
        assert isinstance(chosen, Ballots)
        assert chosen.rule is ballots.rule
        assert chosen.scores.tolist() == SCORES[1:].tolist()
        assert chosen.fallback.tolist() == [[1.0, 0.0]]


def test_one_attacker_owns_units_of_a_models_ballots():
    """Where submodels share units, the ballots say which each unit reaches."""
    X, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=4, spread=2).fit(X[::2], y[::2])
    ballots, reach = clf.ballots(X[1::2]), clf.partition_.incidence()
    critical = criticality(ballots)
    assert critical.shape == (13, len(ballots))
    assert np.array_equal(critical, criticality(ballots, reach=reach))
    worst = certify_collective(ballots, 2)
    assert worst.changed == certify_collective(ballots, 2, reach=reach).changed
