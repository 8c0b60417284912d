"""Randomized ablation under attack: how often are its certificates false?

Every case is small enough to list all ablations and all attacks, so the smoothed classifier, and
what an attacker can make of it, are known exactly. A certificate is false if an attacker who
rewrites no more columns than it allows makes it untrue; at most a share alpha may be.
"""

import itertools
import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binomtest

from partita.baselines import RandomizedAblationRegressor, ablation_radius
from partita.baselines._ablation_bounds import certify_votes

from .exact_ablation import METHODS, Function, fitted

MANY = pytest.mark.parametrize(
    ("models", "seeds"), [(2, 300), pytest.param(12, 1000, marks=pytest.mark.long)]
)
RARE = 1e-6  # how often a count as high as the one that fails a test is chance


def ablations(d, e):
    """All sets of e of d columns, as bool (sets, d)."""
    return np.array([[k in some for k in range(d)] for some in itertools.combinations(range(d), e)])


@lru_cache
def reached(d, e, rho):
    """How many ablations keep one of rho columns, listed, whichever columns these are."""
    kept = ablations(d, e)
    (found,) = {
        int(kept[:, list(attacked)].any(axis=1).sum())
        for attacked in itertools.combinations(range(d), rho)
    }
    return found


def largest(radii_hold):
    """The largest rho up to which everything holds; -1 if not even 0 does."""
    return next((rho - 1 for rho, holds in enumerate(radii_hold) if not holds), len(radii_hold) - 1)


def worst_radius(votes, d, e, method):
    """What label 0 survives: the attacker gives what they reach to its strongest rival."""
    n, lost = sum(votes), [reached(d, e, rho) for rho in range(d + 1)]
    if method == "jia":
        return largest([votes[0] - m > max(votes[1:]) + m for m in lost])
    return largest([2 * (votes[0] - m) > n for m in lost])


SIZES = [*((d, e) for d in range(1, 6) for e in range(1, d + 1)), (6, 2), (6, 3)]


@pytest.mark.parametrize("method", METHODS)
def test_exact_shares_certify_what_the_attacker_who_tries_everything_leaves(method):
    """Every vote of three labels over all ablations: 6,000 attacked votes."""
    for d, e in [*SIZES, (7, 2)]:
        n = math.comb(d, e)
        votes = [(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)]
        p, q = np.array([(own[0] / n, max(own[1:]) / n) for own in votes]).T
        found = ablation_radius(p, q, d, e, method)
        truth = np.array([worst_radius(own, d, e, method) for own in votes])
        # shares are floats, taken one step outwards: what is exactly at a threshold may be lost
        assert (found <= truth).all()
        assert method == "levine-feizi" or (found == truth).all()


@pytest.mark.parametrize("alpha", [0.3, 0.05, 0.001])
@pytest.mark.parametrize("method", METHODS)
def test_no_vote_is_certified_falsely_with_a_probability_above_alpha(method, alpha):
    """Every vote of three labels, and every outcome of the draws with its probability: exact."""
    worst = cases = 0
    for (d, e), draws in itertools.product(SIZES, (1, 7, 30)):
        n = math.comb(d, e)
        shares = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
        outcomes = np.array(
            [(a, b, draws - a - b) for a in range(draws + 1) for b in range(draws + 1 - a)]
        )
        radius, _ = certify_votes(outcomes, np.zeros(len(outcomes), int), d, e, alpha, method)
        ways = gammaln(draws + 1) - gammaln(outcomes + 1).sum(axis=1)
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(shares / n), -1e9)
        probability = np.exp(ways + logs @ outcomes.T)  # (shares, outcomes)
        assert np.allclose(probability.sum(axis=1), 1)
        truth = np.array([worst_radius(own, d, e, method) for own in shares.tolist()])
        false = (probability * (radius > truth[:, None])).sum(axis=1)
        worst, cases = max(worst, false.max()), cases + len(false)
    assert cases > 1000
    assert worst <= alpha * (1 + 1e-9)
    assert worst > alpha / 5  # the bounds are not so wide that nothing could be wrong


