"""Rows in the order of time are noticed, and other columns are not taken for times."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from partita.partition._units_file import UnitsFile
from partita.selection import sweep
from partita.selection._sweep_grid import Grid, Trial
from partita.workflow._training_table import open_training

from .sweeps import NAIVE, ONE_RULE

ROOT = Path(__file__).resolve().parents[2]
WEATHER = ROOT.parent / "shared" / "data" / "weather_europe.parquet"  # not part of the project


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("saleDate", [20200101 + k for k in range(300)], "Rows look ordered in time"),
        ("datetime", [f"{2300 - k}-01-01" for k in range(300)], "Rows look ordered in time"),
        ("moment", pd.date_range("2020-01-01", periods=300)[::-1], "Rows look ordered in time"),
        (
            "moment",
            pd.date_range("2020-01-01", periods=300)[np.random.default_rng(0).permutation(300)],
            "sort the table by time",
        ),
        ("when time", np.random.default_rng(0).normal(size=300), "sort the table by time"),
        ("OverTime", ["yes", "no", "no"] * 100, None),
        ("lifetime", list(range(300)), None),
        ("update", list(range(300)), None),
    ],
)
def test_a_random_split_of_rows_in_time_is_told(name, values, message, tmp_path):
    x = np.random.default_rng(2).normal(size=300)
    pd.DataFrame({"x": x, "y": x > 0, name: values}).to_parquet(tmp_path / "t.parquet")
    training = open_training(tmp_path / "t.parquet", "y", UnitsFile(ignore=[name]))
    told = sweep(training, Grid(submodels=(1,), **ONE_RULE), Trial(estimator=NAIVE))["warnings"]
    assert len(told) == (message is not None)
    assert not told or (message in told[0] and repr(name) in told[0])


@pytest.mark.skipif(not WEATHER.exists(), reason="the weather table is not part of the project")
def test_days_of_a_weather_table_are_seen_to_be_ordered(tmp_path):
    table = pd.read_parquet(WEATHER).iloc[:800]
    columns = [name for name in table.columns if name.endswith("_temp_mean")]
    warm = table["BASEL_temp_mean"].shift(-1) > 12
    table[["DATE", *columns]].assign(warm=warm)[:-1].to_parquet(tmp_path / "w.parquet", index=False)
    training = open_training(tmp_path / "w.parquet", "warm", UnitsFile(ignore=["DATE"]))
    found = sweep(training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE))
    assert "Rows look ordered in time (by 'DATE')" in found["warnings"][0]
    assert (
        sweep(training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE, last=0.2))[
            "warnings"
        ]
        == []
    )
