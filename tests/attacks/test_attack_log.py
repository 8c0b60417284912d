"""Counting what attacks changed."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.attacks._attack_log import AttackLog, RowTally
from partita.attacks._claims import Claims


@pytest.fixture
def log(arrays):
    X, y, X_test, y_test = arrays
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    return AttackLog(Claims(model, X_test[:10], y_test[:10]), np.arange(100, 110))


def test_changes_add_up_over_attacks(log, arrays):
    claims, tally = log.claims, RowTally(log.claims)
    radius = np.array([0, 0] + [3] * 8)
    first, second = claims.prediction.copy(), claims.prediction.copy()
    first[0] ^= 1
    second[[0, 1]] ^= 1
    for prediction in (first, second):
        log.record("attack", 1, prediction, tally, radius, arrays[2][:10], [[]] * 10)
    log.add_line("attack", 1, 2, tally, radius, log.certified_accuracy(1))
    (line,) = log.lines
    assert (line.attacks, line.rows, line.changed) == (2, 10, 2)
    assert (line.certified, line.certified_changed) == (8, 0)
    assert line.accuracy == np.mean((claims.prediction == claims.truth) & (np.arange(10) > 1))
    assert line.certified_accuracy == np.mean(claims.correct_radius >= 1)
    assert not log.broken


def test_a_certified_prediction_that_changes_is_kept_with_what_was_written(log, arrays):
    table, tally = arrays[2][:10].copy(), RowTally(log.claims)
    units = [[]] * 4 + [[2]] + [[]] * 5
    (column,) = log.claims.model.units_.columns[2]
    table[4, column] = 99.0
    prediction = log.claims.prediction.copy()
    prediction[4] ^= 1
    log.record("attack", 1, prediction, tally, np.full(10, 2), table, units)
    log.add_line("attack", 1, 1, tally, np.full(10, 2), None)
    (broken,) = log.broken
    assert (broken.row, broken.radius, broken.units) == (104, 2, (str(column),))
    assert broken.row_values == {str(column): 99.0}
    assert broken.before != broken.after
    assert log.lines[0].certified_changed == 1