def at_the_threshold(d, e, rho):
    """A model of two labels whose smoothed label is lost to an attack on the first rho columns.

    One ablation more for label 0, and it would survive.
    """
    kept = ablations(d, e)
    touched = kept[:, :rho].any(axis=1)
    spare = np.flatnonzero(~touched)
    for_0 = {*np.flatnonzero(touched).tolist(), *spare[: len(kept) // 2].tolist()}
    code_of = {tuple(own): k for k, own in enumerate(kept.tolist())}

    def model(kept, values):
        codes = np.array([code_of[tuple(own)] for own in kept.tolist()])
        rewritten = (values[:, :rho] * kept[:, :rho]).any(axis=1)
        return np.where(np.isin(codes, list(for_0)) & ~rewritten, 0, 1)

    return model


@pytest.mark.parametrize("method", [*METHODS, "median"])
@pytest.mark.parametrize(("d", "e", "rho"), [(6, 1, 0), (8, 1, 2), (5, 2, 1)])
def test_certificates_at_the_threshold_are_false_as_rarely_as_alpha_says(method, d, e, rho):
    """2,000 seeds of the model itself, from its draws to its radius."""
    alpha, seeds, kept = 0.1, 2000, ablations(d, e)
    model = at_the_threshold(d, e, rho)
    attacked = np.where(np.arange(d) < rho, 1.0, 0.0)
    after = model(kept, np.broadcast_to(attacked, kept.shape))
    assert 2 * np.count_nonzero(after == 0) <= len(kept)  # the attack succeeds
    settings = {"keep": e, "n_select": 15, "n_certify": 120}
    row, bounds = np.zeros((1, d)), {}
    if method == "median":  # of values 0 and 1, certified to stay at 0; each side has half of alpha
        one, bounds = regressor(model, d, **settings, alpha=2 * alpha), {"upper": 0.5}
    else:
        one = fitted(model, d, 2, **settings, alpha=alpha, method=method)
    false = held = 0
    for one.seed_ in range(seeds):
        proof = one.certify(row, **bounds)
        if proof.prediction[0] == 0:
            false, held = false + int(proof.radius[0] >= rho), held + 1
    assert held > seeds / 3
    assert never_above([false], held, alpha)
    assert false > held * alpha / 10


def regressor(model, d, **settings):
    reg = RandomizedAblationRegressor(Function(model), low=0, high=1, epochs=1, **settings)
    # targets of mean 0 and deviation 1: the model's values stay as they are
    return reg.fit(np.zeros((2, d)), [-1.0, 1.0])


# all rows of five columns of two values, and how many columns they differ in
GRID = np.array(list(itertools.product([0, 1], repeat=5)))
FAR = (GRID[:, None] != GRID[None]).sum(axis=2)


def noisy_table(rng, e, numbers):
    """A model that answers by a random table of what it sees, and mostly gives one label.

    Returns the model, and what it says of every ablation of every row of the grid.
    """
    answers = rng.integers(0, 3, 3**5)
    follows = rng.random(3**5) < rng.choice([0.7, 0.9, 1.0])
    noise = rng.normal(0, 1, 3**5)
    default = int(rng.integers(3))

    def model(kept, values):
        seen = np.where(kept, values > 0.5, 2).astype(int) @ (3 ** np.arange(5))
        label = np.where(follows[seen], default, answers[seen])
        return 1 + label + 0.3 * noise[seen] if numbers else label

    kept = ablations(5, e)
    rows = np.repeat(GRID, len(kept), axis=0)
    said = model(np.tile(kept, (len(GRID), 1)), rows).reshape(len(GRID), len(kept))
    return model, said


def never_above(false, trials, alpha):
    """Whether counts of false certificates are what shares of at most alpha may give."""
    counts = [binomtest(int(k), trials, alpha, alternative="greater").pvalue for k in false]
    return min(counts) > RARE


@MANY
@pytest.mark.parametrize("e", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_rewriting_columns_makes_no_more_certificates_false_than_alpha(method, e, models, seeds):
    """Random models: every row and every attack, for many draws."""
    alpha, certified = 0.1, 0
    for number in range(models):
        model, said = noisy_table(np.random.default_rng([number, e]), e, numbers=False)
        counts = np.stack([(said == label).sum(axis=1) for label in range(3)], axis=1)
        top = counts.max(axis=1)
        alone = (counts == top[:, None]).sum(axis=1) == 1
        smoothed = np.where(alone, counts.argmax(axis=1), -1)  # a tie is nobody's
        settings = {"keep": e, "n_select": 25, "n_certify": 100, "alpha": alpha, "method": method}
        clf = fitted(model, 5, 3, **settings)
        false = np.zeros(len(GRID), dtype=int)
        for clf.seed_ in range(seeds):
            proof = clf.certify(GRID)
            other = smoothed[None, :] != proof.prediction[:, None]
            false += (other & (proof.radius[:, None] >= FAR)).any(axis=1)
            certified += int((proof.radius >= 1).sum())
        assert never_above(false, seeds, alpha)
    assert certified > models * seeds  # one row for every draw


@MANY
@pytest.mark.parametrize("bounds", [{"tolerance": 0.4}, {"relative": 0.5}, {"upper": 3.0}])
def test_rewriting_columns_makes_no_more_certified_values_false_than_alpha(bounds, models, seeds):
    """The same for the median over all ablations, whichever of two middle values that is."""
    alpha, certified = 0.1, 0
    for number in range(models):
        e = 1 + number % 2
        model, said = noisy_table(np.random.default_rng([number, 9]), e, numbers=True)
        ordered = np.sort(said, axis=1)
        n = said.shape[1]
        least, most = ordered[:, (n - 1) // 2], ordered[:, n // 2]
        settings = {"keep": e, "n_select": 25, "n_certify": 100, "alpha": alpha}
        reg = regressor(model, 5, **settings)
        false = np.zeros(len(GRID), dtype=int)
        for reg.seed_ in range(seeds):
            proof = reg.certify(GRID, **bounds)
            near = proof.radius[:, None] >= FAR
            low, high = bounds_of(proof.prediction, **bounds)
            outside = (least[None, :] < low[:, None]) | (most[None, :] > high[:, None])
            false += (outside & near).any(axis=1)
            certified += int((proof.radius >= 1).sum())
        assert never_above(false, seeds, alpha)
    assert certified > models * seeds  # one row for every draw


def bounds_of(prediction, tolerance=None, relative=None, upper=None):
    if upper is not None:
        return np.full(len(prediction), -np.inf), np.full(len(prediction), upper)
    width = tolerance if relative is None else relative * np.abs(prediction)
    return prediction - width, prediction + width
