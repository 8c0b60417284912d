"""Choosing a rule for a fitted ensemble without fitting it again."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import (
    EmptyProofWarning,
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    store,
)
from partita.metrics import (
    certified_accuracy,
    certified_balanced_accuracy,
    certified_recall,
    certified_scorer,
)
from partita.rules import Median, Plurality, RunOff, TopK, Tournament
from partita.selection._fitted import search_rules

X, Y = load_wine(return_X_y=True)
LABELS = np.array(["low", "medium", "high"])[Y]
TRAIN, TEST = (X[::2], LABELS[::2]), (X[1::2], LABELS[1::2])
RULES = [
    Plurality(),
    RunOff(exact=True),
    *(Tournament(margin=m, prior=p) for m, p in product((0.0, 0.5, 2.0), (0.0, 0.9))),
    Tournament(margin=0.5, prior=1.0, offset=0.5),
    Tournament(offset={"high": 1.5}),
    Tournament(),
]


def fitted(**settings):
    return FeaturePartitionClassifier(GaussianNB(), n_submodels=7, **settings).fit(*TRAIN)


def scores(found):
    return [row["score"] for row in found.rows]


@pytest.mark.parametrize("radius", [0, 1, 2])
def test_every_score_is_that_of_an_ensemble_fitted_with_the_rule(radius):
    found = search_rules(fitted(), RULES, *TEST, radius=radius, score="balanced")
    for rule, value in zip(RULES, scores(found), strict=True):
        proof = fitted(rule=rule).certify(TEST[0])
        assert value == certified_balanced_accuracy(TEST[1], proof, radius)
    assert found.best_score == max(scores(found))
    assert [row["rule"] for row in found.rows] == RULES
    assert all(
        getattr(rule, "shares", None) is None for rule in RULES
    )  # what is given is not filled in
    assert found.to_frame()["score"][0] == found.best_score


def test_the_best_estimator_decides_by_the_best_rule_and_the_old_one_is_unchanged():
    clf = fitted(rule="plurality")
    before = clf.certify(TEST[0])
    rules = [Tournament(margin=m, prior=0.5) for m in (0.0, 0.5, 2.0)]
    found = search_rules(clf, rules, *TEST, radius=1, y_train=TRAIN[1])
    proof = found.best_estimator.certify(TEST[0])
    assert certified_accuracy(TEST[1], proof, 1) == found.best_score == max(scores(found))
    assert found.best_rule is found.best_estimator.rule_
    assert found.best_estimator.estimators_ is clf.estimators_
    assert repr(clf.rule_) == "Plurality()"
    assert np.array_equal(clf.certify(TEST[0]).radius, before.radius)
    again = found.best_estimator.fit(*TRAIN).certify(TEST[0])  # the setting is the rule, too
    assert np.array_equal(again.radius, proof.radius)


def test_the_best_estimator_can_be_stored(tmp_path):
    model = search_rules(fitted(), [Tournament(margin=2.0, prior=0.9)], *TEST).best_estimator
    store.save(model, tmp_path / "model")
    assert np.array_equal(
        store.load(tmp_path / "model").certify(TEST[0]).radius, model.certify(TEST[0]).radius
    )


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier that counts its fits."""

    fits = 0

    def fit(self, X, y):
        Counting.fits += 1
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def test_nothing_is_fitted_again():
    clf = FeaturePartitionClassifier(Counting(), n_submodels=7, n_jobs=1).fit(*TRAIN)
    before = Counting.fits
    search_rules(clf, RULES, *TEST)
    assert Counting.fits == before > 0


def test_it_finds_what_a_grid_search_over_the_same_rows_finds():
    rows = PredefinedSplit(np.where(np.arange(len(X)) % 2, 0, -1))
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=7, rule=Tournament(margin=0.0, prior=0.0)
    )
    grid = {"rule__margin": [0.0, 0.5, 2.0]}
    search = GridSearchCV(clf, grid, scoring=certified_scorer(radius=2), cv=rows, refit=False).fit(
        X, LABELS
    )
    found = search_rules(
        clf.fit(*TRAIN),
        [Tournament(margin=m, prior=0.0) for m in grid["rule__margin"]],
        *TEST,
        radius=2,
    )
    assert scores(found) == pytest.approx(search.cv_results_["mean_test_score"].tolist())
    assert found.best_rule.margin == search.best_params_["rule__margin"]


def test_of_equal_rules_the_first_is_chosen():
    rules = [Tournament(margin=0.5, prior=0.9), Tournament(margin=0.5, prior=0.9)]
    found = search_rules(fitted(), rules, *TEST)
    assert found.best_estimator.rule is rules[0]
    assert scores(found)[0] == scores(found)[1]


def test_scores():
    clf = fitted()
    proof = clf.certify(TEST[0])
    for score, expected in (
        ("accuracy", certified_accuracy(TEST[1], proof, 1)),
        (("recall", "low"), certified_recall(TEST[1], proof, 1)["low"]),
    ):
        assert search_rules(clf, "tournament", *TEST, radius=1, score=score).best_score == expected


