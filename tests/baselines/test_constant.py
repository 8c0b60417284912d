"""Always the same answer: certified against all columns, and right as often as that is."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge

from partita import FeaturePartitionRegressor, InputError
from partita.baselines import ConstantClassifier, ConstantRegressor
from partita.metrics import (
    certified_accuracy,
    certified_accuracy_curve,
    certified_scorer,
    median_radius,
)

WINE, CULTIVAR = load_wine(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


def test_the_commonest_label_is_certified_against_all_columns():
    proof = ConstantClassifier().fit(WINE[::2], CULTIVAR[::2]).certify(WINE[1::2])
    share = np.mean(CULTIVAR[1::2] == 1)
    assert proof.prediction.tolist() == [1] * 89
    assert proof.radius.tolist() == [13] * 89
    assert proof.counts.what == "columns"
    assert proof.counts.total == 13
    assert proof.runner_up is None
    assert certified_accuracy(CULTIVAR[1::2], proof, radius=13) == pytest.approx(share)
    assert certified_accuracy_curve(CULTIVAR[1::2], proof).accuracy.tolist() == pytest.approx(
        [share] * 14 + [0]
    )


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["b", "a", "b", "a"], "a"),
        ([3, 2, 2, 3], 2),
        (["no", "yes", "yes", "no"], "no"),
        ([True, False, True, True], True),
        ([5], 5),
    ],
)
def test_ties_go_to_the_smaller_label(labels, expected):
    X = np.zeros((len(labels), 3))
    clf = ConstantClassifier().fit(X, labels)
    assert clf.predict(X).tolist() == [expected] * len(labels)
    assert clf.certify(X).prediction.dtype == np.asarray(labels).dtype
    assert clf.constant_ == expected


def test_no_column_matters():
    rng = np.random.default_rng(0)
    before = ConstantClassifier().fit(WINE, CULTIVAR).certify(WINE)
    corrupt = rng.normal(size=WINE.shape)
    corrupt[0] = [np.nan, np.inf, *corrupt[0, 2:]]
    after = ConstantClassifier().fit(corrupt, CULTIVAR).certify(corrupt)
    assert np.array_equal(after.prediction, before.prediction)
    mixed = [["text", None, [1]] for _ in CULTIVAR]
    assert ConstantClassifier().fit(mixed, CULTIVAR).certify(mixed).radius.tolist() == [3] * 178


@pytest.mark.parametrize(
    ("target", "expected"),
    [([1, 2, 3, 4], 2), ([4, 1, 3], 3), ([10, -10], -10), ([7], 7), ([1, 1, 9, 9, 9], 9)],
)
def test_the_lower_median(target, expected):
    X = np.zeros((len(target), 2))
    assert ConstantRegressor().fit(X, target).predict(X).tolist() == [expected] * len(target)


def test_inside_and_outside_the_bounds():
    X = np.zeros((4, 5))
    reg = ConstantRegressor().fit(X[:3], [10, 20, 30])
    assert reg.certify(X, lower=20, upper=20).radius.tolist() == [5] * 4
    assert reg.certify(
        X, lower=[0, 20, 20.5, -np.inf], upper=[19.5, 20, 30, np.inf]
    ).radius.tolist() == [-1, 5, -1, 5]
    assert reg.certify(X, upper=19).radius.tolist() == [-1] * 4
    assert reg.certify(X, lower=19).radius.tolist() == [5] * 4
    assert reg.certify(X, tolerance=0).radius.tolist() == [5] * 4
    assert reg.certify(X, relative=0.1).radius.tolist() == [5] * 4
    assert reg.certify(X, around=[15, 14, 25, 26], tolerance=5).radius.tolist() == [5, -1, 5, -1]
    proof = reg.certify(X, around=[16, 15, 25, 26], relative=0.25)
    assert proof.radius.tolist() == [5, -1, 5, 5]
    assert proof.of_values
    assert certified_accuracy([16, 15, 25, 26], proof, radius=5) == 0.75


def test_certified_accuracy_is_the_share_within_the_tolerance():
    reg = ConstantRegressor().fit(DIABETES[::2], PROGRESS[::2])
    truth = PROGRESS[1::2]
    proof = reg.certify(DIABETES[1::2], around=truth, tolerance=50)
    near = np.mean(np.abs(truth - np.sort(PROGRESS[::2])[110]) <= 50)
    assert certified_accuracy(truth, proof, radius=10) == pytest.approx(near)
    assert certified_scorer(10, tolerance=50)(reg, DIABETES[1::2], truth) == pytest.approx(near)
    assert median_radius(truth, proof) in (10, -np.inf)


def test_frames_come_back_as_they_went_in():
    frame = pd.DataFrame(WINE[:4, :3], columns=["a", "b", "c"], index=[5, 6, 7, 8])
    assert ConstantClassifier().fit(frame, [0, 1, 1, 1]).certify(
        frame
    ).to_frame().index.tolist() == [5, 6, 7, 8]
    polars = pl.DataFrame(WINE[:4, :3], schema=["a", "b", "c"])
    assert isinstance(
        ConstantRegressor().fit(polars, [0, 1, 1, 1]).certify(polars, tolerance=1).to_frame(),
        pl.DataFrame,
    )
    with pytest.raises(ValueError, match="feature names"):
        ConstantClassifier().fit(frame, [0, 1, 1, 1]).predict(frame[["b", "a", "c"]])


def test_bounds_are_refused_as_the_regressor_refuses_them():
    X, y = DIABETES[:50], PROGRESS[:50]
    ours, other = (
        ConstantRegressor().fit(X, y),
        FeaturePartitionRegressor(Ridge(), n_submodels=3, n_jobs=1).fit(X, y),
    )
    wrong = [
        {},
        {"lower": 1, "tolerance": 1},
        {"tolerance": -1},
        {"tolerance": [1, 2]},
        {"around": y, "lower": 1},
        {"lower": 2, "upper": 1},
    ]
    wrong += [{"around": y[1:], "tolerance": 1}, {"lower": np.nan}, {"relative": np.nan}]
    for bounds in wrong:
        with pytest.raises(InputError) as mine:
            ours.certify(X, **bounds)
        with pytest.raises(InputError) as theirs:
            other.certify(X, **bounds)
        assert str(mine.value) == str(theirs.value)


def test_wrong_targets_are_named():
    X = np.zeros((3, 2))
    with pytest.raises(InputError, match="not numbers: for labels use a ConstantClassifier"):
        ConstantRegressor().fit(X, ["a", "b", "c"])
    with pytest.raises(InputError, match="cannot be sorted"):
        ConstantClassifier().fit(X, np.array(["a", 1, 2], dtype=object))
    for estimator in (ConstantClassifier(), ConstantRegressor()):
        with pytest.raises(InputError, match="y is None"):
            estimator.fit(X, None)
        with pytest.raises(ValueError, match="inconsistent numbers"):
            estimator.fit(X, [1, 2])
        with pytest.raises(ValueError, match="NaN"):
            estimator.fit(X, [1, np.nan, 2])
        with pytest.raises(ValueError, match="2 features"):
            estimator.fit(X, [1, 2, 3]).predict(np.zeros((3, 1)))
        with pytest.raises(ValueError, match="not fitted"):
            type(estimator)().predict(X)
