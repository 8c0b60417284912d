"""Classifier and regressor answer the same questions, each in its own terms."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from partita.ensemble import FittedEnsemble
from partita.rules import Median

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["low", "mid", "high"])[Y]
CLF = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, NAMES)
TABLE, TARGET = load_diabetes(return_X_y=True)
REG = FeaturePartitionRegressor(Ridge(), n_submodels=5, rule=Median(stretch=1.5), spread=2).fit(
    TABLE, TARGET
)


def test_each_says_its_task():
    assert (CLF.task, REG.task) == ("classification", "regression")


def test_predictions_and_votes_come_in_the_users_terms():
    ballots = CLF.ballots(X)
    assert np.array_equal(CLF.decide(ballots), CLF.predict(X))
    assert np.array_equal(CLF.votes(ballots), CLF.classes_[ballots.scores.argmax(axis=2)])
    values = REG.ballots(TABLE)
    assert np.array_equal(REG.decide(values), REG.predict(TABLE))
    assert np.array_equal(REG.votes(values), REG.rule_.votes(values))
    assert not np.array_equal(REG.votes(values), values)  # stretched


def test_a_statement_certifies_what_certify_certifies():
    proof = CLF.certificates(CLF.ballots(X), CLF.statement(CLF.predict(X)))
    expected = CLF.certify(X)
    for name in ("prediction", "radius", "runner_up"):
        assert np.array_equal(getattr(proof, name), getattr(expected, name))
    assert proof.counts == expected.counts
    values, prediction = REG.ballots(TABLE), REG.predict(TABLE)
    for around in (None, TARGET):
        statement = REG.statement(prediction, tolerance=30, around=around)
        expected = REG.certify(TABLE, tolerance=30, around=around)
        proof = REG.certificates(values, statement)
        assert np.array_equal(proof.radius, expected.radius)
        assert (proof.truth is None) == (around is None)
        assert np.array_equal(statement.holds(prediction), proof.radius >= 0)


def test_without_a_tolerance_there_is_no_statement_about_a_value():
    assert REG.statement(REG.predict(TABLE)) is None
    with pytest.raises(InputError, match="tolerance and relative are for models of numbers"):
        CLF.statement(CLF.predict(X), tolerance=1)


def test_right_means_equal_or_within_the_tolerance():
    predicted = CLF.predict(X)
    assert np.array_equal(CLF.correct(predicted, NAMES), predicted == NAMES)
    values = REG.predict(TABLE)
    right = REG.correct(values, TARGET, relative=0.2)
    assert np.array_equal(right, np.abs(values - TARGET) <= 0.2 * np.abs(TARGET))


def test_intervals_end_where_nothing_holds_a_value():
    assert CLF.intervals(CLF.ballots(X)) == {}
    intervals = REG.intervals(REG.ballots(TABLE))
    assert list(intervals) == list(range(1, len(intervals) + 1))
    for radius, (low, high) in intervals.items():
        expected = REG.interval(TABLE, radius)
        assert np.array_equal(low, expected[0])
        assert np.array_equal(high, expected[1])
    low, high = REG.interval(TABLE, len(intervals) + 1)
    assert np.isinf(low).all()
    assert np.isinf(high).all()


LABELS_ALONE = {"classes_", "submodel_classes"}
LEFT_OUT = (
    LeaveOutClassifier(GaussianNB(), n_groups=4).fit(X, NAMES),
    LeaveOutRegressor(Ridge(), n_groups=4).fit(TABLE, TARGET),
)


@pytest.mark.parametrize("model", [CLF, REG, *LEFT_OUT], ids=lambda model: type(model).__name__)
def test_every_estimator_fulfils_the_protocol(model):
    """Names of columns are known where the table had any."""
    promised = {name for name in vars(FittedEnsemble) if not name.startswith("_")}
    promised |= FittedEnsemble.__annotations__.keys() - {"feature_names_in_"}
    if model.task == "regression":
        promised -= LABELS_ALONE
    assert [name for name in sorted(promised) if not hasattr(model, name)] == []
    assert len(promised) > 30


@pytest.mark.parametrize("model", [CLF, REG, *LEFT_OUT], ids=lambda model: type(model).__name__)
def test_a_submodel_alone_gives_its_part_of_the_ballots(model):
    table = TABLE if model.task == "regression" else X
    ballots = model.ballots(table)
    for t in range(len(model.partition_)):
        scores, failure = model.score_submodel(t, table[:, model.columns_of(t)])
        assert failure == ""
        # a matrix product is rounded by how its columns lie in memory
        np.testing.assert_allclose(scores, ballots.scores[:, t], rtol=1e-9)


def test_the_units_of_a_fit_are_known_before_it():
    ensemble = FeaturePartitionClassifier(units=[0] * 7 + [1] * 6)
    assert ensemble.units_of(X).columns == ensemble.fit(X, Y).units_.columns
