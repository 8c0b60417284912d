"""Metrics by hand, and the figure."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import CertifiedAccuracyDisplay, FeaturePartitionClassifier, FeaturePartitionRegressor, InputError
from partita.certificates import Certificates, Counts
from partita.metrics import certified_accuracy, certified_accuracy_curve, certified_scorer, envelope, median_radius


def proof_of(prediction, radius):
    return Certificates(np.array(prediction), np.array(radius), np.array(prediction), Counts("columns", 9))


PROOF = proof_of([0, 1, 1, 0, 2], [3, 0, 2, 5, 1])
Y = [0, 1, 0, 0, 2]  # the third is wrong


def test_certified_accuracy():
    assert [certified_accuracy(Y, PROOF, r) for r in range(7)] == [0.8, 0.6, 0.4, 0.4, 0.2, 0.2, 0.0]


def test_curve():
    curve = certified_accuracy_curve(Y, PROOF)
    assert curve.radius.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert curve.accuracy.tolist() == [0.8, 0.6, 0.4, 0.4, 0.2, 0.2, 0.0]
    radius, accuracy = certified_accuracy_curve([1], proof_of([0], [4]))
    assert (radius.tolist(), accuracy.tolist()) == ([0], [0.0])


def test_median_radius_counts_a_wrong_one_as_minus_infinity():
    assert median_radius(Y, PROOF) == 1
    assert median_radius([1, 1, 0, 1, 1], PROOF) == -np.inf


def test_envelope():
    steady, far = proof_of([0, 0, 0, 0], [1, 1, 1, 1]), proof_of([0, 0, 1, 1], [5, 5, 9, 9])
    best = envelope([0, 0, 0, 0], {"T=5": steady, "T=15": far})
    assert best.accuracy.tolist() == [1, 1, 0.5, 0.5, 0.5, 0.5, 0]
    assert best.setting[:3] == ["T=5", "T=5", "T=15"]
    assert envelope([0, 0, 0, 0], [steady, far]).setting[2] == 1


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="y has shape"):
        certified_accuracy([0], PROOF)
    with pytest.raises(InputError, match="radius is -1"):
        certified_accuracy(Y, PROOF, -1)
    with pytest.raises(InputError, match="proofs is empty"):
        envelope(Y, {})
    with pytest.raises(InputError, match="covers no rows"):
        median_radius([], proof_of([], []))
    X, y = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=3).fit(X, y)
    with pytest.raises(InputError, match="around=y"):
        certified_accuracy(y, reg.certify(X, tolerance=5))
    with pytest.raises(InputError, match="y differs"):
        certified_accuracy(y + 1, reg.certify(X, tolerance=5, around=y))


def test_scorer():
    X, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    assert certified_scorer(radius=1)(clf, X, y) == certified_accuracy(y, clf.certify(X), 1)


def test_display():
    X, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    display = CertifiedAccuracyDisplay.from_estimator(clf, X, y, color="red")
    accuracy = display.line_.get_ydata()
    assert accuracy.tolist() == certified_accuracy_curve(y, clf.certify(X)).accuracy.tolist()
    assert "columns" in display.ax_.get_xlabel()
    assert display.line_.get_color() == "red"
    again = CertifiedAccuracyDisplay.from_certificates(y, clf.certify(X), name="again", ax=display.ax_)
    assert again.figure_ is display.figure_
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["FeaturePartitionClassifier", "again"]
    diabetes, target = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=3).fit(diabetes, target)
    assert CertifiedAccuracyDisplay.from_estimator(reg, diabetes, target, relative=0.2).accuracy[0] > 0
    plt.close("all")
