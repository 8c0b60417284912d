"""Metrics by hand, and the figure."""

import matplotlib

matplotlib.use("Agg")

from collections import Counter
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.metrics import balanced_accuracy_score, precision_score, recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from partita import (
    CertifiedAccuracyDisplay,
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    certify,
)
from partita.certificates import Certificates, Counts
from partita.metrics import (
    FARTHEST,
    certified_accuracy,
    certified_accuracy_curve,
    certified_balanced_accuracy,
    certified_recall,
    certified_scorer,
    envelope,
    median_radius,
    worst_case_precision,
)
from partita.rules import TopK, Tournament
from partita.workflow._tally import share_at_least
from tests.exhaustive import attacker


def proof_of(prediction, radius):
    return Certificates(
        np.array(prediction), np.array(radius), np.array(prediction), Counts("columns", 9)
    )


PROOF = proof_of([0, 1, 1, 0, 2], [3, 0, 2, 5, 1])
Y = [0, 1, 0, 0, 2]  # the third is wrong


def test_certified_accuracy():
    assert [certified_accuracy(Y, PROOF, r) for r in range(7)] == [
        0.8,
        0.6,
        0.4,
        0.4,
        0.2,
        0.2,
        0.0,
    ]


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


# ---- recall and precision ----


def test_certified_recall_counts_each_labels_own_rows():
    y = [0, 1, 0, 0, 2]
    assert certified_recall(y, PROOF) == {0: 2 / 3, 1: 1.0, 2: 1.0}
    assert certified_recall(y, PROOF, 1) == {0: 2 / 3, 1: 0.0, 2: 1.0}
    assert certified_recall(y, PROOF, 4) == {0: 1 / 3, 1: 0.0, 2: 0.0}
    assert certified_balanced_accuracy(y, PROOF, 4) == pytest.approx(1 / 9)


def test_without_an_attacker_they_are_the_usual_metrics():
    rng = np.random.default_rng(0)
    y = np.array(["b", "a", "c"])[rng.integers(0, 3, 200)]
    said = np.where(rng.random(200) < 0.7, y, "a")
    proof = proof_of(said, rng.integers(0, 4, 200))
    names = ["a", "b", "c"]
    recalls = certified_recall(y, proof)
    assert list(recalls) == names
    assert list(recalls.values()) == pytest.approx(
        recall_score(y, said, labels=names, average=None)
    )
    assert certified_balanced_accuracy(y, proof) == pytest.approx(balanced_accuracy_score(y, said))
    precisions = [worst_case_precision(y, proof, label) for label in names]
    assert precisions == pytest.approx(precision_score(y, said, labels=names, average=None))
    falling = [worst_case_precision(y, proof, "a", r) for r in range(5)]
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] == 0.0


def reachable(row, taken):
    """Every label that whoever owns these submodels can bring about."""
    n_labels = row.shape[1]
    honest = attacker.tally(np.delete(row, taken, axis=0), 0.0).sum(axis=0)
    sums = honest + attacker.multisets(n_labels, len(taken), 0.0)
    return set(attacker.plurality(*attacker.parts(sums, n_labels)).tolist())


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


def test_recall_and_precision_are_for_labels():
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
        worst_case_precision(Y, PROOF, 7)
    with pytest.raises(InputError, match="radius is True"):
        certified_recall(Y, PROOF, True)
    wine, labels = load_wine(return_X_y=True)
    top = (
        FeaturePartitionClassifier(GaussianNB(), n_submodels=5, rule=TopK(2))
        .fit(wine, labels)
        .certify(wine, labels=labels)
    )
    with pytest.raises(InputError, match="proof is about given labels"):
        worst_case_precision(labels, top, 1)


# ---- scorers ----


