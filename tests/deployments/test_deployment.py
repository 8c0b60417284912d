"""A deployment: what is right, and what its sources are called."""

from dataclasses import replace

import numpy as np
import pytest

from .small import NAMES, small_deployment


@pytest.mark.parametrize("name", NAMES)
def test_every_column_belongs_to_one_source_or_is_trusted(name):
    own = small_deployment(name)
    owned = [column for columns in own.units.values() for column in columns]
    assert sorted([*owned, *own.trusted]) == sorted(own.X_train)
    assert list(own.X_train) == list(own.X_valid) == list(own.X_test)


@pytest.mark.parametrize("name", NAMES)
def test_no_row_is_in_two_parts(name):
    own = small_deployment(name)
    parts = [own.X_train, own.X_valid, own.X_test]
    rows = [set(map(tuple, part.astype(str).to_numpy())) for part in parts]
    shared = len(rows[0] & rows[1]) + len(rows[0] & rows[2]) + len(rows[1] & rows[2])
    assert shared <= 1  # the data itself may repeat a row
    for X, y in zip(parts, (own.y_train, own.y_valid, own.y_test), strict=True):
        assert len(X) == len(y) > 50


def test_numbers_are_right_within_the_tolerance():
    from dataclasses import replace

    own = replace(small_deployment("credit"), tolerance=2.0)
    assert own.right([1.0, 5.0, 9.0], [2.0, 5.0, 6.0]).tolist() == [True, True, False]
    labels = small_deployment("credit")
    assert labels.right(np.array(["bad", "good"]), ["bad", "bad"]).tolist() == [True, False]


def test_sources_are_counted_in_words():
    own = small_deployment("credit")
    assert (own.sources(1), own.sources(3)) == ("one feed", "3 feeds")


def test_with_periods_settings_are_judged_by_models_of_earlier_rows(cancer):
    period = np.arange(len(cancer.y_train)) % 3
    X, y, X_valid, y_valid = replace(cancer, period=period).rows_to_choose_by()
    assert X.index.tolist() == cancer.X_train.index[period < 2].tolist()
    assert np.array_equal(y, cancer.y_train[period < 2])
    assert X_valid is cancer.X_valid
    assert y_valid is cancer.y_valid
    assert cancer.rows_to_choose_by()[0] is cancer.X_train
