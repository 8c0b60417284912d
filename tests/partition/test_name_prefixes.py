"""Columns that may come from one source, by their names."""

import pytest
from sklearn.datasets import load_breast_cancer

from partita.partition._units_file import shared_prefixes

STATIONS = [f"{station}_{what}" for station in ("BASEL", "OSLO", "ROMA") for what in ("t", "rh")]


def test_columns_of_one_source_share_a_prefix():
    assert shared_prefixes([*STATIONS, "MONTH"]) == {
        "BASEL_": ["BASEL_t", "BASEL_rh"],
        "OSLO_": ["OSLO_t", "OSLO_rh"],
        "ROMA_": ["ROMA_t", "ROMA_rh"],
    }
    sensors = [f"sensor{k} {what}" for k in range(4) for what in ("DR", "EMAi")]
    assert list(shared_prefixes(sensors)) == [f"sensor{k} " for k in range(4)]


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["age", "job", "income"],
        STATIONS[:4],  # two sources prove nothing
        [f"pixel_{k}" for k in range(64)],  # one prefix
        [*STATIONS, *"abc"],  # too many others
        ["_a", "_b", "b_", "c_"],
        load_breast_cancer().feature_names.tolist(),
    ],
)
def test_other_names_suggest_nothing(names):
    assert shared_prefixes(names) == {}
