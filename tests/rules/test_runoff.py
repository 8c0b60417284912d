"""Run-off by hand, and where the exact radius is above the bound."""

import numpy as np

from partita import certify
from partita.rules import RunOff


def test_run_off_hears_what_plurality_wastes():
    """Votes 0, 0, 1, 2: one moved vote ends the lead of 0, but everyone ranks 0 second."""
    ballots = np.array([[[9, 5, 1], [9, 1, 5], [5, 9, 1], [5, 1, 9]]], dtype=np.float32)
    plurality, runoff = certify(ballots, "plurality"), certify(ballots, "runoff")
    assert (plurality.prediction[0], plurality.radius[0], plurality.runner_up[0]) == (0, 0, 1)
    assert (runoff.prediction[0], runoff.radius[0], runoff.runner_up[0]) == (0, 1, 1)


def test_entering_and_winning_round_two_take_the_same_submodels():
    """The bound prices them separately; the exact radius does not."""
    ranks = [[1, 0, 2], [1, 2, 0], [0, 2, 1], [1, 0, 2], [1, 2, 0], [0, 2, 1]]
    bound, exact = RunOff().certify([ranks]), RunOff(exact=True).certify([ranks])
    assert bound.prediction == exact.prediction == 1
    assert (bound.radius[0], exact.radius[0]) == (0, 1)


def test_the_exact_radius_is_never_below_the_bound():
    ballots = np.random.default_rng(0).normal(size=(500, 9, 4))
    gain = RunOff(exact=True).certify(ballots).radius - RunOff().certify(ballots).radius
    assert gain.min() == 0
