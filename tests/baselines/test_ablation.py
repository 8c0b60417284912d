"""Randomized ablation: radii against plain integers, bounds against exact tails, and attackers that
try everything on small problems."""

import inspect
import itertools
import math
import textwrap
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.neural_network import MLPClassifier

from partita import InputError
from partita.baselines import _ablation_bounds as radius_module
from partita.baselines._ablated_model import ablate, kept_units
from partita.baselines._ablation import RandomizedAblationClassifier, abstained
from partita.baselines._ablation_bounds import ablation_radius, certify_votes, clopper_pearson
from partita.baselines._ablation_regression import RandomizedAblationRegressor
from partita.certificates import Counts
from partita.datasets import load_digits
from partita.metrics import certified_accuracy, median_radius
from partita.partition._units import Units, pixels

METHODS = ["levine-feizi", "jia"]

# ---- radii ----


def outwards(p_lower, p_upper):
    """The next floats, of the same type, of which a bound that was rounded lies on the right side;
    other numbers as they are."""
    return (
        Fraction(float(np.nextafter(one, type(one)(end))))
        if isinstance(one, float | np.floating)
        else Fraction(one)
        for one, end in ((p_lower, 0), (p_upper, 1))
    )


def plain_radius(p_lower, p_upper, d, e, method, combs=None):
    """The same in fractions, rho by rho."""
    p, q = outwards(p_lower, p_upper)
    n = math.comb(d, e)
    certified = -1
    for rho in range(d + 1):
        lost = n - (combs[rho] if combs else math.comb(d - rho, e))
        if method == "jia":
            holds = math.ceil(p * n) - lost > math.floor(q * n) + lost
        else:
            holds = 2 * (p.numerator * n - lost * p.denominator) > n * p.denominator
        if not holds:
            break
        certified = rho
    return certified


def around(values):
    """Floats at, just below and just above these, within [0, 1]."""
    exact = np.unique(np.array([float(value) for value in values]))
    near = np.concatenate([exact, np.nextafter(exact, -1), np.nextafter(exact, 2)])
    return np.unique(near[(near >= 0) & (near <= 1)])


