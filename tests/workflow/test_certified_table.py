"""Every row is certified once, from one set of ballots, and says what the model says."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    certify_collective,
    criticality,
    search_rules,
)
from partita.ensemble._base import fit_full_model
from partita.rules import Plurality, RunOff, Tournament
from partita.workflow import CertifiedTable
from partita.workflow._certified_table import Summary


@pytest.fixture(scope="module")
def labels():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(y, "benign", "malignant").astype(object)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[::2], y[::2])
    return clf, X[1::2], y[1::2]


@pytest.fixture(scope="module")
def values():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(X[::2], y[::2])
    return reg, X[1::2], y[1::2].to_numpy()


def same(proof, other):
    return (
        np.array_equal(proof.prediction, other.prediction)
        and np.array_equal(proof.radius, other.radius)
        and (
            (proof.runner_up is None and other.runner_up is None)
            or np.array_equal(proof.runner_up, other.runner_up)
        )
    )


def test_labels_are_what_the_model_certifies(labels):
    clf, X, y = labels
    certified = CertifiedTable.of(clf, X, truth=y)
    proof = clf.certify(X)
    assert same(certified.proof, proof)
    assert np.array_equal(certified.prediction, proof.prediction)
    assert np.array_equal(certified.correct(certified.prediction), proof.prediction == y)
    assert certified.against_truth is certified  # a label that stays, stays right
    assert certified.intervals == {}


@pytest.mark.parametrize("width", [{"tolerance": 40.0}, {"relative": 0.3}])
def test_values_are_what_the_model_certifies_near_themselves_and_near_the_truth(values, width):
    reg, X, y = values
    certified = CertifiedTable.of(reg, X, **width, truth=y)
    assert same(certified.proof, reg.certify(X, **width))
    assert same(certified.against_truth.proof, reg.certify(X, around=y, **width))
    assert certified.against_truth.against_truth is certified.against_truth
    low, high = certified.intervals[1]
    assert np.array_equal((low, high), reg.interval(X, 1))
    assert set(certified.intervals) == {1, 2}


def test_values_without_a_tolerance_have_no_certificate(values):
    reg, X, y = values
    certified = CertifiedTable.of(reg, X, truth=y)
    assert certified.proof is certified.statement is certified.critical_units is None
    assert certified.collective(1) is None
    assert certified.against_truth is certified
    assert np.isnan(certified.agreement()).all()


def test_another_rule_gets_its_own_results_from_the_same_ballots(labels):
    clf, X, _ = labels
    certified = CertifiedTable.of(clf, X)
    before = certified.proof, certified.prediction, certified.critical_units
    for rule in (Plurality(), RunOff(), Tournament(margin=2.0, prior=0.0)):
        other = certified.under(rule)
        assert other.ballots.scores is certified.ballots.scores
        fitted = FeaturePartitionClassifier(GaussianNB(), n_submodels=9, rule=rule)
        assert same(other.proof, fitted.fit(*training_rows()).certify(X))
        assert np.array_equal(other.critical_units.any(axis=0), other.proof.radius == 0)
    assert (certified.proof, certified.prediction, certified.critical_units) == before
    assert clf.rule_ is certified.rule


def training_rows():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X[::2], np.where(y, "benign", "malignant").astype(object)[::2]


def test_every_row_is_scored_and_certified_once(labels, monkeypatch):
    clf, X, y = labels
    calls = []
    certificates, ballots = type(clf).certificates, type(clf).ballots
    monkeypatch.setattr(
        type(clf), "ballots", lambda self, *X: calls.append("scored") or ballots(self, *X)
    )
    monkeypatch.setattr(
        type(clf),
        "certificates",
        lambda self, *given, **more: (
            calls.append("certified") or certificates(self, *given, **more)
        ),
    )
    certified = CertifiedTable.of(clf, X, truth=y)
    for _ in range(2):
        assert certified.proof is certified.against_truth.proof
        certified.agreement()
        certified.critical_units  # noqa: B018
    assert calls == ["scored", "certified"]


def test_critical_units_and_collective_attacks_are_about_the_statement(values):
    reg, X, y = values
    certified = CertifiedTable.of(reg, X, tolerance=40.0, truth=y).against_truth
    bounds = {"lower": y - 40.0, "upper": y + 40.0}
    incidence = np.asarray(reg.partition_.incidence())
    expected = criticality(certified.ballots, reg.rule_, incidence, **bounds)
    assert np.array_equal(certified.critical_units, expected)
    right = certified.proof.radius >= 0
    found = certified.collective(1, rows=right)
    expected = certify_collective(
        certified.ballots[right],
        1,
        reg.rule_,
        incidence,
        lower=bounds["lower"][right],
        upper=bounds["upper"][right],
    )
    assert (found.changed, tuple(found.units)) == (expected.changed, tuple(expected.units))


def test_agreement_is_the_share_of_votes_that_fulfil_the_statement(labels, values):
    clf, X, _ = labels
    certified = CertifiedTable.of(clf, X)
    votes = clf.classes_[certified.ballots.scores.argmax(axis=2)]
    expected = (votes == certified.prediction[:, None]).mean(axis=0)
    assert np.array_equal(certified.agreement(), expected)
    reg, X, _ = values
    certified = CertifiedTable.of(reg, X, tolerance=40.0)
    near = np.abs(reg.rule_.votes(certified.ballots) - certified.prediction[:, None]) <= 40.0
    assert certified.agreement() == pytest.approx(near.mean(axis=0))


def test_one_model_on_all_columns_is_compared_where_there_is_one(labels):
    clf, X, _ = labels
    assert CertifiedTable.of(clf, X).full_model_prediction is None
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(*training_rows())
    clf.full_model_ = fit_full_model(clf, *training_rows())
    found = CertifiedTable.of(clf, X).full_model_prediction
    assert np.array_equal(found, GaussianNB().fit(*training_rows()).predict(X))


def test_a_tolerance_that_makes_no_sense_is_refused_before_the_work(labels, values):
    with pytest.raises(InputError, match="the model predicts labels"):
        CertifiedTable.of(labels[0], None, tolerance=1.0)
    with pytest.raises(InputError, match="both given"):
        CertifiedTable.of(values[0], None, tolerance=1.0, relative=0.1)


def test_a_fallback_is_asked_once_and_every_number_is_behind_its_gate():
    digits, labels = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(
        GaussianNB(var_smoothing=0.1), n_submodels=9, fallback=KNeighborsClassifier(), gate=1
    ).fit(digits[:600], labels[:600])
    rows, truth = digits[600:800], labels[600:800]
    certified = CertifiedTable.of(clf, rows, truth=truth)
    proof = clf.certify(rows)
    assert np.array_equal(certified.prediction, proof.prediction)
    assert np.array_equal(certified.proof.radius, proof.radius)
    assert np.array_equal(certified.by_fallback, clf.rule_.certify(certified.ballots).radius < 1)
    assert 0 < certified.by_fallback.mean() < 1
    # a row that the fallback answers hangs on every unit; another on none where its radius is 1
    critical = certified.critical_units
    assert critical[:, certified.by_fallback].all()
    assert not critical[:, proof.radius >= 1].any()
    assert critical[:, proof.radius == 0].any(axis=0).all()
    for radius in (1, 2):
        worst = certified.collective(radius)
        assert certified.by_fallback.sum() <= worst.changed
        assert worst.changed <= worst.pointwise == np.sum(proof.radius < radius)
    plurality = certified.under(Plurality())
    assert plurality.ballots.fallback is certified.ballots.fallback
    alone = Plurality().certify(certified.ballots)
    assert np.array_equal(plurality.proof.radius, np.maximum(alone.radius - 1, 0))
    summary = Summary.of(certified)
    assert summary.by_fallback == certified.by_fallback.sum()
    assert (summary + summary).to_dict()["fallback_rows"] == 2 * summary.by_fallback
    alone = replace(certified, ballots=replace(certified.ballots, rule=clf.rule_))
    assert "fallback_rows" not in Summary.of(alone).to_dict()


def test_rules_that_no_gate_takes_are_refused_in_a_search():
    digits, labels = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(
        GaussianNB(var_smoothing=0.1), n_submodels=9, fallback=KNeighborsClassifier()
    ).fit(digits[:600], labels[:600])
    with pytest.raises(InputError, match="use rule='tournament' or 'plurality'"):
        search_rules(clf, ["runoff"], digits[600:], labels[600:])
    found = search_rules(clf, ["plurality", Tournament()], digits[600:800], labels[600:800])
    model = found.best_estimator
    assert found.best_score == model.score(digits[600:800], labels[600:800])
