"""The full model behind the vote: what it learns, what it says, and what it must not reach."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionClassifier, InputError, SubmodelError, SubmodelWarning
from partita.ensemble import FixedVote
from partita.tables import open_table

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["low", "mid", "high"])[Y]


def gated(estimator=None, **settings):
    settings = {"n_submodels": 7, "fallback": GaussianNB()} | settings
    return FeaturePartitionClassifier(estimator or GaussianNB(), **settings)


def test_it_is_a_clone_fitted_on_all_columns():
    fallback = GaussianNB()
    clf = gated(fallback=fallback).fit(X, NAMES)
    assert not hasattr(fallback, "classes_")
    expected = GaussianNB().fit(X, NAMES)
    scores = np.log(np.maximum(expected.predict_proba(X), 1e-9))
    assert np.allclose(clf.fallback_scores(open_table(X)), scores)
    assert np.array_equal(clf.fallback_model_.predict(X), expected.predict(X))


def test_it_is_seeded_by_the_ensemble():
    trees = ExtraTreesClassifier(5, max_features=1, max_depth=2)
    scores = [
        gated(fallback=trees, random_state=seed).fit(X, Y).fallback_scores(open_table(X))
        for seed in (0, 0, 1)
    ]
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_submodels_do_not_depend_on_it():
    plain, behind = gated(fallback=None).fit(X, Y), gated().fit(X, Y)
    assert np.array_equal(plain.ballots(X), behind.ballots(X))
    assert not hasattr(plain, "fallback_model_")
    assert not hasattr(behind.set_params(fallback=None).fit(X, Y), "fallback_model_")


@pytest.mark.parametrize(
    "fallback", [KNeighborsClassifier(), LinearSVC(), DecisionTreeClassifier()], ids=repr
)
def test_any_classifier_answers(fallback):
    """With probabilities, decision values or labels alone."""
    clf = gated(fallback=fallback, gate=7).fit(X, NAMES)
    expected = clf.fallback_model_.predict(X)
    assert np.array_equal(clf.predict(X), expected)


class VotesOnly(KNeighborsClassifier):
    """Has labels and no scores."""

    @property
    def predict_proba(self):
        raise AttributeError


def test_an_estimator_without_scores_answers_with_its_labels():
    clf = gated(fallback=VotesOnly(3), gate=7).fit(X, NAMES)
    assert np.array_equal(clf.predict(X), VotesOnly(3).fit(X, NAMES).predict(X))


def test_one_that_learns_positions_answers_with_labels():
    xgboost = pytest.importorskip("xgboost")
    fallback = xgboost.XGBClassifier(n_estimators=3, n_jobs=1)
    clf = gated(fallback=fallback, gate=7).fit(X, NAMES)
    assert np.mean(clf.predict(X) == NAMES) > 0.9


def test_a_regressor_and_what_trains_submodels_are_refused():
    with pytest.raises(InputError, match="fallback Ridge is a regressor: give a classifier"):
        gated(fallback=Ridge()).fit(X, Y)

    class Joint(GaussianNB):
        def fit_submodels(self, X, y, columns, seeds):
            raise AssertionError

    with pytest.raises(InputError, match="fallback Joint trains submodels"):
        gated(fallback=Joint()).fit(X, Y)
    with pytest.raises(ValueError, match="The 'fallback' parameter"):
        gated(fallback="hgb").fit(X, Y)
    with pytest.raises(ValueError, match="The 'gate' parameter"):
        gated(gate=-1).fit(X, Y)


def test_sample_weights_reach_it_or_are_refused():
    weights = np.where(Y == 0, 1000.0, 1.0)
    clf = gated(gate=7).fit(X, Y, sample_weight=weights)
    expected = GaussianNB().fit(X, Y, sample_weight=weights)
    assert np.array_equal(clf.predict(X), expected.predict(X))
    with pytest.raises(InputError, match="sample_weight cannot reach KNeighborsClassifier"):
        gated(fallback=KNeighborsClassifier()).fit(X, Y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        routed = gated(
            GaussianNB().set_fit_request(sample_weight=True),
            fallback=GaussianNB().set_fit_request(sample_weight=False),
            gate=7,
        ).fit(X, Y, sample_weight=weights)
    assert np.array_equal(routed.predict(X), GaussianNB().fit(X, Y).predict(X))


class FailsWide(GaussianNB):
    """Cannot learn from many columns, or predict a 7."""

    def fit(self, X, y):
        if X.shape[1] > 5:
            raise ValueError("too wide")
        return super().fit(X, y)


class FailsOnSeven(GaussianNB):
    def predict_proba(self, X):
        if (np.asarray(X) == 7).any():
            raise ValueError("no sevens")
        return super().predict_proba(X)


def test_one_that_fails_casts_a_fixed_vote_or_stops_the_fit():
    with pytest.raises(SubmodelError, match=r"the fallback .* could not be fitted: too wide"):
        gated(fallback=FailsWide()).fit(X, Y)
    with pytest.warns(SubmodelWarning, match="the fallback .* it casts a fixed vote"):
        clf = gated(fallback=FailsWide(), on_failure="vote", gate=7).fit(X, Y)
    assert isinstance(clf.fallback_model_, FixedVote)
    assert np.array_equal(np.unique(clf.predict(X)), [1])  # the most frequent label


def test_one_row_that_it_cannot_predict_takes_no_other_along():
    attacked = X.copy()
    attacked[3, 5] = 7
    clf = gated(fallback=FailsOnSeven(), gate=7, on_failure="vote").fit(X, Y)
    with pytest.warns(SubmodelWarning, match=r"the fallback .* \(1 of 178 rows\); they get"):
        after = clf.predict(attacked)
    assert after[3] == 1
    assert np.array_equal(np.delete(after, 3), np.delete(clf.predict(X), 3))
    with pytest.raises(SubmodelError, match="no sevens"):
        clf.set_params(on_failure="raise").predict(attacked)


def test_flipped_labels_do_not_stop_it():
    """It learns from all rows whose label is in the list; nothing is proven of it anyway."""
    labels = NAMES.astype(object)
    labels[:5] = ["odd", None, 3.5, ("a",), "low"]
    for kind in ("rows", "labels"):
        clf = gated(
            DecisionTreeClassifier(max_depth=2),
            label_attacks=kind,
            classes=["high", "low", "mid"],
            rule="plurality",
            gate=7,
        ).fit(X, labels)
        known = np.arange(len(X)) >= 4
        expected = GaussianNB().fit(X[known], labels[known].astype(str))
        assert np.array_equal(clf.predict(X), expected.predict(X))
        assert clf.certify(X).radius.max() == 0


def test_what_it_can_read_limits_what_the_ensemble_can():
    tags = clone(gated(DecisionTreeClassifier())).__sklearn_tags__().input_tags
    assert DecisionTreeClassifier().__sklearn_tags__().input_tags.allow_nan
    assert not tags.allow_nan


def test_only_classifiers_have_one():
    from partita import FeaturePartitionRegressor

    with pytest.raises(TypeError, match="fallback"):
        FeaturePartitionRegressor(fallback=Ridge())
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=3).fit(*load_diabetes(return_X_y=True))
    assert reg.gate_ == 0


def test_it_makes_up_for_accuracy():
    digits, labels = load_digits(return_X_y=True)
    logistic = LogisticRegression(max_iter=2000)
    clf = gated(GaussianNB(var_smoothing=0.1), n_submodels=15, fallback=logistic)
    clf.fit(digits[::2] / 16, labels[::2])
    vote = clone(clf).set_params(fallback=None).fit(digits[::2] / 16, labels[::2])
    gain = clf.score(digits[1::2] / 16, labels[1::2]) - vote.score(digits[1::2] / 16, labels[1::2])
    assert gain > 0.03
