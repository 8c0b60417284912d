"""Votes counted in numpy."""

import numpy as np

from partita.kernels import _plain_votes


def test_ties_go_to_the_smallest_label():
    votes, counts = _plain_votes.count_votes(np.array([[[1.0, 1.0, 0.0], [0.0, 2.0, 2.0]]]))
    assert votes.tolist() == [[0, 1]]
    assert counts.tolist() == [[1, 1, 0]]
    assert _plain_votes.leader(counts, np.array([0])).tolist() == [1]


def test_the_first_row_with_a_nan_or_an_infinity_is_named():
    scores = np.zeros((3, 2, 2))
    assert _plain_votes.first_bad(scores) == -1
    scores[1, 0, 0] = np.inf
    assert _plain_votes.first_bad(scores) == 1


def test_idle_submodels_may_be_what_an_attacker_lacks():
    """One vote for label 0, the top two of three: only with a second voter does it fall out."""
    counts = np.array([[1, 0, 0]])
    alone, with_one_more = (
        int(_plain_votes.topk_radius(counts, np.array([0]), 2, idle)[0]) for idle in (0, 1)
    )
    assert alone == _plain_votes.FAR
    assert with_one_more == 1
