"""Top-k certificates by hand, and the labels they need."""

import numpy as np
import pytest

from partita import InputError, certify
from partita.rules import TopK

BALLOTS = np.random.default_rng(0).normal(size=(20, 7, 4)).astype(np.float32)


def test_top_k_without_labels_is_refused():
    """The plurality label with a top-k radius would say more than is proven."""
    for work in (lambda: TopK(2).certify(BALLOTS), lambda: certify(BALLOTS, TopK(2))):
        with pytest.raises(InputError, match="labels is missing: the radius of TopK"):
            work()


@pytest.mark.parametrize("labels", [[0] * 19, [0.5] * 20, [4] * 20, [-1] * 20])
def test_top_k_labels_are_checked(labels):
    with pytest.raises(InputError, match="labels must hold one class index from 0 to 3"):
        TopK(2).certify(BALLOTS, labels)


def one_hot(votes, n_labels):
    return np.eye(n_labels, dtype=np.float32)[votes][None]


def test_top_k_by_hand():
    ballots = one_hot([3] * 6 + [4], 5)
    assert TopK(4).certify(ballots, [4]).radius[0] == 0
    ballots = one_hot([0, 0, 0, 3], 4)
    assert TopK(3).certify(ballots, [0]).radius[0] == 2
    assert TopK(5).certify(ballots, [2]).radius[0] == 4  # k >= C: never ejected
    assert TopK(1).certify(ballots, [3]).radius[0] == -1  # not there now
    assert TopK(2).decide(ballots)[0] == 0
