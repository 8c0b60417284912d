"""Confidence bounds, against exact binomial tails."""

from fractions import Fraction

import numpy as np
import pytest

from partita import InputError
from partita._support import clopper_pearson, confidence
from tests.baselines.exact_ablation import tail


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
    inverse = confidence.betaincinv
    monkeypatch.setattr(confidence, "betaincinv", lambda a, b, level: wrong(inverse(a, b, level)))
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
