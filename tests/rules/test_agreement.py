"""Agreement as users meet it: votes and values of any models, and what is refused."""

import numpy as np
import pytest
from sklearn.base import clone

from partita import InputError
from partita.rules import Agreement
from tests.exhaustive.left_out_attacker import every_set

SETS, LEFT_OUT = every_set(4, 1)
VOTES = np.zeros((3, 6), dtype=int)
VALUES = np.arange(18.0).reshape(3, 6)


def test_labels_by_hand():
    """Group 0 is left out by the models 0, 1 and 2, and these agree in the second row alone."""
    votes = [[1] * 6, [1, 1, 1, 0, 2, 0], [0, 1, 2, 2, 1, 0]]
    proof = Agreement(1).certify(votes, LEFT_OUT, fallback=[0, 0, 2])
    assert proof.prediction.tolist() == [1, 1, 2]
    assert proof.radius.tolist() == [1, 0, 0]
    assert proof.runner_up.tolist() == [0, 0, 0]
    assert (proof.counts.what, proof.counts.total) == ("groups", 4)


def test_two_attackers_by_hand():
    """Only the model without 0, 1, 2, 3 disagrees: every pair but those six is unanimous."""
    sets, left_out = every_set(6, 2)
    votes = np.zeros((1, 15), dtype=int)
    votes[0, sets.index((0, 1, 2, 3))] = 1
    proof = Agreement(2).certify(votes, left_out)
    assert (proof.prediction[0], proof.radius[0], proof.runner_up[0]) == (0, 1, 1)


def test_values_by_hand():
    values = np.array([[5.0, 3.0, 4.0, 1.0, 2.0, 6.0]])  # sets 01 02 03 12 13 23
    assert Agreement(1).predict(values, LEFT_OUT)[0] == 3  # group 0: min(5, 3, 4)
    assert Agreement(1, side="upper").predict(values, LEFT_OUT)[0] == 5
    assert Agreement(1, side="mean").predict(values, LEFT_OUT)[0] == 4
    low, high = Agreement(1).interval(values, LEFT_OUT, radius=1)
    assert (low[0], high[0]) == (1, 6)  # min over group 1; group 2 and 3 leave out 23
    proof = Agreement(1).certify_values(values, LEFT_OUT, 1, [6])
    assert (proof.prediction[0], proof.radius[0], proof.runner_up) == (3, 1, None)
    assert Agreement(1).certify_values(values, LEFT_OUT, 2, 6).radius[0] == 0
    assert Agreement(1).certify_values(values, LEFT_OUT, 3.5, np.inf).radius[0] == -1
    assert proof.of_values


def test_the_order_of_the_models_does_not_matter():
    rng = np.random.default_rng(0)
    sets, left_out = every_set(6, 2)
    order = rng.permutation(len(sets))
    votes, values = rng.integers(2, size=(50, 15)), rng.normal(size=(50, 15))
    before = Agreement(2).certify(votes, left_out, np.zeros(50, int))
    after = Agreement(2).certify(votes[:, order], left_out[order], np.zeros(50, int))
    assert np.array_equal(before.prediction, after.prediction)
    assert np.array_equal(before.radius, after.radius)
    for radius in (0, 1, 2):
        assert np.array_equal(
            Agreement(2).interval(values, left_out, radius),
            Agreement(2).interval(values[:, order], left_out[order], radius),
        )


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int32, np.uint64])
def test_votes_of_any_integer_type(dtype):
    votes = np.random.default_rng(0).integers(2, size=(40, 6))
    expected = Agreement(1).certify(votes, LEFT_OUT, votes[:, 0])
    for given in (votes.astype(dtype), np.asfortranarray(votes.astype(dtype))):
        proof = Agreement(1).certify(given, LEFT_OUT.tolist(), given[:, 0])
        assert np.array_equal(proof.prediction, expected.prediction)
        assert np.array_equal(proof.radius, expected.radius)


