"""FeaturePartitionClassifier as users meet it: rules, searches, pipelines, frames."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
)
from partita.ensemble import TableBoostingClassifier
from partita.metrics import certified_accuracy, certified_scorer
from partita.rules import Median, RunOff, TopK, Tournament
from tests.ensemble.csv_table import FRAME, WORDS

X, Y = load_wine(return_X_y=True)


TREE = DecisionTreeClassifier(max_depth=3)


def test_certificates_come_back_in_the_frame_library_of_the_table():
    labels = pd.Series(WORDS)
    indexed = FRAME.set_index(pd.Index(range(1000, 1400)))
    clf = FeaturePartitionClassifier(TableBoostingClassifier(max_iter=3))
    frame = clf.fit(indexed, labels).certify(indexed).to_frame()
    assert list(frame.columns) == ["prediction", "radius", "runner_up"]
    assert frame.index[0] == 1000
    polars = pl.from_pandas(FRAME)
    proof = clf.fit(polars, pl.Series(WORDS)).certify(polars)
    assert isinstance(proof.to_frame(), pl.DataFrame)
    assert isinstance(
        FeaturePartitionClassifier(TREE).fit(X, Y).certify(X).to_frame(), pd.DataFrame
    )


@pytest.mark.parametrize(
    "rule",
    ["plurality", "runoff", "tournament", RunOff(exact=True), Tournament(margin=0.5, prior=0.3)],
)
def test_every_rule_certifies_what_it_predicts(rule):
    clf = FeaturePartitionClassifier(GaussianNB(), rule=rule).fit(X, Y)
    proof = clf.certify(X)
    assert np.array_equal(proof.prediction, clf.predict(X))
    assert proof.radius.dtype.kind == "i"
    assert certified_accuracy(Y, proof) > 0.85
    assert proof.counts.total == 13


def test_top_k_certifies_the_given_labels():
    clf = FeaturePartitionClassifier(TREE, rule=TopK(2)).fit(X[::2], Y[::2])
    proof = clf.certify(X, labels=Y)
    ranked = np.argsort(-clf.predict_proba(X), axis=1, kind="stable")[:, :2]
    assert np.array_equal(proof.radius >= 0, (ranked == Y[:, None]).any(axis=1))
    assert certified_accuracy(Y, proof, 0) == np.mean(proof.radius >= 0)
    unseen = clf.certify(X[:3], labels=[0, 99, 1])
    assert unseen.radius[1] == -1
    with pytest.raises(InputError, match="labels is missing: the radius of TopK"):
        clf.certify(X)
    with pytest.raises(InputError, match="labels is for rule=TopK"):
        FeaturePartitionClassifier(TREE).fit(X, Y).certify(X, labels=Y)


def test_search_reaches_the_rule_and_the_submodel():
    search = GridSearchCV(
        FeaturePartitionClassifier(TREE, rule=Tournament()),
        {"rule__margin": [0, 0.5], "n_submodels": [5, 7], "estimator__max_depth": [1, 3]},
        scoring=certified_scorer(radius=1),
        cv=3,
    )
    search.fit(X, Y)
    assert set(search.best_params_) == {"rule__margin", "n_submodels", "estimator__max_depth"}
    assert 0 < search.best_score_ <= 1
    regression = GridSearchCV(
        FeaturePartitionRegressor(DecisionTreeRegressor(max_depth=3), rule=Median()),
        {"rule__stretch": [1, 1.5]},
        scoring=certified_scorer(radius=1, tolerance=0.5),
        cv=3,
    )
    assert 0 < regression.fit(X[:, :12], X[:, 12] / 300).best_score_ <= 1


def test_clones_and_pickles_give_the_same_ballots():
    clf = FeaturePartitionClassifier(TREE, rule=Tournament(margin=0.3), n_submodels=5).fit(X, Y)
    twin = clone(clf).fit(X, Y)
    assert np.array_equal(clf.ballots(X), twin.ballots(X))
    assert np.array_equal(clf.ballots(X), pickle.loads(pickle.dumps(clf)).ballots(X))


def test_a_pipeline_can_be_the_estimator():
    encode = make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore"),
            lambda frame: frame.select_dtypes("object").columns,
        )
    )
    categories = FRAME[["colour", "zip", "street"]].astype(object).fillna("none")
    clf = FeaturePartitionClassifier(
        make_pipeline(encode, LogisticRegression()), n_submodels=3
    ).fit(categories, WORDS)
    assert clf.score(categories, WORDS) > 0.5


@pytest.mark.parametrize(
    "rule",
    [
        "plurality",
        "runoff",
        "tournament",
        Tournament(margin=0),
        Tournament(prior=1.0, offset=1.0),
        Tournament(offset=[0, 3, 0]),
        TopK(2),
    ],
)
def test_predict_proba_agrees_with_the_rule(rule):
    """The largest share is the predicted label's, also where the mean score is another's."""
    rng = np.random.default_rng(0)
    noisy = X + rng.normal(scale=3, size=X.shape) * X.std(axis=0)
    clf = FeaturePartitionClassifier(GaussianNB(), rule=rule, n_submodels=7).fit(
        noisy[::2], np.where(Y > 1, 0, Y)[::2] + 2 * (Y > 1)[::2]
    )
    shares = clf.predict_proba(noisy)
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.all(shares >= 0)
    assert np.array_equal(clf.classes_[shares.argmax(axis=1)], clf.predict(noisy))


def test_predict_proba_ranks_better_than_shares_of_votes():
    """Better than the shares of the votes, which have T + 1 values."""
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = FeaturePartitionClassifier(n_submodels=5).fit(cancer[::2, :10], y[::2])
    votes = (clf.ballots(cancer[1::2, :10]).scores.argmax(axis=2) == 1).mean(axis=1)
    scores = clf.predict_proba(cancer[1::2, :10])[:, 1]
    assert len(np.unique(scores)) > 200
    assert roc_auc_score(y[1::2], scores) > roc_auc_score(y[1::2], votes) + 0.005


def test_one_class_is_certified_against_everything():
    proof = FeaturePartitionClassifier(n_submodels=5).fit(X, np.zeros(len(X))).certify(X)
    assert np.all(proof.radius == 13)  # all columns
    assert proof.runner_up is None
    assert "runner_up" not in proof.to_frame()
    assert certified_accuracy(np.zeros(len(X)), proof, 13) == 1


@pytest.mark.parametrize("rule", ["plurality", "runoff", "tournament"])
def test_one_submodel_proves_nothing(rule):
    """It reads all columns, so one bad column decides, however sure the submodel is."""
    proof = FeaturePartitionClassifier(TREE, n_submodels=1, rule=rule).fit(X, Y).certify(X)
    assert np.all(proof.radius == 0)
