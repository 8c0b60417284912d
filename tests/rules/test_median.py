"""The median by hand, its stretch, and what is refused."""

import numpy as np
import pytest

from partita import InputError
from partita.rules import Median

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


def test_median_by_hand():
    votes = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]])
    assert Median().decide(votes)[0] == 3
    assert Median().certify(votes, 2.5, 4.5).radius[0] == 0
    assert Median().certify(votes, 1, 5).radius[0] == 2
    assert Median().certify(votes, 3.5, 9).radius[0] == -1
    assert Median().certify(votes, -np.inf, np.inf).radius[0] == 5
    even = votes[:, :4]
    assert Median().decide(even)[0] == 2  # the lower median
    assert Median().certify(even, 1, 4).radius[0] == 1  # one vote below 1 is not enough, two are
    assert Median().certify(even, -np.inf, 4).radius[0] == 2


def test_stretch_moves_votes_from_the_centre():
    votes = np.array([[9.0, 10.0, 12.0]])
    rule = Median(stretch=1.5, centre=8.0)
    assert rule.decide(votes)[0] == 11
    assert [end[0] for end in rule.interval(votes, 1)] == [9.5, 14]
    assert rule.certify(votes, 9.5, 14).radius[0] == 1
    huge = np.array([[1e308, -1e308, 1e308]])
    assert np.isfinite(Median(stretch=5, centre=0.0).decide(huge)[0])


def test_the_centre_is_learnt_from_trusted_targets_only():
    y = np.array([1.0, 2.0, 30.0])
    assert Median(stretch=2).resolve(y, np.empty(0)).centre == 2
    assert Median(stretch=2).resolve(None, np.empty(0)).centre is None
    assert Median(stretch=2, centre=7.0).resolve(y, np.empty(0)).centre == 7
    assert (
        repr(Median(stretch=2).resolve(y, np.empty(0)).without_fitted_state())
        == "Median(stretch=2)"
    )


def test_votes_are_stretched_away_from_the_centre():
    assert Median(stretch=2, centre=1.0).votes([[0, 1, 3]]).tolist() == [[-1, 1, 5]]
    assert Median().votes([[0, 1, 3]]).dtype == np.float64
