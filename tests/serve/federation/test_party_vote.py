"""The vote of the parties: as the ensemble in one process has it, and counted in parties."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError
from partita.rules import Median, Plurality, RunOff, TopK, Tournament
from partita.serve.federation._federation import PartyVote

WINE, KIND = load_wine(return_X_y=True, as_frame=True)
NAMES = ["A", "B", "C", "D", "E"]


@pytest.fixture(scope="module")
def ballots():
    return (
        FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(WINE, KIND).ballots(WINE).scores
    )


@pytest.mark.parametrize("rule", ["plurality", "runoff", "tournament"])
def test_without_silence_it_is_the_ensemble(rule):
    model = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=5, rule=rule, classes=[0, 1, 2]
    ).fit(WINE, KIND)
    shares = {"shares": model.rule_.shares} if rule == "tournament" else {}
    own = type(model.rule_)(**shares)
    proof = PartyVote(NAMES, [0, 1, 2], own).certify(model.ballots(WINE))
    expected = model.certify(WINE)
    assert np.array_equal(proof.prediction, expected.prediction)
    assert np.array_equal(proof.runner_up, expected.runner_up)
    assert np.array_equal(proof.radius, expected.radius)
    assert (proof.counts.what, proof.counts.total) == ("parties", 5)
    assert not proof.silence.units.any()


def test_without_silence_it_is_the_ensemble_of_values():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(X, y)
    vote = PartyVote(NAMES, None, Median(model.rule_.stretch, model.rule_.centre))
    proof, expected = vote.certify(model.ballots(X), 60.0), model.certify(X, tolerance=60.0)
    assert np.array_equal(proof.prediction, expected.prediction)
    assert (proof.radius <= expected.radius).all()  # parties can also fall silent
    assert (proof.radius >= expected.radius - 1).all()
    assert proof.radius.max() > 0
    for radius, (low, high) in vote.intervals(model.ballots(X)).items():
        assert np.array_equal((low, high), model.interval(X, radius=radius))
    quiet = model.ballots(X).scores
    quiet[:, 1] = np.nan
    silent = vote.certify(quiet, 60.0)
    assert (silent.silence.without >= silent.radius).all()
    assert silent.silence.units[:, 1].all()
    assert vote.critical(quiet, 60.0).shape == (5, len(X))
    assert (vote.critical(quiet, 60.0).any(axis=0) == (silent.radius < 1)).mean() > 0.9


def test_silence_is_named_and_costs(ballots):
    quiet = ballots.copy()
    quiet[:, [1, 3]] = np.nan
    proof = PartyVote(NAMES, [0, 1, 2], "plurality").certify(quiet)
    whole = PartyVote(NAMES, [0, 1, 2], "plurality").certify(ballots)
    assert proof.silence.detected
    assert proof.silence.names == tuple(NAMES)
    assert proof.silence.abstained.tolist() == [2] * len(quiet)
    assert (proof.silence.without >= proof.radius).all()
    assert proof.radius.mean() < whole.radius.mean()
    assert "Silent: B in 178 rows, D in 178 rows" in str(proof.silence)


@pytest.mark.parametrize("rule", ["plurality", "runoff", "tournament"])
def test_nothing_is_proven_where_everybody_is_silent(rule):
    vote = PartyVote(NAMES, ["a", "b", "c"], rule, default="b")
    proof = vote.certify(np.full((4, 5, 3), np.nan, np.float32))
    assert proof.prediction.tolist() == ["b"] * 4
    assert proof.radius.tolist() == [0] * 4


def test_values_where_everybody_is_silent():
    proof = PartyVote(NAMES, None, default=7.0).certify(np.full((2, 5), np.nan), 3.0)
    assert proof.prediction.tolist() == [7.0, 7.0]
    assert proof.radius.tolist() == [0, 0]


def test_who_contradicts_what_is_certified(ballots):
    liar = ballots.copy()
    liar[:, 2] = -liar[:, 2]
    vote = PartyVote(NAMES, [0, 1, 2], "plurality")
    liar[:50, 0] = np.nan
    proof = vote.certify(liar)
    n_votes, against = vote.contradictions(liar, proof)
    sure = proof.radius >= 1
    assert n_votes.tolist() == [sure[50:].sum(), *[sure.sum()] * 4]
    own = liar[sure].argmax(axis=2) != proof.prediction[sure, None].astype(int)
    assert against[1:].tolist() == own.sum(axis=0)[1:].tolist()
    assert against.argmax() == 2


def test_values_that_contradict():
    values = np.array([[1.0, 1.0, 1.0, 1.0, 9.0], [1.0, np.nan, 1.0, 1.0, 1.0]])
    vote = PartyVote(NAMES, None)
    n_votes, against = vote.contradictions(values, vote.certify(values, 0.5), 0.5)
    assert n_votes.tolist() == [2, 1, 2, 2, 2]
    assert against.tolist() == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"classes": ["a", "a"]}, "a label stands twice"),
        ({"classes": []}, "give the labels"),
        ({"classes": [None]}, "give the labels"),
        ({"classes": ["a", "b"], "rule": "median"}, "parties answer with values for a median"),
        ({"rule": "plurality"}, "parties answer with values for a median"),
        ({"classes": ["a", "b"], "rule": TopK(1)}, "cannot decide between parties"),
        ({"classes": ["a", "b"], "rule": "best"}, "rule is 'best'"),
        ({"classes": ["a", "b"], "default": "c"}, "is not among the classes"),
        ({"default": float("nan")}, "default is nan: it must be a finite number"),
        ({"default": "low"}, "it must be a finite number"),
        ({"classes": ["a", "b"], "rule": Tournament(margin=-1)}, "margin is -1"),
        ({"classes": ["a", "b"], "rule": Tournament(prior=1.0)}, "shares is missing"),
        ({"classes": ["a", "b"], "rule": Tournament(shares=[1.0])}, "one for each class"),
    ],
)
def test_settings_are_checked_before_anybody_is_asked(settings, message):
    with pytest.raises(InputError, match=message):
        PartyVote(NAMES, **settings)


def test_any_rule_of_labels_may_decide(ballots):
    for rule in (Plurality(), RunOff(exact=True), Tournament(offset={1: 2.0}), Tournament(0.0)):
        vote = PartyVote(NAMES, [0, 1, 2], rule)
        proof = vote.certify(ballots)
        assert np.array_equal(proof.prediction, vote.predict(ballots))
        critical = vote.critical(ballots)
        assert not critical[:, proof.radius > 0].any()
