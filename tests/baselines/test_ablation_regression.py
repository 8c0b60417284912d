"""RandomizedAblationRegressor: its confidence, and attackers who try everything."""

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_diabetes

from partita import InputError
from partita.baselines import RandomizedAblationRegressor
from partita.baselines._ablation import abstentions
from partita.metrics import certified_accuracy

from .exact_ablation import Function, at_most
from .small_problem import CORNERS, DISTANCE, GRID, PAIRS, all_predictions


@pytest.mark.parametrize("bounds", [{"lower": 0}, {"upper": 0}, {"tolerance": 0}])
def test_a_tie_between_two_values_is_certified_as_rarely_as_half_of_alpha_allows(bounds):
    """Half of all values lie beyond the bound.

    A prediction from the proof's draws, or all of alpha for each bound, would fail twice as often.
    """
    reg = RandomizedAblationRegressor(
        Function(lambda kept, values: 1.0 - 2 * (kept.argmax(axis=1) % 2)),
        keep=1,
        low=0,
        high=1,
        epochs=1,
        n_select=301,
        n_certify=301,
        alpha=0.4,
    )
    reg.fit(np.zeros((4, 8)), [-1, 1, -1, 1])
    false = []
    for reg.seed_ in range(600):
        false.append(not abstentions(reg.certify(np.zeros((1, 8)), **bounds))[0])
    assert 0.2 / 3 < np.mean(false) < at_most(0.2, 600)


def test_a_radius_of_values_counts_units():
    reg = RandomizedAblationRegressor(
        Function(lambda kept, values: ((values * kept) > 0).any(axis=1) * 1.0),
        low=0,
        high=1,
        epochs=1,
        units=PAIRS,
        keep=2,
        n_select=101,
        n_certify=20_000,
    )
    reg.fit(np.zeros((4, 12)), [0.0, 1.0, 0.0, 1.0])
    proof = reg.certify(np.zeros((1, 12)), tolerance=0.25)
    assert proof.radius[0] == 1
    assert str(proof.counts) == "units (6 in all, out of reach: the training table)"


@pytest.mark.parametrize("keep", [1, 2])
def test_no_change_of_radius_columns_moves_the_smoothed_value_out_of_its_bounds(
    small_problem, keep
):
    X, total = small_problem
    reg = RandomizedAblationRegressor(
        keep=keep, low=0, high=1, n_select=201, n_certify=4000, alpha=0.05
    ).fit(X, total)
    values = np.sort(reg.centre_ + reg.scale_ * all_predictions(reg, keep), axis=1)
    n = values.shape[1]
    medians = values[:, [(n - 1) // 2, n // 2]]  # both middle values
    grid, widest = GRID[CORNERS], 0
    for tolerance in (0.05, 0.3, 0.6, 1.0):
        proof = reg.certify(grid, tolerance=tolerance)
        low, high = proof.prediction - tolerance, proof.prediction + tolerance
        inside = np.stack(
            [
                (values[CORNERS] >= low[:, None]).mean(axis=1),
                (values[CORNERS] <= high[:, None]).mean(axis=1),
            ]
        )
        for row in np.flatnonzero(proof.radius >= 0):
            reached = medians[DISTANCE[CORNERS[row]] <= proof.radius[row]]
            if (inside[:, row] > 0.5).all():  # else the bounds on the shares did not hold
                assert (reached >= low[row]).all()
                assert (reached <= high[row]).all()
        assert np.mean((proof.radius >= 0) & (inside <= 0.5).any(axis=0)) <= 0.05
        widest = max(widest, proof.radius.max())
    assert widest == (2 if keep == 1 else 1)
    one_sided = reg.certify(grid, upper=3.0)
    fits = (values[CORNERS] <= 3.0).mean(axis=1)
    assert (fits[one_sided.radius >= 0] > 0.5).all()
    assert (reg.certify(grid, lower=-np.inf, upper=np.inf).radius == 6).all()
    assert (reg.certify(grid, lower=50.0).radius == -1).all()


def test_regression_on_diabetes():
    X, y = load_diabetes(return_X_y=True)
    reg = RandomizedAblationRegressor(
        keep=3, low=-0.2, high=0.2, n_select=100, n_certify=1000, alpha=0.01
    ).fit(X[::2], y[::2])
    proof = reg.certify(X[1::2], around=y[1::2], relative=0.5)
    assert np.array_equal(proof.prediction, reg.predict(X[1::2]))
    assert certified_accuracy(y[1::2], proof, 0) > 0.4 > certified_accuracy(y[1::2], proof, 2) == 0
    assert certified_accuracy(y[1::2], proof, 1) > 0.2
    assert reg.score(X[1::2], y[1::2]) > 0.1
    wide, narrow = (reg.certify(X[1::2], tolerance=t) for t in (100, 20))
    assert (wide.radius >= narrow.radius).all()
    assert (wide.radius > narrow.radius).any()


def test_frames_come_back_as_they_went_in(small_problem):
    X, total = small_problem
    names = [f"c{k}" for k in range(6)]
    reg = RandomizedAblationRegressor(keep=1, low=0, high=1, epochs=2, n_select=10, n_certify=100)
    table = pl.DataFrame(X, schema=names)
    assert isinstance(
        reg.fit(table, total).certify(table[:3], tolerance=3).to_frame(), pl.DataFrame
    )


def test_bad_targets_and_bounds_are_named(small_problem):
    X, total = small_problem
    reg = RandomizedAblationRegressor(keep=2, low=0, high=1, epochs=1, n_select=10, n_certify=10)
    with pytest.raises(InputError, match="y holds values that are not numbers"):
        reg.fit(X, np.where(total > 3, "a", "b"))
    reg.fit(X, total)
    for bounds, message in (
        ({}, "only one of the three"),
        ({"tolerance": 1, "relative": 1}, "only one of the three"),
        ({"lower": 1, "around": total}, "around goes with"),
        ({"lower": 2, "upper": 1}, "lower is above upper in row 0"),
        ({"upper": np.nan}, "upper must be one number"),
        ({"tolerance": -1}, "tolerance must be a number, 0 or above"),
        ({"tolerance": [1, 2]}, "tolerance must be a number, 0 or above"),
        ({"relative": 0.1, "around": np.full(200, np.inf)}, "around must hold one finite number"),
    ):
        with pytest.raises(InputError, match=message):
            reg.certify(X, **bounds)
    with pytest.raises(InputError, match="predicts a NaN or an infinity"):
        RandomizedAblationRegressor(
            Function(lambda kept, values: values[:, 0] + np.inf), keep=2, low=0, high=1
        ).fit(X, total).predict(X)
