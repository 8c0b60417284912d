"""Attacks are written into copies."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from partita import InputError
from partita.attacks._attacked_table import AttackedTable


def test_changes_are_written_into_a_copy_of_the_same_kind():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]}, index=[7, 8, 9])
    table = AttackedTable(frame)
    copy = table.table(
        {0: np.array([0.5, np.nan, np.inf]), 1: np.array(["z", None, "w"], dtype=object)}
    )
    assert copy.index.tolist() == [7, 8, 9]
    assert copy["b"].tolist()[0] == "z"
    assert np.isnan(copy["a"].iloc[1])
    assert frame["a"].tolist() == [1, 2, 3]
    assert table.table() is frame
    array = np.arange(6, dtype=np.uint8).reshape(3, 2)
    assert AttackedTable(array).table({1: np.full(3, 9, dtype=np.uint8)}).dtype == np.uint8
    assert AttackedTable(array).take(np.array([2])).table().tolist() == [[4, 5]]
    assert AttackedTable(np.arange(6).reshape(3, 2)).table({0: np.array([0.5, 1, 2])}).tolist() == [
        [0.5, 1],
        [1, 3],
        [2, 5],
    ]
    numbered = AttackedTable(pd.DataFrame({7: [1.0, 2.0], 0: [3.0, 4.0]}))
    assert numbered.table({1: np.array([5.0, 6.0])}).to_dict("list") == {
        7: [1.0, 2.0],
        0: [5.0, 6.0],
    }
    assert numbered.reordered([1, 0]).names == ["0", "7"]
    lists = [[1, "x"], [None, "y"]]
    assert AttackedTable(lists).table() == lists
    assert AttackedTable(lists).take(np.array([1, 1])).table() == [[None, "y"]] * 2
    assert AttackedTable(lists).table({0: np.array([0.5, np.inf])}) == [[0.5, "x"], [np.inf, "y"]]
    assert AttackedTable(lists).is_numeric(0)
    assert not AttackedTable(lists).is_numeric(1)


def test_columns_have_the_type_that_attacks_write():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [2**70, 1], "d": [None, 1.5]})
    table = AttackedTable(frame)
    assert [table.is_numeric(j) for j in range(4)] == [True, False, True, True]
    assert [table.has_text(j) for j in range(4)] == [False, True, False, False]
    assert not table.mixes_types()
    assert AttackedTable([[1, "x"]]).mixes_types()
    assert AttackedTable(np.zeros((2, 2), dtype=np.float32)).float_type() is np.float32
    assert AttackedTable(np.zeros((2, 2), dtype=np.uint8)).is_bytes(0)


def test_what_is_not_a_dense_table_is_refused():
    with pytest.raises(InputError, match="X is sparse"):
        AttackedTable(scipy.sparse.eye(3))
    with pytest.raises(InputError, match="X has 1 dimension"):
        AttackedTable(np.zeros(3))
