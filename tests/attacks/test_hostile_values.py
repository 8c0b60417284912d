"""Hostile values fit their columns, and stay where they are written."""

import numpy as np
import pandas as pd
import pytest

from partita.attacks._attacked_table import AttackedTable
from partita.attacks._values import (
    DAMAGES,
    FAMILIES,
    damage,
    hostile_columns,
    mixtures,
    n_variants,
    values_of,
)


def test_hostile_values_have_the_column_s_type():
    frame = pd.DataFrame({"number": [1.0, np.nan, 3.0], "text": ["a", None, "b"]})
    table = AttackedTable(frame)
    assert {family: len(values_of(family, table, 0)) for family in FAMILIES} == {
        "large numbers": 4,
        "extremes": 3,
        "infinities": 2,
        "missing values": 1,
        "texts": 0,
    }
    assert values_of("texts", table, 1)[0] == ""
    assert max(map(len, values_of("texts", table, 1))) == 10_000
    assert not all(map(str.isascii, values_of("texts", table, 1)))
    assert values_of("missing values", table, 1) == [None]
    assert n_variants("infinities", table, [0, 1]) == 2
    attacked = table.table(hostile_columns("texts", 2, table, [0, 1], np.array([1])))
    assert attacked["text"].tolist()[1] == "long " * 2000
    assert attacked["text"].tolist()[0] == "a"
    pixels = AttackedTable(np.zeros((2, 2), dtype=np.uint8))
    assert not n_variants("extremes", pixels, [0, 1])  # bytes hold nothing hostile
    objects = AttackedTable(np.array([[1, "a"]], dtype=object))
    assert values_of("texts", objects, 0)  # a cell of an array of objects holds anything


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_extremes_stay_within_the_type(dtype):
    """A number that overflows its type would be an infinity, which many estimators refuse."""
    table = AttackedTable(np.ones((3, 2), dtype=dtype))
    largest = 0
    for family in ("large numbers", "extremes"):
        for variant in range(n_variants(family, table, [0])):
            attacked = table.table(hostile_columns(family, variant, table, [0]))
            assert attacked.dtype == dtype
            assert np.isfinite(attacked).all()
            assert np.all(attacked[:, 0] != 0)
            largest = max(largest, attacked[0, 0])
    assert largest == np.finfo(dtype).max


def test_mixtures_leave_the_other_columns_of_a_row_honest():
    own = np.arange(60.0).reshape(20, 3)
    table = AttackedTable(own)
    found = dict(mixtures(table, (0, 2), np.random.default_rng(0)))
    assert set(found) == set(FAMILIES) - {"texts"}
    for changes in found.values():
        changed = table.table(changes) != own
        assert changed[:, [0, 2]].sum(axis=1).tolist() == [1] * 20
        assert not changed[:, 1].any()
        assert changed.any(axis=0).sum() == 2
    assert not dict(mixtures(table, (1,), np.random.default_rng(0)))


def test_training_is_damaged_in_the_unit_alone():
    own = np.arange(60.0).reshape(20, 3)
    table, rng = AttackedTable(own), np.random.default_rng(0)
    for kind in DAMAGES:
        changed = table.table(damage(kind, table, (0, 2), rng)) != own
        assert changed.sum() == 1 if kind == "one cell" else changed.sum() > 10
        assert not changed[:, 1].any()
    long_table = AttackedTable(pd.DataFrame({"text": ["a"] * 50_000}))
    longest = max(map(len, filter(None, damage("extremes", long_table, (0,), rng)[0])))
    assert longest == 200  # numpy gives every text of an array the longest one's room