def test_no_rows_and_one_label():
    proof = Agreement(1).certify(np.zeros((0, 6), dtype=int), LEFT_OUT)
    assert len(proof.radius) == 0
    proof = Agreement(1).certify(VOTES, LEFT_OUT)
    assert proof.runner_up is None
    assert proof.radius.tolist() == [1, 1, 1]


def test_arguments_are_left_alone():
    votes, values = VOTES.copy(), VALUES.copy()
    left_out, fallback = LEFT_OUT.copy(), np.zeros(3, dtype=int)
    Agreement(1).certify(votes, left_out, fallback)
    Agreement(1).interval(values, left_out, 1)
    assert np.array_equal(votes, VOTES)
    assert np.array_equal(values, VALUES)
    assert np.array_equal(left_out, LEFT_OUT)


def test_settings_in_scikit_learns_way():
    rule = Agreement(2, side="mean")
    assert clone(rule).get_params() == {"radius": 2, "side": "mean"}
    assert repr(rule) == "Agreement(radius=2, side='mean')"
    assert repr(rule.set_params(radius=1)) == "Agreement(side='mean')"
    with pytest.raises(InputError, match="has no setting 'colour'"):
        rule.set_params(colour=1)


def certify(votes=VOTES, left_out=LEFT_OUT, fallback=None, rule=None):
    return (rule or Agreement(1)).certify(votes, left_out, fallback)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: certify(rule=Agreement(0)), "radius is 0: it must be a whole number"),
        (lambda: certify(rule=Agreement(1.0)), "radius is 1.0"),
        (lambda: certify(rule=Agreement(True)), "radius is True"),
        (lambda: certify(rule=Agreement(1, "middle")), "side is 'middle': it must be one of lower"),
        (lambda: certify(votes=VOTES[0]), r"votes has shape \(6,\) and holds int64"),
        (lambda: certify(votes=VALUES), "holds float64: it must be class indices"),
        (lambda: certify(votes=[["a"] * 6]), "it must be class indices"),
        (lambda: certify(votes=[[0], [0, 1]]), "votes cannot be read as an array"),
        (lambda: certify(votes=VOTES[:, :5]), "votes has 5 columns for 6 models"),
        (lambda: certify(votes=VOTES - 1), "votes holds a negative number"),
        (lambda: certify(votes=VOTES - 1, fallback=[0, 0, 0]), "votes holds a negative number"),
        (lambda: certify(votes=VOTES + 2**40), "votes holds 1099511627776: class indices count"),
        (lambda: certify(fallback=[0, 0]), r"fallback has shape \(2,\)"),
        (lambda: certify(fallback=[0.0, 0.0, 0.0]), "fallback .* holds float64"),
        (lambda: certify(fallback=[0, -1, 0]), "fallback holds a negative number"),
        (lambda: certify(fallback=[0, 2**40, 0]), "fallback holds 1099511627776"),
        (lambda: Agreement().predict(VALUES[0], LEFT_OUT), "values has shape"),
        (lambda: Agreement().predict([["a"] * 6], LEFT_OUT), "it must be numbers"),
        (lambda: Agreement().predict(VALUES[:, :5], LEFT_OUT), "values has 5 columns"),
        (lambda: Agreement().predict(VALUES * np.nan, LEFT_OUT), "NaN or an infinity in row 0"),
        (lambda: Agreement().interval(VALUES, LEFT_OUT, 2), "radius is 2: these models bound 0 to"),
        (lambda: Agreement().interval(VALUES, LEFT_OUT, -1), "radius is -1"),
        (lambda: Agreement().interval(VALUES, LEFT_OUT, 0.5), "radius is 0.5"),
        (lambda: Agreement().interval(VALUES, LEFT_OUT, True), "radius is True"),
        (lambda: Agreement().certify_values(VALUES, LEFT_OUT, [1, 2], 9), "lower must be one"),
        (lambda: Agreement().certify_values(VALUES, LEFT_OUT, 9, 1), "lower is above upper"),
    ],
)
def test_what_is_wrong_is_named(work, message):
    with pytest.raises(InputError, match=message):
        work()
