"""Runs of the defences the paper compares with."""

import numpy as np
import pandas as pd
import pytest

from partita.certificates import Certificates, Counts
from partita.reproduce._baseline_runs import (
    _numeric_tables,
    correct_radii,
    patch_shares,
    run_ablation,
    run_smoothing,
)
from partita.reproduce._data import RunData, load_run_data
from partita.reproduce._runs import Setting

from .smoke import smoke_run


def proof(prediction, radius):
    return Certificates(np.asarray(prediction), np.asarray(radius), None, Counts("columns", 9))


def test_a_wrong_prediction_has_radius_minus_one():
    labels = RunData(None, np.empty(0), None, np.array([0, 1, 1]))
    assert correct_radii(proof([0, 0, 1], [3, 3, -5]), labels).tolist() == [3, -1, -1]
    values = RunData(None, np.empty(0), None, np.array([0.0, 1.0]), bounds=lambda y: (y, y))
    assert correct_radii(proof([0.0, 5.0], [2, -1]), values).tolist() == [2, -1]


def test_the_worst_and_the_best_rectangle_are_of_all_rectangles():
    data = RunData(None, np.empty(0), None, np.array([0, 0, 0, 0]))
    proofs = [proof([0, 0, 0, 1], radius) for radius in ([1, 1, 1, 1], [1, 0, 0, 1], [1, 1, 0, 0])]
    assert patch_shares(proofs[0], proofs[1:], data) == {
        "square": 75.0,
        "worst": 25.0,
        "best": 50.0,
    }


def test_tables_become_numbers_by_the_training_rows_alone():
    train = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", "y", None]})
    test = pd.DataFrame({"a": [np.nan, 9.0], "b": ["y", "z"]})
    X_train, X_test, low, high = _numeric_tables(RunData(train, None, test, None))
    assert X_train.tolist() == [[1.0, 0.0], [2.0, 1.0], [3.0, -1.0]]
    assert X_test.tolist() == [[2.0, 1.0], [9.0, -1.0]]
    assert (low.tolist(), high.tolist()) == ([1.0, -1.0], [3.0, 1.0])


@pytest.mark.parametrize("data", ["mnist", "weather"])
def test_ablation_has_both_conditions(data, tmp_path):
    run = smoke_run(Setting(data, "ablation", 5))
    result = run_ablation(run, load_run_data(run, None), tmp_path)
    assert set(result["radii"]) == {"LF'20b", "Jia'22b"}
    assert all(sum(count for _, count in own) == 100 for own in result["radii"].values())


def test_smoothing_is_certified_against_patches_alone(tmp_path):
    run = smoke_run(Setting("cifar10", "smoothing", 4))
    result = run_smoothing(run, load_run_data(run, None), tmp_path)
    shares = result["patches"]["columns"]
    assert result["radii"] == {}
    assert 0 <= shares["worst"] <= shares["best"] <= 100
