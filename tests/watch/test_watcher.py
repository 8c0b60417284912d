"""Watching: alarms where a source changes, and hardly any where none does."""

import json

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
)
from partita.watch import Watcher, learn_usual, watch
from partita.watch import _watcher as module
from partita.watch._rates import ReferenceRates, rates_of
from partita.watch._watcher import Bets


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
    X[row:, clf.columns_of(t)] = 0
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
    new[30:, reg.columns_of(2)] = 0.3
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
        usual = rates_of(clf, [pool[rng.integers(0, len(pool), 100)]])
        watcher = Watcher(clf, usual, false_alarms=level)
        watcher.update(pool[rng.integers(0, len(pool), 1500)])
        alarms += bool(watcher.alarms)
    assert alarms <= level * reps


def within(level, alarms, streams):
    """Whether so many alarms can be chance, if this is the most probable they may be."""
    return binomtest(int(alarms), streams, level, alternative="greater").pvalue > 1e-6


def streams_with_an_alarm(clean, new, level):
    """Streams side by side, (rows, streams) of contradictions, each with clean rows of its own."""
    n, width = clean.shape
    usual = ReferenceRates(
        ("x",) * width,
        ((),) * width,
        n,
        1,
        np.full(width, n),
        clean.sum(axis=0),
        np.zeros(width),
    )
    bets, found = Bets(usual.at_most(level / 2)), np.zeros(width, dtype=bool)
    for k in range(0, len(new), 200):
        wealth = bets.update(new[k : k + 200], np.ones_like(new[k : k + 200]))
        found |= (wealth >= -np.log(level / 2)).any(axis=0)
    return found.sum()


@pytest.mark.parametrize("n_clean", [1, 3, 10, 100])
@pytest.mark.parametrize("p", [0.03, 0.3, 0.7, 0.97])
def test_a_usual_rate_from_few_rows_costs_no_further_false_alarms(n_clean, p):
    """Half of the streams may have an alarm, so that a bound that is too tight is noticed."""
    rng = np.random.default_rng(int(1000 * p) + n_clean)
    clean, new = rng.random((n_clean, 800)) < p, rng.random((400, 800)) < p
    assert within(0.5, streams_with_an_alarm(clean, new, 0.5), 800)


@pytest.mark.parametrize("n_clean", [20, 200])
@pytest.mark.parametrize("kind", ["one bag without replacement", "a rate by stream"])
def test_rows_in_random_order_keep_the_false_alarms(n_clean, kind):
    """Exchangeable rows, which are not independent."""
    rng = np.random.default_rng(n_clean)
    width, n_rows = 1000, 400
    if kind == "a rate by stream":
        bag = rng.random((n_clean + n_rows, width)) < rng.beta(0.5, 0.5, width)
    else:
        bag = np.arange(n_clean + n_rows)[:, None] < rng.integers(1, n_rows, width)
        bag = rng.permuted(bag, axis=0)
    assert within(0.5, streams_with_an_alarm(bag[:n_clean], bag[n_clean:], 0.5), width)


@pytest.mark.long
@pytest.mark.parametrize("n_clean", [10, 300])
def test_many_streams_of_real_ballots_keep_the_false_alarms(digits, n_clean):
    """All sources together, whose contradictions come in the same rows."""
    clf, clean, new = digits
    pool = clf.ballots(np.concatenate([clean, new]))
    rng, level, reps, alarms = np.random.default_rng(n_clean), 0.5, 2000, 0
    for _ in range(reps):
        usual = rates_of(clf, [pool[rng.integers(0, len(pool), n_clean)]])
        watcher = Watcher(clf, usual, false_alarms=level)
        watcher.update(pool[rng.integers(0, len(pool), 500)])
        alarms += bool(watcher.alarms)
    assert within(level, alarms, reps)


def test_rows_that_repeat_raise_far_more_alarms_than_stated_unless_thinned(digits):
    """What the guide warns of: the promise is about rows that do not depend on one another."""
    clf, clean, new = digits
    pool = clf.ballots(np.concatenate([clean, new]))
    rng, level, reps, alarms = np.random.default_rng(0), 0.05, 60, {1: 0, 6: 0}
    for _ in range(reps):
        usual = rates_of(clf, [pool[rng.integers(0, len(pool), 600)]])
        stream = np.repeat(pool[rng.integers(0, len(pool), 150)], 6, axis=0)
        for every in alarms:
            watcher = Watcher(clf, usual, false_alarms=level, every=every)
            watcher.update(stream)
            alarms[every] += bool(watcher.alarms)
    assert alarms[1] > reps / 2
    assert within(level, alarms[6], reps)


def test_a_small_probability_is_not_shown_as_none(digits):
    clf, clean, new = digits
    found = watch(clf, new, learn_usual(clf, clean), false_alarms=0.0002)
    assert "at most 0.02 %" in str(found)


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
    with pytest.raises(InputError, match="not made by this version"):
        Watcher(clf, usual, state={name: state[name] for name in state if name != "format"})
    for change in ({"quiet": [1]}, {"log_stakes": [["x"]]}, {"alarms": [{}]}, {"counted": None}):
        changed = state | change
        with pytest.raises(InputError, match="checksum does not match"):
            Watcher(clf, usual, state=changed)
        with pytest.raises(InputError, match="state is damaged"):
            Watcher(clf, usual, state=changed | {"sha256": module._hash(changed)})
