"""Plurality by hand: ties, gaps, and the runner-up."""

import numpy as np

from partita.rules import Plurality, RunOff, Tournament


def test_ties_go_to_the_smallest_label():
    """Equal scores vote for the smallest label, and are worth nothing to either in a duel."""
    ballots = np.zeros((1, 3, 2), dtype=np.float32)
    assert Plurality().certify(ballots).prediction[0] == 0
    assert Plurality().certify(ballots).radius[0] == 1  # all three votes are for 0
    assert RunOff().certify(ballots).radius[0] == 0  # but in the duel nobody prefers it
    assert Tournament().certify(ballots).radius[0] == 0


def test_the_radius_is_half_the_gap_to_the_runner_up():
    """A tie is lost to a smaller label, so the same counts certify less for a larger one."""
    for votes, expected in [
        ([0] * 5 + [1] * 2 + [2], (0, 1, 1)),
        ([1] * 5 + [0] * 3, (1, 0, 0)),
        ([0] * 5 + [1] * 3, (0, 1, 1)),
        ([2] * 7, (2, 3, 0)),
    ]:
        proof = Plurality().certify(np.eye(3)[[votes]])
        assert (proof.prediction[0], proof.radius[0], proof.runner_up[0]) == expected
