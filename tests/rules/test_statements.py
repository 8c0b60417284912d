"""Statements: which predictions keep what was certified true."""

import numpy as np

from partita.rules import BoundStatement, LabelStatement

LABELS = LabelStatement(np.array(["a", "b", "a"]))
BOUNDS = BoundStatement(np.array([0.0, 1.0, -np.inf]), np.array([1.0, 2.0, 3.0]), np.arange(3.0))


def test_a_label_holds_where_it_is_predicted():
    assert LABELS.holds(np.array(["a", "a", "a"])).tolist() == [True, False, True]
    votes = np.array([["a", "b"], ["a", "b"], ["a", "b"]])
    assert LABELS.holds(votes).tolist() == [[True, False], [False, True], [True, False]]
    assert (len(LABELS), LABELS.bounds) == (3, {})


def test_a_bound_holds_at_its_ends_and_never_for_a_nan():
    assert BOUNDS.holds(np.array([1.0, 2.1, -1e300])).tolist() == [True, False, True]
    assert not BOUNDS.holds(np.full(3, np.nan)).any()
    assert BOUNDS.holds(np.array([[0.0, 2.0]] * 3)).tolist() == [
        [True, False],
        [False, True],
        [True, True],
    ]
    assert len(BOUNDS) == 3
    assert list(BOUNDS.bounds) == ["lower", "upper"]


def test_rows_can_be_taken():
    assert LABELS.take([1]).holds(np.array([["a", "b", "b"]])).tolist() == [[False, True, True]]
    some = BOUNDS.take(np.array([False, True, False]))
    assert (some.lower.tolist(), some.upper.tolist(), some.truth.tolist()) == ([1], [2], [1])
    assert BoundStatement(BOUNDS.lower, BOUNDS.upper).take(slice(0, 2)).truth is None
