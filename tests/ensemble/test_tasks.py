"""Decisions, probabilities and certificates agree; a model that is nearly a constant is told."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from partita import EmptyProofWarning, FeaturePartitionClassifier, InputError
from partita.ensemble._tasks import constant_warnings, is_nearly_constant
from partita.metrics import certified_accuracy
from partita.rules import RunOff, TopK, Tournament

X, Y = load_digits(return_X_y=True)
TRAIN, TEST = slice(0, 900), slice(900, 1500)


def fitted(**settings):
    settings = {"n_submodels": 13, "fallback": KNeighborsClassifier()} | settings
    return FeaturePartitionClassifier(GaussianNB(var_smoothing=0.1), **settings).fit(
        X[TRAIN], Y[TRAIN]
    )


@pytest.fixture(scope="module")
def clf():
    return fitted()


def with_gate(model, gate):
    other = copy(model)
    other.gate = gate
    return other


@pytest.mark.parametrize("gate", [0, 1, 2, 13])
def test_everything_that_predicts_agrees(clf, gate):
    model = with_gate(clf, gate)
    proof = model.certify(X[TEST])
    assert np.array_equal(proof.prediction, model.predict(X[TEST]))
    shares = model.predict_proba(X[TEST])
    assert np.array_equal(model.classes_[shares.argmax(axis=1)], proof.prediction)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares > 0).all()
    assert model.score(X[TEST], Y[TEST]) == certified_accuracy(Y[TEST], proof, 0)
    assert np.all(proof.runner_up != proof.prediction)


def test_the_vote_decides_from_the_gate_on(clf):
    vote = with_gate(clf, 0).certify(X[TEST])
    full = clf.fallback_model_.predict(X[TEST])
    for gate in (1, 2, 3):
        proof = with_gate(clf, gate).certify(X[TEST])
        opened = vote.radius >= gate
        assert 0 < opened.mean() < 1
        assert np.array_equal(proof.prediction, np.where(opened, vote.prediction, full))
        assert np.array_equal(proof.radius, np.where(opened, vote.radius - gate, 0))
        ballots = with_gate(clf, gate).ballots(X[TEST])
        assert np.array_equal(ballots.rule.by_fallback(ballots), ~opened)
        assert proof.counts == vote.counts


def test_rows_of_the_fallback_are_scored_by_it(clf):
    shares = clf.predict_proba(X[TEST])
    ballots = clf.ballots(X[TEST])
    by_fallback = ballots.rule.by_fallback(ballots)
    expected = clf.fallback_model_.predict_proba(X[TEST])
    assert np.allclose(shares[by_fallback], expected[by_fallback], atol=1e-6)
    vote = with_gate(clf, 0).predict_proba(X[TEST])
    assert np.array_equal(shares[~by_fallback], vote[~by_fallback])


def test_ballots_do_not_decide_alone_behind_a_gate(clf):
    ballots = clf.ballots(X[TEST])
    assert ballots.shape[1] == 13
    with pytest.raises(InputError, match="no scores of a fallback"):
        clf.decide(replace(ballots, fallback=None))


@pytest.mark.parametrize("rule", ["runoff", RunOff(exact=True), TopK(2)], ids=str)
def test_rules_without_a_gap_certificate_are_refused_in_fit(rule):
    with pytest.raises(InputError, match="use rule='tournament' or 'plurality'"):
        fitted(rule=rule)
    fitted(rule=rule, gate=0)  # the vote decides every row


def test_overlapping_units_take_a_gate_of_one():
    with pytest.raises(InputError, match="use gate=1, or spread=1"):
        fitted(spread=2, gate=2)
    model = fitted(spread=2)
    for cover in ("bound", "exact"):
        proof = model.certify(X[TEST][:40], cover=cover)
        vote = with_gate(model, 0).certify(X[TEST][:40], cover=cover)
        assert np.array_equal(proof.prediction, model.predict(X[TEST][:40]))
        assert np.array_equal(proof.radius, np.maximum(vote.radius - 1, 0))
    with pytest.raises(InputError, match="use gate=1, or spread=1"):  # also after fit
        with_gate(model, 2).predict(X[TEST][:5])


def test_a_row_that_nothing_can_break_counts_all_units():
    wine, labels = load_wine(return_X_y=True)
    always = Tournament(margin=0, offset=[99, 0, 0])
    clf = FeaturePartitionClassifier(
        DecisionTreeClassifier(max_depth=2),
        n_submodels=5,
        rule=always,
        fallback=GaussianNB(),
        gate=9,
    )
    with pytest.warns(UserWarning, match="nearly a constant"):
        clf.fit(wine, labels)
    proof = clf.certify(wine)
    assert (proof.radius == 13).all()
    assert (proof.prediction == 0).all()


def test_a_constant_vote_behind_a_gate_is_no_constant_model(recwarn):
    """The warning is about predictions: the fallback's count."""
    wine, labels = load_wine(return_X_y=True)
    flat = DecisionTreeClassifier(max_depth=1, min_samples_leaf=170)
    settings = {"n_submodels": 5, "rule": "plurality", "gate": 5}
    FeaturePartitionClassifier(flat, fallback=GaussianNB(), **settings).fit(wine, labels)
    assert not recwarn.list


NAMES = np.array(["no", "yes"])


def test_fit_warns_of_a_constant_and_remembers_it():
    rng = np.random.default_rng(0)
    noise, rare = rng.normal(size=(600, 9)), (rng.random(600) < 0.03).astype(int)
    clf = FeaturePartitionClassifier(GaussianNB(), rule="plurality")
    with pytest.warns(
        EmptyProofWarning, match="training rows are predicted 0: the model is nearly"
    ):
        clf.fit(noise, rare)
    assert len(clf.warnings_) == 1


def test_a_share_of_99_percent_is_not_yet_a_constant():
    decided = np.zeros(1000, dtype=int)
    decided[:10] = 1
    assert constant_warnings(decided, NAMES) == []
    decided[0] = 0
    assert constant_warnings(decided, NAMES)[0].startswith("99.1% of 1000 training rows")
    assert "predicted 'no'" in constant_warnings(decided, NAMES)[0]


def test_few_rows_and_single_classes_are_not_judged():
    assert constant_warnings(np.zeros(49, dtype=int), NAMES) == []
    assert constant_warnings(np.zeros(50, dtype=int), NAMES[:1]) == []
    assert len(constant_warnings(np.zeros(50, dtype=int), NAMES)) == 1


def test_a_model_of_a_very_rare_label_is_no_constant():
    assert is_nearly_constant(predicted=0.992, true=0.9)
    assert not is_nearly_constant(predicted=0.99, true=0.9)
    assert not is_nearly_constant(predicted=0.998, true=0.998)  # as rare as it is
    assert is_nearly_constant(predicted=0.9995, true=0.998)
    decided = (np.arange(1000) < 4).astype(int)
    assert constant_warnings(decided, NAMES, common=0.995) == []
    assert len(constant_warnings(decided, NAMES, common=0.99)) == 1
    assert len(constant_warnings(0 * decided, NAMES, common=0.999)) == 1
