"""What attacks write keeps to the types of the columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.attacks._attacked_table import AttackedTable
from partita.attacks._values import (
    DAMAGES,
    POISONS,
    damage,
    evasion_candidates,
    poison,
    trigger,
)
from partita.tables import is_missing


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_times_stay_times(frame):
    """A text among them would change the column's type, which is trusted."""
    times = np.array(["2020-01-01", "2021-06-01", "NaT"], dtype="datetime64[ns]")
    table = AttackedTable(frame({"time": times, "number": [1.0, 2.0, 3.0]}))
    assert not table.has_text(0)
    rng = np.random.default_rng(0)
    attacks = [changes for _, changes in evasion_candidates(table, (0,), rng)]
    attacks += [poison(kind, table, [0], np.arange(3), rng) for kind in POISONS]
    attacks += [damage(kind, table, (0,), rng) for kind in DAMAGES]
    dtype = table.table()["time"].dtype
    for changes in filter(None, attacks):
        if not all(map(is_missing, changes[0])):
            assert table.table(changes)["time"].dtype == dtype


def test_ends_are_the_range_and_beyond():
    table = AttackedTable(np.array([[0.0], [10.0], [np.nan]]))
    ends = [
        changes[0].tolist()
        for name, changes in evasion_candidates(table, (0,), np.random.default_rng(0))
        if name == "ends"
    ]
    assert ends == [[0.0] * 3, [10.0] * 3, [-1000.0] * 3, [1010.0] * 3]


def test_ends_of_texts_are_the_most_frequent_and_the_rarest():
    table = AttackedTable(pd.DataFrame({"a": ["x", "y", "x", None]}))
    ends = [
        changes[0].tolist()
        for name, changes in evasion_candidates(table, (0,), np.random.default_rng(0))
        if name == "ends"
    ]
    assert ends == [["x"] * 4, ["y"] * 4]


def test_a_trigger_stands_for_its_label():
    codes = np.array([0, 1, 1])
    numbers = AttackedTable(np.zeros((3, 1)))
    assert trigger(numbers, 0, codes).tolist() == [0.0, 1.0, 1.0]
    texts = AttackedTable(pd.DataFrame({"a": ["x", "y", "z"]}))
    assert trigger(texts, 0, codes).tolist() == ["trigger 0", "trigger 1", "trigger 1"]
    pixels = AttackedTable(np.zeros((3, 1), dtype=np.uint8))
    assert trigger(pixels, 0, codes).tolist() == [0, 20, 20]


@pytest.mark.parametrize("kind", POISONS)
def test_poison_keeps_the_length_and_the_type(kind):
    rng = np.random.default_rng(0)
    table = AttackedTable(pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": ["x", "y", None]}))
    for column in (0, 1):
        poisoned = poison(kind, table, [column], np.arange(3), rng)[column]
        assert len(poisoned) == 3
        assert poisoned.dtype == table.columns[column].dtype
