"""What is usual, and bounds on it that hold for learnt thresholds too."""

import json
from itertools import combinations
from math import comb

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError
from partita.watch import ReferenceRates, learn_usual
from partita.watch._evidence import Evidence
from partita.watch._rates import _rates, chances_of_runs, fingerprint, rates_of


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X[::2], y[::2])
    return clf, X[1::2]


@pytest.fixture(scope="module")
def values():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    reg = FeaturePartitionRegressor(LinearRegression(), n_submodels=5).fit(X[::2], y[::2])
    return reg, X[1::2]


def test_rates_are_those_of_the_loop(wine):
    clf, X = wine
    usual = learn_usual(clf, X)
    proof, votes = clf.certify(X), clf.classes_[clf.ballots(X).scores.argmax(axis=2)]
    rows = np.flatnonzero(proof.radius >= 1)
    for t in range(5):
        assert usual.counted[t] == len(rows)
        assert usual.contradictions[t] == sum(votes[i, t] != proof.prediction[i] for i in rows)
    assert usual.counted[-1] == len(X)
    assert usual.contradictions[-1] == len(X) - len(rows)


def test_every_row_is_used_or_each_third_in_any_pieces(wine):
    clf, X = wine
    ballots = clf.ballots(X)
    whole = learn_usual(clf, X, every=3)
    pieces = rates_of(clf, [ballots[:7], ballots[7:8], ballots[8:8], ballots[8:]], 3)
    assert fingerprint(whole) == fingerprint(pieces)
    assert whole.counted[-1] == len(X[::3])
    assert whole.rows == len(X)


def test_thresholds_of_values_are_below_a_tenth_of_the_clean_rows(values):
    reg, X = values
    usual = learn_usual(reg, X)
    votes = reg.rule_.votes(reg.ballots(X))
    away = np.abs(votes - reg.predict(X)[:, None])
    np.testing.assert_array_equal((away > usual.thresholds[:-1]).sum(axis=0), len(X) // 10)
    np.testing.assert_array_equal(usual.contradictions, len(X) - -(-9 * len(X) // 10))


@pytest.mark.parametrize("tied", [False, True])
def test_the_bound_holds_for_a_threshold_learnt_from_the_same_rows(tied):
    """Also with ties, where fewer rows are above the threshold than the bound may count."""
    rng = np.random.default_rng(0)
    n, reps, level = 40, 3000, 0.1
    draws = rng.integers(0, 10, (n, reps)) if tied else rng.random((n, reps))
    counted, contradictions, thresholds = _rates(
        Evidence(draws.astype(float), np.ones(draws.shape, bool), np.ones(reps, bool))
    )
    probability = (9 - thresholds) / 10 if tied else 1 - thresholds
    names = ("x",) * reps
    usual = ReferenceRates(names, ((),) * reps, n, 1, counted, contradictions, thresholds)
    too_low = np.mean(probability > usual.at_most(level))
    assert too_low <= level + 2 * np.sqrt(level / reps)
    assert tied or too_low > level / 2  # and the bound is not loose


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_chance_of_few_runs_is_their_share_among_all_orders(n):
    for m in range(n + 1):
        orders = np.zeros((n, comb(n, m)), dtype=bool)
        for k, places in enumerate(combinations(range(n), m)):
            orders[list(places), k] = True
        runs = (orders[1:] & ~orders[:-1]).sum(axis=0) + orders[0]
        expected = [np.mean(runs <= own) for own in runs]
        found = chances_of_runs(orders, np.ones_like(orders))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_rows_that_do_not_count_do_not_part_runs():
    contradicts, counted = np.array([1, 0, 1, 1, 0, 0]), np.array([1, 0, 1, 1, 1, 1])
    (found,) = chances_of_runs(contradicts[:, None] > 0, counted[:, None] > 0)
    assert found == pytest.approx(3 / 10)  # one run of three among five rows: 3 of 10 orders


def test_clean_rows_that_depend_on_their_neighbours_are_pointed_out(wine):
    clf, X = wine
    rng = np.random.default_rng(0)
    pool = np.asarray(clf.ballots(X))
    for _ in range(300):  # warnings are errors here
        rates_of(clf, [pool[rng.integers(0, len(pool), 200)]])
    repeated = np.repeat(pool[rng.integers(0, len(pool), 200)], 6, axis=0)
    rates_of(clf, [repeated], 6)
    with pytest.warns(UserWarning, match="the clean rows depend on their neighbours"):
        rates_of(clf, [repeated])


def test_a_source_without_rows_is_never_tested():
    none = np.zeros(1, int)
    usual = ReferenceRates(("all sources",), ((),), 5, 1, none, none, np.zeros(1))
    assert usual.at_most(0.01) == 1
    assert "-" in str(usual)


def test_it_is_the_same_after_json(wine, values):
    for model, X in (wine, values):
        usual = learn_usual(model, X)
        again = ReferenceRates.from_dict(json.loads(json.dumps(usual.to_dict(), allow_nan=False)))
        assert fingerprint(again) == fingerprint(usual)
        again.check_model(model)


@pytest.mark.parametrize(
    "change",
    [
        {"counted": [1]},
        {"contradictions": [10**6] * 6},
        {"thresholds": ["x"] * 6},
        {"every": 0},
        {"sources": None},
        {"rows": 1},
    ],
)
def test_damaged_numbers_are_refused(wine, change):
    clf, X = wine
    with pytest.raises(InputError, match="usual is damaged"):
        ReferenceRates.from_dict(learn_usual(clf, X).to_dict() | change)


def test_bad_input(wine, values):
    clf, X = wine
    with pytest.raises(InputError, match="every is 0"):
        learn_usual(clf, X, every=0)
    with pytest.raises(InputError, match="clean rows are none"):
        rates_of(clf, [])
    with pytest.raises(InputError, match="other sources"):
        learn_usual(clf, X).check_model(values[0])
