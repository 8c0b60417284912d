"""Certified scores in scikit-learn's searches."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from partita.metrics import (
    certified_accuracy,
    certified_balanced_accuracy,
    certified_recall,
    certified_scorer,
)
from partita.rules import TopK, Tournament


def test_a_scorer_gives_the_metric():
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


def test_a_search_chooses_the_radius_and_the_groups_that_are_certified():
    X, y = load_wine(return_X_y=True)
    clf = LeaveOutClassifier(GaussianNB())
    grid = {"radius": [1, 2], "n_groups": [5, 7]}
    search = GridSearchCV(clf, grid, scoring=certified_scorer(radius=2), cv=3).fit(X, y)
    scores = dict(
        zip(
            ((one["radius"], one["n_groups"]) for one in search.cv_results_["params"]),
            search.cv_results_["mean_test_score"],
            strict=True,
        )
    )
    assert scores[1, 5] == scores[1, 7] == 0  # radius 1 certifies nothing at 2
    assert search.best_params_["radius"] == 2
    best = search.best_estimator_
    assert certified_scorer(radius=2)(search, X, y) == certified_accuracy(y, best.certify(X), 2) > 0
    reg = GridSearchCV(
        LeaveOutRegressor(Ridge()),
        {"n_groups": [4, 6]},
        scoring=certified_scorer(radius=1, relative=0.05),
        cv=3,
    ).fit(X, X[:, 0])
    assert 0 < reg.best_score_ <= 1


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
