"""Exchanging units between submodels on trusted rows."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, Informed, Partition, Units
from partita.partition._informed import PENALTY, exchange_units, explained_variance, linear_features
from partita.partition._partition import strided_partition

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 200))
TWICE = [linear_features(values, False) for values in (A, A, B, B)]  # two columns, each twice
TARGET = (A + B)[:, None]


def slow(features, units, target):
    """The same by leaving out every row in turn."""
    X = np.column_stack([features[unit] for unit in units])
    y = target - target.mean(axis=0)
    missed = []
    for row in range(len(X)):
        rest = np.delete(np.arange(len(X)), row)
        centre = y[rest].mean(axis=0)
        gram = X[rest].T @ X[rest] + PENALTY * len(X) * np.eye(X.shape[1])
        missed.append(
            y[row] - centre - X[row] @ np.linalg.solve(gram, X[rest].T @ (y[rest] - centre))
        )
    return 1 - np.square(missed).sum() / np.square(y).sum()


def test_the_score_of_a_submodel_is_that_of_leaving_out_every_row():
    target = np.column_stack([A + B, A * B])
    score = explained_variance(TWICE, [0, 2], target)
    assert score == pytest.approx(slow(TWICE, [0, 2], target), abs=0.01)
    assert explained_variance(TWICE, [0, 2], TARGET) > 0.9
    assert explained_variance(TWICE, [0, 1], TARGET) < 0.6


def test_more_columns_than_rows_give_the_same_score():
    rng = np.random.default_rng(3)
    wide = [rng.normal(size=(20, 8)) for _ in range(4)]
    target = sum(part[:, :1] for part in wide)
    # columns of zeros change nothing but the way it is computed
    padded = [*wide, np.zeros((20, 8)), np.zeros((20, 8))]
    narrow = explained_variance(padded, [0, 1], target)
    assert explained_variance(padded, [0, 1, 4, 5], target) == pytest.approx(narrow, rel=1e-9)


def test_rounding_decides_nothing():
    # both have one copy of each column: an exchange of copies gains what rounding does
    start = Partition([[1, 2, 5], [0, 3, 4]])
    for seed in range(30):
        a, b, c, noise = np.random.default_rng(seed).normal(size=(4, 200))
        copies = [linear_features(values, False) for values in (a, b, c, c, b, a)]
        assert exchange_units(start, copies, (a + b + c + noise)[:, None], 60) == start


def test_thousands_of_exchanges_take_seconds():
    rng = np.random.default_rng(4)
    features = [rng.normal(size=(300, 24)) for _ in range(12)]
    started = time.process_time()
    exchange_units(strided_partition(12, 5), features, sum(part[:, :1] for part in features), 3000)
    assert time.process_time() - started < 10  # it was 100 with a product of three arrays at once


def test_units_that_tell_different_things_come_together():
    found = exchange_units(Partition([[0, 1], [2, 3]]), TWICE, TARGET, 50)
    assert all(sorted(unit // 2 for unit in units) == [0, 1] for units in found)
    assert exchange_units(Partition([[0, 1], [2, 3]]), TWICE, TARGET, 50) == found
    assert exchange_units(Partition([[0, 1, 2, 3]]), TWICE, TARGET, 50) == Partition([[0, 1, 2, 3]])
    singles = Partition([[0], [1], [2], [3]])
    assert len(exchange_units(singles, TWICE, TARGET, 50)) == 4  # none is left without a unit


def test_it_never_gets_worse():
    rng = np.random.default_rng(1)
    features = [linear_features(rng.normal(size=60), False) for _ in range(12)]
    target = sum(part[:, :1] for part in features[:4]) + rng.normal(size=(60, 1))
    start = Partition([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]])
    found = exchange_units(start, features, target, 200)

    def score(sets):
        return np.mean([explained_variance(features, units, target) for units in sets])

    assert score(found) > score(start)
    assert sorted(unit for units in found for unit in units) == list(range(12))


def test_features_are_finite_whatever_a_column_holds():
    for values in (np.zeros(30), np.arange(30.0), np.where(np.arange(30) == 3, 1e300, -1e300)):
        assert np.isfinite(linear_features(values, False)).all()
    codes = np.repeat([0.0, 1.0, 2.0], [20, 9, 1])
    assert linear_features(codes, True).shape == (30, 2)  # the third category is rare
    assert not linear_features(np.arange(5.0), True).any()


def test_informed_brings_units_that_carry_different_information_together():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 300))
    y = np.where(a + b > 0, "yes", "no")
    table = pd.DataFrame({"a": a, "a again": a, "b": b, "b again": b})
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=2, partition=Informed(table[:100], y[:100], exchanges=100)
    )
    sets = clf.fit(table[100:], y[100:]).partition_
    assert all({unit // 2 for unit in units} == {0, 1} for units in sets)


def test_text_can_be_exchanged():
    rng = np.random.default_rng(2)
    words = np.array(["up", "down"])
    table = pd.DataFrame(
        {"number": rng.normal(size=60), "word": words[rng.integers(2, size=60)], "noise": 1.0}
    )
    reference = Informed(table, np.arange(60) % 2, exchanges=20)
    units = Units(((0,), (1,), (2,)), tuple(table), "columns")
    assert len(reference.deal(units, list(table), 2, 1)) == 2
