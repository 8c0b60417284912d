"""The table that a model learns from: units, target, split, and what is remembered of it."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError
from partita.partition._units_file import UnitsFile
from partita.tables import CsvOptions
from partita.workflow._training_table import check_split, open_training

from ..selection.sweeps import NAIVE


@pytest.fixture
def path(tmp_path):
    rows = np.arange(40)
    frame = pd.DataFrame({"a": rows % 7, "b": rows % 2.0, "part": "train", "label": rows % 2})
    frame.assign(value=rows / 3).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_units_come_from_a_file_or_from_what_it_says(path, tmp_path):
    (tmp_path / "units.toml").write_text('ignore = ["part", "value"]\ntrusted = ["b"]\n')
    from_file = open_training(path, "label", tmp_path / "units.toml")
    given = open_training(path, "label", UnitsFile(trusted=["b"], ignore=["part", "value"]))
    assert from_file.units_file == given.units_file
    assert from_file.table.names == ["a", "b"]
    assert open_training(path, "label").table.names == ["a", "b", "part", "value"]


def test_the_ensemble_covers_crashes_and_follows_the_units(path):
    units = UnitsFile(units={"both": ["a", "b"]}, ignore=["part"])
    training = open_training(path, "label", units)
    model = training.ensemble(NAIVE, training.task.rule(None), 2, seed=7)
    assert isinstance(model, FeaturePartitionClassifier)
    assert isinstance(model.estimator, GaussianNB)
    assert (model.on_failure, model.random_state, model.units) == ("vote", 7, units.units)
    assert isinstance(
        open_training(path, "value").ensemble("hgb", training.task.rule(None), 2, 0),
        FeaturePartitionRegressor,
    )


def test_what_a_model_remembers_of_its_data(path):
    units = UnitsFile(ignore=["part", "value"])
    training = open_training(path, "label", units, split=("part", "train"), csv=CsvOptions(","))
    about = training.about(NAIVE)
    assert about == {
        "target": "label",
        "target_kind": "number",
        "ignore": ["part", "value"],
        "split": ["part", "train"],
        "csv": {"sep": ","},
        "task": "classification",
        "estimator": NAIVE,
        "fallback": None,
        "reference": None,
        "quality": None,
        "chosen": None,
        "data": {
            "name": "t.csv",
            "rows": 40,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        },
    }
    footers = training.about(NAIVE, {"footers": "f"})["data"]
    assert footers == {"name": "t.csv", "rows": 40, "footers": "f"}
    model = training.ensemble(NAIVE, training.task.rule("plurality"), 2, 0, verbose=0)
    quality = training.about(NAIVE, model=model.fit(training.table, training.y))["quality"]
    assert quality == {"warnings": model.warnings_, "failed": 0}


@pytest.mark.parametrize(
    ("column", "units", "message"),
    [
        ("y", UnitsFile(), "split names the target 'y'"),
        ("part", UnitsFile(), "its owner would choose the rows of every submodel"),
        ("part", UnitsFile(ignore=["part"]), None),
        ("part", UnitsFile(trusted=["part"]), None),
    ],
)
def test_rows_are_chosen_only_by_a_column_that_no_attacker_writes(column, units, message):
    if message is None:
        check_split((column, "train"), units, "y")
        return
    with pytest.raises(InputError, match=message):
        check_split((column, "train"), units, "y")


def test_a_target_that_is_not_there_is_named(path):
    with pytest.raises(InputError, match="target names the column 'price', which"):
        open_training(path, "price")
