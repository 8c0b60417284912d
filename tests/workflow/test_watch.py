"""Watching: alarms where a source changes, and hardly any where none does."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
)
from partita.workflow import Watcher, learn_usual, watch
from partita.workflow import _watch as module
from partita.workflow._usual import usual_of


@pytest.fixture(scope="module")
def digits():
    """A model, and held-out rows to learn from and to watch."""
    X, y = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[:800], y[:800])
    held_out = np.random.default_rng(0).permutation(X[800:])
    return clf, held_out[:600], held_out[600:]


def broken(clf, X, t, row):
    """The columns of submodel t are stuck at 0 from a row on."""
    X = X.copy()
    X[row:, clf._columns(t)] = 0
    return X


@pytest.mark.parametrize("t", [1, 4])
def test_a_source_that_is_stuck_is_named_soon_and_alone(digits, t):
    clf, clean, new = digits
    usual = learn_usual(clf, clean)
    found = watch(clf, broken(clf, new, t, 100), usual, times=[f"day {i}" for i in range(len(new))])
    (alarm,) = [one for one in found.alarms if one.source != "all sources"]
    assert alarm.source == usual.sources[t]
    assert 100 <= alarm.row < 200
    assert 90 <= alarm.since <= 120
    assert alarm.time == f"day {alarm.row}"
    assert alarm.contradictions / alarm.counted > usual.rates[t]
    assert found.sources[t].alarm is alarm
    assert found.sources[t].rate > usual.rates[t]


def test_a_value_that_is_stuck_is_named():
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    reg = FeaturePartitionRegressor(LinearRegression(), n_submodels=5).fit(X[:150], y[:150])
    usual = learn_usual(reg, X[150:320])
    new = X[320:].copy()
    new[30:, reg._columns(2)] = 0.3
    found = watch(reg, new, usual)
    assert usual.sources[2] in [alarm.source for alarm in found.alarms]
    assert not watch(reg, X[320:], usual).alarms


def test_a_group_that_is_stuck_is_named():
    X, y = load_digits(return_X_y=True)
    clf = LeaveOutClassifier(GaussianNB(), n_groups=6).fit(X[:800], y[:800])
    held_out = np.random.default_rng(0).permutation(X[800:])
    usual = learn_usual(clf, held_out[:600])
    new = held_out[600:].copy()
    new[50:, np.flatnonzero(clf.rule_.unit_groups() == 2)] = 16
    found = watch(clf, new, usual)
    assert [a.source for a in found.alarms if a.source != "all sources"] == [usual.sources[2]]
    assert not watch(clf, held_out[600:], usual).alarms


def test_false_alarms_are_as_rare_as_stated(digits):
    """Clean rows and new ones are drawn from the same ballots; streams are long.

    With few clean rows every second rate is estimated too low: without a bound on it, long streams
    would raise alarms.
    """
    clf, clean, new = digits
    pool = clf.ballots(np.concatenate([clean, new]))
    rng = np.random.default_rng(0)
    reps, level, alarms = 60, 0.2, 0
    for _ in range(reps):
        usual = usual_of(clf, [pool[rng.integers(0, len(pool), 100)]])
        watcher = Watcher(clf, usual, false_alarms=level)
        watcher.update(pool[rng.integers(0, len(pool), 1500)])
        alarms += bool(watcher.alarms)
    assert alarms <= level * reps


def test_half_of_the_false_alarms_is_for_luck_and_shared_by_all_sources(digits):
    clf, clean, _ = digits
    watcher = Watcher(clf, learn_usual(clf, clean), false_alarms=0.04)
    assert watcher.log_limit == pytest.approx(np.log(2 * 10 / 0.04))
    np.testing.assert_array_equal(watcher.at_most, watcher.usual.at_most(0.04 / 20))


def test_batches_and_states_change_nothing(digits, monkeypatch):
    clf, clean, new = digits
    usual = learn_usual(clf, clean, every=2)
    ballots = clf.ballots(broken(clf, new, 3, 60))
    whole = Watcher(clf, usual)
    whole.update(ballots)
    monkeypatch.setattr(module, "AT_ONCE", 17)
    state = None
    for start, end in ((0, 1), (1, 64), (64, 64), (64, 250), (250, len(ballots))):
        watcher = Watcher(clf, usual, state=state)
        watcher.update(ballots[start:end])
        state = json.loads(json.dumps(watcher.state(), allow_nan=False))
    assert watcher.rows == len(ballots)
    assert len(whole.alarms) >= 1
    for own, other in zip(watcher.result.sources, whole.result.sources, strict=True):
        assert own.log_wealth == pytest.approx(other.log_wealth, abs=1e-9)
        assert (own.counted, own.contradictions) == (other.counted, other.contradictions)
    for own, other in zip(watcher.alarms, whole.alarms, strict=True):
        assert own.wealth == pytest.approx(other.wealth)
        assert own.to_dict() | {"wealth": 0} == other.to_dict() | {"wealth": 0}
    assert whole.result.sources[0].counted < len(ballots) // 2 + 1


def test_bad_input(digits):
    clf, clean, new = digits
    usual = learn_usual(clf, clean)
    with pytest.raises(InputError, match="false_alarms is 0"):
        Watcher(clf, usual, false_alarms=0)
    with pytest.raises(InputError, match="every is 0"):
        Watcher(clf, usual, every=0)
    with pytest.raises(InputError, match="times has 1 entries for 10 rows"):
        watch(clf, new[:10], usual, times=["now"])
    state = Watcher(clf, usual).state()
    with pytest.raises(InputError, match="another false_alarms"):
        Watcher(clf, usual, false_alarms=0.1, state=state)
    with pytest.raises(InputError, match="another usual"):
        Watcher(clf, learn_usual(clf, clean[1:]), state=state)
    with pytest.raises(InputError, match="state is no state"):
        Watcher(clf, usual, state=[])
    for change in ({"quiet": [1]}, {"log_stakes": [["x"]]}, {"alarms": [{}]}, {"counted": None}):
        with pytest.raises(InputError, match="state is damaged"):
            Watcher(clf, usual, state=state | change)
