"""Rules as users meet them: settings, names, and what they say to bad ballots."""

import numpy as np
import pytest
from sklearn.base import clone

from partita import InputError, certify
from partita.rules import Median, Plurality, RunOff, TopK, Tournament

BALLOTS = np.random.default_rng(0).normal(size=(20, 7, 4)).astype(np.float32)
RULES = [Plurality(), RunOff(), RunOff(exact=True), Tournament(), Tournament(margin=0.5), TopK(2)]


def certified(rule, ballots):
    """The certificates of a rule; for TopK those of the first label."""
    asked = [np.zeros(len(ballots), dtype=int)] if isinstance(rule, TopK) else []
    return rule.certify(ballots, *asked)


def test_top_k_without_labels_is_refused():
    """The plurality label with a top-k radius would say more than is proven."""
    for work in (lambda: TopK(2).certify(BALLOTS), lambda: certify(BALLOTS, TopK(2))):
        with pytest.raises(InputError, match="labels is missing: the radius of TopK"):
            work()


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
        certify(ballots)


@pytest.mark.parametrize("shape", [(3, 4), (3,), (2, 0, 3), (2, 3, 0), (1, 2, 3, 4)])
@pytest.mark.parametrize("rule", ["plurality", "runoff", "tournament", TopK(1)])
def test_wrong_shapes_are_refused(rule, shape):
    with pytest.raises(InputError, match=r"ballots has shape"):
        certify(np.zeros(shape), rule)


def test_texts_are_refused():
    with pytest.raises(InputError, match="ballots holds"):
        certify(np.full((2, 3, 2), "a"))


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_any_layout_and_number_type(rule):
    """Integers, half precision, transposed and strided views give what the same numbers in float64
    give."""
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


@pytest.mark.parametrize("rule", [*RULES, Median(stretch=1.3, centre=2.0)], ids=repr)
def test_settings_in_scikit_learns_way(rule):
    copy = clone(rule)
    assert copy is not rule
    assert copy.get_params() == rule.get_params()
    assert eval(repr(rule)).get_params() == rule.get_params()
    with pytest.raises(InputError, match="has no setting 'colour'"):
        rule.set_params(colour=1)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Tournament(margin=-1), "margin is -1"),
        (Tournament(margin=np.inf), "margin is inf"),
        (Tournament(margin=np.nan), "margin is nan"),
        (Tournament(margin="wide"), "margin is 'wide'"),
        (Tournament(prior=1.1), "prior is 1.1"),
        (Tournament(prior=-0.1), "prior is -0.1"),
        (Tournament(prior=0.5), "shares is missing"),
        (Tournament(offset=1.0), "shares is missing: with offset=1.0"),
        (Tournament(offset=np.nan), "offset is nan"),
        (Tournament(offset="much"), "offset is 'much'"),
        (Tournament(offset=[0, np.inf, 0, 0]), "offset is"),
        (Tournament(offset=[0, 1]), "offset has shape"),
        (Tournament(prior=0.5, shares=[0.5, 0.5]), "shares has shape"),
        (Tournament(prior=0.5, shares=[0.5, 0.5, 0.0, 0.1]), "4 positive numbers"),
        (RunOff(exact="yes"), "exact is 'yes'"),
        (TopK(0), "k is 0"),
        (TopK(1.5), "k is 1.5"),
    ],
    ids=repr,
)
def test_wrong_settings_are_named(rule, message):
    with pytest.raises(InputError, match=message):
        certified(rule, BALLOTS)


def test_unknown_rules_are_named():
    with pytest.raises(InputError, match="rule is 'majority'"):
        certify(BALLOTS, "majority")
    with pytest.raises(InputError, match=r"Median\(\).certify\(votes, lower, upper\)"):
        certify(BALLOTS, "median")


@pytest.mark.parametrize("labels", [[0] * 19, [0.5] * 20, [4] * 20, [-1] * 20])
def test_top_k_labels_are_checked(labels):
    with pytest.raises(InputError, match="labels must hold one class index from 0 to 3"):
        TopK(2).certify(BALLOTS, labels)


VOTES = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: Median(stretch=0.5).decide(VOTES), "stretch is 0.5"),
        (lambda: Median(stretch=1.5).decide(VOTES), "centre is missing"),
        (lambda: Median(centre=np.nan).decide(VOTES), "centre is nan"),
        (lambda: Median().decide(VOTES[0]), "votes has shape"),
        (lambda: Median().decide(np.zeros((3, 0))), "at least one submodel"),
        (lambda: Median().decide(VOTES * np.nan), "votes holds a NaN or an infinity in row 0"),
        (
            lambda: Median(stretch=2, centre=0.0).decide(VOTES + np.array([0, 0, 0, np.inf])),
            "votes holds a NaN or an infinity in row 0",
        ),
        (lambda: Median().certify(VOTES), "lower and upper are both needed"),
        (
            lambda: Median().certify(VOTES, [1, 2], 5),
            "lower must be one number or one for each of the 3 rows",
        ),
        (lambda: Median().certify(VOTES, 1, np.nan), "upper must be one number"),
        (lambda: Median().certify(VOTES, [0, 9, 0], 5), "lower is above upper in row 1"),
        (lambda: Median().interval(VOTES, -1), "radius is -1"),
        (lambda: Median().interval(VOTES, 1.5), "radius is 1.5"),
    ],
)
def test_median_says_what_is_wrong(work, message):
    with pytest.raises(InputError, match=message):
        work()
