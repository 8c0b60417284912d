"""Models that leave units out under audit: attacks of both kinds, and bugs that must be found."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import InputError, LeaveOutClassifier, LeaveOutRegressor
from partita.attacks import audit, check_deterministic, replay
from partita.attacks._attacked_table import AttackedTable
from partita.attacks._claims import Claims
from partita.attacks._evasion import Evader, find_options
from partita.attacks._findings import TRUSTED_TRAINING
from partita.partition import LeaveOut

from .leaky_estimators import LooksAtNeighbour, RemembersInTraining

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.mark.parametrize(
    ("radius", "n_groups"), [(1, 5), pytest.param(2, 6, marks=pytest.mark.long)]
)
def test_no_certified_label_changes(arrays, radius, n_groups):
    X, y, X_test, y_test = arrays
    model = LeaveOutClassifier(GaussianNB(), radius=radius, n_groups=n_groups, n_jobs=1).fit(X, y)
    found = audit(model, X_test, y_test, X, y, rows=40)
    assert found.passed, str(found)
    for line in found.lines:
        assert line.certified_changed == 0 < line.certified <= line.rows == 40
        assert line.changed <= line.rows - line.certified
    evasion = [line for line in found.lines if line.attack == "evasion"]
    assert [line.r for line in evasion] == list(range(1, radius + 1))
    assert evasion[-1].changed > 2  # the attacks are real
    kinds = {line.attack for line in found.lines}
    assert {"backdoor", "poisoning: label", "poisoning: large numbers"} <= kinds
    assert sum("moves no other submodel" in check.name for check in found.checks) > 5
    assert found.warnings == []


@pytest.mark.long
def test_no_certified_value_leaves_its_bounds():
    X, y = load_diabetes(return_X_y=True)
    model = LeaveOutRegressor(Ridge(0.1), radius=2, n_groups=6, n_jobs=1).fit(X[::2], y[::2])
    found = audit(model, X[1::2], y[1::2], X[::2], y[::2], tolerance=40, rows=30)
    assert found.passed, str(found)
    lines = {(line.attack, line.r): line for line in found.lines}
    assert lines["evasion", 1].certified > lines["evasion", 2].certified > 0
    assert lines["evasion", 2].changed > 2
    assert lines["backdoor", 2].changed > 2


@pytest.mark.parametrize("task", ["labels", pytest.param("values", marks=pytest.mark.long)])
def test_a_trusted_training_table_is_not_attacked_and_the_audit_says_so(small, task):
    X, y, X_test, y_test = small
    settings = {"radius": 2, "n_groups": 6, "training": "trusted", "n_jobs": 1}
    tolerance = {}
    if task == "labels":
        model = LeaveOutClassifier(TREE, **settings)
    else:
        model = LeaveOutRegressor(DecisionTreeRegressor(max_depth=3, random_state=0), **settings)
        tolerance = {"tolerance": 0.3}
    model.fit(X, y)
    found = audit(model, X_test, y_test, X, y, rows=30, **tolerance)
    assert found.passed, str(found)
    assert {line.attack for line in found.lines} == {"evasion"}
    assert [line.r for line in found.lines] == [1, 2]
    assert found.lines[0].certified > 0
    assert TRUSTED_TRAINING in found.warnings
    assert f"WARNING: {TRUSTED_TRAINING}" in str(found)
    names = {check.name for check in found.checks}
    assert "the model is what fitting on this training table gives" in names
    assert any("another process" in name for name in names)
    assert any("rewritten in the rows moves no other" in name for name in names)
    assert not any("in training" in name for name in names)


def test_values_that_the_model_of_masked_rows_refuses_are_found_member_by_member(small):
    """Trees refuse infinities, unless they are masked."""
    X, y, X_test, _ = small
    model = LeaveOutClassifier(TREE, n_groups=4, training="trusted", on_failure="vote").fit(X, y)
    options = find_options(model, AttackedTable(X_test[:8]), np.random.default_rng(0))
    for own in options:
        families = {option.family for option in own if option.refused}
        assert families == {"extremes", "infinities"}
        assert {option.family for option in own if not option.refused} >= {"other rows", "ends"}


@pytest.fixture
def shared_pools(monkeypatch):
    """Every model also asks members that see one of the groups it must not see."""
    honest = LeaveOut.pools

    def pools(self):
        starts, members = honest(self)
        hidden = self._hidden_groups()
        models = [members[a:b] for a, b in pairwise(starts)]
        others = np.flatnonzero((hidden.sum(axis=1) > 0) & ~hidden[:, 0])
        wrong = [np.union1d(own, others) for own in models]
        return np.cumsum([0, *map(len, wrong)]), np.concatenate(wrong)

    monkeypatch.setattr(LeaveOut, "pools", pools)


@pytest.mark.parametrize("training", ["attackable", "trusted"])
def test_a_pool_with_a_member_that_sees_what_it_must_not_breaks_certificates(
    shared_pools, small, training
):
    X, y, X_test, y_test = small
    model = LeaveOutClassifier(TREE, n_groups=5, leave_out=2, training=training, n_jobs=1)
    model.fit(X, y)
    attacks = ("evasion", "poisoning")
    found = audit(model, X_test, y_test, X, y, rows=100, attacks=attacks)
    assert not found.passed
    one = next(one for one in found.broken if one.attack == "evasion")
    assert one.radius == 1
    again = replay(found.to_dict()["broken"][found.broken.index(one)], model, X_test)
    assert again == one.after != one.before


def test_what_breaks_a_row_alone_comes_first(arrays):
    """The whole support of a unit says little: a few models that turn are enough."""
    X, y, X_test, _ = arrays
    model = LeaveOutClassifier(GaussianNB(), n_groups=5).fit(X, y)
    claims = Claims(model, X_test[:60])
    evader = Evader(claims, AttackedTable(X_test[:60]), 0)
    by_trying = np.zeros(60, bool)
    for unit, options in enumerate(evader.options):
        for option in options:
            scores = claims.ballots.copy()
            scores[:, evader.reach[unit]] = option.ballots
            ballots = replace(claims.certified.ballots, scores=scores)
            by_trying |= claims.broken(model.decide(ballots))
    attack = next(evader.attacks(1))
    assert np.array_equal(claims.broken(model.predict(attack.table)), by_trying)
    assert by_trying.any()
    assert not (by_trying & (claims.radius >= 1)).any()


@pytest.mark.parametrize(
    ("estimator", "name"),
    [(RemembersInTraining(1e5), "in training move"), (LooksAtNeighbour(1e5), "in the rows move")],
)
def test_members_that_reach_one_another_are_found(small, failed, estimator, name):
    X, y, X_test, y_test = small
    model = LeaveOutClassifier(estimator, n_groups=4, n_jobs=1).fit(X, y)
    found = audit(model, X_test, y_test, X, y, rows=20, attacks=("checks",))
    assert any(name in check for check in failed(found)), str(found)


def test_a_leave_out_ensemble_is_deterministic(small):
    X, y, _, _ = small
    for training in ("attackable", "trusted"):
        model = LeaveOutClassifier(TREE, n_groups=4, training=training)
        assert check_deterministic(model, X, y) == []
    with pytest.raises(InputError, match="a LeaveOutClassifier or"):
        audit(TREE, X)