@pytest.mark.parametrize("method", METHODS)
def test_radii_on_a_full_grid_of_small_cases(method):
    for d in range(1, 8):
        for e in range(1, d + 1):
            n = math.comb(d, e)
            ticks = around(
                [Fraction(k, n) for k in range(0, n + 1, max(1, n // 6))]
                + [Fraction(k, 4) for k in range(5)]
            )
            p, q = np.meshgrid(ticks, ticks)
            expected = [
                plain_radius(a, b, d, e, method) for a, b in zip(p.flat, q.flat, strict=True)
            ]
            found = ablation_radius(p, q, d, e, method)
            assert found.shape == p.shape
            assert found.ravel().tolist() == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("e", [1, 2, 25, 100, 700, 1024])
def test_radii_of_1024_columns_at_random_and_at_every_threshold(method, e):
    d, n, rng = 1024, math.comb(1024, e), np.random.default_rng(e)
    combs = [math.comb(d - rho, e) for rho in range(d + 1)]
    kept = [Fraction(combs[rho], n) for rho in range(d + 1) if 2 * combs[rho] > n][-30:]
    if method == "levine-feizi":
        p = np.concatenate([around([Fraction(3, 2) - share for share in kept]), rng.random(100)])
        q = np.zeros(len(p))
    else:
        gaps = [2 - 2 * share for share in kept]
        q = np.concatenate([np.zeros(30), rng.choice(2**20, 60) / 2**21, rng.random(100) / 2])
        p = np.concatenate(
            [
                np.array([float(Fraction(q[i]) + gaps[i % len(gaps)]) for i in range(90)]).clip(
                    0, 1
                ),
                rng.random(100),
            ]
        )
        p, q = (
            np.concatenate([p, np.nextafter(p, 0), np.nextafter(p, 1)]),
            np.concatenate([q, q, q]),
        )
    found = ablation_radius(p, q, d, e, method)
    assert found.tolist() == [
        plain_radius(a, b, d, e, method, combs) for a, b in zip(p, q, strict=True)
    ]
    assert found.min() == -1
    assert e > 100 or len(set(found.tolist())) > 5


def test_a_share_that_is_exactly_the_threshold_is_not_certified():
    # One of 1024 columns is kept: 1/2 + rho / 1024 is a float.
    thresholds = 0.5 + np.arange(512) / 1024
    # the next float may be the threshold, rounded up; the one after that is not, and what is more
    # than a whole number is one more
    for method, shares in (("levine-feizi", thresholds), ("jia", 2 * np.arange(512) / 1024)):
        once = np.nextafter(shares, 1)
        for given, radii in (
            (shares, range(-1, 511)),
            (once, range(-1, 511)),
            (np.nextafter(once, 1), range(512)),
        ):
            assert ablation_radius(given, 0.0, 1024, 1, method).tolist() == list(radii)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("method", METHODS)
def test_shares_that_were_rounded_certify_no_more_than_they_are(method, dtype):
    """Every whole number of ablations as a float, which may lie above or below it: the radius is at
    most that of the fraction."""
    closer = 0
    for d in range(2, 15):
        for e in range(1, d):
            n = math.comb(d, e)
            own, other = (
                np.array(counts)
                for counts in zip(
                    *((k, n - k) for k in range(n // 2, n + 1, max(1, n // 40))), strict=True
                )
            )
            found = ablation_radius(
                (own / n).astype(dtype), (other / n).astype(dtype), d, e, method
            )
            exact = [
                plain_radius(Fraction(int(a), n), Fraction(int(b), n), d, e, method)
                for a, b in zip(own, other, strict=True)
            ]
            assert np.all(found <= exact), (d, e)
            assert np.all(found >= np.array(exact) - 1)
            closer += np.mean(found == exact)
    assert dtype is np.float16 or closer / 91 > 0.95  # and hardly less


def test_a_decimal_that_rounds_up_certifies_no_more_than_it_says():
    # 0.8 is a float above 4/5: with one of 10 columns kept, 8 of 10 votes less 3 are no majority.
    assert Fraction(0.8) > Fraction(4, 5)
    assert plain_radius(Fraction(4, 5), Fraction(1, 5), 10, 1, "levine-feizi") == 2
    assert (
        ablation_radius(0.8, None, 10, 1, "levine-feizi")
        == ablation_radius([0.8], [0.2], 10, 1, "levine-feizi")[0]
        == 2
    )
    assert ablation_radius(np.float32(0.8), None, 10, 1, "levine-feizi") == 2
    # 0.8 of 5 is 4 votes, not 5, and 4 to 0 falls to 2.
    assert (
        plain_radius(Fraction(4, 5), Fraction(0), 5, 1, "jia")
        == ablation_radius(0.8, 0.0, 5, 1, "jia")
        == 1
    )


def test_integers_are_what_they_are():
    assert ablation_radius(1, 0, 6, 1, "jia") == ablation_radius(1.0, 0.0, 6, 1, "jia") == 2
    assert (
        ablation_radius(True, False, 6, 1, "levine-feizi")
        == ablation_radius(1.0, None, 6, 1, "levine-feizi")
        == 2
    )
    assert ablation_radius([0.0, 0.0], [0.0, 1.0], 6, 1, "jia").tolist() == [-1, -1]


def test_integers_decide_what_floats_cannot():
    d, e = 1024, 25
    n = math.comb(d, e)
    p = 0.75
    for rho in (1, 5):
        exact = Fraction(math.nextafter(p, 0)) - Fraction(2 * (n - math.comb(d - rho, e)), n)
        q = np.nextafter(
            around([exact]), 0
        )  # p - q, rounded outwards, is the threshold to the last bit
        assert ablation_radius(p, q, d, e, "jia").tolist() == [
            plain_radius(p, b, d, e, "jia") for b in q
        ]
        assert len(set(ablation_radius(p, q, d, e, "jia").tolist())) == 2


@pytest.mark.parametrize("n_columns", [4, 5, 6])
def test_no_radius_is_too_small_or_too_large_where_the_attacker_turns_all_he_reaches(n_columns):
    for e in range(1, n_columns + 1):
        kept = [set(some) for some in itertools.combinations(range(n_columns), e)]
        needed = next(
            rho
            for rho in range(1, n_columns + 1)
            if any(
                2 * sum(bool(own & set(attack)) for own in kept) >= len(kept)
                for attack in itertools.combinations(range(n_columns), rho)
            )
        )
        for method in METHODS:
            assert ablation_radius(1.0, 0.0, n_columns, e, method) == needed - 1


@pytest.mark.parametrize("e", [1, 25, 512])
def test_a_hundred_thousand_radii_take_less_than_a_second(e):
    rng = np.random.default_rng(0)
    p = rng.random(100_000)
    q = (1 - p) * rng.random(100_000)
    seconds = []
    for _ in range(3):
        radius_module._marks.cache_clear()
        started = time.process_time()
        for method in METHODS:
            ablation_radius(p, q, 1024, e, method)
        seconds.append(time.process_time() - started)
    assert min(seconds) < 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((0.9, 0.1, 10, 11, "jia"), "e is 11, but there are only d = 10"),
        ((0.9, 0.1, 10, 0, "jia"), "e is 0"),
        ((0.9, 0.1, 10.5, 1, "jia"), "d is 10.5"),
        ((0.9, 0.1, 10, True, "jia"), "e is True"),
        ((1.1, 0.1, 10, 1, "jia"), "p_lower holds 1.1: a probability"),
        ((np.nan, None, 10, 1, "levine-feizi"), "p_lower holds nan"),
        ((0.9, -0.1, 10, 1, "jia"), "p_upper holds -0.1"),
        ((0.9, -0.1, 10, 1, "levine-feizi"), "p_upper holds -0.1"),
        ((0.9, None, 10, 1, "jia"), "p_upper is missing"),
        ((0.9, 0.1, 10, 1, "magic"), "method is 'magic'"),
        ((Fraction(9, 10), 0.1, 10, 1, "jia"), "p_lower holds object"),
        pytest.param(
            *((np.longdouble(0.9), 0.1, 10, 1, "jia"), "p_lower holds float"),
            marks=pytest.mark.skipif(
                np.dtype(np.longdouble).itemsize == 8, reason="a long double is a double here"
            ),
        ),
        (("0.9", 0.1, 10, 1, "jia"), "p_lower holds <U3"),
        (([0.9, 0.8], [0.1, 0.1, 0.1], 10, 1, "jia"), "give them the same shape"),
    ],
)
def test_bad_settings_of_radii(arguments, told):
    with pytest.raises(InputError, match=told):
        ablation_radius(*arguments)


# ---- bounds ----


def tail(k, n, p):
    """The probability that k or more of n happen, exactly."""
    p = Fraction(p)
    top, bottom = p.numerator, p.denominator
    return Fraction(
        sum(math.comb(n, j) * top**j * (bottom - top) ** (n - j) for j in range(k, n + 1)),
        bottom**n,
    )


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-4, 1e-9])
def test_clopper_pearson_is_right_and_tight(alpha):
    for n in (1, 2, 5, 13, 30):
        lower, upper = clopper_pearson(np.arange(n + 1), n, alpha)
        assert lower[0] == 0
        assert upper[n] == 1
        for k in range(n + 1):
            if k:
                assert tail(k, n, lower[k]) <= Fraction(alpha) < tail(k, n, lower[k] * (1 + 1e-8))
            if k < n:  # k or fewer happen exactly if n - k or more do not
                assert tail(n - k, n, 1 - Fraction(upper[k])) <= Fraction(alpha)
                assert tail(
                    n - k,
                    n,
                    (1 - Fraction(upper[k])) * (1 + Fraction(1, 10**8)) + Fraction(1, 10**15),
                ) > Fraction(alpha)


@pytest.mark.parametrize("k", [1, 200, 595, 600])
def test_clopper_pearson_of_many_draws(k):
    lower, upper = (float(bound) for bound in clopper_pearson(k, 600, 1e-4))
    assert tail(k, 600, lower) <= Fraction(1e-4)
    assert k == 600 or tail(600 - k, 600, 1 - Fraction(upper)) <= Fraction(1e-4)
    assert lower < k / 600 <= upper


@pytest.mark.parametrize("wrong", [lambda p: p * 1.001, lambda p: p * np.nan, lambda p: p + 0.3])
def test_an_inverse_that_is_wrong_does_not_make_a_bound_wrong(monkeypatch, wrong):
    inverse = radius_module.betaincinv
    monkeypatch.setattr(
        radius_module, "betaincinv", lambda a, b, level: wrong(inverse(a, b, level))
    )
    lower, upper = clopper_pearson(np.arange(21), 20, 0.01)
    assert all(tail(k, 20, lower[k]) <= Fraction(0.01) for k in range(1, 21))
    assert all(tail(20 - k, 20, 1 - Fraction(upper[k])) <= Fraction(0.01) for k in range(20))


@pytest.mark.parametrize(
    ("k", "n", "alpha"),
    [(5, 4, 0.1), (-1, 4, 0.1), (0, 0, 0.1), (1.5, 4, 0.1), (1, 4, 0), (1, 4, 1.0), (1, 4, "x")],
)
def test_bad_settings_of_bounds(k, n, alpha):
    with pytest.raises(InputError, match=r"alpha is|successes and draws"):
        clopper_pearson(k, n, alpha)


def test_votes_become_radii_by_hand():
    votes = np.array([[900, 60, 40], [500, 490, 10], [40, 60, 900]])
    radius, runner_up = certify_votes(votes, [0, 0, 2], 100, 5, 0.01, "levine-feizi")
    assert runner_up.tolist() == [1, 1, 1]
    low = [float(clopper_pearson(own, 1000, 0.01)[0]) for own in (900, 500, 900)]
    assert (
        radius.tolist() == [plain_radius(p, 0, 100, 5, "levine-feizi") for p in low] == [8, -1, 8]
    )
    radius, runner_up = certify_votes(votes, [0, 0, 2], 100, 5, 0.01, "jia")
    low = [float(clopper_pearson(own, 1000, 0.01 / 3)[0]) for own in (900, 500, 900)]
    high = [float(clopper_pearson(rival, 1000, 0.01 / 3)[1]) for rival in (60, 490, 60)]
    assert radius.tolist() == [
        plain_radius(p, min(Fraction(q), 1 - Fraction(p)), 100, 5, "jia")
        for p, q in zip(low, high, strict=True)
    ]
    assert radius.tolist() == [9, -1, 9]


# ---- draws ----


@pytest.mark.parametrize("keep", [1, 2, 3, 4, 6])
def test_all_sets_of_columns_are_equally_likely(keep):
    kept = kept_units(np.random.default_rng(7), 30_000, 6, keep)
    assert (kept.sum(axis=1) == keep).all()
    _, counts = np.unique(kept @ (1 << np.arange(6)), return_counts=True)
    n = math.comb(6, keep)
    assert len(counts) == n
    spread = (
        (counts - 30_000 / n) ** 2 / (30_000 / n)
    ).sum()  # chi-square with n - 1 degrees: five standard deviations
    assert spread <= n - 1 + 5 * math.sqrt(2 * (n - 1))


def test_an_ablated_column_is_unlike_any_value():
    rows = ablate(
        np.array([0.0, 0.25, 1.0], dtype=np.float32),
        np.array([[True, True, True], [False, True, False]]),
    )
    assert rows.tolist() == [[0, 0.25, 1, 1, 0.75, 0], [0, 0.25, 0, 0, 0.75, 0]]
    assert rows.dtype == np.float32


class Said(BaseEstimator):
    """Answers that are a given function of what is kept and of the values: bool and float (rows,
    d)."""

    def __init__(self, function=None):
        self.function = function

    def partial_fit(self, rows, target, classes=None):
        return self

    def predict(self, rows):
        d = rows.shape[1] // 2
        return self.function(rows[:, :d] + rows[:, d:] > 0, rows[:, :d])


def fitted(function, d, labels, **settings):
    clf = RandomizedAblationClassifier(Said(function), low=0, high=1, epochs=1, **settings)
    return clf.fit(np.zeros((2 * labels, d)), np.tile(np.arange(labels), 2))


def three_way(kept, values):
    return (kept @ np.array([1, 2, 4, 8, 16, 32, 64, 128]) // 3) % 7 % 3


@pytest.fixture(scope="module")
def repeated():
    """The exact shares of a vote over all ablations, and the votes of 500 seeds."""
    everything = np.array(
        [[k in some for k in range(8)] for some in itertools.combinations(range(8), 3)]
    )
    shares = np.bincount(three_way(everything, None), minlength=3) / len(everything)
    clf = fitted(three_way, 8, 3, keep=3, n_select=10, n_certify=150)
    votes = []
    for clf.seed_ in range(500):
        votes.append(clf.votes(np.zeros((1, 8)))[0])
    return shares, np.array(votes)


def at_most(share, n, sigmas=4):
    return share + sigmas * math.sqrt(share * (1 - share) / n)


@pytest.mark.parametrize("label", range(3))
def test_each_bound_is_wrong_as_rarely_as_it_says(repeated, label):
    shares, votes = repeated
    assert (votes.sum(axis=1) == 150).all()
    lower, upper = clopper_pearson(votes[:, label], 150, 0.2)
    for wrong in (lower > shares[label], upper < shares[label]):
        assert (
            0.05 < wrong.mean() < at_most(0.2, 500)
        )  # and no rarer than counting in whole numbers makes it


def test_all_bounds_together_are_wrong_as_rarely_as_they_say(repeated):
    shares, votes = repeated
    label = int(shares.argmax())
    lower, upper = clopper_pearson(votes, 150, 0.2 / 3)
    wrong = (lower[:, label] > shares[label]) | (
        np.delete(upper, label, axis=1) < np.delete(shares, label)
    ).any(axis=1)
    assert 0.02 < wrong.mean() < at_most(0.2, 500)


@pytest.mark.parametrize("method", METHODS)
def test_a_tie_is_certified_as_rarely_as_alpha_allows(method):
    """Half of all ablations say 0, half 1: any radius but -1 is false. A label chosen on the draws
    of the proof: false twice as often."""
    clf = fitted(
        lambda kept, values: kept.argmax(axis=1) % 2,
        8,
        2,
        keep=1,
        n_select=51,
        n_certify=301,
        alpha=0.2,
        method=method,
    )
    false = []
    for clf.seed_ in range(600):
        false.append(not abstained(clf.certify(np.zeros((1, 8))))[0])
    allowed = (
        0.2 if method == "levine-feizi" else 0.1
    )  # jia: 0.2 is shared by two labels, whose bounds are the same event
    assert allowed / 3 < np.mean(false) < at_most(allowed, 600)


@pytest.mark.parametrize("bounds", [{"lower": 0}, {"upper": 0}, {"tolerance": 0}])
def test_a_tie_between_two_values_is_certified_as_rarely_as_half_of_alpha_allows(bounds):
    """Half of all values lie beyond the bound. A prediction from the proof's draws, or all of alpha
    for each bound: twice as often."""
    reg = RandomizedAblationRegressor(
        Said(lambda kept, values: 1.0 - 2 * (kept.argmax(axis=1) % 2)),
        keep=1,
        low=0,
        high=1,
        epochs=1,
        n_select=301,
        n_certify=301,
        alpha=0.4,
    )
    reg.fit(np.zeros((4, 8)), [-1, 1, -1, 1])
    false = []
    for reg.seed_ in range(600):
        false.append(not abstained(reg.certify(np.zeros((1, 8)), **bounds))[0])
    assert 0.2 / 3 < np.mean(false) < at_most(0.2, 600)


# ---- attackers who try everything ----

GRID = np.array(list(itertools.product([0, 0.5, 1], repeat=6)))
CORNERS = np.flatnonzero((GRID != 0.5).all(axis=1))
DISTANCE = (GRID[:, None] != GRID[None]).sum(axis=2)


def all_answers(model, keep):
    """What the fitted model says about every ablation of every row of the grid: (rows,
    ablations)."""
    kept = np.array(
        [[k in some for k in range(6)] for some in itertools.combinations(range(6), keep)]
    )
    rows = ablate(GRID.astype(np.float32)[:, None], kept)
    return model.estimator_.predict(rows.reshape(-1, 12)).reshape(rows.shape[:2])


@pytest.fixture(scope="module")
def small_problem():
    X = np.random.default_rng(0).integers(0, 2, size=(200, 6)).astype(float)
    return X, X.sum(axis=1)


@pytest.mark.parametrize("keep", [1, 2, 3])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("base", [BernoulliNB(), MLPClassifier((8,), learning_rate_init=0.01)])
def test_no_change_of_radius_columns_changes_the_smoothed_label(small_problem, keep, method, base):
    X, total = small_problem
    clf = RandomizedAblationClassifier(
        base, keep=keep, low=0, high=1, method=method, n_select=200, n_certify=4000, alpha=0.05
    )
    clf.fit(X, np.digitize(total, [2, 5]))
    said = all_answers(clf, keep)
    shares = np.stack([(said == label).mean(axis=1) for label in range(3)], axis=1)
    ordered = np.sort(shares, axis=1)
    exact = np.where(
        ordered[:, -1] > ordered[:, -2], shares.argmax(axis=1), -1
    )  # a tie is nobody's
    proof, votes = clf.certify(GRID[CORNERS]), clf.votes(GRID[CORNERS])
    lower, upper = clopper_pearson(votes, 4000, 0.05 if method == "levine-feizi" else 0.05 / 3)
    held = (lower <= shares[CORNERS]).all(axis=1) & (upper >= shares[CORNERS]).all(axis=1)
    assert held.mean() > 0.7
    for row in np.flatnonzero(held & ~abstained(proof)):
        reached = DISTANCE[CORNERS[row]] <= proof.radius[row]
        assert (exact[reached] == proof.prediction[row]).all()
    assert (proof.radius >= (2 if keep == 1 else 1)).any() or keep == 3
    assert np.mean(proof.radius >= 0) > 0.3


def test_a_radius_is_not_one_too_large_where_the_attacker_has_the_worst_case():
    """A model that turns wherever it sees a changed column, and about an eighth of the ablations
    are against it from the start."""

    def turning(kept, values):
        return ((values * kept) > 0).any(axis=1) | ((kept @ (1 << np.arange(6))) % 8 == 1)

    kept = np.array([[k in some for k in range(6)] for some in itertools.combinations(range(6), 1)])
    for method in METHODS:
        clf = fitted(
            lambda *seen: turning(*seen).astype(int),
            6,
            2,
            keep=1,
            n_select=100,
            n_certify=20_000,
            alpha=1e-4,
            method=method,
        )
        proof = clf.certify(np.zeros((1, 6)))
        against = [
            max(
                turning(kept, np.isin(np.arange(6), attack) * 1.0).sum()
                for attack in itertools.combinations(range(6), rho)
            )
            for rho in range(7)
        ]
        assert proof.radius[0] == max(rho for rho in range(7) if 2 * against[rho] < len(kept)) == 1


PAIRS = {f"pair {k}": [k, k + 6] for k in range(6)}  # six units of two columns, which lie apart


@pytest.mark.parametrize("method", METHODS)
def test_a_radius_counts_units(method):
    """The model turns wherever it sees a changed column; the attacker takes whole units, and every
    ablation keeps or hides whole units."""
    seen = []

    def turning(kept, values):
        seen.append(kept)
        return ((values * kept) > 0).any(axis=1).astype(int)

    clf = RandomizedAblationClassifier(
        Said(turning),
        low=0,
        high=1,
        epochs=1,
        units=PAIRS,
        keep=2,
        n_select=100,
        n_certify=20_000,
        alpha=1e-4,
        method=method,
    )
    proof = clf.fit(np.zeros((4, 12)), [0, 1, 0, 1]).certify(np.zeros((1, 12)))
    kept = np.concatenate(seen)
    assert (kept[:, :6] == kept[:, 6:]).all()
    assert (kept.sum(axis=1) == 4).all()
    everything = np.array(
        [[k in some for k in range(6)] * 2 for some in itertools.combinations(range(6), 2)]
    )
    against = [
        turning(everything, np.tile(np.arange(6) < rho, 2) * 1.0).sum() for rho in range(7)
    ]  # every set of rho units is as good
    assert (
        proof.radius[0] == max(rho for rho in range(7) if 2 * against[rho] < len(everything)) == 1
    )
    assert str(proof.counts) == "units (6 in all)"


def test_a_radius_of_values_counts_units():
    reg = RandomizedAblationRegressor(
        Said(lambda kept, values: ((values * kept) > 0).any(axis=1) * 1.0),
        low=0,
        high=1,
        epochs=1,
        units=PAIRS,
        keep=2,
        n_select=101,
        n_certify=20_000,
    )
    reg.fit(np.zeros((4, 12)), [0.0, 1.0, 0.0, 1.0])
    proof = reg.certify(np.zeros((1, 12)), tolerance=0.25)
    assert proof.radius[0] == 1
    assert str(proof.counts) == "units (6 in all)"


def test_trusted_columns_are_seen_in_every_ablation():
    units = Units(((0,), (1, 3)), ("a", "b"), "units", trusted=(2,))
    seen = []
    clf = RandomizedAblationClassifier(
        Said(lambda kept, values: seen.append(kept) or np.zeros(len(kept), int)),
        low=0,
        high=1,
        epochs=1,
        units=units,
        keep=1,
        n_certify=200,
    )
    clf.fit(np.zeros((4, 4)), [0, 1, 0, 1])
    assert clf.certify(np.zeros((1, 4))).counts == Counts("units", 2, ("2",))
    assert np.unique(np.concatenate(seen), axis=0).tolist() == [
        [False, True, True, True],
        [True, False, True, False],
    ]


@pytest.mark.parametrize("keep", [1, 2])
def test_no_change_of_radius_columns_moves_the_smoothed_value_out_of_its_bounds(
    small_problem, keep
):
    X, total = small_problem
    reg = RandomizedAblationRegressor(
        keep=keep, low=0, high=1, n_select=201, n_certify=4000, alpha=0.05
    ).fit(X, total)
    values = np.sort(reg.centre_ + reg.scale_ * all_answers(reg, keep), axis=1)
    n = values.shape[1]
    medians = values[:, [(n - 1) // 2, n // 2]]  # both middle values
    grid, widest = GRID[CORNERS], 0
    for tolerance in (0.05, 0.3, 0.6, 1.0):
        proof = reg.certify(grid, tolerance=tolerance)
        low, high = proof.prediction - tolerance, proof.prediction + tolerance
        inside = np.stack(
            [
                (values[CORNERS] >= low[:, None]).mean(axis=1),
                (values[CORNERS] <= high[:, None]).mean(axis=1),
            ]
        )
        for row in np.flatnonzero(proof.radius >= 0):
            reached = medians[DISTANCE[CORNERS[row]] <= proof.radius[row]]
            if (inside[:, row] > 0.5).all():  # else the bounds on the shares did not hold
                assert (reached >= low[row]).all()
                assert (reached <= high[row]).all()
        assert np.mean((proof.radius >= 0) & (inside <= 0.5).any(axis=0)) <= 0.05
        widest = max(widest, proof.radius.max())
    assert widest == (2 if keep == 1 else 1)
    one_sided = reg.certify(grid, upper=3.0)
    fits = (values[CORNERS] <= 3.0).mean(axis=1)
    assert (fits[one_sided.radius >= 0] > 0.5).all()
    assert (reg.certify(grid, lower=-np.inf, upper=np.inf).radius == 6).all()
    assert (reg.certify(grid, lower=50.0).radius == -1).all()


# ---- the estimators ----


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    clf = RandomizedAblationClassifier(keep=16, n_select=100, n_certify=1000, alpha=0.01).fit(
        data.X_train, data.y_train
    )
    return data, clf


def test_digits(digits):
    data, clf = digits
    X, y = data.X_test[:150], data.y_test[:150]
    tight = clf.certify(X)
    loose = clone(clf).set_params(method="levine-feizi")
    loose.__dict__.update(
        {name: value for name, value in clf.__dict__.items() if name.endswith("_")}
    )
    loose = loose.certify(X)
    assert str(tight.counts) == "columns (64 in all)"
    assert np.array_equal(tight.prediction, loose.prediction)
    assert certified_accuracy(y, tight, 0) > 0.8
    assert 0.5 < certified_accuracy(y, tight, 1) <= certified_accuracy(y, tight, 0)
    assert certified_accuracy(y, loose, 0) < certified_accuracy(
        y, tight, 0
    )  # more than half is more than was needed
    assert tight.radius.max() == plain_radius(1, 0, 64, 16, "jia") == 2
    assert (tight.runner_up != tight.prediction).all()
    assert median_radius(y, tight) == 1


def test_an_abstention_is_not_certified(digits):
    data, clf = digits
    X, y = data.X_test[:150], data.y_test[:150]
    proof = clf.certify(X)
    none = abstained(proof)
    assert 0 < none.mean() < 0.3
    assert (proof.radius[none] == -1).all()
    assert certified_accuracy(y, proof, 0) == np.mean((proof.prediction == y) & ~none)
    assert np.array_equal(proof.prediction, clf.predict(X))


def test_rows_beside_a_row_and_batches_change_nothing(digits):
    data, clf = digits
    X = data.X_test[:12]
    whole = clf.votes(X)
    assert (whole.sum(axis=1) == 1000).all()
    assert np.array_equal(whole[3:4], clf.votes(X[3:4]))
    for batch_size in (1, 300, 5000, 100_000):
        clf.set_params(batch_size=batch_size)
        assert np.array_equal(
            clf.votes(X[:2] if batch_size == 1 else X), whole[:2] if batch_size == 1 else whole
        )
    clf.set_params(batch_size=4096)
    assert np.array_equal(clone(clf).fit(data.X_train, data.y_train).votes(X), whole)
    assert not np.array_equal(
        clone(clf).set_params(random_state=1).fit(data.X_train, data.y_train).votes(X), whole
    )


def test_blocks_of_draws_differ():
    """More draws than one block holds: no block is drawn twice, and none is missing."""
    clf = fitted(
        lambda kept, values: kept.argmax(axis=1), 40, 40, keep=1, n_select=5000, n_certify=5000
    )
    votes = clf.votes(np.zeros((1, 40)))
    assert votes.sum() == 5000
    spread = ((votes - 125) ** 2 / 125).sum()
    assert (
        39 - 4 * math.sqrt(78) < spread < 39 + 5 * math.sqrt(78)
    )  # draws that come twice spread twice as much
    other = clf.set_params(n_certify=2048).votes(np.zeros((1, 40)))
    last = clf.set_params(n_certify=4096).votes(np.zeros((1, 40))) - other
    assert not np.array_equal(last, other)


def test_bounds_of_columns_are_constants(digits):
    data, clf = digits
    assert (clf.low_.tolist(), clf.high_.tolist()) == ([0] * 64, [255] * 64)
    X = data.X_test[:5].astype(float)
    beyond = np.where(X == 0, -1e9, X)
    assert np.array_equal(clf.votes(X), clf.votes(beyond))
    a_column = clone(clf).set_params(low=np.zeros(64), high=np.full(64, 255))
    assert np.array_equal(
        a_column.fit(data.X_train.astype(float), data.y_train).votes(X), clf.votes(X)
    )


def test_frames_names_and_indices(small_problem):
    X, total = small_problem
    names = [f"c{k}" for k in range(6)]
    clf = RandomizedAblationClassifier(keep=1, low=0, high=1, epochs=2, n_select=10, n_certify=100)
    proof = clf.fit(pd.DataFrame(X, columns=names), np.where(total > 3, "many", "few")).certify(
        pd.DataFrame(X[:3], columns=names, index=[7, 8, 9])
    )
    assert proof.to_frame().index.tolist() == [7, 8, 9]
    assert set(proof.prediction) <= {"many", "few"}
    assert clf.feature_names_in_.tolist() == names
    reg = RandomizedAblationRegressor(keep=1, low=0, high=1, epochs=2, n_select=10, n_certify=100)
    table = pl.DataFrame(X, schema=names)
    assert isinstance(
        reg.fit(table, total).certify(table[:3], tolerance=3).to_frame(), pl.DataFrame
    )


def test_regression_on_diabetes():
    X, y = load_diabetes(return_X_y=True)
    reg = RandomizedAblationRegressor(
        keep=3, low=-0.2, high=0.2, n_select=100, n_certify=1000, alpha=0.01
    ).fit(X[::2], y[::2])
    proof = reg.certify(X[1::2], around=y[1::2], relative=0.5)
    assert np.array_equal(proof.prediction, reg.predict(X[1::2]))
    assert certified_accuracy(y[1::2], proof, 0) > 0.4 > certified_accuracy(y[1::2], proof, 2) == 0
    assert certified_accuracy(y[1::2], proof, 1) > 0.2
    assert reg.score(X[1::2], y[1::2]) > 0.1
    wide, narrow = (reg.certify(X[1::2], tolerance=t) for t in (100, 20))
    assert (wide.radius >= narrow.radius).all()
    assert (wide.radius > narrow.radius).any()


def test_a_network_in_pytorch_as_in_the_docstring(digits):
    torch = pytest.importorskip("torch")
    data, _ = digits
    notes = (
        inspect.getdoc(RandomizedAblationClassifier)
        .split("A PyTorch network::")[1]
        .split("Examples\n")[0]
    )
    names = {
        "BaseEstimator": BaseEstimator,
        "torch": torch,
        "nn": torch.nn,
        "F": torch.nn.functional,
    }
    exec(textwrap.dedent(notes), names)
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # rows this short are slower on two
    clf = RandomizedAblationClassifier(
        names["Network"](), keep=16, epochs=12, n_select=50, n_certify=300, alpha=0.01
    )
    proof = clf.fit(data.X_train, data.y_train).certify(data.X_test[:40])
    torch.set_num_threads(threads)
    assert certified_accuracy(data.y_test[:40], proof, 0) > 0.6


def test_a_network_of_images_learns_from_ablated_images(digits):
    pytest.importorskip("torch")
    from partita.vision import AblatedImageClassifier

    data, _ = digits
    net = AblatedImageClassifier(data.image_shape, batch_size=32, device="cpu")
    clf = RandomizedAblationClassifier(
        net,
        keep=48,
        units=pixels(data.image_shape),
        epochs=5,
        n_select=4,
        n_certify=10,
        alpha=0.05,
        batch_size=512,
    )
    few = data.X_train[:256], data.y_train[:256]
    assert np.mean(clf.fit(*few).predict(data.X_test[:40]) == data.y_test[:40]) > 0.5
    rows = ablate(data.X_test[:5] / np.float32(255), np.ones((5, 64), dtype=bool))
    alone = np.concatenate([clf.estimator_.predict_proba(row[None]) for row in rows])
    assert np.array_equal(alone, clf.estimator_.predict_proba(rows))  # whatever else is asked
    kept = np.random.default_rng(0).random((30, 64)) < 0.7
    values = (data.X_test[:5] / 255).astype(np.float32)
    ablated = ablate(values[:, None], kept).reshape(-1, 128)
    assert np.array_equal(
        clf.estimator_.predict_ablated(values, kept).ravel(), clf.estimator_.predict(ablated)
    )  # made on the device, or sent
    assert np.array_equal(clone(clf).fit(*few).votes(data.X_test[:5]), clf.votes(data.X_test[:5]))
    with pytest.raises(InputError, match="classes is missing"):
        clone(net).partial_fit(rows, [0] * 5)
    with pytest.raises(InputError, match="not in classes, 7"):
        clone(net).partial_fit(rows, [7] * 5, classes=[0, 1])
    with pytest.raises(
        InputError, match="ablated images of image_shape=\\(8, 8, 1\\) have 128 columns"
    ):
        clf.estimator_.predict(data.X_test)


def test_ablated_rows_become_images_with_twice_the_channels():
    torch = pytest.importorskip("torch")
    from partita.vision import AblatedImageClassifier

    net = AblatedImageClassifier((4, 6, 3), device="cpu")
    image = np.random.default_rng(0).random((4, 6, 3), dtype=np.float32)
    rows = ablate(image.reshape(1, -1), np.ones((1, 72), dtype=bool))
    net.partial_fit(np.repeat(rows, 4, axis=0), [0, 1, 0, 1], classes=[0, 1])
    placed = net._placed(rows)[0]
    assert torch.equal(
        placed, torch.from_numpy(np.concatenate([image, 1 - image], axis=2)).permute(2, 0, 1)
    )


def test_progress_is_told(small_problem, capsys):
    X, total = small_problem
    clf = RandomizedAblationClassifier(
        keep=1, low=0, high=1, epochs=3, n_select=10, n_certify=10, verbose=1
    )
    clf.fit(X, total > 3)
    assert "partita: 3 of 3 epochs of training" in capsys.readouterr().err
    clf.set_params(verbose=0).predict(X[:2])
    assert capsys.readouterr().err == ""


def test_auto_keeps_a_tenth(small_problem):
    X, total = small_problem
    wide = np.hstack([X, X])
    settings = {"low": 0, "high": 1, "epochs": 1}
    assert RandomizedAblationClassifier(**settings).fit(X, total > 3).keep_ == 1
    assert RandomizedAblationClassifier(**settings).fit(wide, total > 3).keep_ == 2


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"keep": 7}, "keep is 7, but X has 6 columns"),
        ({"keep": 3, "units": [0, 0, 0, 1, 1, 1]}, "keep is 3, but X has 2 units"),
        ({"units": [0, 0]}, "units has 2 ids, but X has 6 columns"),
        ({"keep": 0}, "keep is 0"),
        ({"keep": "all"}, "keep is 'all'"),
        ({"low": None}, "low is missing"),
        ({"high": None}, "high is missing: .* the highest value"),
        ({"high": 0}, "high is not above low in column 0"),
        (
            {"high": [1, 1, 1]},
            r"high must be .* one for each of the 6 columns; its shape is \(3,\)",
        ),
        ({"low": "x"}, "low is 'x'"),
        ({"low": np.nan}, "low must be one finite number"),
        ({"method": "magic"}, "method is 'magic'"),
        ({"alpha": 0}, "alpha is 0"),
        ({"epochs": 0}, "epochs is 0"),
        ({"n_select": 1.5}, "n_select is 1.5"),
        ({"n_certify": 0}, "n_certify is 0"),
        ({"batch_size": True}, "batch_size is True"),
        ({"estimator": LogisticRegression()}, "LogisticRegression has no partial_fit"),
    ],
)
def test_bad_settings(small_problem, settings, told):
    X, total = small_problem
    clf = RandomizedAblationClassifier(**{"keep": 2, "low": 0, "high": 1, **settings})
    with pytest.raises(InputError, match=told):
        clf.fit(X, total > 3)
    for method in (clf.predict, clf.votes, clf.certify):
        clf.set_params(
            **{
                name: value
                for name, value in RandomizedAblationClassifier().get_params().items()
                if name in settings
            }
        )
        with pytest.raises(NotFittedError):
            method(X)


