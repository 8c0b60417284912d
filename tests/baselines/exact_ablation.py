"""Randomized ablation the slow and obvious way, and models that answer as a test says."""

import math
from fractions import Fraction

import numpy as np
from sklearn.base import BaseEstimator

from partita.baselines import RandomizedAblationClassifier

METHODS = ["levine-feizi", "jia"]


def outwards(p_lower, p_upper):
    """Bounds moved to the next float on the safe side; other numbers as they are."""
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


def tail(k, n, p):
    """The probability that k or more of n happen, exactly."""
    p = Fraction(p)
    top, bottom = p.numerator, p.denominator
    return Fraction(
        sum(math.comb(n, j) * top**j * (bottom - top) ** (n - j) for j in range(k, n + 1)),
        bottom**n,
    )


class Function(BaseEstimator):
    """A model that predicts by a given function of the mask (bool) and the values (rows, d)."""

    def __init__(self, function=None):
        self.function = function

    def partial_fit(self, rows, target, classes=None):
        return self

    def predict(self, rows):
        d = rows.shape[1] // 2
        return self.function(rows[:, :d] + rows[:, d:] > 0, rows[:, :d])


def fitted(function, d, labels, **settings):
    clf = RandomizedAblationClassifier(Function(function), low=0, high=1, epochs=1, **settings)
    return clf.fit(np.zeros((2 * labels, d)), np.tile(np.arange(labels), 2))


def at_most(share, n, sigmas=4):
    return share + sigmas * math.sqrt(share * (1 - share) / n)
