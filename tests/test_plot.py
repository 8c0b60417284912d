"""The figure shows the metric's numbers."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import (
    CertifiedAccuracyDisplay,
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
)
from partita.metrics import (
    certified_accuracy_curve,
)


def test_the_figure_shows_the_certified_accuracy_curve():
    X, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    display = CertifiedAccuracyDisplay.from_estimator(clf, X, y, color="red")
    accuracy = display.line_.get_ydata()
    assert accuracy.tolist() == certified_accuracy_curve(y, clf.certify(X)).accuracy.tolist()
    assert "columns" in display.ax_.get_xlabel()
    assert display.line_.get_color() == "red"
    again = CertifiedAccuracyDisplay.from_certificates(
        y, clf.certify(X), name="again", ax=display.ax_
    )
    assert again.figure_ is display.figure_
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "FeaturePartitionClassifier",
        "again",
    ]
    diabetes, target = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=3).fit(diabetes, target)
    assert (
        CertifiedAccuracyDisplay.from_estimator(reg, diabetes, target, relative=0.2).accuracy[0] > 0
    )
    plt.close("all")


def test_a_longer_curve_on_the_same_axes_is_shown_whole():
    short = CertifiedAccuracyDisplay([0, 1], [1.0, 0.5], name="short").plot()
    CertifiedAccuracyDisplay(range(9), [1.0] * 9, name="long").plot(ax=short.ax_)
    assert short.ax_.get_xlim()[0] == 0
    assert short.ax_.get_xlim()[1] >= 8
    plt.close("all")