def test_bad_data(small_problem):
    X, total = small_problem
    clf = RandomizedAblationClassifier(keep=2, low=0, high=1, epochs=1)
    with pytest.raises(InputError, match="y has 5 values for 200 rows"):
        clf.fit(X, [0, 1, 0, 1, 0])
    with pytest.raises(InputError, match="y holds one class, 3"):
        clf.fit(X, np.full(200, 3))
    with pytest.raises(ValueError, match="NaN"):
        clf.fit(np.where(X > 0, np.nan, X), total > 3)
    with pytest.raises(ValueError, match="expecting 6 features"):
        clf.fit(X, total > 3).predict(X[:, :5])
    with pytest.raises(InputError, match="something else than the labels 0 to 1"):
        fitted(lambda kept, values: kept.argmax(axis=1), 6, 2, keep=1).votes(X[:2])
    reg = RandomizedAblationRegressor(keep=2, low=0, high=1, epochs=1, n_select=10, n_certify=10)
    with pytest.raises(InputError, match="y holds values that are no numbers"):
        reg.fit(X, np.where(total > 3, "a", "b"))
    reg.fit(X, total)
    for bounds, told in (
        ({}, "only one of the three"),
        ({"tolerance": 1, "relative": 1}, "only one of the three"),
        ({"lower": 1, "around": total}, "around goes with"),
        ({"lower": 2, "upper": 1}, "lower is above upper in row 0"),
        ({"upper": np.nan}, "upper must be one number"),
        ({"tolerance": -1}, "tolerance must be a number, 0 or above"),
        ({"tolerance": [1, 2]}, "tolerance must be a number, 0 or above"),
        ({"relative": 0.1, "around": np.full(200, np.inf)}, "around must hold one finite number"),
    ):
        with pytest.raises(InputError, match=told):
            reg.certify(X, **bounds)
    with pytest.raises(InputError, match="predicts a NaN or an infinity"):
        RandomizedAblationRegressor(
            Said(lambda kept, values: values[:, 0] + np.inf), keep=2, low=0, high=1
        ).fit(X, total).predict(X)
