"""Submodels whose scores depend on the other rows of a batch are found."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.attacks import audit
from partita.attacks._attacked_table import AttackedTable
from partita.attacks._claims import Claims
from partita.attacks._isolation import check_row_isolation
from partita.rules import Plurality

from .leaky_estimators import (
    CodesOfBatch,
    FillsMissingByBatch,
    LooksAtBatch,
    NearlyTied,
    OtherwiseAlone,
    Own,
    Slightly,
    SortsBatch,
    StandardisesByBatch,
)


@pytest.mark.parametrize(
    "estimator",
    [
        *(LooksAtBatch(on) for on in (1e5, 1e12, 1e200, "infinities")),
        StandardisesByBatch(),
        FillsMissingByBatch(),
        OtherwiseAlone(),
        SortsBatch(),
    ],
    ids=lambda one: f"{type(one).__name__} {one.on}",
)
@pytest.mark.parametrize(
    "kind",
    [np.asarray, pytest.param(pd.DataFrame, marks=pytest.mark.long)],
    ids=["array", "frame"],
)
def test_a_dependence_on_the_other_rows_of_a_batch_is_found(small, estimator, kind, failed):
    X, y, X_test, _ = small
    model = FeaturePartitionClassifier(estimator, n_submodels=5).fit(kind(X), y)
    found = audit(model, kind(X_test), rows=20, most=1, attacks=("checks",))
    assert "a row's ballots are the same alone and in a batch" in failed(found)
    assert "compute nothing from the rows of a batch" in str(found)


@pytest.mark.parametrize(
    "kind",
    [
        "lists",
        pytest.param("pandas", marks=pytest.mark.long),
        pytest.param("polars", marks=pytest.mark.long),
    ],
)
def test_texts_that_are_numbered_by_the_batch_are_found(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    columns = {
        f"text {k}": np.where(
            rng.random(120) < 0.3, rng.choice(list("abc"), 120), np.where(y, "x", "y")
        )
        for k in range(5)
    }
    rows = [
        list(row) for row in zip(*(column.tolist() for column in columns.values()), strict=True)
    ]
    X = {"pandas": pd.DataFrame(columns), "polars": pl.DataFrame(columns), "lists": rows}[kind]
    for keep in (False, True):
        model = FeaturePartitionClassifier(CodesOfBatch(keep), n_submodels=5).fit(X, y)
        assert audit(model, X, rows=20, most=1, attacks=("checks",)).passed == keep


@pytest.mark.parametrize(("by", "passes"), [(0, True), (1e-13, True), (1e-7, False)])
def test_values_may_differ_by_rounding_and_no_more(by, passes):
    X, y = load_diabetes(return_X_y=True)
    model = FeaturePartitionRegressor(Slightly(by), n_submodels=3).fit(X[::2], y[::2])
    assert np.any(model.ballots(X[:1]) != model.ballots(X)[0]) or by == 0
    assert audit(model, X[1::2], tolerance=0, rows=30, attacks=("checks",)).passed == passes


def test_rounding_that_changes_a_prediction_is_found(small):
    X, y, X_test, _ = small
    model = FeaturePartitionClassifier(NearlyTied(), n_submodels=5, rule=Plurality()).fit(X, y)
    found = audit(model, X_test, rows=30, attacks=("checks",))
    assert "a prediction or its radius changes, though the ballots differ by rounding only" in str(
        found
    )


def test_a_memory_error_is_raised_and_not_reported(small, monkeypatch):
    X, y, X_test, _ = small
    model = FeaturePartitionClassifier(Own(), n_submodels=5).fit(X, y)
    claims, table = Claims(model, X_test[:20]), AttackedTable(X_test[:20])

    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr(model, "ballots", no_memory)
    with pytest.raises(MemoryError):
        check_row_isolation(claims, table, np.random.default_rng(0))
