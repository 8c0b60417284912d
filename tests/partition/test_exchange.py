"""Exchanging units between submodels on trusted rows."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, Informed, InputError, Partition
from partita.partition._exchange import PENALTY, exchanged, explained, features_of
from partita.partition._partition import strided_partition

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 200))
TWICE = [
    features_of(values, False) for values in (A, A, B, B)
]  # two columns, each of them there twice
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


def test_the_worth_of_a_submodel_is_that_of_leaving_out_every_row():
    target = np.column_stack([A + B, A * B])
    assert explained(TWICE, [0, 2], target) == pytest.approx(slow(TWICE, [0, 2], target), abs=0.01)
    assert explained(TWICE, [0, 2], TARGET) > 0.9 > 0.6 > explained(TWICE, [0, 1], TARGET)


def test_more_columns_than_rows_give_the_same_worth():
    rng = np.random.default_rng(3)
    wide = [rng.normal(size=(20, 8)) for _ in range(4)]
    target = sum(part[:, :1] for part in wide)
    padded = [
        *wide,
        np.zeros((20, 8)),
        np.zeros((20, 8)),
    ]  # columns of zeros change nothing but the way it is computed
    narrow, filled = explained(padded, [0, 1], target), explained(padded, [0, 1, 4, 5], target)
    assert filled == pytest.approx(narrow, rel=1e-9)


def test_rounding_decides_nothing():
    start = Partition(
        [[1, 2, 5], [0, 3, 4]]
    )  # both have one copy of each column: an exchange of copies gains what rounding does
    for seed in range(30):
        a, b, c, noise = np.random.default_rng(seed).normal(size=(4, 200))
        copies = [features_of(values, False) for values in (a, b, c, c, b, a)]
        assert exchanged(start, copies, (a + b + c + noise)[:, None], 60) == start


def test_thousands_of_exchanges_take_seconds():
    rng = np.random.default_rng(4)
    features = [rng.normal(size=(300, 24)) for _ in range(12)]
    started = time.process_time()
    exchanged(strided_partition(12, 5), features, sum(part[:, :1] for part in features), 3000)
    assert time.process_time() - started < 10  # it was 100 with a product of three arrays at once


def test_units_that_tell_different_things_come_together():
    found = exchanged(Partition([[0, 1], [2, 3]]), TWICE, TARGET, 50)
    assert all(sorted(unit // 2 for unit in units) == [0, 1] for units in found)
    assert exchanged(Partition([[0, 1], [2, 3]]), TWICE, TARGET, 50) == found
    assert exchanged(Partition([[0, 1, 2, 3]]), TWICE, TARGET, 50) == Partition([[0, 1, 2, 3]])
    assert (
        len(exchanged(Partition([[0], [1], [2], [3]]), TWICE, TARGET, 50)) == 4
    )  # none is left without a unit


def test_it_never_gets_worse():
    rng = np.random.default_rng(1)
    features = [features_of(rng.normal(size=60), False) for _ in range(12)]
    target = sum(part[:, :1] for part in features[:4]) + rng.normal(size=(60, 1))
    start = Partition([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]])
    found = exchanged(start, features, target, 200)
    worth = [
        np.mean([explained(features, units, target) for units in sets]) for sets in (start, found)
    ]
    assert worth[1] > worth[0]
    assert sorted(unit for units in found for unit in units) == list(range(12))


def test_features_are_finite_whatever_a_column_holds():
    for values in (np.zeros(30), np.arange(30.0), np.where(np.arange(30) == 3, 1e300, -1e300)):
        assert np.isfinite(features_of(values, False)).all()
    assert features_of(np.repeat([0.0, 1.0, 2.0], [20, 9, 1]), True).shape == (
        30,
        2,
    )  # the third kind is rare
    assert not features_of(np.arange(5.0), True).any()


def test_informed_exchanges_on_its_reference_alone():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 400))
    y = np.where(a + b > 0, "yes", "no")
    table = pd.DataFrame(
        {
            "a": a,
            "a again": a,
            "b": b,
            "b again": b,
            "text": np.where(a > 0, "up", "down"),
            "noise": rng.normal(size=400),
        }
    )
    reference = Informed(table[:100], y[:100], exchanges=300)
    assert repr(reference) == "Informed(100 reference rows, 300 exchanges)"
    numbers = table.drop(columns="text")
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=2, partition=Informed(numbers[:100], y[:100], exchanges=300)
    )
    sets = clf.fit(numbers[100:], y[100:]).partition_
    assert all({int(unit) // 2 for unit in units if unit < 4} == {0, 1} for units in sets)
    ruined = numbers[100:].assign(
        a=0.0
    )  # what an attacker writes into the training rows does not move the partition
    assert clf.fit(ruined, y[100:]).partition_ == sets
    assert (
        len(
            FeaturePartitionClassifier(n_submodels=3, partition=reference)
            .fit(table[100:], y[100:])
            .partition_
        )
        == 3
    )


@pytest.mark.parametrize("exchanges", [-1, 1.5, True, "many"])
def test_exchanges_must_be_a_whole_number(exchanges):
    X, y = np.random.default_rng(0).normal(size=(40, 4)), np.arange(40) % 2
    with pytest.raises(InputError, match=r"exchanges is .*: it must be a whole number, 0 or above"):
        FeaturePartitionClassifier(
            GaussianNB(), n_submodels=2, partition=Informed(X[:20], y[:20], exchanges)
        ).fit(X[20:], y[20:])
