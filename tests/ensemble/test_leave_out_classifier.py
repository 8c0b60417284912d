"""The classifier's own questions: how labels are decided, the fallback, estimators of all kinds."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from partita import EmptyProofWarning, InputError, LeaveOutClassifier
from partita.metrics import certified_accuracy
from partita.rules import Agreement
from tests.exhaustive.left_out_attacker import agreed_labels, every_set

X, Y = load_wine(return_X_y=True)
CANCER, TUMOUR = load_breast_cancer(return_X_y=True)
SCALED = (X - X.mean(axis=0)) / X.std(axis=0)  # of a test's table, which nobody attacks


def model_votes(clf, ballots):
    """Every model's label, from the ballots of its members: slow and obvious."""
    scores = np.asarray(ballots, dtype=float)
    scores = np.exp(scores) if hasattr(clf.estimators_[0], "predict_proba") else scores
    votes = []
    for chosen in combinations(range(len(clf.partition_.groups)), 2 * clf.radius):
        pool = [t for t, own in enumerate(clf.partition_.left_out) if set(chosen) <= set(own)]
        votes.append(scores[:, pool].sum(axis=1).argmax(axis=1))
    return np.stack(votes, axis=1)


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        DecisionTreeClassifier(max_depth=2),
        RidgeClassifier(),
        LinearSVC(),
        NearestCentroid(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize(("radius", "n_groups"), [(1, 6), (2, 6)])
def test_the_prediction_follows_from_the_definition(estimator, radius, n_groups):
    """With probabilities, decision values, or votes alone."""
    clf = LeaveOutClassifier(estimator, radius=radius, n_groups=n_groups)
    clf.fit(SCALED[::2], Y[::2])
    ballots, proof = clf.ballots(SCALED), clf.certify(SCALED)
    votes = model_votes(clf, ballots)
    sets, left_out = every_set(n_groups, radius)
    agreed = agreed_labels(votes, sets, n_groups, radius)
    fallback = ballots[:, -1].argmax(axis=1)
    assert np.array_equal(proof.prediction, np.where(agreed < 0, fallback, agreed))
    assert np.array_equal(clf.predict(SCALED), proof.prediction)
    expected = Agreement(radius).certify(votes, left_out, fallback)
    assert np.array_equal(proof.radius, expected.radius)
    assert np.array_equal(proof.runner_up, expected.runner_up)
    assert set(proof.radius) <= set(range(radius + 1))
    assert np.array_equal(clf.predict_proba(SCALED).argmax(axis=1), proof.prediction)


def test_the_fallback_is_one_model_on_all_columns():
    """It decides where no set is unanimous, and nowhere else."""
    noise = np.random.default_rng(0).normal(size=(300, 6))
    y = np.random.default_rng(1).integers(3, size=300)
    clf = LeaveOutClassifier(GaussianNB(), n_groups=6, leave_out=2).fit(noise[::2], y[::2])
    ballots, proof = clf.ballots(noise), clf.certify(noise)
    full = GaussianNB().fit(noise[::2], y[::2]).predict(noise)
    assert np.array_equal(ballots[:, -1].argmax(axis=1), full)
    nobody = agreed_labels(model_votes(clf, ballots), every_set(6, 1)[0], 6, 1) < 0
    assert nobody.sum() > 20
    assert np.array_equal(proof.prediction[nobody], full[nobody])
    assert (proof.prediction != full)[~nobody].any()
    assert not proof.radius[nobody].any()


def test_labels_come_back_as_they_were_given():
    names = np.array(["low", "mid", "high"])[Y]
    clf = LeaveOutClassifier(GaussianNB(), n_groups=5).fit(X, names)
    proof = clf.certify(X)
    assert clf.classes_.tolist() == ["high", "low", "mid"]
    assert set(proof.prediction) | set(proof.runner_up) <= set(clf.classes_)
    assert np.array_equal(proof.prediction, clf.predict(X))
    assert (proof.prediction != proof.runner_up).all()
    numbers = LeaveOutClassifier(GaussianNB(), n_groups=5).fit(X, Y).certify(X)
    assert np.array_equal(numbers.radius, proof.radius)


def test_labels_come_back_from_an_estimator_that_learns_positions():
    xgboost = pytest.importorskip("xgboost")
    names = np.array(["low", "mid", "high"])[Y]
    estimator = xgboost.XGBClassifier(n_estimators=2, n_jobs=1)
    clf = LeaveOutClassifier(estimator, n_groups=3).fit(X, names)
    assert (clf.predict(X) == names).mean() > 0.9


def test_one_label_alone_is_always_right():
    clf = LeaveOutClassifier(n_groups=3).fit(X, np.zeros(len(X)))
    proof = clf.certify(X)
    assert (proof.radius == 1).all()
    assert proof.runner_up is None


def test_nearly_a_constant_is_told():
    y = np.zeros(len(X), dtype=int)
    y[0] = 1
    tree = DecisionTreeClassifier(max_depth=1, min_samples_leaf=40)
    with pytest.warns(EmptyProofWarning, match="nearly a constant"):
        clf = LeaveOutClassifier(tree, n_groups=3).fit(X, y)
    assert clf.warnings_


def test_counts_and_certified_accuracy():
    clf = LeaveOutClassifier(GaussianNB(), trusted=[0], n_groups=8).fit(CANCER[::2], TUMOUR[::2])
    proof = clf.certify(CANCER[1::2])
    assert (proof.counts.what, proof.counts.total, proof.counts.trusted) == ("columns", 29, ("0",))
    curve = [certified_accuracy(TUMOUR[1::2], proof, radius) for radius in (0, 1, 2)]
    assert curve[0] > 0.9
    assert curve[0] >= curve[1] > 0.8
    assert curve[2] == 0
    with pytest.raises(InputError, match="labels is for rule=TopK"):
        clf.certify(CANCER, labels=TUMOUR)


def test_the_default_estimator_reads_texts_and_missing_values():
    table = [["red" if y else "blue", None if y == 2 else 1.5, f"x{y}", y] for y in Y]
    proof = LeaveOutClassifier(n_groups=4).fit(table, Y).certify(table)
    assert (proof.prediction == Y).mean() > 0.9
