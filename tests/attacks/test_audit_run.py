"""Counting what attacks changed."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, SoundnessError
from partita.attacks._audit import AuditRun, Tally
from partita.attacks._claims import Attack, Claims
from partita.attacks._poisoning import CHOICE


@pytest.fixture
def run(arrays):
    X, y, X_test, y_test = arrays
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    return AuditRun(Claims(model, X_test[:10], y_test[:10]), np.arange(100, 110))


class Scripted:
    """Predicts what it is told, one table after another."""

    def __init__(self, predictions):
        self.predictions = iter(predictions)

    def predict(self, X):
        return next(self.predictions)


def carry_out(run, predictions, attack, radius, correct_radius=None):
    model = Scripted(predictions)
    run._attacked_model = lambda attack, r: model
    run.attack([attack] * len(predictions), 1, {}, radius, correct_radius)
    return run.lines[-1]


def test_changes_add_up_over_attacks(run, arrays):
    claims, radius = run.claims, np.array([0, 0] + [3] * 8)
    first, second = claims.prediction.copy(), claims.prediction.copy()
    first[0] ^= 1
    second[[0, 1]] ^= 1
    attack = Attack("attack", [[]] * 10, arrays[2][:10])
    line = carry_out(run, [first, second], attack, radius, claims.correct_radius)
    assert (line.attacks, line.rows, line.changed) == (2, 10, 2)
    assert (line.certified, line.certified_changed) == (8, 0)
    assert line.accuracy == np.mean((claims.prediction == claims.truth) & (np.arange(10) > 1))
    assert line.certified_accuracy == np.mean(claims.correct_radius >= 1)
    assert not run.broken


def test_a_certified_prediction_that_changes_is_kept_with_what_was_written(run, arrays):
    table, claims = arrays[2][:10].copy(), run.claims
    units = [[]] * 4 + [[2]] + [[]] * 5
    (column,) = claims.model.units_.columns[2]
    table[4, column] = 99.0
    prediction = claims.prediction.copy()
    prediction[4] ^= 1
    line = carry_out(run, [prediction], Attack("attack", units, table), np.full(10, 2))
    (broken,) = run.broken
    assert (broken.row, broken.radius, broken.units) == (104, 2, (str(column),))
    assert broken.row_values == {str(column): 99.0}
    assert broken.before != broken.after
    assert line.certified_changed == 1
    assert line.certified_accuracy is None


def test_a_break_at_a_smaller_r_stays_in_the_lines_of_larger_ones(run, arrays):
    claims, radius = run.claims, np.array([1] * 5 + [2] * 5)
    changed = claims.prediction.copy()
    changed[[0, 9]] ^= 1
    run._attacked_model = lambda attack, r: Scripted([changed if r == 1 else claims.prediction])
    tallies = {}
    for r in (1, 2):
        run.attack([Attack("attack", [[]] * 10, arrays[2][:10])], r, tallies, radius)
    assert [line.certified_changed for line in run.lines] == [2, 1]
    assert [line.changed for line in run.lines] == [2, 2]


def test_a_model_is_fitted_once_for_attacks_on_the_same_training_table(run, arrays):
    X, y = arrays[:2]
    poison = Attack("poisoning", [[0]] * 10, arrays[2][:10], X, y)
    one = run._attacked_model(poison, 1)
    assert run._attacked_model(replace(poison, kind="backdoor"), 1) is one
    assert run._attacked_model(replace(poison, y=1 - y), 1) is not one
    assert run._attacked_model(Attack("evasion", [[0]] * 10, X), 1) is run.claims.model


def test_an_unsound_refit_is_a_failed_check_and_no_attack(run, arrays):
    class Unsound(GaussianNB):
        def fit(self, X, y):
            raise SoundnessError("drawn from a generator")

    run.choose = lambda X, y: Unsound()
    poison = Attack(CHOICE, [[0]] * 10, arrays[2][:10], *arrays[:2])
    run.attack([poison, poison], 1, {CHOICE: Tally(run.claims)}, at_least=[CHOICE])
    assert [check.name for check in run.checks] == [f"fitted again after {CHOICE}, r = 1"]
    assert "drawn from a generator" in run.checks[0].problem
    assert [line.attacks for line in run.lines] == [0]
