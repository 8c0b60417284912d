"""The regressor's own questions: how values are decided, bounds, intervals."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from partita import InputError, LeaveOutRegressor, SubmodelWarning
from partita.metrics import certified_accuracy
from tests.exhaustive.left_out_attacker import agreed_values, every_set

X, Y = load_diabetes(return_X_y=True)
TREE = DecisionTreeRegressor(max_depth=3)
REG = LeaveOutRegressor(Ridge(0.1), radius=2, n_groups=7).fit(X, Y)


@pytest.mark.parametrize(
    ("radius", "n_groups", "leave_out"), [(1, 5, 2), (1, 6, 4), (2, 6, "auto")]
)
def test_the_prediction_follows_from_the_definition(radius, n_groups, leave_out):
    reg = LeaveOutRegressor(TREE, radius=radius, n_groups=n_groups, leave_out=leave_out).fit(X, Y)
    ballots = reg.ballots(X)
    assert ballots.dtype == np.float64
    models = []
    for chosen in combinations(range(n_groups), 2 * radius):
        pool = [t for t, own in enumerate(reg.partition_.left_out) if set(chosen) <= set(own)]
        models.append(ballots[:, pool].mean(axis=1))
    sets, _ = every_set(n_groups, radius)
    expected = agreed_values(np.stack(models, axis=1), sets, n_groups, radius, "mean")
    assert np.allclose(reg.predict(X), expected, rtol=1e-12)


def test_intervals_hold_the_prediction_and_grow():
    predicted = REG.predict(X)
    ends = [REG.interval(X, radius) for radius in (0, 1, 2)]
    assert np.array_equal(ends[0][0], predicted)
    assert np.array_equal(ends[0][1], predicted)
    for smaller, larger in pairwise(ends):
        assert (larger[0] <= smaller[0]).all()
        assert (larger[1] >= smaller[1]).all()
    assert (ends[2][1] - ends[2][0]).mean() < 150
    low, high = REG.interval(X, 3)
    assert np.isinf(low).all()
    assert np.isinf(high).all()
    with pytest.raises(InputError, match="radius is -1"):
        REG.interval(X, -1)


def test_bounds_tolerances_and_shares_agree():
    predicted = REG.predict(X)
    by_bounds = REG.certify(X, lower=predicted - 30, upper=predicted + 30)
    assert np.array_equal(REG.certify(X, tolerance=30).radius, by_bounds.radius)
    assert np.array_equal(by_bounds.prediction, predicted)
    assert by_bounds.runner_up is None
    assert set(by_bounds.radius) == {0, 1, 2}
    for radius in (1, 2):
        low, high = REG.interval(X, radius)
        inside = (low >= predicted - 30) & (high <= predicted + 30)
        assert np.array_equal(by_bounds.radius >= radius, inside)
    around = REG.certify(X, around=Y, relative=0.2)
    assert np.array_equal(around.radius >= 0, np.abs(predicted - Y) <= 0.2 * Y)
    assert certified_accuracy(Y, around, 0) == np.mean(around.radius >= 0)
    assert (REG.certify(X, lower=-np.inf, upper=np.inf).radius == 2).all()
    assert (by_bounds.counts.what, by_bounds.counts.total) == ("columns", 10)


def test_a_member_that_fails_says_the_median_of_the_training_values():
    broken = X.copy()
    broken[3, 4] = np.nan
    reg = LeaveOutRegressor(Ridge(), n_groups=5, on_failure="vote")
    with pytest.warns(SubmodelWarning):
        reg.fit(broken, Y)
    ballots = reg.ballots(X)
    sees = reg.partition_.incidence()[4]
    assert (ballots[:, sees] == np.median(Y)).all()
    assert (ballots[:, ~sees] != np.median(Y)).any(axis=0).all()


def test_the_default_estimator_reads_texts_and_missing_values():
    table = [["a" if y > 140 else "b", None if y > 200 else y, f"x{y // 50}", 1] for y in Y]
    reg = LeaveOutRegressor(n_groups=4).fit(table, Y)
    assert reg.score(table, Y) > 0.5
