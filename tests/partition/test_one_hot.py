"""Advice about one-hot columns that should be one unit."""

import numpy as np
import pandas as pd
import pytest

from partita.partition import read_units
from partita.partition._units_file import as_units_toml, one_hot_families
from partita.tables import open_table

RNG = np.random.default_rng(0)
JOBS = np.eye(3)[RNG.integers(3, size=100)]
STATUS = np.eye(4)[RNG.integers(4, size=100)]


def families_of(frame):
    return one_hot_families(open_table(frame), list(frame.columns))


@pytest.mark.parametrize("separator", ["_", "=", ":", ".", " "])
def test_columns_with_a_common_prefix_and_one_1_per_row_are_a_family(separator):
    jobs = [f"job{separator}{value}" for value in ("blue", "white", "none")]
    frame = pd.DataFrame(JOBS, columns=jobs).assign(age=RNG.normal(size=100), flag=1.0)
    assert families_of(frame) == {"job": jobs}


def test_the_raw_name_is_as_long_as_all_columns_agree():
    status = [f"marital_status_{value}" for value in ("single", "married", "wid_owed", "none")]
    frame = pd.DataFrame(np.hstack([STATUS, JOBS]), columns=[*status, "job_a", "job_b", "job_c"])
    assert families_of(frame) == {"marital_status": status, "job": ["job_a", "job_b", "job_c"]}


@pytest.mark.parametrize(
    "values",
    [
        JOBS[:, :2],  # two columns are often something else
        np.hstack([JOBS[:, :2], JOBS[:, :1]]),  # two of them are 1 in some rows
        JOBS * 2,
        np.where(RNG.random((100, 3)) < 0.2, 0, JOBS),  # too many rows without a 1
        np.where(RNG.random((100, 3)) < 0.2, np.nan, JOBS),
    ],
)
def test_other_columns_with_a_common_prefix_are_none(values):
    frame = pd.DataFrame(values, columns=[f"job_{k}" for k in range(values.shape[1])])
    assert families_of(frame) == {}


def test_text_is_no_one_hot_column():
    frame = pd.DataFrame({f"job_{k}": ["0", "1"] for k in range(3)})
    assert families_of(frame) == {}


def test_the_advice_is_a_units_file(tmp_path):
    families = {'a "quoted" \\ name': ['a "quoted" \\ name_1', "a_2"], "b": ["b_1"]}
    (tmp_path / "units.toml").write_text(as_units_toml(families), encoding="utf-8")
    names = [name for members in families.values() for name in members]
    assert read_units(tmp_path / "units.toml", names).units == families