def test_numbers_need_a_tolerance():
    data, y = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(Ridge(alpha=0.1), n_submodels=5).fit(data[::2], y[::2])
    rules = [Median(stretch=s) for s in (1.0, 1.2, 1.5)]
    found = search_rules(reg, rules, data[1::2], y[1::2], radius=1, relative=0.4)
    for rule, value in zip(rules, scores(found), strict=True):
        again = FeaturePartitionRegressor(Ridge(alpha=0.1), n_submodels=5, rule=rule).fit(
            data[::2], y[::2]
        )
        assert value == certified_accuracy(
            y[1::2], again.certify(data[1::2], around=y[1::2], relative=0.4), 1
        )
    assert len(set(scores(found))) > 1
    with pytest.raises(InputError, match="tolerance and relative are missing"):
        search_rules(reg, rules, data[1::2], y[1::2])
    with pytest.raises(InputError, match="proof is about numbers"):
        search_rules(reg, rules, data[1::2], y[1::2], relative=0.4, score="balanced")
    with pytest.raises(InputError, match="which is for classification"):
        search_rules(reg, ["plurality"], data[1::2], y[1::2], relative=0.4)


def test_flipped_labels_never_reach_a_rule():
    settings = {"label_attacks": "rows", "classes": ["low", "medium", "high"], "rule": Plurality()}
    clf = FeaturePartitionClassifier(GaussianNB(var_smoothing=0.1), n_submodels=5, **settings).fit(
        *TRAIN
    )
    given = Tournament(margin=0.5, prior=0.5, shares=[0.3, 0.3, 0.4])
    assert search_rules(clf, [given], *TEST, y_train=TRAIN[1]).best_rule.shares == [0.3, 0.3, 0.4]
    unset = search_rules(clf, [Tournament()], *TEST, y_train=TRAIN[1]).best_rule
    assert (unset.prior, unset.shares) == (0.0, None)
    fitted = FeaturePartitionClassifier(
        GaussianNB(var_smoothing=0.1), n_submodels=5, **settings | {"rule": Tournament()}
    )
    assert (fitted.fit(*TRAIN).rule_.prior, fitted.rule_.shares) == (0.0, None)
    with pytest.raises(InputError, match="shares"):
        search_rules(clf, [Tournament(prior=0.5)], *TEST, y_train=TRAIN[1])
    with pytest.raises(InputError, match="shares"):
        search_rules(clf, [Tournament(prior=0.5)], *TEST)


def test_a_search_that_ends_in_a_constant_says_so():
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(cancer[::2], y[::2])
    always = Tournament(offset=[0.0, 100.0])
    with pytest.warns(
        EmptyProofWarning,
        match=r"under the best rule 100.0% of 284 rows are predicted 1: the model is nearly a "
        r"constant",
    ):
        found = search_rules(clf, [Tournament(), always], cancer[1::2], y[1::2], radius=9)
    assert found.best_estimator.warnings_
    assert (
        search_rules(
            clf, [Tournament(), always], cancer[1::2], y[1::2], radius=0
        ).best_estimator.warnings_
        == []
    )


def test_what_cannot_be_searched_is_refused():
    clf = fitted()
    for arguments, told in (
        ((clf, [], *TEST), "rules is empty"),
        ((clf, [TopK(2)], *TEST), "rules has a TopK"),
        ((clf, [Median()], *TEST), "rule is a Median"),
        ((clf, ["fastest"], *TEST), "fastest"),
        ((clf, [Tournament(margin=-1)], *TEST), "margin is -1"),
        (
            (make_pipeline(StandardScaler(), clf), ["plurality"], *TEST),
            "ensemble is a Pipeline: give",
        ),
        (
            (LeaveOutClassifier(GaussianNB(), n_groups=4).fit(*TEST), ["plurality"], *TEST),
            "ensemble is a LeaveOutClassifier, which is decided by agreement and by no other rule",
        ),
        ((fitted(rule="plurality"), [Tournament(prior=0.5)], *TEST), "y_train is missing"),
        ((fitted(rule="plurality"), ["tournament"], *TEST), "y_train is missing"),
    ):
        with pytest.raises(InputError, match=told):
            search_rules(*arguments)
    with pytest.raises(InputError, match="score is 'f1'"):
        search_rules(clf, RULES, *TEST, score="f1")
    with pytest.raises(InputError, match="radius is -1"):
        search_rules(clf, RULES, *TEST, radius=-1)
    with pytest.raises(NotFittedError):
        search_rules(FeaturePartitionClassifier(), RULES, *TEST)
    balanced = FeaturePartitionClassifier(
        LogisticRegression(class_weight="balanced", max_iter=5000), n_submodels=7
    ).fit(*TRAIN)
    with pytest.raises(InputError, match="class_weight='balanced'"):
        search_rules(balanced, [Tournament(prior=0.5)], *TEST, y_train=TRAIN[1])
