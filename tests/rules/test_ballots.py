"""Ballots of any layout and number type, and what is refused; scores for ranking."""

import numpy as np
import pytest

from partita import InputError, certify
from partita.rules import Plurality, RunOff, TopK, Tournament
from partita.rules._base import with_winner


def test_the_least_change_makes_the_chosen_class_the_largest():
    shares = np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.1, 0.8, 0.1], [0.45, 0.35, 0.2]])
    changed = with_winner(shares, np.array([0, 1, 0, 2]))
    assert changed.argmax(axis=1).tolist() == [0, 1, 0, 2]
    assert np.allclose(
        changed, [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.45, 0.45, 0.1], [1 / 3] * 3], atol=1e-8
    )


BALLOTS = np.random.default_rng(0).normal(size=(20, 7, 4)).astype(np.float32)


RULES = [Plurality(), RunOff(), RunOff(exact=True), Tournament(), Tournament(margin=0.5), TopK(2)]


def certified(rule, ballots):
    """The certificates of a rule; for TopK those of the first label."""
    labels = [np.zeros(len(ballots), dtype=int)] if rule.needs_labels else []
    return rule.certify(ballots, *labels)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_unfinite_ballots_are_refused(rule, dtype, bad):
    ballots = BALLOTS.astype(dtype)
    ballots[11, 6, 3] = bad
    with pytest.raises(InputError, match="ballots holds a NaN or an infinity in row 11"):
        certified(rule, ballots)


def test_the_first_bad_row_of_many_blocks_is_named():
    ballots = np.zeros((50_000, 7, 4), dtype=np.float32)
    ballots[[31_234, 44_000]] = np.nan
    with pytest.raises(InputError, match="row 31234:"):
        certify(ballots, "tournament")


@pytest.mark.parametrize("shape", [(3, 4), (3,), (2, 0, 3), (2, 3, 0), (1, 2, 3, 4)])
@pytest.mark.parametrize("rule", ["plurality", "runoff", "tournament", TopK(1)])
def test_wrong_shapes_are_refused(rule, shape):
    with pytest.raises(InputError, match=r"ballots has shape"):
        certify(np.zeros(shape), rule)


def test_texts_and_ragged_ballots_are_refused():
    with pytest.raises(InputError, match="ballots holds"):
        certify(np.full((2, 3, 2), "a"), "tournament")
    with pytest.raises(InputError, match="ballots is ragged"):
        certify([[[1, 2], [3]], [[1, 2]]], "plurality")


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_any_layout_and_number_type(rule):
    """Integers, half precision and strided views give what the same numbers in float64 give."""
    small = np.random.default_rng(1).integers(0, 5, size=(12, 5, 3))
    expected = certified(rule, small.astype(np.float64))
    views = [
        small,
        small.astype(np.float16),
        small.astype(np.uint8),
        np.asfortranarray(small.astype(np.float32)),
        small.tolist(),
    ]
    for view in [*views, np.repeat(small, 2, axis=0)[::2]]:
        proof = certified(rule, view)
        assert np.array_equal(proof.prediction, expected.prediction)
        assert np.array_equal(proof.radius, expected.radius)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_no_rows(rule):
    assert len(certified(rule, np.zeros((0, 3, 2)))) == 0