def test_scorer():
    X, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    proof = clf.certify(X)
    assert certified_scorer(radius=1)(clf, X, y) == certified_accuracy(y, proof, 1)
    assert certified_scorer(radius=1, score="balanced")(clf, X, y) == certified_balanced_accuracy(
        y, proof, 1
    )
    assert (
        certified_scorer(radius=1, score=("recall", 2))(clf, X, y)
        == certified_recall(y, proof, 1)[2]
    )
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=3).fit(X, X[:, 0])
    proof = reg.certify(X, around=X[:, 0], relative=0.05)
    assert certified_scorer(radius=1, relative=0.05)(reg, X, X[:, 0]) == certified_accuracy(
        X[:, 0], proof, 1
    )


def test_scorer_of_top_k_is_about_the_true_labels():
    X, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, rule=TopK(2)).fit(X[::2], y[::2])
    expected = certified_accuracy(y[1::2], clf.certify(X[1::2], labels=y[1::2]), 1)
    assert certified_scorer(radius=1)(clf, X[1::2], y[1::2]) == expected


def test_scorer_goes_through_pipelines_and_searches():
    X, y = load_wine(return_X_y=True)
    labels = np.array(["low", "medium", "high"])[y]
    doubled = FunctionTransformer(lambda part: part * 2)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, rule=Tournament())
    pipeline = make_pipeline(StandardScaler(), make_pipeline(doubled, "passthrough", clf))
    scorer = certified_scorer(radius=1, score=("recall", "high"))
    fitted = pipeline.fit(X[::2], labels[::2])
    scaled = 2 * fitted[0].transform(X[1::2])
    expected = certified_recall(labels[1::2], fitted[-1][-1].certify(scaled), 1)["high"]
    assert scorer(fitted, X[1::2], labels[1::2]) == expected
    assert scorer(make_pipeline(clf).fit(scaled, labels[1::2]), scaled, labels[1::2]) > 0
    inner = "pipeline__featurepartitionclassifier__rule__margin"
    search = GridSearchCV(pipeline, {inner: [0.0, 2.0]}, scoring=scorer, cv=3).fit(
        X[::2], labels[::2]
    )
    assert scorer(search, X[1::2], labels[1::2]) == scorer(
        search.best_estimator_, X[1::2], labels[1::2]
    )
    assert search.score(X[1::2], labels[1::2]) == scorer(search, X[1::2], labels[1::2])
    assert 0 < cross_val_score(pipeline, X, labels, scoring=scorer, cv=3).min() <= 1


def test_scorer_says_what_it_cannot_score():
    X, y = load_wine(return_X_y=True)
    for score in ("f1", ["recall", 1], ("recall",), ("precision", 1), None):
        with pytest.raises(InputError, match=r"score is .*: give"):
            certified_scorer(score=score)
    with pytest.raises(InputError, match="radius is -1"):
        certified_scorer(-1)
    with pytest.raises(InputError, match="estimator is a GaussianNB, which has no certify"):
        certified_scorer()(GaussianNB().fit(X, y), X, y)
    with pytest.raises(InputError, match="estimator is a Pipeline, which has no certify"):
        certified_scorer()(make_pipeline(StandardScaler(), GaussianNB()).fit(X, y), X, y)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    with pytest.raises(
        InputError,
        match="score asks for the recall of 'two', which does not occur in y: give one of 0, 1, 2",
    ):
        certified_scorer(score=("recall", "two"))(clf, X, y)


def test_display():
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


def test_a_radius_beyond_all_counting_costs_no_memory():
    """A row that nothing can change has the radius of everything there is, which a stored model may
    say is a huge number."""
    proof = Certificates(
        np.zeros(3, dtype=int),
        np.array([2**52, 1, 0]),
        None,
        Counts("columns and training labels", 2**52),
    )
    curve = certified_accuracy_curve([0, 0, 0], proof)
    assert len(curve.radius) == FARTHEST + 2
    assert curve.accuracy[:3] == pytest.approx([1, 2 / 3, 1 / 3])
    assert len(share_at_least(Counter(proof.radius.tolist()))) == FARTHEST + 1
