"""Radii of randomized ablation, against plain fractions."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest

from partita import InputError
from partita._support import clopper_pearson
from partita.baselines import ablation_radius
from partita.baselines._ablation_bounds import _thresholds, certify_votes

from .exact_ablation import METHODS, around, plain_radius


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
def test_a_radius_is_exact_where_the_attacker_turns_all_they_reach(n_columns):
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
        _thresholds.cache_clear()
        started = time.process_time()
        for method in METHODS:
            ablation_radius(p, q, 1024, e, method)
        seconds.append(time.process_time() - started)
    assert min(seconds) < 1


@pytest.mark.parametrize(
    ("arguments", "message"),
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
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        ablation_radius(*arguments)


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
    high = [float(clopper_pearson(count, 1000, 0.01 / 3)[1]) for count in (60, 490, 60)]
    assert radius.tolist() == [
        plain_radius(p, min(Fraction(q), 1 - Fraction(p)), 100, 5, "jia")
        for p, q in zip(low, high, strict=True)
    ]
    assert radius.tolist() == [9, -1, 9]
