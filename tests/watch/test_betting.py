"""The wealth of bets, against the obvious loop, and how often it is lucky."""

import numpy as np
import pytest

from partita.watch._watcher import FACTORS, Bets


def slow_wealth(p0, contradicts, counted):
    """One stake per factor and row of beginning, multiplied row by row."""
    wealth = []
    stakes = {}
    for n in range(1, len(contradicts) + 1):
        for f in FACTORS:
            stakes[f, n] = 1 / (len(FACTORS) * n * (n + 1))
            for start in range(1, n + 1):
                if counted[n - 1]:
                    stakes[f, start] *= (f if contradicts[n - 1] else 1) / (1 + (f - 1) * p0)
        wealth.append(sum(stakes.values()) + 1 / (n + 1))
    return wealth


@pytest.mark.parametrize("p0", [0.0, 0.01, 0.3, 1.0])
def test_the_wealth_is_that_of_the_loop_in_any_batches(p0):
    rng = np.random.default_rng(0)
    contradicts = rng.random((60, 2)) < [0.02, 0.6]
    counted = rng.random((60, 2)) < 0.8
    bets = Bets(np.array([p0, p0]))
    parts = [
        bets.update(contradicts[a:b], counted[a:b]) for a, b in ((0, 1), (1, 1), (1, 45), (45, 60))
    ]
    found = np.concatenate(parts)
    for t in range(2):
        expected = np.log(slow_wealth(p0, contradicts[:, t], counted[:, t]))
        np.testing.assert_allclose(found[:, t], expected, atol=1e-9)


def test_rows_that_do_not_count_leave_the_wealth_alone():
    bets = Bets(np.array([0.1]))
    nothing = np.zeros((50, 1), bool)
    np.testing.assert_allclose(bets.update(nothing, nothing), 0, atol=1e-12)


@pytest.mark.parametrize("p0", [0.02, 0.3])
def test_no_bet_is_favourable_if_nothing_has_changed(p0):
    """At the boundary, p = p0: a limit of 1/a is reached with a probability of at most a."""
    rng = np.random.default_rng(1)
    reached = []
    for _ in range(4):
        bets = Bets(np.full(500, p0))
        highest = np.full(500, -np.inf)
        for _ in range(8):  # a wealth that starts anew with a batch would be lucky too often
            contradicts = rng.random((100, 500)) < p0
            own = bets.update(contradicts, np.ones_like(contradicts))
            highest = np.maximum(highest, own.max(axis=0))
        reached.append(highest)
    for level in (0.5, 0.2, 0.05):
        share = np.mean(np.concatenate(reached) >= -np.log(level))
        assert share <= level + 2 * np.sqrt(level / 2000)


def test_every_bet_is_fair_at_the_boundary_and_unfavourable_below():
    for p0 in (0.0, 0.001, 0.2, 0.9, 1.0):
        bets = Bets(np.array([p0]))
        win, lose = np.exp(bets._win[0]), np.exp(bets._lose[0])
        np.testing.assert_allclose(p0 * win + (1 - p0) * lose, 1)
        for p in np.linspace(0, p0, 5):
            assert (p * win + (1 - p) * lose <= 1 + 1e-12).all()


def test_a_change_after_many_quiet_rows_is_found_soon():
    rng = np.random.default_rng(2)
    contradicts = np.concatenate([rng.random((20_000, 1)) < 0.01, rng.random((200, 1)) < 0.5])
    bets = Bets(np.array([0.02]))
    wealth = bets.update(contradicts, np.ones_like(contradicts))[:, 0]
    first = int(np.argmax(wealth > np.log(2000)))
    assert 20_000 <= first < 20_060
